"""Chat templates run in a process of their own: as transformers would, and never without an end."""

from datetime import UTC, datetime
from typing import Any

import pytest

from core.data import chat_template
from core.data.chat_template import MOST_TEMPLATE, in_chat

SPECIAL = {"bos_token": "<s>", "eos_token": "</s>"}
PLAIN = """{%- for message in messages %}
    {{- bos_token + '[' + message['role'] + '] ' + message.content | trim + eos_token }}
{% endfor %}
{%- if add_generation_prompt %}[assistant]{% endif %}"""
RICH = """{% macro said(m) %}{{ m.role | upper }}: {{ m.content }}{% endmacro -%}
{% set ns = namespace(n=0) %}
{% for m in messages %}{% if loop.index > 3 %}{% break %}{% endif %}
{% set ns.n = ns.n + 1 %}{{ said(m) }} {{ m | tojson(indent=2) }}{% endfor %}
{% generation %}{{ ns.n }}{% endgeneration %}{{ tools is none }} {{ 'é' | tojson }}"""


@pytest.mark.parametrize("template", [PLAIN, RICH])
def test_a_template_gives_what_transformers_makes_of_it(template: str):
    from transformers.utils.chat_template_utils import render_jinja_template

    said: list[Any] = [[{"role": "user", "content": " Grüße {{ 1 }} 🤖 "}]]
    more: dict[str, Any] = {"add_generation_prompt": True, **SPECIAL}
    rendered: Any = render_jinja_template(said, chat_template=template, **more)
    (expected,) = rendered[0]
    assert in_chat(template, said[0][0]["content"], SPECIAL) == expected
    assert "Grüße {{ 1 }} 🤖" in expected


def test_a_template_may_ask_for_the_date():
    year = in_chat("{{ strftime_now('%Y') }}", "", {})
    assert abs(int(year) - datetime.now(UTC).year) <= 1


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "end"),
        ("{{ 10 ** (10 ** 10) }}", "does not end"),
        ("{{ 'a' * 10 ** 10 }}", "does not end, or needs too much memory"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "does not end"),
        ("{% macro f(n) %}{{ f(n) }}{{ f(n) }}{% endmacro %}{{ f(1) }}", "does not end"),
        ("{{ 'a' * 2000000 }}", "makes a text of 2,000,000 bytes"),
        ("{{ range(10 ** 9) }}", "cannot be used: Range too big"),
        ("{% if %}", "cannot be used: Expected an expression"),
        ("{{ raise_exception('no system\n message') }}", "cannot be used: no system message"),
        ("{{ 1 / 0 }}", "cannot be used: division by zero"),
        ("{{ messages[3].content }}", "cannot be used: .* has no"),
        ("{% include '/etc/passwd' %}", "cannot be used: no loader"),
        ("{% import 'os' as os %}", "cannot be used: no loader"),
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "cannot be used: .* unsafe"),
        ("{{ cycler.__init__.__globals__.os.system('true') }}", "cannot be used: .* unsafe"),
        ("{{ open('/etc/passwd') }}", "cannot be used: 'open' is undefined"),
        ("{{ messages.append(1) }}", "cannot be used: .* not safely callable|unsafe"),
    ],
)
def test_a_template_that_does_not_end_or_asks_for_more_is_refused(
    template: str, said: str, monkeypatch: pytest.MonkeyPatch
):
    if said.endswith("end"):
        monkeypatch.setattr(chat_template, "SECONDS", 1)  # of an hour it would use all
    with pytest.raises(ValueError, match=f"^its chat template .*{said}") as caught:
        in_chat(template, "Hello", SPECIAL)
    assert "\n" not in str(caught.value)


def test_a_template_of_many_characters_is_not_run():
    with pytest.raises(ValueError, match="has 131,073 characters; at most 131,072 are run"):
        in_chat("a" * (MOST_TEMPLATE + 1), "", {})


def test_a_process_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(chat_template, "PATIENCE", 0)
    with pytest.raises(ValueError, match="does not end"):
        in_chat("said once: {{ messages }}", "Hello", {})
