"""Number formats and recipes: what there is, training in them for real, and what each costs."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from monet import _core, _files, _options, _plots, _progress, _units
from monet._json_object import JsonObject
from monet._progress import Progress
from monet._step import Costs, Machine, NetworkOrStep, prepared, put_network_or_step
from monet._tables import Tabular
from monet.errors import Error
from monet.network import Network, Step

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The name of one that comes with the library, or a file.
Recipe: TypeAlias = str | os.PathLike[str]


def formats() -> list[dict[str, Any]]:
    """The number formats that recipes may name: bits, groups, scale, largest and smallest number, source."""
    found: list[dict[str, Any]] = json.loads(_core.list_precisions())["formats"]
    return found


def recipes(name: Recipe | None = None) -> list[dict[str, Any]]:
    """The recipes that come with the library, or one of them or a file: what each kind of tensor is made of."""
    if name is None:
        found: list[dict[str, Any]] = json.loads(_core.list_precisions())["recipes"]
        return found
    described = json.loads(_core.describe_precision(os.fspath(name)))
    if described["recipe"] is None:
        raise Error(f"'{name}' is a format, not a recipe", advice="formats() has it")
    return [described["recipe"]]


class Simulation(Tabular, JsonObject):
    """A network that was trained for real, every number rounded as a recipe has it. Its attributes are the fields of a
    simulation of `monet train --simulate --json`: losses (of each step's batch), measured (on samples held out: step,
    loss, accuracy), diverged, precision, steps, batch, learning_rate, seed, parameters, …

    Tables of `to_pandas`: losses, measured.
    """

    def plot_loss(self, held_out: bool = False, ax: Axes | None = None) -> Axes:
        """The loss over the steps: of the batches, or of the samples held out."""
        return _plots.losses([(str(self.precision or "as in the file"), self._fields)], held_out, ax)

    def _tables(self) -> tuple[str, ...]:
        return "losses", "measured"

    def _table(self, name: str) -> Any:
        if name == "measured":
            return self.measured
        return [{"step": step, "loss": loss} for step, loss in enumerate(self.losses, 1)]

    def _cards(self) -> list[tuple[str, str, str]]:
        first, last = self.measured[0], self.measured[-1]
        cards = [("held-out loss", _loss(last["loss"]), f"{_loss(first['loss'])} before")]
        if last["accuracy"] is not None:
            before = "" if first["accuracy"] is None else f"{first['accuracy']:.1%} before"
            cards.append(("accuracy", f"{last['accuracy']:.1%}", before))
        return [*cards, ("steps", f"{len(self.losses):,}", "came apart" if self.diverged else f"batch {self.batch}")]

    def _title(self) -> str:
        return f"{self.model} trained in {self.precision or 'its own precision'}"

    def __repr__(self) -> str:
        return f"<monet.Simulation {self._title()}: held-out loss {_loss(self.measured[-1]['loss'])}>"


class PrecisionComparison(Tabular, JsonObject):
    """Recipes on one network and one machine. Its attributes are the fields of `monet precision compare --json`: rows
    (costs, simulation, whether it is on the front; `failed` says why there are no costs, `costed_as` in what products
    were costed that the machine cannot run as they are), loss_tolerance (how far apart two seeds of the first recipe
    are: closer losses count as equal), warnings, notes, …

    Tables of `to_pandas`: rows (with loss and accuracy at the end), losses and measured (of all recipes).
    """

    def __init__(
        self, text: str, found: _core.PrecisionComparison | None = None, file: Path | None = None
    ) -> None:
        super().__init__(text)
        self._found = found
        self._file = file  # that it was read from

    @property
    def best(self) -> list[str]:
        """The recipes on the front: no other has a lower held-out loss (beyond loss_tolerance), less energy and less
        peak memory. Recipes that are costed_as others, or were not trained to the end, are never on it."""
        return [row["recipe"] for row in self.rows if row["best"]]

    def simulation(self, recipe: str) -> Simulation:
        """How training went in a recipe."""
        by_name = {row["recipe"]: row for row in self.rows}
        if recipe not in by_name:
            raise Error(f"'{recipe}' was not compared", advice=_options.nearest(recipe, by_name))
        if by_name[recipe]["simulation"] is None:
            raise Error(f"'{recipe}' was not trained", advice=by_name[recipe]["not_simulated"] or "accuracy=True does it")
        return Simulation(json.dumps(by_name[recipe]["simulation"]))

    def to_text(self) -> str:
        """Tables for people."""
        return self._present(self._found).to_text()

    def to_csv(self) -> str:
        """A line for each recipe."""
        return self._present(self._found).to_csv()

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Writes what `monet precision compare -o` writes: comparison.json, comparison.csv and report.html."""
        found = self._present(self._found)
        files = [("comparison.json", found.to_json() + "\n"), ("comparison.csv", found.to_csv())]
        return _files.write_all(folder, [*files, ("report.html", found.page())])

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes a page that opens in any browser, without a network."""
        if self._found is None and self._file is not None:
            _files.write(path, _core.report_page([_files.as_input(self._file, self.to_json())], "", []))
        else:
            _files.write(path, self._present(self._found).page())

    def plot(self, x: str = "energy_pj", y: str | None = None, ax: Axes | None = None) -> Axes:
        """The recipes by two of energy_pj, peak_bytes, latency_s, loss and accuracy, each with its name; the line joins
        those that no other beats in both. By default loss against energy, or memory where nothing was trained."""
        rows = self._table("rows")
        trained = any(row["loss"] is not None for row in rows)
        ax = _plots.recipes(rows, x, y or ("loss" if trained else "peak_bytes"), ax)
        ax.set_title(f"{self.model} on {self.hardware}")
        return ax

    def plot_loss(self, held_out: bool = True, ax: Axes | None = None) -> Axes:
        """The loss over the steps in each recipe."""
        curves = [(row["recipe"], row["simulation"]) for row in self.rows if row["simulation"] is not None]
        if not curves:
            raise Error("nothing was trained", advice="compare with accuracy=True")
        return _plots.losses(curves, held_out, ax)

    def _tables(self) -> tuple[str, ...]:
        return "rows", "losses", "measured"

    def _table(self, name: str) -> Any:
        if name == "rows":
            return [_flat(row) for row in self.rows]
        trained = [(row["recipe"], row["simulation"]) for row in self.rows if row["simulation"] is not None]
        if name == "measured":
            return [{"recipe": recipe, **each} for recipe, simulation in trained for each in simulation["measured"]]
        return [
            {"recipe": recipe, "step": step, "loss": loss}
            for recipe, simulation in trained
            for step, loss in enumerate(simulation["losses"], 1)
        ]

    def _rows(self) -> tuple[list[str], list[list[str]], int]:
        rows = [
            [row["recipe"], "front" if row["best"] else "", _loss(row["loss"]),
             *(["–", "–"] if row["failed"] else [_units.joules(row["energy_pj"]), _units.size(row["peak_bytes"])])]
            for row in self._table("rows")
        ]  # fmt: skip
        return ["recipe", "", "held-out loss", "energy", "peak"], rows, len(rows)

    def _warnings(self) -> list[str]:
        failed = [f"{row['recipe']} cannot run: {row['failed']}" for row in self.rows if row["failed"]]
        return [*self._fields.get("warnings", []), *failed]

    def __repr__(self) -> str:
        return f"<monet.PrecisionComparison {self.model} on {self.hardware}: {len(self.rows)} recipes>"


def _loss(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Without the curves."""
    simulation = row["simulation"]
    last = simulation["measured"][-1] if simulation is not None else {"loss": None, "accuracy": None}
    diverged = simulation["diverged"] if simulation is not None else None
    unfinished = simulation is not None and (diverged or simulation["stopped"])
    others = {name: value for name, value in row.items() if name != "simulation"}
    held_out = {name: None if unfinished else last[name] for name in ("loss", "accuracy")}
    return {**others, **held_out, "diverged": diverged}


