"""Objects whose attributes are the fields of one JSON object."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from monet import _html
from monet.errors import Error

Found = TypeVar("Found")


class JsonObject:
    """The fields of a JSON object as attributes; `to_dict()` gives all of them."""

    def __init__(self, text: str) -> None:
        self._fields: dict[str, Any] = json.loads(text)

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles have the fields; what the library keeps beside them stays behind."""
        return {name: None if name == "_found" else value for name, value in self.__dict__.items()}

    def _present(self, found: Found | None) -> Found:
        """What the library keeps of a result."""
        if found is None:
            raise self._absent()
        return found

    def _absent(self) -> Error:
        return Error(
            f"this {type(self).__name__} was read or copied: it has its fields and no more",
            advice="ask the one that was found, or find it again",
        )

    def __getattr__(self, name: str) -> Any:
        # Also asked before __init__ has run, by copy and pickle.
        fields = self.__dict__.get("_fields", {})
        if name in fields:
            return fields[name]
        raise AttributeError(f"{type(self).__name__} has no attribute '{name}'", name=name, obj=self)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._fields})

    def to_dict(self) -> dict[str, Any]:
        """A copy of all fields."""
        copy: dict[str, Any] = json.loads(json.dumps(self._fields))
        return copy

    def to_json(self) -> str:
        """All fields as one JSON object."""
        return json.dumps(self._fields)

    def _cards(self) -> list[tuple[str, str, str]]:
        """Name, value and a remark: what a notebook shows first."""
        return []

    def _rows(self) -> tuple[list[str], list[list[str]], int]:
        """Heading and rows of the table that a notebook shows, and how many rows there are in all."""
        return [], [], 0

    def _title(self) -> str:
        return repr(self).removeprefix("<monet.").removesuffix(">")

    def _warnings(self) -> list[str]:
        return list(self._fields.get("warnings", []))

    def _repr_html_(self) -> str:
        heading, rows, count = self._rows()
        return _html.page(self._title(), self._cards(), heading, rows, count, self._warnings())
