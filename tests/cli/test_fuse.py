"""Does `monet fuse` keep its contract: stacks by the rules, JSON, a plan that evaluates to the same, errors that help?"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from commands import answer_of, fails, interrupted, run_command

MODEL = "mlp-robotics:hidden=64"
MACHINE = ("--hardware", "monet_2x2")


@pytest.fixture
def run(monet: Path):
    def call(*arguments: object, command: str = "fuse") -> subprocess.CompletedProcess:
        return run_command(monet, command, *arguments)

    return call


@pytest.fixture
def fused(run):
    return lambda *arguments: answer_of(run(*arguments, *MACHINE, "--json", "-q"))


def names(answer: dict) -> list[str]:
    return [name for stack in answer["stacks"] for name in stack]


def test_json_has_the_contract(fused):
    answer = fused(MODEL)
    assert answer["schema"] == 1
    assert len(names(answer)) == len(set(names(answer))) == answer["operators"]
    assert len(answer["stacks"]) >= answer["bound"]["stacks"] > 0
    assert max(map(len, answer["stacks"])) <= 6
    assert answer["latency_cycles"] <= answer["unfused"]["latency_cycles"]
    assert answer["bound"]["latency_cycles"] <= answer["latency_cycles"]
    assert answer["bound"]["energy_pj"] <= answer["energy_pj"]
    assert answer["proven"] and answer["complete"] and not answer["stopped"]
    assert answer["candidates"] >= answer["classes"] > 0 and answer["priced"] > 0


@pytest.mark.parametrize("objective", ["latency", "energy", "edp", "sets", "traffic"])
def test_plan_evaluates_to_the_same_numbers(run, fused, tmp_path, objective):
    plan = tmp_path / "plan.yaml"
    answer = fused(MODEL, "--objective", objective, "--effort", 0.02, "-o", plan)
    mappings = objective if objective in ("energy", "edp") else "latency"
    result = run(MODEL, *MACHINE, "--plan", plan, "--objective", mappings, "--json", "-q", command="evaluate")
    assert result.returncode == 0, result.stderr
    evaluation = json.loads(result.stdout)
    assert evaluation["latency_cycles"] == answer["latency_cycles"]
    assert evaluation["energy_pj"] == answer["energy_pj"]
    assert evaluation["stacks"] == len(answer["stacks"])
    assert evaluation["tiles"] == answer["tile_count"]


def test_objectives_are_never_worse_than_unfused(fused):
    for objective, value in {
        "latency": lambda r: r["latency_cycles"],
        "energy": lambda r: r["energy_pj"],
        "edp": lambda r: r["latency_cycles"] * r["energy_pj"],
    }.items():
        answer = fused(MODEL, "--objective", objective, "--no-improve")
        assert value(answer) <= value(answer["unfused"])


def test_fewest_sets_are_the_bound(fused):
    answer = fused(MODEL, "--objective", "sets", "--no-tiles", "--no-improve")
    assert len(answer["stacks"]) == answer["bound"]["stacks"] == answer["predicted"]
    assert answer["tiles"] == {}
    smaller = fused(MODEL, "--objective", "sets", "--no-tiles", "--no-improve", "--limit", 2)
    assert len(smaller["stacks"]) > len(answer["stacks"])


def test_limit_one_is_unfused(fused):
    answer = fused(MODEL, "--limit", 1, "--no-tiles")
    assert len(answer["stacks"]) == answer["operators"] == answer["bound"]["stacks"]
    assert answer["latency_cycles"] == answer["unfused"]["latency_cycles"]
    assert answer["unchanged"]


def test_techniques_do_not_change_the_answer(fused):
    plain = fused(MODEL, "--objective", "sets", "--no-tiles", "--no-improve")
    for switches in (["--no-decompose"], ["--no-repeat", "--no-dynamic"], ["--no-dominance", "--no-lift", "--no-dynamic"]):
        answer = fused(MODEL, "--objective", "sets", "--no-tiles", "--no-improve", *switches)
        assert answer["proven"] and answer["predicted"] == plain["predicted"]


def test_same_for_any_number_of_threads(fused):
    one, three = (fused(MODEL, "--effort", 0.05, "--jobs", jobs) for jobs in (1, 3))
    assert {key: value for key, value in one.items() if key != "wall_s"} == {
        key: value for key, value in three.items() if key != "wall_s"
    }


def test_rules_are_options(fused):
    few = fused(MODEL, "--objective", "sets", "--no-tiles", "--no-improve", "--max-products", 0)
    more = fused(MODEL, "--objective", "sets", "--no-tiles", "--no-improve", "--max-leaving", 4, "--any-tilings")
    assert len(few["stacks"]) > len(more["stacks"])


def test_given_stacks(run, fused, tmp_path):
    plan = tmp_path / "plan.yaml"
    answer = fused(MODEL, "--inference", "--stacks", "0-1,2-3", "-o", plan)
    assert [len(stack) for stack in answer["stacks"] if len(stack) > 1] == [2, 2]
    assert answer["bound"]["stacks"] is None
    again = run(MODEL, "--inference", *MACHINE, "--plan", plan, "--json", "-q", command="evaluate")
    assert json.loads(again.stdout)["latency_cycles"] == answer["latency_cycles"]


def test_keeps_what_a_plan_says_beside_stacks(run, fused, tmp_path):
    base = tmp_path / "base.yaml"
    base.write_text('plan: 1\nstacks: [[OPERATOR]]\noperators: {OPERATOR: {priority: 3}}\ntensors: {"*": recompute}\n')
    base.write_text(base.read_text().replace("OPERATOR", names(fused(MODEL, "--limit", 1, "--no-improve"))[0]))
    plan = tmp_path / "plan.yaml"
    answer = fused(MODEL, "--plan", base, "--effort", 0, "-o", plan)
    assert "recompute" in plan.read_text() and "priority: 3" in plan.read_text()
    assert any("~1" in name for name in names(answer))
    again = run(MODEL, *MACHINE, "--plan", plan, "--json", "-q", command="evaluate")
    assert json.loads(again.stdout)["latency_cycles"] == answer["latency_cycles"]


def test_text_says_what_was_gained(run):
    result = run(MODEL, *MACHINE, "--effort", 0.02)
    assert result.returncode == 0, result.stderr
    for word in ("unfused", "fused", "latency", "cycles", "energy", "stacks", "proven best"):
        assert word in result.stdout


def test_interrupted_search_gives_the_best_so_far(monet):
    answer = answer_of(interrupted(monet, "fuse", "resnet18-cifar", *MACHINE, "--json", "--effort", 1000, after_s=4))
    assert answer["stopped"]
    assert answer["latency_cycles"] <= answer["unfused"]["latency_cycles"]


def test_time_limit_gives_the_best_so_far(fused):
    answer = fused("resnet18-cifar", "--time-limit", 3, "--effort", 1000)
    assert answer["stopped"]
    assert answer["latency_cycles"] <= answer["unfused"]["latency_cycles"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--objective", "latancy"], ["--objective", 'did you mean "latency"']),
        (["--rules", "none"], ["--rules", "own, published"]),
        (["--limit", "0"], ["--limit", "from 1 to 16"]),
        (["--limit", "17"], ["--limit", "from 1 to 16"]),
        (["--limit", "many"], ["--limit", "not a whole number"]),
        (["--max-conv", "-1"], ["--max-conv", "from 0 to 16"]),
        (["--max-transposed", "99"], ["--max-transposed", "from 0 to 16"]),
        (["--max-products", "99"], ["--max-products", "from 0 to 16"]),
        (["--max-conv-with-product", "99"], ["--max-conv-with-product", "from 0 to 16"]),
        (["--max-leaving", "99"], ["--max-leaving", "from 0 to 16"]),
        (["--max-candidates", "0"], ["--max-candidates", "from 1"]),
        (["--effort", "-1"], ["--effort", "from 0"]),
        (["--time-limit", "-3"], ["--time-limit", "seconds above 0"]),
        (["--stacks", "0-1-2"], ["--stacks", "FIRST-LAST"]),
        (["--stacks", "0"], ["--stacks", "FIRST-LAST"]),
        (["--stacks", "0-100000"], ["--stacks", "from 0 to"]),
        (["--stacks", "3-1"], ["--stacks", "there are no operators 3 to 1"]),
        (["--stacks", "0-2,1-3"], ["--stacks", "in two stacks"]),
        (["--plan", "/no/such/plan.yaml"], ["/no/such/plan.yaml"]),
        (["--cache", "/"], ["/"]),
        (["-o", "/no/such/folder/plan.yaml", "--no-improve"], ["cannot be written", "folder"]),
        (["--objectiv", "edp"], ["did you mean '--objective'"]),
    ],
)
def test_errors_help(run, arguments, words):
    fails(run(MODEL, *MACHINE, *arguments), 1, *words)


def test_published_graph_by_the_published_rules(run, shared):
    graph = shared / "reference" / "monet" / "resnet18_full_training.onnx"
    if not graph.exists():
        pytest.skip(f"{graph} is absent")
    for machine in ("monet_2x2", "tpu_like_quad_core"):
        result = run(graph, "--hardware", machine, "--rules", "published", "--objective", "sets", "--no-tiles",
                     "--no-improve", "--json", "-q")  # fmt: skip
        assert result.returncode == 0, result.stderr
        answer = json.loads(result.stdout)
        assert answer["operators"] == 438
        assert answer["proven"] and len(answer["stacks"]) == answer["bound"]["stacks"] <= 128
