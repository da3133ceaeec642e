"""Do whole answers hold on networks, machines and options that nobody chose? MONET_CAMPAIGN=SECONDS goes on for so long."""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path

from commands import run_command

SEEDS = 16
SECONDS = float(os.environ.get("MONET_CAMPAIGN", "0"))
FIRST = int(os.environ.get("MONET_CAMPAIGN_FIRST", "1"))


def random_network(rng: random.Random) -> str:
    return rng.choice([
        lambda: f"mlp-robotics:inputs={rng.randint(4, 300)},hidden={rng.randint(8, 600)},layers={rng.randint(1, 4)}",
        lambda: f"resnet18-cifar:image={rng.choice([8, 16, 32])}",
        lambda: "lenet5",
        lambda: "gpt2-tiny",
        lambda: "vit-tiny",
        lambda: "mobilenet-v2",
        lambda: "fsrcnn",
    ])()


def random_case(rng: random.Random, presets: list[str]) -> list[str]:
    arguments = [random_network(rng), "--hardware", rng.choice(presets), "--batch", str(rng.choice([1, 2, 4, 6]))]
    if rng.random() < 0.5:
        arguments += ["--optimizer", rng.choice(["sgd", "momentum", "adam", "adafactor", "lion"])]
    if rng.random() < 0.3:
        arguments += ["--order", rng.choice(["graph", "critical-path", "frugal"])]
    if rng.random() < 0.2:
        arguments += ["--objective", rng.choice(["energy", "edp"])]
    if rng.random() < 0.2:
        arguments += ["--accumulate", str(rng.choice([2, 3]))]
    if rng.random() < 0.2:
        arguments += ["--off-chip"]
    if rng.random() < 0.15:
        arguments += ["--inference"]
    return arguments


def check_case(monet: Path, arguments: list[str], folder: Path) -> str:
    """What is wrong; empty: nothing, or it does not run there and says why."""

    def evaluate(*more: object) -> tuple[int, dict, str]:
        result = run_command(monet, "evaluate", *arguments, *more, "--json", "-q")
        return result.returncode, json.loads(result.stdout) if result.stdout else {}, result.stderr

    plan = folder / "plan.yaml"
    status, one, said = evaluate("--jobs", 1, "--save-plan", plan)
    if status not in (0, 2):
        # A machine that cannot run a network says which operators, or which numbers.
        return "" if status == 1 and "cannot run" in said else f"exit status {status}: {said}"
    if not one:
        return "" if said else "no answer and no reason"
    for bound, value in (("latency_cycles", one["latency_cycles"]), ("energy_pj", one["energy_pj"])):
        if one["bound"][bound] is not None and one["bound"][bound] > value * (1 + 1e-6):
            return f"{bound} is below its bound"
    for parts, value in ((one["energy_breakdown"], one["energy_pj"]), (one["latency_by"], one["latency_cycles"]),
                         (one["energy_by"], one["energy_pj"])):
        if abs(sum(parts.values()) - value) > 1e-6 * max(1.0, value):
            return f"parts do not add up: {parts} and {value}"
    if not one["recipe"]:
        return "no recipe is named"
    figures = ("latency_cycles", "energy_pj", "peak_bytes", "recipe", "saved_bytes")
    _, two, _ = evaluate("--jobs", 2)
    _, again, said = evaluate("--plan", plan)
    for other, what in ((two, "two threads"), (again, "its own plan")):
        if not other:
            return f"{what}: no answer: {said}"
        for figure in figures:
            if other[figure] != one[figure]:
                return f"{what}: {figure} is {other[figure]}, not {one[figure]}"
    return ""


def test_answers_hold(monet: Path, tmp_path: Path) -> None:
    listed = json.loads(run_command(monet, "hardware", "list", "--json").stdout)["presets"]
    presets = [preset["name"] for preset in listed]
    end = time.monotonic() + SECONDS
    findings = []
    seed = FIRST
    while seed < FIRST + SEEDS or time.monotonic() < end:
        arguments = random_case(random.Random(seed), presets)
        wrong = check_case(monet, arguments, tmp_path)
        if wrong:
            findings.append(f"seed {seed}: monet evaluate {' '.join(arguments)}: {wrong}")
        seed += 1
    if SECONDS > 0:
        print(f"{seed - FIRST} cases, {len(findings)} findings")
    assert not findings, "\n".join(findings)