def _simulate_options(given: Mapping[str, Any]) -> _core.SimulateOptions:
    settings = _core.SimulateOptions()
    _options.apply("simulate", {name: value for name, value in given.items() if value is not None}, settings)
    return settings


def simulate(
    network: NetworkOrStep,
    *,
    precision: Recipe | None = None,
    steps: int = 200,
    batch: int | None = None,
    learning_rate: float | None = None,
    seed: int = 1,
    data: str | os.PathLike[str] = "",
    samples: int = 0,
    measure_every: int = 0,
    force: bool = False,
    dimensions: Mapping[str, int] | None = None,
    progress: Progress = False,
    **options: Any,
) -> Simulation:
    """Trains a small network for real, every number rounded as a recipe has it.

    network        a Step, a Network, or what `load` takes; of up to about a million multiply-accumulates a sample
    precision      a recipe of `recipes()` or a file; the network's own by default
    learning_rate  by the optimizer unless given
    seed           of initial weights, data and order: equal for every recipe
    data           a file of samples; empty: a made-up task
    samples        of the made-up task; 0: 64 batches
    measure_every  steps between measurements of the samples held out; 0: a quarter of all steps
    force          also what is estimated to take hours
    options        all others of `monet train`, with _ for -: optimizer="sgd", loss="mse", jobs=1
    """
    settings = _core.StepRequest()
    sizes = {
        "batch": batch,
        "dimensions": dimensions,
        "precision": None if precision is None else os.fspath(precision),
    }
    source, _ = put_network_or_step(settings, network, sizes)
    _options.apply("simulate", options, settings)
    given = {"steps": steps, "learning_rate": learning_rate, "seed": seed, "data": data, "samples": samples,
             "measure_every": measure_every, "force": force}  # fmt: skip
    with _progress.shown(progress) as told:
        found = json.loads(_core.simulate(source, settings, _simulate_options(given), told))
    common = {name: value for name, value in found.items() if name not in ("schema", "command", "simulations")}
    return Simulation(json.dumps({**common, **found["simulations"][0]}))


