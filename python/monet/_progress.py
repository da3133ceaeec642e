"""Progress of long calls."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

ProgressFunction: TypeAlias = Callable[[str, int, int], object]
# True: a line on standard error; a function is called with what is done, how much of it, and of how much (0: unknown).
Progress: TypeAlias = "bool | ProgressFunction"


class _Line:
    def __init__(self) -> None:
        self.length = 0

    def __call__(self, what: str, done: int, all_: int) -> None:
        text = f"{what}: {done} of {all_}" if all_ else f"{what}: {done}"
        self._write(text)

    def clear(self) -> None:
        if self.length:
            self._write("")
            _say("\r")

    def _write(self, text: str) -> None:
        _say("\r" + text.ljust(self.length))
        self.length = len(text)


def _say(text: str) -> None:
    """Where messages cannot be written there is nobody to tell; None: standard error was closed at the start."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.write(text)
            sys.stderr.flush()


@contextmanager
def shown(progress: Progress) -> Iterator[ProgressFunction | None]:
    """What the library takes; the line is gone afterwards."""
    if progress is True:
        line = _Line()
        try:
            yield line
        finally:
            line.clear()
    else:
        yield progress or None
