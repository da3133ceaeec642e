"""Is a function of the user's own what a search makes small, and is what it raises what the caller sees?"""

from __future__ import annotations

import csv
import io
import math

import pytest

monet = pytest.importorskip("monet", reason="the Python package is not installed; run `make python`")

NETWORK = "mlp-robotics"
QUICK = {"evaluations": 15, "generations": 2, "population": 6}


@pytest.fixture(scope="module")
def machine():
    return monet.hardware("edge_tpu", x=2, y=2)


def product(metrics) -> float:
    return metrics.latency_s * metrics.energy_pj**0.5


def test_exact_finds_the_best_of_all_plans(machine) -> None:
    """All plans there are, priced without the function, and then by it."""
    options = monet._core.CheckpointOptions()
    options.method, options.reorder, options.page = "exact", False, False
    options.evaluate.machine = monet._core.Machine("edge_tpu", [("x", "2"), ("y", "2")])
    options.evaluate.batch = 16
    points = monet._core.checkpoint(monet._core.Network(NETWORK), options, True, None, {}, None).points_to_csv()
    rows = list(csv.DictReader(io.StringIO(points)))
    assert len(rows) > 10
    middle = sorted(float(row["latency_cycles"]) for row in rows)[len(rows) // 2]
    wanted = min(abs(float(row["latency_cycles"]) - middle) for row in rows)
    found = monet.checkpoint(
        monet.load(NETWORK, batch=16), machine, method="exact", reorder=False, page=False,
        objective=lambda m: abs(m.latency_cycles - middle),
    )  # fmt: skip
    assert found.best.value == wanted == abs(found.best.latency_cycles - middle)


@pytest.mark.parametrize("method", ["search", "nsga2"])
def test_checkpoint(machine, method: str) -> None:
    options = {"evaluations": 20, "population": 8, "generations": 2, "method": method}
    found = monet.checkpoint(monet.load(NETWORK, batch=16), machine, objective=product, **options)
    assert found.objective == "own" and found.bound["value"] is None, "of a function no bound is known"
    assert found.bound["latency_cycles"] > 0
    for plan in found.plans:
        assert plan.value == product(plan)
    assert found.best.value == min(plan.value for plan in found.plans) <= product_of(found.all_kept)


def product_of(fields: dict) -> float:
    return fields["latency_s"] * fields["energy_pj"] ** 0.5


def test_optimize(machine) -> None:
    found = monet.optimize(NETWORK, machine, objective=product, **QUICK)
    assert found.objective == "own" and found.bound["value"] is None
    for plan in found.plans:
        assert plan.value == product(plan)
    assert found.best.value == min(plan.value for plan in found.plans)
    assert found.best.value <= found.start["value"] == product_of(found.start)
    again = monet.evaluate(NETWORK, machine, plan=found.best)
    assert (again.latency_cycles, again.energy_pj) == (found.best.latency_cycles, found.best.energy_pj)
    repeated = monet.optimize(NETWORK, machine, objective=product, jobs=1, **QUICK)
    assert repeated.to_dict()["plans"] == found.to_dict()["plans"], "the same for any number of threads"


def test_an_objective_that_only_wants_little_memory(machine) -> None:
    least = monet.optimize(monet.load(NETWORK, batch=16), machine, objective=lambda m: m.peak_bytes, **QUICK)
    assert least.best.peak_bytes == min(plan.peak_bytes for plan in least.plans) == least.best.value


def test_explore_all_designs() -> None:
    def dear(design) -> float:
        assert set(design.workloads) == {"learn", "act"} and "core_clock" in design.parameters
        return design.area_mm2 * design.workloads["learn"].latency_s

    found = monet.explore("mcu", objectives=[dear])
    assert found.objectives == ["dear"]
    rows = [row for row in csv.DictReader(io.StringIO(found.to_csv())) if row["status"] == "ran"]
    assert len(rows) == found.evaluated > 100
    best = min(float(row["area_mm2"]) * float(row["learn.latency_s"]) for row in rows)
    assert [design["objectives"]["dear"] for design in found.front] == [best]


def test_explore_with_names_and_functions() -> None:
    asked = []

    def own(design) -> float:
        asked.append(design.design)
        return design.latency_s * design.energy_pj

    found = monet.explore("mcu", objectives=[own, "area", lambda d: d.area_mm2], method="nsga2", samples=40)
    assert found.objectives == ["own", "area", "objective"]
    assert len(asked) == len(set(asked)) == found.evaluated, "each design is asked for once"
    for design in found.front:
        metrics, values = design["metrics"], design["objectives"]
        assert values["own"] == metrics["latency_s"] * metrics["energy_pj"]
        assert values["area"] == values["objective"] == metrics["area_mm2"]


class Refusal(Exception):
    pass


CALLS = {
    "optimize": lambda machine, objective: monet.optimize(NETWORK, machine, objective=objective, **QUICK),
    "checkpoint": lambda machine, objective: monet.checkpoint(NETWORK, machine, objective=objective),
    "explore": lambda machine, objective: monet.explore("mcu", samples=10, objectives=[objective]),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_a_function_raises_is_raised(machine, name: str) -> None:
    refusal = Refusal("not this one")
    asked = []

    def objective(metrics) -> float:
        asked.append(metrics)
        raise refusal

    with pytest.raises(Refusal) as caught:
        CALLS[name](machine, objective)
    assert caught.value is refusal and len(asked) == 1, "it is not asked again"


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    ("value", "error", "message"),
    [("little", TypeError, "real number"), (math.nan, monet.Error, "the objective is not a number")],
)
def test_what_is_no_number(machine, name: str, value, error, message: str) -> None:
    with pytest.raises(error, match=message):
        CALLS[name](machine, lambda metrics: value)


def test_infinity_is_what_must_not_be_taken(machine) -> None:
    start = monet.evaluate(NETWORK, machine)
    found = monet.optimize(
        NETWORK, machine, objective=lambda m: math.inf if m.latency_s < start.latency_s else m.energy_pj, **QUICK
    )
    assert found.best.latency_s >= start.latency_s


def test_infinite_designs_are_on_no_front() -> None:
    limit = 1e-2  # of some of the designs
    def in_time(design) -> float:
        return design.energy_pj if design.latency_s < limit else math.inf

    found = monet.explore("mcu", objectives=[in_time, "area"])
    rows = [row for row in csv.DictReader(io.StringIO(found.to_csv())) if row["status"] == "ran"]
    least_area = min(float(row["area_mm2"]) for row in rows if float(row["latency_s"]) < limit)
    assert all(design["metrics"]["latency_s"] < limit for design in found.front)
    assert min(design["metrics"]["area_mm2"] for design in found.front) == least_area
    assert found.hypervolume is not None
