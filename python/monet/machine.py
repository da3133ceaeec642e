"""Machines: presets and hardware files."""

from __future__ import annotations

import os
from typing import Any

from monet import _core, _units
from monet._json_object import JsonObject


class Hardware(JsonObject):
    """A machine. Its attributes are the fields of `monet hardware show --json`: cores, memories, links, peaks, …"""

    def __init__(self, source: str, chosen: dict[str, str]) -> None:
        self.source = source
        self.chosen = chosen
        self._found: _core.Machine | None = None
        super().__init__(_core.describe_hardware(self._value, False))

    @property
    def _value(self) -> _core.Machine:
        """What was read; a copy reads it again."""
        if self.__dict__.get("_found") is None:
            self._found = _core.Machine(self.source, list(self.chosen.items()))
        return self._found

    def describe(self, values: bool = False) -> dict[str, Any]:
        """All that is known of it; with `values` every value and where it comes from."""
        return JsonObject(_core.describe_hardware(self._value, values)).to_dict()

    def _cards(self) -> list[tuple[str, str, str]]:
        cards = [
            ("cores", f"{sum(core['count'] for core in self.cores):,}", ", ".join(core["type"] for core in self.cores)),
            ("on chip", _units.size(self.on_chip_bits / 8), "of memory"),
        ]
        if self.clock_hz:
            cards.insert(0, ("clock", f"{self.clock_hz / 1e6:,.4g} MHz", ""))
        if self.macs_per_cycle:
            cards.append(("MACs", f"{self.macs_per_cycle:,.0f}", "a cycle"))
        return cards

    def _rows(self) -> tuple[list[str], list[list[str]], int]:
        rows = [[memory["name"], memory["kind"], _units.size(memory["size_bits"] / 8)] for memory in self.memories[:10]]
        return ["memory", "kind", "size"], rows, len(self.memories)

    def _title(self) -> str:
        return f"{self.name}: {self.description}" if self.description else str(self.name)

    def __repr__(self) -> str:
        chosen = "".join(f", {name}={value}" for name, value in self.chosen.items())
        return f"<monet.Hardware {self.name}{chosen}>"


def hardware(source: str | os.PathLike[str], /, **parameters: object) -> Hardware:
    """A preset's name or a hardware file, with values for the parameters of its family.

    >>> monet.hardware("edge_tpu", x=2, y=2, pe_memory="4 MiB")
    """
    return Hardware(os.fspath(source), {name: str(value) for name, value in parameters.items()})


def presets() -> list[dict[str, Any]]:
    """The machines that come with the library."""
    machines: list[dict[str, Any]] = JsonObject(_core.list_hardware()).presets
    return machines