def compare_precisions(
    network: NetworkOrStep,
    hardware: Machine,
    *,
    recipes: Sequence[Recipe] = (),
    accuracy: bool = True,
    simulate: Network | Step | str | os.PathLike[str] | None = None,
    simulate_batch: int | None = None,
    steps: int = 200,
    batch: int | None = None,
    learning_rate: float | None = None,
    seed: int = 1,
    data: str | os.PathLike[str] = "",
    samples: int = 0,
    measure_every: int = 0,
    force: bool = False,
    dimensions: Mapping[str, int] | None = None,
    costs: Costs | None = None,
    progress: Progress = False,
    **options: Any,
) -> PrecisionComparison:
    """Every recipe on one network and one machine: what a step costs, and what training for real comes to.

    network, hardware  as `evaluate` takes them
    recipes            names and files; by default all of `recipes()`
    accuracy           False: train nothing, costs only
    simulate           the network that is trained, if not the same: a small one stands for a large one of its kind
    simulate_batch     its batch; by default that of `simulate` where it is a Network, or else that of the step
    steps, learning_rate, seed, data, samples, force   as `simulate` takes them
    measure_every      steps between measurements of the samples held out; 0: a twentieth of all steps
    costs              functions by type of operator, as `evaluate` takes them
    options            all others of `evaluate` and of the step, with _ for -
    """
    trained = ""
    if simulate is not None:
        own = simulate.network if isinstance(simulate, Step) else simulate
        trained = own.source if isinstance(own, Network) else os.fspath(own)
        if isinstance(own, Network) and simulate_batch is None:
            simulate_batch = own.batch
    given = {"steps": steps, "learning_rate": learning_rate, "seed": seed, "data": data, "samples": samples,
             "measure_every": measure_every, "force": force}  # fmt: skip
    sizes = {"batch": batch, "dimensions": dimensions}
    source, settings = prepared("compare_precisions", network, hardware, None, sizes, options)
    with _progress.shown(progress) as told:
        found = _core.compare_precisions(
            source,
            settings,
            _simulate_options(given),
            [os.fspath(name) for name in ([recipes] if isinstance(recipes, str) else recipes)],
            trained,
            simulate_batch,
            accuracy,
            dict(costs or {}),
            told,
        )
    return PrecisionComparison(found.to_json(), found)
