"""What goes wrong, said so that the reader can put it right."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """An error of the library.

    kind     "user": what was given is wrong; "infeasible": it is right and no answer exists; "defect": ours
    message  what is wrong
    place    file, file:line:column, or the ONNX node's name; may be empty
    advice   what to do; may be empty
    """

    def __init__(self, message: str, *, kind: str = "user", place: str = "", advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.place = place
        self.advice = advice

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        advice = f" ({self.advice})" if self.advice else ""
        return f"{place}{self.message}{advice}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.message, self.kind, self.place, self.advice)


class MissingPackage(Error, ImportError):
    """A package that is not installed, and is needed only for what was asked."""


def _restored(type_: type[Error], message: str, kind: str, place: str, advice: str) -> Error:
    return type_(message, kind=kind, place=place, advice=advice)
