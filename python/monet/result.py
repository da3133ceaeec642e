"""A training step, or inference, of a network on a machine, in time."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from monet import _core, _files, _plots, _progress, _units
from monet._json_object import JsonObject
from monet._options import Plan
from monet._progress import Progress
from monet._step import Costs, Machine, NetworkOrStep, prepared
from monet._tables import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Result(Tabular, JsonObject):
    """What `evaluate` found. Its attributes are the fields of `monet evaluate --json`, with the same numbers:

    latency_s, latency_cycles, energy_pj, energy_breakdown, peak_bytes, live_peak_bytes, footprint_bytes, macs,
    utilization, fits, does_not_fit, bound, phases, operators, resources, memories, critical_path, warnings, notes, …

    Tables of `to_pandas`: operators, memories, resources, phases, critical_path, lifetimes, trace.
    """

    def __init__(self, text: str, evaluation: _core.Evaluation | None = None, file: Path | None = None) -> None:
        super().__init__(text)
        self._found = evaluation
        self._file = file  # that it was read from

    @property
    def plan(self) -> str:
        """The plan, complete, as a file: it gives the same result again."""
        beside = _files.text_beside(self._file, "plan.yaml")
        return self._present(self._found).plan_yaml if beside is None else beside

    def to_text(self, operators: int = 15, tensors: int = 10) -> str:
        """Tables for people; so many rows of operators and of tensors at the peak, 0: all."""
        return self._present(self._found).to_text(operators, tensors)

    def to_csv(self) -> str:
        """A line for each operator."""
        return self._present(self._found).to_csv()

    def to_trace(self) -> str:
        """The schedule for ui.perfetto.dev."""
        return self._present(self._found).to_trace()

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Writes what `monet evaluate -o` writes; `read_result`, `compare` and `monet report` take the folder. With
        details=False there is no schedule to be written: lifetimes.csv, trace.json and chakra.et say nothing."""
        found = self._present(self._found)
        return _files.write_all(
            folder,
            [
                ("result.json", found.to_json() + "\n"),
                ("details.json", found.to_details()),
                ("operators.csv", found.to_csv()),
                ("lifetimes.csv", found.to_lifetimes_csv()),
                ("plan.yaml", found.plan_yaml),
                ("trace.json", found.to_trace()),
                ("chakra.et", found.to_chakra()),
                ("report.html", found.page()),
            ],
        )

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes a page that opens in any browser, without a network."""
        if self._found is None and self._file is not None:
            _files.write(path, _core.report_page([_files.as_input(self._file, self.to_json())], "", []))
        else:
            _files.write(path, self._present(self._found).page())

    def plot_memory(self, memory: str | None = None, ax: Axes | None = None) -> Axes:
        """Bytes in a memory over time, by role; the one that holds most by default."""
        return _plots.memory(self, memory, ax)

    def plot_schedule(self, links: bool = False, ax: Axes | None = None) -> Axes:
        """What each core does when, by phase; with what the links carry if wanted. The critical path is outlined."""
        return _plots.schedule(self, self._present(self._found).trace(), links, ax)

    def plot_energy(self, by: str = "part", ax: Axes | None = None) -> Axes:
        """Where the energy goes: by part of the machine, by operator type ("operator") or by phase ("phase")."""
        return _plots.energy(self, by, ax)

    def _tables(self) -> tuple[str, ...]:
        return "operators", "memories", "resources", "phases", "critical_path", "lifetimes", "trace"

    def _table(self, name: str) -> Any:
        if name == "trace":
            return self._present(self._found).trace()
        if name == "lifetimes":
            return self._present(self._found).lifetimes()
        if name == "memories":
            without = ("curve", "alive_at_peak")
            return [{key: value for key, value in row.items() if key not in without} for row in self.memories]
        return self._fields[name]

    def _cards(self) -> list[tuple[str, str, str]]:
        bound, inference = self.bound, self._fields.get("inference")
        memory = max(self.memories, key=lambda each: each["live_peak_bytes"], default=None)

        def against(name: str, value: float) -> str:
            return f"{value / inference[name]:.3g}× of inference" if inference and inference.get(name) else ""

        cards = [
            ("latency", _units.latency(self._fields), against("latency_cycles", self.latency_cycles)),
            ("energy", _units.joules(self.energy_pj), against("energy_pj", self.energy_pj)),
        ]
        if memory is not None:
            peak = memory["packed_peak_bytes"] or memory["live_peak_bytes"]
            cards.append(("memory", _units.size(peak), f"peak of {memory['name']}"))
        if bound["latency_cycles"]:
            gap = f"{self.latency_cycles / bound['latency_cycles']:.3g}×"
            cards.append(("latency over its bound", gap, bound["by"]))
        if not self.fits:
            cards.append(("does not fit", "✗", self.does_not_fit))
        return cards

    def _rows(self) -> tuple[list[str], list[list[str]], int]:
        busiest = sorted(self.operators, key=lambda op: -op["busy_cycles"])[:10]
        rows = [
            [op["name"], op["operator"], op["phase"], f"{op['macs']:,.0f}", f"{op['busy_cycles']:,.0f}",
             _units.joules(op["energy_pj"])]
            for op in busiest
        ]  # fmt: skip
        return ["name", "operator", "phase", "MACs", "busy cycles", "energy"], rows, len(self.operators)

    def _title(self) -> str:
        what = "a training step" if self.mode == "training" else "inference"
        return f"{self.model} on {self.hardware}: {what}, batch {self.batch}"

    def __repr__(self) -> str:
        fits = "" if self.fits else ", does not fit"
        latency, energy = _units.latency(self._fields), _units.joules(self.energy_pj)
        return f"<monet.Result {self.model} on {self.hardware}: {latency}, {energy}{fits}>"


def evaluate(
    network: NetworkOrStep,
    hardware: Machine,
    *,
    training: bool = True,
    plan: Plan | None = None,
    batch: int | None = None,
    precision: str | None = None,
    dimensions: Mapping[str, int] | None = None,
    costs: Costs | None = None,
    details: bool = True,
    suggest: bool = False,
    progress: Progress = False,
    **options: Any,
) -> Result:
    """A training step (or inference: training=False) of a network on a machine.

    network, hardware  what `load` (or `Network.train`) and `hardware` gave, or what these take
    plan               a file, its text, or a result that has one; what it leaves out is decided by the default policy
    batch, precision, dimensions   instead of the network's own
    costs              functions by type of operator: what a tile of it costs, (cycles, energy_pj), or None: not said
    details            keep schedule, lifetimes and graph, for plots and report
    suggest            try other options too, as `monet evaluate --suggest`: those that help are in `result.options`
    progress           True: a line on standard error; or a function of (what, done, all)
    options            all others of `monet evaluate`, with _ for -: optimizer="sgd", recompute=["blocks"], check=False,
                       custom="costs.yaml": costs of operators as a file, instead of functions
    """
    sizes = {"batch": batch, "precision": precision, "dimensions": dimensions}
    source, settings = prepared("evaluate", network, hardware, plan, sizes, options)
    with _progress.shown(progress) as told:
        settings.inference = not training
        settings.trace = settings.lifetimes = settings.graph = details
        if suggest:
            settings.suggest_up_to = 2**63 - 1
        found = _core.evaluate(source, settings, dict(costs or {}), told)
    return Result(found.to_json(), found)
