"""Whether a folder is still the one in which a process began to work.

A folder can be removed, renamed or replaced by another of its name while somebody writes into it.
A file of it that is held open tells: as long as it is open, its number (inode) is no other file's.
"""

import os
import weakref
from pathlib import Path


class GoneError(ValueError):
    """The folder is gone: whoever works in it has to end, and to write nothing more."""


class Anchor:
    """A file held open until `close`; `beside` are names of files that have to lie beside it.

    Raises OSError if it cannot be opened.
    """

    def __init__(self, path: Path, *beside: str) -> None:
        self._path, self._beside = path, beside
        self._handle = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        self._close = weakref.finalize(self, os.close, self._handle)

    @property
    def is_in_place(self) -> bool:
        """Whether its name still leads to it; costs a look or two at the disk."""
        try:
            found = self._path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        return os.path.samestat(found, os.fstat(self._handle)) and all(
            self._path.with_name(name).exists() for name in self._beside
        )

    def check(self) -> None:
        """Raise GoneError if it is not in its place."""
        if not self.is_in_place:
            raise GoneError(
                f"{self._path.parent} is gone (removed, renamed or replaced by another): whoever "
                "works in it ends here and writes nothing more"
            )

    def close(self) -> None:
        self._close()
