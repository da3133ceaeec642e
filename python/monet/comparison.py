"""Results on disk: read again, compared, and shown."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, TypeAlias

from monet import _core, _files
from monet._json_object import JsonObject
from monet._tables import Tabular
from monet.errors import Error
from monet.exploration import Exploration
from monet.precision import PrecisionComparison
from monet.result import Result
from monet.search import Checkpointing, Optimization

# A folder, its result.json, or what `evaluate` gave.
Compared: TypeAlias = Result | str | os.PathLike[str]


class Comparison(Tabular, JsonObject):
    """Two results: what changed, and which part explains it. Its attributes are the fields of `monet compare --json`:
    rows (the parts of a total follow it and add up to it), operators (those that differ most), assumptions, notes.

    Tables of `to_pandas`: rows, operators, assumptions.
    """

    def __init__(self, found: _core.Comparison) -> None:
        super().__init__(found.to_json())
        self._found: _core.Comparison | None = found

    def to_text(self) -> str:
        """Tables for people."""
        return self._present(self._found).to_text()

    def to_csv(self) -> str:
        """A line for each part."""
        return self._present(self._found).to_csv()

    def _tables(self) -> tuple[str, ...]:
        return "rows", "operators", "assumptions"

    def _table(self, name: str) -> Any:
        return self._fields[name]

    def _rows(self) -> tuple[list[str], list[list[str]], int]:
        rows = [[row["part"], f"{row['a']:.6g}", f"{row['b']:.6g}", f"{row['delta']:+.6g}"] for row in self.rows[:20]]
        return ["part", "a", "b", "delta"], rows, len(self.rows)

    def __repr__(self) -> str:
        return f"<monet.Comparison of {self.a} and {self.b}: {len(self.rows)} rows>"


def _inputs_of(results: tuple[Compared, ...]) -> list[_core.NamedResult]:
    """Results as the library takes them; those that are in no file are called "a" and "b"."""
    inputs = []
    for i, result in enumerate(results):
        if not isinstance(result, Result):
            inputs.append(_core.NamedResult(os.fspath(result)))
        elif result._found is None and result._file is not None:
            inputs.append(_files.as_input(result._file, result.to_json()))
        else:
            found = result._present(result._found)
            inputs.append(_core.NamedResult(chr(ord("a") + i), found.to_json(), found.to_details()))
    return inputs


def compare(a: Compared, b: Compared) -> Comparison:
    """What changed from a to b, attributed to compute, stall, traffic, recomputation, paging and static.

    Each is what `evaluate` gave, a folder that `Result.save` or `monet evaluate -o` wrote, its result.json, or what
    `monet evaluate --json` printed. Results that are in no file are called "a" and "b".
    """
    return Comparison(_core.compare(*_inputs_of((a, b))))


def report(path: str | os.PathLike[str], *inputs: Compared, title: str = "") -> None:
    """Writes a page of one result or store, or of two evaluations and what changed."""
    _files.write(path, _core.report_page(_inputs_of(inputs), title, []))


def read_result(
    path: str | os.PathLike[str],
) -> Result | Optimization | Checkpointing | Exploration | PrecisionComparison:
    """A result again: a folder that `save` or `-o` wrote, its result.json or comparison.json, what `--json` printed, or
    the store of an exploration. Other files of the folder belong to result.json alone: without them there is no plan."""
    where = Path(path)
    if where.is_file() and where.read_bytes()[:6] == b"SQLite":
        return Exploration(_core.show_store(str(where), []), where)
    file = where
    if where.is_dir():
        names = [name for name in ("result.json", "comparison.json") if (where / name).is_file()]
        file = where / (names or ["result.json"])[0]
    try:
        text = file.read_text(encoding="utf-8")
        fields = JsonObject(text)._fields
        if not isinstance(fields, dict):
            raise ValueError("no JSON object")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no JSON object"
        raise Error(
            f"cannot be read: {reason}", place=str(file), advice="name a folder that `save` or `-o` wrote"
        ) from None
    _files.check_finished(file)
    if fields.get("schema") != 1:
        raise Error("this is no result of this version", place=str(file), advice="its \"schema\" must be 1")
    if fields.get("command") == "evaluate":
        return Result(text, None, file)
    if fields.get("command") == "precision compare":
        return PrecisionComparison(text, None, file)
    if "plans" in fields and "start" in fields:
        return Optimization(text, None, file)
    if "plans" in fields and "all_kept" in fields:
        return Checkpointing(text, None, file)
    raise Error("this is no result of evaluate, optimize, checkpoint or precision compare", place=str(file))
