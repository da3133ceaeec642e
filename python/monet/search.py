"""Searches for better plans of a step on a machine: fusion, memory, and all of it together."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from monet import _core, _files, _plots, _progress, _units
from monet._json_object import JsonObject
from monet._progress import Progress
from monet._options import Plan
from monet._step import Costs, Machine, NetworkOrStep, prepared
from monet._tables import Tabular
from monet.errors import Error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# "latency", "energy", "edp", or a function of what a whole plan costs: the smaller the better.
Objective: TypeAlias = str | Callable[[_core.PlanMetrics], float]
OWN_OBJECTIVE = "own"  # what results call a function

_FIGURES: dict[str, Callable[[JsonObject], float]] = {
    "latency": lambda plan: float(plan.latency_cycles),
    "energy": lambda plan: float(plan.energy_pj),
    "edp": lambda plan: float(plan.latency_cycles * plan.energy_pj),
    OWN_OBJECTIVE: lambda plan: math.inf if plan.value is None else float(plan.value),  # JSON has no infinity
}


class SearchedPlan(JsonObject):
    """A plan that a search found; its attributes are the fields of the search's JSON: latency_cycles, energy_pj,
    peak_bytes, recomputed, paged, …; `plan` is the text of its file, which `evaluate(plan=…)` takes, as it does this
    object itself."""

    def __init__(self, fields: dict[str, Any], plan: str | None) -> None:
        super().__init__(json.dumps(fields))
        self._plan = plan

    @property
    def plan(self) -> str:
        """The plan, complete, as a file: it gives the same numbers again."""
        if self._plan is None:
            raise Error("the plan was not read", advice="it is in a file beside result.json")
        return self._plan

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the plan."""
        _files.write(path, self.plan)

    def _cards(self) -> list[tuple[str, str, str]]:
        return [
            ("latency", _units.latency(self._fields), ""),
            ("energy", _units.joules(self.energy_pj), ""),
            ("peak", _units.size(self.peak_bytes), ""),
            ("recomputed", str(len(self.recomputed)), "tensors"),
            ("paged", str(len(self.paged)), "tensors"),
        ]

    def __repr__(self) -> str:
        figures = f"{_units.latency(self._fields)}, {_units.joules(self.energy_pj)}, {_units.size(self.peak_bytes)}"
        return f"<monet.SearchedPlan {figures}>"


class _Searched(Tabular, JsonObject):
    """Plans, and what they are compared with."""

    _start = ""  # the field with the plan before

    def __init__(
        self, text: str, found: _core.Checkpointing | _core.Optimization | None = None, file: Path | None = None
    ) -> None:
        super().__init__(text)
        self._found = found
        self._file = file  # that it was read from
        self._texts: list[str | None] = [*found.plans] if found is not None else self._texts_beside()

    @property
    def plans(self) -> list[SearchedPlan]:
        """The plans that were found; none: nothing fits (`feasible` is False)."""
        return [SearchedPlan(fields, text) for fields, text in zip(self._fields["plans"], self._texts)]

    @property
    def best(self) -> SearchedPlan:
        """The plan that is best in the objective."""
        plans = self.plans
        if not plans:
            least = _units.size(self.least_bytes)
            raise Error(
                f"no plan fits {_units.size(self.budget_bytes)} of {self.memory}: the least that was found is {least}",
                kind="infeasible",
                advice="give more memory or more time",
            )
        return min(plans, key=_FIGURES[self.objective])

    def _texts_beside(self) -> list[str | None]:
        return [_files.text_beside(self._file, f"plan_{i:03}.yaml") for i in range(len(self._fields["plans"]))]

    def _native(self) -> _core.Checkpointing | _core.Optimization:
        if self._found is None:
            raise self._absent()
        return self._found

    def to_text(self) -> str:
        """Tables for people."""
        return self._native().to_text()

    def to_csv(self) -> str:
        """A line for each plan."""
        return self._native().to_csv()

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Writes result.json, plans.csv, report.html and the plans, plan_000.yaml and so on, into a folder."""
        found = self._native()
        files = [("result.json", found.to_json() + "\n"), ("plans.csv", found.to_csv()), ("report.html", found.page())]
        return _files.write_all(folder, [*files, *((f"plan_{i:03}.yaml", text) for i, text in enumerate(found.plans))])

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes a page that opens in any browser, without a network."""
        if self._found is None and self._file is not None:
            _files.write(path, _core.report_page([_files.as_input(self._file, self.to_json())], "", []))
        else:
            _files.write(path, self._native().page())

    def plot_front(self, x: str = "latency_cycles", y: str = "energy_pj", ax: Axes | None = None) -> Axes:
        """The plans by two of latency_cycles, latency_s, energy_pj, peak_bytes and saved_bytes_dropped."""
        return _plots.plans(self._fields["plans"], self._fields[self._start], x, y, ax)

    def _tables(self) -> tuple[str, ...]:
        return ("plans",)

    def _table(self, name: str) -> Any:
        return self._fields[name]

    def _cards(self) -> list[tuple[str, str, str]]:
        if not self._fields["plans"]:
            return [("feasible", "✗", f"least {_units.size(self.least_bytes)} of {self.memory}")]
        best, start = self.best, self._fields[self._start]
        return [
            ("latency", _units.latency(best._fields), _units.change(best.latency_cycles, start["latency_cycles"])),
            ("energy", _units.joules(best.energy_pj), _units.change(best.energy_pj, start["energy_pj"])),
            ("peak", _units.size(best.peak_bytes), f"of {_units.size(self.budget_bytes)} in {self.memory}"),
            ("plans", str(len(self._fields["plans"])), f"{self.evaluated:,} priced"),
        ]

    def _rows(self) -> tuple[list[str], list[list[str]], int]:
        plans = self._fields["plans"]
        rows = [
            [str(i), _units.latency(plan), _units.joules(plan["energy_pj"]), _units.size(plan["peak_bytes"]),
             str(len(plan["recomputed"])), str(len(plan["paged"]))]
            for i, plan in enumerate(plans[:10])
        ]  # fmt: skip
        return ["plan", "latency", "energy", "peak", "recomputed", "paged"], rows, len(plans)

    def _title(self) -> str:
        objective = "an objective of your own" if self.objective == OWN_OBJECTIVE else self.objective
        return f"{self.model} on {self.hardware}, for {objective}"

    def __repr__(self) -> str:
        found = f"{len(self._fields['plans'])} plans" if self.feasible else "nothing fits"
        return f"<monet.{type(self).__name__} {self.model} on {self.hardware}: {found}>"


