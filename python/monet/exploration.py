"""Many designs of a space of machines, compared."""

from __future__ import annotations

import filecmp
import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from monet import _core, _files, _options, _packages, _plots, _progress
from monet._json_object import JsonObject
from monet._progress import Progress
from monet._tables import Tabular
from monet.errors import Error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DesignObjective: TypeAlias = Callable[[_core.DesignMetrics], float]

_ALL_UP_TO = 20000  # designs: as the program, which then searches


class Exploration(Tabular, JsonObject):
    """What `explore` found. Its attributes are the fields of `monet explore --json`: front (designs of which none is
    better than another), evaluated, failed, excluded, sensitivities, correlations, hypervolume, designs_per_s, …

    Tables of `to_pandas`: designs (all of the store), front, sensitivities.
    """

    def __init__(
        self,
        found: _core.Exploration,
        store: Path,
        functions: frozenset[str] = frozenset(),
        own_folder: tempfile.TemporaryDirectory[str] | None = None,
    ) -> None:
        super().__init__(found.to_json())
        self._found: _core.Exploration | None = found
        self._store = store
        self._functions = functions  # objectives that a page cannot work out
        self._own_folder = own_folder  # of the store; gone with this object

    def to_text(self, front: int = 20) -> str:
        """Tables for people; so many rows of the front, 0: all."""
        return self._present(self._found).to_text(front)

    def to_csv(self) -> str:
        """A line for each design of the store."""
        return _core.store_csv(str(self._store))

    def save_store(self, path: str | os.PathLike[str]) -> None:
        """Copies the store, for `monet explore --show`, `read_result` and `resume=True`."""
        if Path(path).exists():
            raise Error("there is a file of this name", place=os.fspath(path), advice="name another one")
        shutil.copyfile(self._store, path)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Writes report.html, designs.csv and front.json into a folder, as `monet explore -o FOLDER` does; and
        store.sqlite, if the store would be gone with this object. `monet report` takes the folder."""
        front = self._present(self._found).to_json() + "\n"
        store = self._store
        if self._own_folder is not None:
            store = _files.make_folder(folder) / "store.sqlite"
            if not (store.is_file() and filecmp.cmp(self._store, store, shallow=False)):
                self.save_store(store)
            front = front.replace(json.dumps(str(self._store)), json.dumps(str(store), ensure_ascii=False))
        page = _core.report_page([_core.NamedResult(str(store))], "", self._named())
        return _files.write_all(folder, [("report.html", page), ("designs.csv", self.to_csv()), ("front.json", front)])

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes a page that opens in any browser. Objectives that are functions are not in it."""
        _files.write(path, _core.report_page([_core.NamedResult(str(self._store))], "", self._named()))

    def plot_front(self, x: str | None = None, y: str | None = None, ax: Axes | None = None) -> Axes:
        """All designs, and the front, by two objectives; the first two by default."""
        return _plots.designs(self, x, y, ax)

    def _named(self) -> list[str]:
        return [name for name in self.objectives if name not in self._functions]

    def _tables(self) -> tuple[str, ...]:
        return "designs", "front", "sensitivities"

    def _table(self, name: str) -> Any:
        if name == "designs":
            return _packages.pandas().read_csv(io.StringIO(self.to_csv()))
        if name == "sensitivities":
            return [
                {"objective": each["objective"], "parameter": each["parameter"], "share": each["share"], **value}
                for each in self.sensitivities
                for value in each["values"]
            ]
        return [{**row, "workloads": {w["workload"]: w for w in row["workloads"]}} for row in self.front]

    def _cards(self) -> list[tuple[str, str, str]]:
        return [
            ("designs", f"{self.evaluated:,}", f"of {self.space_size:,}"),
            ("front", str(len(self.front)), ", ".join(self.objectives)),
            ("failed", f"{self.failed:,}", f"{self.excluded:,} excluded"),
            ("rate", f"{self.designs_per_s:,.4g}", "designs a second"),
        ]

    def _rows(self) -> tuple[list[str], list[list[str]], int]:
        rows = [
            [", ".join(f"{name}={value}" for name, value in design["design"].items()),
             *(f"{design['objectives'][name]:.4g}" for name in self.objectives)]
            for design in self.front[:10]
        ]  # fmt: skip
        return ["design", *self.objectives], rows, len(self.front)

    def _title(self) -> str:
        return f"{self.space}: {self.description}" if self.description else str(self.space)

    def __repr__(self) -> str:
        return f"<monet.Exploration {self.space}: {self.evaluated:,} designs, {len(self.front)} on the front>"


def _named(objectives: Sequence[str | DesignObjective]) -> tuple[list[str], list[tuple[str, DesignObjective]]]:
    """Names of all, and the functions among them by name."""
    names: list[str] = []
    functions: list[tuple[str, DesignObjective]] = []
    for objective in objectives:
        if isinstance(objective, str):
            names.append(objective)
            continue
        name = getattr(objective, "__name__", "function")
        name = "objective" if name == "<lambda>" else name
        number = 2
        plain = name
        while name in names:
            name, number = f"{plain} {number}", number + 1
        names.append(name)
        functions.append((name, objective))
    return names, functions


def explore(
    space: str | os.PathLike[str],
    *,
    network: str | os.PathLike[str] = "",
    batch: int | None = None,
    objectives: Sequence[str | DesignObjective] = (),
    samples: int | None = None,
    method: str | None = None,
    store: str | os.PathLike[str] | None = None,
    resume: bool = False,
    time_limit: float | None = None,
    progress: Progress = False,
    **options: Any,
) -> Exploration:
    """Which hardware should be built: many designs of a space, compared.

    space       a file, or the name of a space that comes with the library: "edge_tpu"
    network     in place of those of its workloads: a built-in one or a file; workloads that are then equal become one
    batch       in place of those of its workloads
    objectives  "latency", "energy@inference", or functions of a DesignMetrics: the smaller the better; by default the
                space's own
    samples     so many designs at most
    method      all, random, sobol, nsga2, surrogate, narrow; by default all of a small space, sobol with samples
    store       a file that keeps what was evaluated as it comes; by default one that is gone with the result
    resume      go on with a store that is there
    time_limit  seconds
    options     all others of `monet explore`: jobs=4, seed=2, population=32, cluster="local:4"

    Ctrl-C ends it with KeyboardInterrupt; what was evaluated is in the store, if one was named.
    """
    search = _core.ExploreOptions()
    search.space = os.fspath(space)
    search.network, search.batch = os.fspath(network), batch or 0
    names, functions = _named(objectives)
    if method is None:
        small = samples is None and _core.space_size(search.space) <= _ALL_UP_TO
        method = "sobol" if samples else "all" if small else "nsga2"
    own_folder = None if store is not None else tempfile.TemporaryDirectory(prefix="monet-")
    path = Path(own_folder.name, "store.sqlite") if own_folder is not None else Path(os.fspath(store or ""))
    given = {
        "objectives": names, "samples": samples or 0, "method": method, "store": str(path), "resume": resume,
        "time_limit": time_limit, "python": sys.executable, **options,
    }  # fmt: skip
    _options.apply("explore", given, search)
    with _progress.shown(progress) as told:
        found = _core.explore(search, functions, told)
    return Exploration(found, path, frozenset(name for name, _ in functions), own_folder)


def spaces() -> list[dict[str, Any]]:
    """The spaces that come with the library."""
    known: list[dict[str, Any]] = JsonObject(_core.list_spaces()).spaces
    return known
