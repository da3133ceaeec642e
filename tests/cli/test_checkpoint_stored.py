"""Steps that are too large for their memory run from storage: does `monet checkpoint` find that, do its plans evaluate to the
same numbers, and are the published rules there to compare with?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import answer_of, fails, run_command

MODEL = ("mlp-robotics:hidden=64", "--batch", 16)
MACHINE = ("--hardware", "poet_m4f")


@pytest.fixture
def checkpoint(monet: Path):
    def call(*arguments: object) -> dict:
        return answer_of(run_command(monet, "checkpoint", *MODEL, *MACHINE, *arguments, "--json", "-q"))

    return call


def test_what_does_not_fit_runs_from_storage(monet: Path, checkpoint, tmp_path) -> None:
    path = tmp_path / "plan.yaml"
    answer = checkpoint("--memory-budget", "32KiB", "--objective", "energy", "-o", path)
    (plan,) = answer["plans"]
    assert plan["home"] == "storage" and plan["peak_bytes"] <= 32 * 1024 < answer["all_kept"]["peak_bytes"]
    assert 0 < plan["bound"]["energy_pj"] <= plan["energy_pj"]
    assert 0 < plan["bound"]["latency_cycles"] <= plan["latency_cycles"]
    assert "home:" in path.read_text()
    evaluation = answer_of(run_command(monet, "evaluate", *MODEL, *MACHINE, "--plan", path, "--json", "-q"))
    assert evaluation["home"] == "storage" and evaluation["fits"]
    assert evaluation["latency_cycles"] == plan["latency_cycles"] and evaluation["energy_pj"] == plan["energy_pj"]
    assert evaluation["peak_bytes"]["cpu/ram"] == plan["peak_bytes"]
    assert evaluation["bound"]["energy_pj"] <= plan["energy_pj"]


def test_what_fits_stays_in_memory(checkpoint) -> None:
    (plan,) = checkpoint("--objective", "energy")["plans"]
    assert plan["home"] is None and not plan["paged"]


def test_from_storage_alone(monet: Path, checkpoint) -> None:
    (plan,) = checkpoint("--home", "storage", "--objective", "energy")["plans"]
    assert plan["home"] == "storage"
    evaluation = answer_of(run_command(monet, "evaluate", *MODEL, *MACHINE, "--home", "storage", "--json", "-q"))
    assert evaluation["home"] == "storage" and evaluation["peak_bytes"]["cpu/ram"] <= 256 * 1024
    assert plan["energy_pj"] <= evaluation["energy_pj"]  # what the search leaves as it is, is one of its plans
    fails(run_command(monet, "evaluate", *MODEL, *MACHINE, "--home", "card"), 1, "no storage 'card'", "it has storage")
    fails(run_command(monet, "evaluate", *MODEL, "--hardware", "stm32f407", "--home", "sd"), 1, "no storage 'sd'")


def test_energy_over_budget(checkpoint) -> None:
    """Down to a fraction of what one operator needs, and never better with less."""
    plans = checkpoint("--objective", "energy", "--pareto", "--pareto-step", 0.5, "--evaluations", 20)["plans"]
    assert plans[0]["home"] == "storage" and plans[-1]["home"] is None
    assert plans[0]["peak_bytes"] < 32 * 1024
    for less, more in zip(plans, plans[1:]):
        assert less["peak_bytes"] <= more["peak_bytes"] and less["energy_pj"] > more["energy_pj"]
        assert less["bound"]["energy_pj"] <= less["energy_pj"]


@pytest.mark.parametrize("method", ["chen", "checkmate", "capuchin", "dtr", "milp"])
def test_published_rules_keep_the_budget_and_are_no_better_than_all_plans(monet: Path, method) -> None:
    few = ("--no-page-weights", "--memory-budget", "90%", "--objective", "energy")
    model = ("mlp-robotics:hidden=16,inputs=8,outputs=4", "--batch", 64)
    exact = answer_of(run_command(monet, "checkpoint", *model, *MACHINE, *few, "--method", "exact", "--json", "-q"))
    best = min(plan["energy_pj"] for plan in exact["plans"])
    result = run_command(monet, "checkpoint", *model, *MACHINE, *few, "--method", method, "--json", "-q",
                         "--time-limit", 60)  # fmt: skip
    answer = json.loads(result.stdout)
    if result.returncode == 2:
        assert method != "milp" and not answer["plans"] and answer["least_bytes"] > answer["budget_bytes"]
        return
    (plan,) = answer["plans"]
    assert plan["peak_bytes"] <= answer["budget_bytes"] and plan["energy_pj"] >= best
    if method == "milp":
        assert plan["energy_pj"] == best  # the search looks at all of so few


def test_searches_that_keep_data_in_memory_say_so(monet: Path, checkpoint, tmp_path) -> None:
    path = tmp_path / "plan.yaml"
    checkpoint("--memory-budget", "32KiB", "-o", path)
    for command in ("fuse", "optimize"):
        fails(run_command(monet, command, *MODEL, *MACHINE, "--plan", path), 1, "at home in storage", "monet checkpoint")
    result = run_command(monet, "checkpoint", *MODEL, *MACHINE, "--plan", path, "--method", "nsga2")
    fails(result, 1, "at home in storage")
