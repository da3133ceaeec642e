"""Results on disk: read again, compared, and shown."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from monet import _core, _files
from monet._json_object import JsonObject
from monet._tables import Tabular
from monet.errors import Error
from monet.exploration import Exploration
from monet.precision import PrecisionComparison
from monet.result import Result
from monet.search import Checkpointing, Optimization

if TYPE_CHECKING:
    from typing import TypeAlias

# A folder, its result.json, or what `evaluate` gave.
Compared: TypeAlias = "Result | str | os.PathLike[str]"

# What is shown for the paths of files that are soon gone.
_Names: TypeAlias = dict[str, str]


class Comparison(Tabular, JsonObject):
    """Two results: what changed, and which part explains it. Its attributes are the fields of `monet compare --json`:
    rows (the parts of a total follow it and add up to it), operators (those that differ most), assumptions, notes.

    Tables of `to_pandas`: rows, operators, assumptions.
    """

    def __init__(self, found: _core.Comparison, names: _Names) -> None:
        super().__init__(_named(found.to_json(), names))
        self._found: _core.Comparison | None = found
        self._names = names

    def to_text(self) -> str:
        """Tables for people."""
        return _named(self._present(self._found).to_text(), self._names)

    def to_csv(self) -> str:
        """A line for each part."""
        return _named(self._present(self._found).to_csv(), self._names)

    def _tables(self) -> tuple[str, ...]:
        return "rows", "operators", "assumptions"

    def _table(self, name: str) -> Any:
        return self._fields[name]

    def _rows(self) -> tuple[list[str], list[list[str]], int]:
        rows = [[row["part"], f"{row['a']:.6g}", f"{row['b']:.6g}", f"{row['delta']:+.6g}"] for row in self.rows[:20]]
        return ["part", "a", "b", "delta"], rows, len(self.rows)

    def __repr__(self) -> str:
        return f"<monet.Comparison of {self.a} and {self.b}: {len(self.rows)} rows>"


def _named(text: str, names: _Names) -> str:
    for path, name in names.items():
        text = text.replace(path, name)
    return text


def _input_of(result: Compared, name: str, names: _Names, stack: ExitStack) -> str:
    """The path of a result as the library takes it; one that is in no file is called `name`."""
    if not isinstance(result, Result):
        return os.fspath(result)
    if result._found is None and result._file is not None:
        path = stack.enter_context(_files.as_input(result._file, result.to_json()))
        if path != str(result._file):
            names[path] = str(result._file)
        return path
    found = result._present(result._found)
    folder = os.path.join(stack.enter_context(tempfile.TemporaryDirectory(prefix="monet-")), name)
    _files.write_all(folder, [("result.json", found.to_json()), ("details.json", found.to_details())])
    names[folder] = name
    return folder


@contextmanager
def _inputs_of(results: tuple[Compared, ...]) -> Iterator[tuple[list[str], _Names]]:
    with ExitStack() as stack:
        names: _Names = {}
        paths = [_input_of(result, chr(ord("a") + i), names, stack) for i, result in enumerate(results)]
        yield paths, names


def compare(a: Compared, b: Compared) -> Comparison:
    """What changed from a to b, attributed to compute, stall, traffic, recomputation, paging and static.

    Each is what `evaluate` gave, a folder that `Result.save` or `monet evaluate -o` wrote, its result.json, or what
    `monet evaluate --json` printed. Results that are in no file are called "a" and "b".
    """
    with _inputs_of((a, b)) as (paths, names):
        return Comparison(_core.compare(*paths), names)


def report(path: str | os.PathLike[str], *inputs: Compared, title: str = "") -> None:
    """Writes a page of one result or store, or of two evaluations and what changed."""
    with _inputs_of(inputs) as (paths, names):
        _files.write(path, _named(_core.report_page(paths, title, []), names))


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