class Checkpointing(_Searched):
    """What `checkpoint` found. Its attributes are the fields of `monet checkpoint --json`: plans, all_kept, feasible,
    budget_bytes, least_bytes, bound, proven, evaluated, …; `best` is the plan that is best in the objective.

    Tables of `to_pandas`: plans.
    """

    _start = "all_kept"


class Optimization(_Searched):
    """What `optimize` found. Its attributes are the fields of `monet optimize --json`: plans (none better than another
    in latency, energy and memory; the fastest first), start, feasible, bound, evaluated, …; `best` is the plan that is
    best in the objective.

    Tables of `to_pandas`: plans.
    """

    _start = "start"


class Fusion(Tabular, JsonObject):
    """What `fuse` found. Its attributes are the fields of `monet fuse --json`: stacks, tiles, latency_cycles,
    energy_pj, unfused, bound, proven, …

    Tables of `to_pandas`: stacks.
    """

    def __init__(self, found: _core.Fusion) -> None:
        super().__init__(found.to_json())
        self._found: _core.Fusion | None = found
        self._plan = found.plan_yaml

    @property
    def plan(self) -> str:
        """The plan, as a file."""
        return self._plan

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the plan."""
        _files.write(path, self.plan)

    def to_text(self, stacks: int = 15) -> str:
        """Tables for people; so many of the largest stacks, 0: all."""
        return self._present(self._found).to_text(stacks)

    def _tables(self) -> tuple[str, ...]:
        return ("stacks",)

    def _table(self, name: str) -> Any:
        return [{"stack": i, "size": len(stack), "operators": stack} for i, stack in enumerate(self.stacks)]

    def _cards(self) -> list[tuple[str, str, str]]:
        unfused = self.unfused
        return [
            ("latency", _units.latency(self._fields), _units.change(self.latency_cycles, unfused["latency_cycles"])),
            ("energy", _units.joules(self.energy_pj), _units.change(self.energy_pj, unfused["energy_pj"])),
            ("stacks", str(len(self.stacks)), f"of {self.operators} operators"),
        ]

    def _rows(self) -> tuple[list[str], list[list[str]], int]:
        largest = sorted(self.stacks, key=len, reverse=True)[:10]
        return ["largest stacks", "operators"], [[", ".join(s), str(len(s))] for s in largest], len(self.stacks)

    def __repr__(self) -> str:
        change = _units.change(self.latency_cycles, self.unfused["latency_cycles"])
        return f"<monet.Fusion {self.model} on {self.hardware}: {len(self.stacks)} stacks, latency {change}>"


def _divided(objective: Objective) -> tuple[str | None, Callable[[_core.PlanMetrics], float] | None]:
    """A name, or a function."""
    return (objective, None) if isinstance(objective, str) else (None, objective)


def _search_options(objective: str | None, others: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {"objective": objective, **others}.items() if value is not None}


def fuse(
    network: NetworkOrStep,
    hardware: Machine,
    *,
    objective: str = "latency",
    limit: int = 6,
    training: bool = True,
    plan: Plan | None = None,
    costs: Costs | None = None,
    time_limit: float | None = None,
    progress: Progress = False,
    **options: Any,
) -> Fusion:
    """Layers fused into stacks over the whole step, with their tiles.

    network, hardware  as `evaluate` takes them
    objective          sets, traffic, latency, energy or edp
    limit              operators of a stack, at most
    plan               of it all but the stacks is kept to
    costs              functions by type of operator, as `evaluate` takes them; custom="costs.yaml": the same as a file
    time_limit         seconds after which the best so far is the answer
    options            all others of `monet fuse` and of the step, with _ for -
    """
    search = _core.FuseOptions()
    given = {"objective": objective, "limit": limit, "time_limit": time_limit, **options}
    source, settings = prepared("fuse", network, hardware, plan, {}, given, search, _core.FUSE_STEP_OPTIONS)
    with _progress.shown(progress) as told:
        settings.inference = not training
        return Fusion(_core.fuse(source, search, dict(costs or {}), told))


def checkpoint(
    network: NetworkOrStep,
    hardware: Machine,
    *,
    memory_budget: str | list[str] | None = None,
    deadline: str | None = None,
    objective: Objective = "latency",
    method: str = "search",
    pareto: bool = False,
    plan: Plan | None = None,
    costs: Costs | None = None,
    time_limit: float | None = None,
    progress: Progress = False,
    **options: Any,
) -> Checkpointing:
    """What to keep, compute again and page out, so that a training step fits a memory budget at the least cost.

    network, hardware  as `evaluate` takes them
    memory_budget      "2MiB", "sram=2MiB", "80%" of what all kept needs; by default what the memory holds
    deadline           "1.5x" of all kept, "20ms"
    objective          latency, energy, edp, or a function of a PlanMetrics: the smaller the better
    method             search, nsga2, exact, milp
    pareto             plans for all budgets, from all kept down to the least
    plan               stacks, tiles and cores to keep to
    costs              functions by type of operator, as `evaluate` takes them; custom="costs.yaml": the same as a file
    time_limit         seconds after which the best so far is the answer
    options            all others of `monet checkpoint` and of the step, with _ for -: evaluations=100, page=False

    Ctrl-C ends it with KeyboardInterrupt, and what was found so far is lost: give a time limit to keep it.
    """
    search = _core.CheckpointOptions()
    name, function = _divided(objective)
    given = _search_options(
        name,
        {"memory_budget": memory_budget, "deadline": deadline, "method": method, "pareto": pareto,
         "time_limit": time_limit, **options},
    )  # fmt: skip
    source, _ = prepared("checkpoint", network, hardware, plan, {}, given, search, _core.SEARCH_STEP_OPTIONS)
    with _progress.shown(progress) as told:
        found = _core.checkpoint(source, search, False, function, dict(costs or {}), told)
    return Checkpointing(found.to_json(), found)


def optimize(
    network: NetworkOrStep,
    hardware: Machine,
    *,
    memory_budget: str | list[str] | None = None,
    deadline: str | None = None,
    objective: Objective = "latency",
    plan: Plan | None = None,
    costs: Costs | None = None,
    time_limit: float | None = None,
    progress: Progress = False,
    **options: Any,
) -> Optimization:
    """Fusion, memory and placement of a training step together: a set of plans, each the best in its way.

    network, hardware  as `evaluate` takes them
    memory_budget      "2MiB", "sram=2MiB", "80%" of what all kept needs; by default what the memory holds
    deadline           "1.5x" of what it takes without, "20ms"
    objective          latency, energy, edp, or a function of a PlanMetrics: the smaller the better
    plan               what it says is kept to
    costs              functions by type of operator, as `evaluate` takes them; custom="costs.yaml": the same as a file
    time_limit         seconds after which the best so far is the answer
    options            all others of `monet optimize` and of the step, with _ for -: fuse=False, evaluations=30, seed=2

    Ctrl-C ends it with KeyboardInterrupt, and what was found so far is lost: give a time limit to keep it.
    """
    search = _core.OptimizeOptions()
    name, function = _divided(objective)
    given = _search_options(
        name, {"memory_budget": memory_budget, "deadline": deadline, "time_limit": time_limit, **options}
    )
    source, _ = prepared("optimize", network, hardware, plan, {}, given, search, _core.SEARCH_STEP_OPTIONS)
    with _progress.shown(progress) as told:
        found = _core.optimize(source, search, function, dict(costs or {}), told)
    return Optimization(found.to_json(), found)
