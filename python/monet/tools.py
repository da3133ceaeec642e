"""The solvers on bare problems, and validation."""

from __future__ import annotations

import json
import os
from typing import Any

from monet import _core, _options, _progress, _units
from monet._json_object import JsonObject
from monet._progress import Progress
from monet._tables import Tabular


class Packing(Tabular, JsonObject):
    """Buffers with addresses. Its attributes are the fields of `monet pack --json`: peak_bytes, max_load_bytes, …

    Tables of `to_pandas`: buffers.
    """

    def __init__(self, found: _core.Packing) -> None:
        super().__init__(found.to_json())
        self._found: _core.Packing | None = found

    def to_csv(self) -> str:
        """A line for each buffer, with its offset."""
        return self._present(self._found).to_csv()

    def to_text(self) -> str:
        """For people."""
        return self._present(self._found).to_text()

    def _tables(self) -> tuple[str, ...]:
        return ("buffers",)

    def _table(self, name: str) -> Any:
        heading, *lines = [line.split(",") for line in self.to_csv().splitlines()]
        return [
            {key: value if key == "id" else int(value) for key, value in zip(heading, line)} for line in lines
        ]

    def __repr__(self) -> str:
        return f"<monet.Packing: {_units.size(self.peak_bytes)} of at least {_units.size(self.max_load_bytes)}>"


class Rematerialization(JsonObject):
    """A schedule that computes again and pages. Its attributes are the fields of `monet remat --json`."""

    def __init__(self, found: _core.Remat) -> None:
        super().__init__(found.to_json())
        self._found: _core.Remat | None = found

    @property
    def schedule(self) -> dict[str, Any] | None:
        """The best schedule, action by action; None: nothing fits."""
        actions: dict[str, Any] | None = json.loads(self._present(self._found).schedule_json())
        return actions

    def to_text(self) -> str:
        """For people."""
        return self._present(self._found).to_text()

    def __repr__(self) -> str:
        return f"<monet.Rematerialization {self._fields.get('graph', '')}>"


class Validation(Tabular, JsonObject):
    """The model against measurements. Its attributes are the fields of `monet validate --json`: rows, …

    Tables of `to_pandas`: rows.
    """

    def _tables(self) -> tuple[str, ...]:
        return ("rows",)

    def _table(self, name: str) -> Any:
        return self._fields[name]

    def _rows(self) -> tuple[list[str], list[list[str]], int]:
        rows = [
            [row["case"], row["quantity"], f"{row['measured']:.4g}", f"{row['modelled']:.4g}",
             f"{row['error_percent']:+.1f} %"]
            for row in self.rows[:20]
        ]  # fmt: skip
        return ["case", "quantity", "measured", "modelled", "error"], rows, len(self.rows)

    def __repr__(self) -> str:
        return f"<monet.Validation: {len(self.rows)} rows, {self.mean_absolute_percent:.3g} % on average>"


def pack(file: str | os.PathLike[str], capacity: int | None = None, time_limit: float | None = None) -> Packing:
    """Addresses for buffers with lifetimes, in as little memory as can be.

    file        CSV with the columns id, lower, upper, size and, if there, alignment
    capacity    bytes; by default as little as can be found
    time_limit  seconds; by default a fixed amount of search
    """
    return Packing(_core.pack(os.fspath(file), capacity, time_limit))


def remat(graph: str | os.PathLike[str], budget: float | int, **options: Any) -> Rematerialization:
    """Rematerialization and paging of a graph with costs: the bare problem.

    graph    JSON as Checkmate, Moccasin or POET have it
    budget   bytes (a whole number), or a part of the peak of the given order (0.9)
    options  deadline, deadline_factor, profiles, device, objective, method, reorder, time_limit, …
    """
    search = _core.RematOptions()
    name = "budget_bytes" if isinstance(budget, int) else "budget_fraction"
    _options.apply("remat", {name: budget, **options}, search)
    return Rematerialization(_core.remat(os.fspath(graph), search))


def validations() -> list[str]:
    """The names that `validate` takes."""
    return _core.validations()


def validate(
    name: str, *, data: str | os.PathLike[str] = "", only: str = "", jobs: int = 0, progress: Progress = False
) -> Validation:
    """The model against reference measurements, with the % error of each row.

    data   the folder with models/, groundtruth/ and validation/; by default the project's own
    only   rows whose case matches this pattern
    """
    with _progress.shown(progress) as told:
        return Validation(_core.validate(name, os.fspath(data), only, jobs, told))
