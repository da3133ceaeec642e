"""Does `monet evaluate` begin with a diagnosis, and suggest only what helps?"""

from functools import partial
from pathlib import Path

import pytest
from commands import answering, run_command


@pytest.fixture
def run(monet: Path):
    return partial(run_command, monet, "evaluate")


@pytest.fixture
def evaluated(run):
    return answering(run)


@pytest.mark.parametrize("case", (["lenet5", "--hardware", "h200", "--batch", "8"], ["mlp-robotics", "--hardware", "raspberry_pi_4", "--batch", "2"]))
def test_what_is_suggested_helps(evaluated, case: list[str]) -> None:
    one = evaluated(*case, "--suggest", "--json")
    assert one["fits"] and 0 < len(one["options"]) <= 3
    for option in one["options"]:
        words = option["what"].split()
        kept = case[:-2] if words[0] == "--batch" else case  # "--batch N" stands last
        other = evaluated(*kept, *words, "--json")
        assert other["latency_cycles"] == option["latency_cycles"] and other["energy_pj"] == option["energy_pj"]
        assert other["latency_cycles"] / other["batch"] <= 0.97 * one["latency_cycles"] / one["batch"]


def test_a_diagnosis_comes_first(run, evaluated) -> None:
    case = ["resnet18-cifar", "--hardware", "edge_tpu"]
    sentences = evaluated(*case, "--json")["diagnosis"]
    assert sentences and not evaluated(*case, "--json")["options"]
    lines = run(*case, "-q").stdout.splitlines()
    assert lines[3] == f"diagnosis    {sentences[0]}"
