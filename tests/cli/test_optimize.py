"""Does `monet optimize` keep its contract: a front of plans within the budget, never worse than the start, each of which
evaluates to the same numbers; JSON, exit status, errors that help?"""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path

import pytest
from commands import answer_of, fails, interrupted, run_command

MODEL = ("mlp-robotics:hidden=32,layers=2", "--batch", 128)
MACHINE = ("--hardware", "monet_2x2")
QUICK = ("--rounds", 1, "--evaluations", 15, "--population", 6, "--generations", 2)
PLAN_FIELDS = {"latency_cycles", "energy_pj", "peak_bytes", "saved_bytes_dropped", "recomputed", "paged", "plan_file"}


@pytest.fixture
def run(monet: Path):
    def call(*arguments: object, command: str = "optimize") -> subprocess.CompletedProcess:
        return run_command(monet, command, *arguments)

    return call


@pytest.fixture
def found(run):
    def call(*arguments: object, model=MODEL, machine=MACHINE) -> dict:
        return answer_of(run(*model, *machine, *QUICK, *arguments, "--json", "-q"))

    return call


def points(answer: dict) -> list[tuple]:
    return [(plan["latency_cycles"], plan["energy_pj"], plan["peak_bytes"]) for plan in answer["plans"]]


def check(answer: dict) -> None:
    """The front: the fastest first, none better than another, all within the budget."""
    assert points(answer) == sorted(set(points(answer))) != []
    for a in points(answer):
        assert not any(b != a and all(x <= y for x, y in zip(b, a)) for b in points(answer))
        assert answer["least_bytes"] <= a[2] <= answer["budget_bytes"]
        assert a[0] <= answer.get("deadline_cycles", a[0])


def test_json_has_the_contract(found, run) -> None:
    answer = found()
    assert answer["schema"] == 1 and answer["feasible"] and answer["complete"] and answer["evaluated"] > 10
    assert answer["memory"] == "dram"
    check(answer)
    for plan in [answer["start"], *answer["plans"]]:
        assert PLAN_FIELDS <= plan.keys()
        if not plan["recomputed"]:
            assert plan["latency_cycles"] >= answer["bound"]["latency_cycles"] > 0
            assert plan["energy_pj"] >= answer["bound"]["energy_pj"] > 0
    assert answer["plans"][0]["why"] == "the fastest"
    assert all(" for " in plan["why"] and " more time: " in plan["why"] for plan in answer["plans"][1:])
    evaluation = json.loads(run(*MODEL, *MACHINE, "--json", "-q", command="evaluate").stdout)
    assert answer["start"]["latency_cycles"] == evaluation["latency_cycles"]
    assert answer["start"]["energy_pj"] == evaluation["energy_pj"]
    assert answer["start"]["peak_bytes"] == evaluation["peak_bytes"]["dram"]


def test_one_plan_is_recommended(found, run) -> None:
    for objective in ("latency", "energy", "edp"):
        answer = found("--objective", objective)
        value = {"latency": lambda p: p[0], "energy": lambda p: p[1], "edp": lambda p: p[0] * p[1]}[objective]
        all_of_them = points(answer)
        near = [p for p in all_of_them if value(p) <= 1.01 * min(map(value, all_of_them))]
        best = min(near, key=lambda p: p[0] * p[1] * p[2])
        assert all_of_them[answer["recommended"]["plan"]] == best
        why = answer["recommended"]["why"]
        assert why.startswith(f"the best in {objective}") or f"of the best in {objective}, with " in why
    assert f"plan {answer['recommended']['plan']}: {why}" in run(*MODEL, *MACHINE, *QUICK, "--objective", "edp").stdout


@pytest.mark.parametrize("objective", ["latency", "energy", "edp"])
def test_never_worse_than_the_start(found, objective) -> None:
    answer = found("--objective", objective)
    value = {"latency": lambda p: p[0], "energy": lambda p: p[1], "edp": lambda p: p[0] * p[1]}[objective]
    start = answer["start"]
    assert min(map(value, points(answer))) <= value((start["latency_cycles"], start["energy_pj"]))


