"""What the server answers to an address below a page's: there is nothing, and it says so.

Streamlit answers any path with its own frame, whose scripts are named relative to the address. From
one level further down it gets itself in their place, and the window stays blank.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from html import escape
from typing import Any

import streamlit as st
from starlette.responses import HTMLResponse

SERVED = ("_stcore", "app", "component", "media", "static")  # Streamlit's own folders
MOST_CHARACTERS = 200  # of an address, in the answer
ANSWER = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>No such page</title>
<body style="font: 18px/1.5 sans-serif; margin: 4rem auto; max-width: 40rem; padding: 0 1rem">
<h1>No such page</h1>
<p>There is no page {path}. <a href="{home}">The Attention Explorer's first page</a></p>
"""
Scope = MutableMapping[str, Any]
Application = Callable[[Scope, Any, Any], Awaitable[None]]


class NothingDeeper:
    """Middleware: whoever looks for a page below a page is told that there is none."""

    def __init__(self, app: Application) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        base = f"/{st.get_option('server.baseUrlPath').strip('/')}/".replace("//", "/")
        path = scope.get("path", "")
        if scope["type"] != "http" or not _is_read(scope) or not _is_below_a_page(path, base):
            await self.app(scope, receive, send)
            return
        shown = escape(path[:MOST_CHARACTERS])
        answer = HTMLResponse(ANSWER.format(path=shown, home=escape(base)), status_code=404)
        await answer(scope, receive, send)


def _is_read(scope: Scope) -> bool:
    """Whether somebody opens a page, and no script asks for a file."""
    accepted = [value for name, value in scope["headers"] if name == b"accept"]
    return scope["method"] in ("GET", "HEAD") and any(b"text/html" in value for value in accepted)


def _is_below_a_page(path: str, base: str) -> bool:
    first, _, rest = path.removeprefix(base).lstrip("/").partition("/")
    return bool(rest) and first not in SERVED
