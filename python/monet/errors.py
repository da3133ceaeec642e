"""What goes wrong, said so that the reader can put it right."""

from __future__ import annotations


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

    def __reduce__(self):
        return _restored, (self.message, self.kind, self.place, self.advice)


def _restored(message: str, kind: str, place: str, advice: str) -> Error:
    return Error(message, kind=kind, place=place, advice=advice)