def test_plans_evaluate_to_the_same(found, run, tmp_path) -> None:
    folder = tmp_path / "new" / "plans"
    answer = found("-o", folder, "--memory-budget", "100%")
    check(answer)
    for i, plan in enumerate(answer["plans"]):
        assert plan["plan_file"] == str(folder / f"plan_{i:03}.yaml")
        result = run(*MODEL, *MACHINE, "--plan", plan["plan_file"], "--json", "-q", command="evaluate")
        assert result.returncode == 0, result.stderr
        evaluation = json.loads(result.stdout)
        assert evaluation["latency_cycles"] == plan["latency_cycles"]
        assert evaluation["energy_pj"] == plan["energy_pj"]
        assert evaluation["peak_bytes"]["dram"] == plan["peak_bytes"]
    with open(folder / "plans.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["latency_cycles"]) for row in rows] == [plan["latency_cycles"] for plan in answer["plans"]]
    # One of them to begin with.
    again = found("--plan", answer["plans"][0]["plan_file"], "--no-fuse", "--no-place", "--no-reorder")
    assert again["start"]["latency_cycles"] == answer["plans"][0]["latency_cycles"]
    assert again["start"]["peak_bytes"] == answer["plans"][0]["peak_bytes"]


def test_budgets_and_deadlines(found) -> None:
    tight = {"model": ("mlp-robotics:hidden=64", "--batch", 128), "machine": ("--hardware", "stm32h743")}
    free = found(**tight)
    budget = (free["least_bytes"] + free["start"]["peak_bytes"]) // 2
    answer = found("--memory-budget", budget, **tight)
    assert answer["budget_bytes"] == budget < answer["start"]["peak_bytes"]
    check(answer)
    assert answer["plans"][0]["latency_cycles"] >= free["bound"]["latency_cycles"]
    late = found("--deadline", "1.5x", **tight)
    assert late["deadline_cycles"] == pytest.approx(1.5 * late["start"]["latency_cycles"])
    check(late)
    assert found("--memory-budget", "90%", **tight)["budget_bytes"] == int(0.9 * free["start"]["peak_bytes"])


def test_too_little(run) -> None:
    result = run(*MODEL, *MACHINE, *QUICK, "--memory-budget", "1KiB", "--json")
    fails(result, 2, "--memory-budget", "1 KiB of dram do not suffice", "the least that was found is", "monet checkpoint")
    answer = json.loads(result.stdout)
    assert not answer["feasible"] and answer["plans"] == [] and answer["least_bytes"] > 1024
    assert f"({answer['least_bytes']:,} bytes)" in result.stderr
    fails(run(*MODEL, *MACHINE, *QUICK, "--deadline", "0.01x"), 2, "--deadline", "no plan that was found keeps")


def test_parts_can_be_left_out(found) -> None:
    nothing = found("--no-fuse", "--no-memory", "--no-place")
    assert points(nothing) == [(nothing["start"]["latency_cycles"], nothing["start"]["energy_pj"], nothing["start"]["peak_bytes"])]
    assert all(plan["stacks"] == 0 for plan in found("--no-fuse")["plans"])
    assert not any(plan["placed"] for plan in found("--no-place")["plans"])
    kept = found("--no-memory")
    assert not any(plan["recomputed"] or plan["paged"] for plan in kept["plans"])
    assert not any(plan["recomputed"] for plan in found("--no-recompute", "--no-place")["plans"])
    assert {plan["order"] for plan in found("--no-reorder", "--no-place")["plans"]} == {"critical-path"}


def test_paging(found) -> None:
    model, machine = ("mlp-robotics:hidden=64", "--batch", 128), ("--hardware", "poet_m4f")
    answer = found("--no-recompute", model=model, machine=machine)
    check(answer)
    assert any(plan["paged"] for plan in answer["plans"])


def test_same_for_any_number_of_threads_and_a_seed(found) -> None:
    one, two, other = (found("--jobs", jobs, "--seed", seed) for jobs, seed in ((1, 1), (2, 1), (2, 5)))
    assert {**one, "wall_s": 0} == {**two, "wall_s": 0}
    check(other)


def test_text(run) -> None:
    result = run(*MODEL, *MACHINE, *QUICK)
    assert result.returncode == 0 and result.stderr == ""
    for word in ("before", "bound", "no plan without recomputing does better", "than the one above", "the fastest", "priced"):
        assert word in result.stdout


def test_time_limit_gives_the_best_so_far(run) -> None:
    for limit in (0.0001, 1):
        result = run("resnet18-cifar:image=8", *MACHINE, "--time-limit", limit, "--generations", 100000, "--json", "-q")
        assert result.returncode == 0, result.stderr
        answer = json.loads(result.stdout)
        assert not answer["complete"]
        check(answer)
        assert answer["plans"][0]["latency_cycles"] <= answer["start"]["latency_cycles"]


def test_interrupted_search_gives_the_best_so_far(monet) -> None:
    answer = answer_of(interrupted(monet, "optimize", "resnet18-cifar:image=8", *MACHINE, "--json", "--generations",
                                   100000, after_s=3))
    assert not answer["complete"]
    check(answer)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--memory-budget", "dramm=1KiB"], ["--memory-budget", "no memory 'dramm'", "did you mean 'dram'?"]),
        (["--memory-budget", "much"], ["--memory-budget", "512KiB"]),
        (["--memory-budget", "1MiB", "--memory-budget", "dram=1MiB"], ["two budgets", "give one"]),
        (["--memory-budget", "simd/sram=50%"], ["a share says nothing about simd/sram", "give a size"]),
        (["--deadline", "soon"], ["--deadline", "1.5x"]),
        (["--deadline", "3"], ["--deadline", "no unit"]),
        (["--objective", "speed"], ["--objective", "there is no 'speed'", "choose one of latency, energy, edp"]),
        (["--limit", "0"], ["--limit"]),
        (["--limit", "17"], ["--limit"]),
        (["--rounds", "0"], ["--rounds"]),
        (["--time-limit", "0"], ["--time-limit"]),
        (["--plan", "/no/such/plan.yaml"], ["/no/such/plan.yaml"]),
        (["--no-fuse", "--no-place", "-o", "/proc/none"], ["/proc/none", "cannot be made", "-o"]),
        (["--no-fues"], ["did you mean '--no-fuse'"]),
    ],
)
def test_mistakes(run, arguments, words) -> None:
    result = run(*MODEL, *MACHINE, *QUICK, *arguments)
    assert result.stdout == ""
    fails(result, 1, *words)


def test_help_has_examples(run) -> None:
    result = run("--help")
    assert result.returncode == 0 and "Examples:" in result.stdout and "-o plans" in result.stdout
