"""Objects whose attributes are the fields of one JSON object."""

from __future__ import annotations

import json
from typing import Any


class JsonObject:
    """The fields of a JSON object as attributes; `to_dict()` gives all of them."""

    def __init__(self, text: str) -> None:
        self._fields: dict[str, Any] = json.loads(text)

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
        return json.loads(json.dumps(self._fields))

    def to_json(self) -> str:
        return json.dumps(self._fields)
