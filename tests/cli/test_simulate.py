"""Training for real: the losses of a perceptron against NumPy in float32, and the command around it."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
from commands import answer_of, fails, run_command

MASK = (1 << 64) - 1
INPUTS, HIDDEN, OUTPUTS, BATCH, STEPS, SEED = 5, 7, 3, 8, 25, 1
MODEL = f"mlp-robotics:inputs={INPUTS},hidden={HIDDEN},layers=1,outputs={OUTPUTS}"


@pytest.fixture
def run(monet):
    return lambda *arguments: run_command(monet, *arguments)


# Random numbers as documented: SplitMix64, streams named by FNV-1a.


class Random:
    def __init__(self, seed: int) -> None:
        self.state = seed

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def unit(self) -> float:
        return (self.next() >> 11) * 2.0**-53


def stream(name: str) -> int:
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return Random(SEED ^ value).next()


def shuffled(count: int, name: str) -> list[int]:
    order, random = list(range(count)), Random(stream(name))
    for i in range(count, 1, -1):
        j = int(random.unit() * i)
        order[i - 1], order[j] = order[j], order[i - 1]
    return order


def weight(name: str, outputs: int, inputs: int) -> np.ndarray:
    random, bound = Random(stream(name)), math.sqrt(2 / inputs) * math.sqrt(3)
    values = [bound * (2 * random.unit() - 1) for _ in range(outputs * inputs)]
    return np.array(values).reshape(outputs, inputs).astype(np.float32)


class Sgd:
    def __init__(self, rate: float) -> None:
        self.rate = np.float32(rate)

    def update(self, key: int, value: np.ndarray, gradient: np.ndarray, count: int) -> np.ndarray:
        return value - self.rate * gradient


class Adam:
    def __init__(self, rate: float) -> None:
        self.rate, self.m, self.v = np.float32(rate), {}, {}

    def update(self, key: int, value: np.ndarray, gradient: np.ndarray, count: int) -> np.ndarray:
        m = np.float32(0.9) * self.m.get(key, np.float32(0)) + np.float32(0.1) * gradient
        v = np.float32(0.999) * self.v.get(key, np.float32(0)) + np.float32(0.001) * gradient * gradient
        self.m[key], self.v[key] = m, v
        root = np.sqrt(v / np.float32(1 - 0.999**count)) + np.float32(1e-8)
        return value - self.rate * (m / np.float32(1 - 0.9**count)) / root


def reference(x: np.ndarray, labels: np.ndarray, optimizer) -> list[float]:
    """The losses of a perceptron with one hidden layer, every array in float32."""
    order = shuffled(len(x), "split")
    held_out = max(len(x) // 5 // BATCH, 1) * BATCH
    train = order[: len(x) - held_out]
    parameters = [weight("layers.0.weight", HIDDEN, INPUTS), np.zeros(HIDDEN, np.float32),
                  weight("layers.1.weight", OUTPUTS, HIDDEN), np.zeros(OUTPUTS, np.float32)]  # fmt: skip
    losses, batches, rounds = [], [], 0
    for count in range(1, STEPS + 1):
        if not batches:
            now = [train[i] for i in shuffled(len(train), f"round {rounds}")]
            batches = [now[i : i + BATCH] for i in range(0, len(now) - BATCH + 1, BATCH)]
            rounds += 1
        rows = batches.pop(0)
        w0, b0, w1, b1 = parameters
        hidden = x[rows] @ w0.T + b0
        active = np.maximum(hidden, 0)
        scores = active @ w1.T + b1
        scores = scores - scores.max(axis=1, keepdims=True)
        log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        losses.append(float(-log_p[np.arange(BATCH), labels[rows]].mean()))
        d_scores = np.exp(log_p)
        d_scores[np.arange(BATCH), labels[rows]] -= 1
        d_scores /= np.float32(BATCH)
        d_hidden = (d_scores @ w1) * (hidden > 0)
        gradients = [d_hidden.T @ x[rows], d_hidden.sum(axis=0), d_scores.T @ active, d_scores.sum(axis=0)]
        parameters = [optimizer.update(i, p, g, count) for i, (p, g) in enumerate(zip(parameters, gradients, strict=True))]
        assert all(p.dtype == np.float32 for p in parameters)
    return losses


@pytest.fixture
def samples(tmp_path):
    generator = np.random.default_rng(5)
    labels = generator.integers(0, OUTPUTS, 60)
    x = (generator.normal(size=(60, INPUTS)) + 2 * labels[:, None]).astype(np.float32)
    path = tmp_path / "samples.csv"
    path.write_text("".join(",".join(repr(float(v)) for v in row) + f",{label}\n" for row, label in zip(x, labels, strict=True)))
    return path, x, labels


@pytest.mark.parametrize(("name", "rate", "optimizer"), [("sgd", 0.05, Sgd), ("adam", 0.01, Adam)])
def test_losses_in_fp32_are_those_of_numpy(run, samples, name, rate, optimizer) -> None:
    path, x, labels = samples
    answer = answer_of(run("train", MODEL, "--simulate", STEPS, "--batch", BATCH, "--optimizer", name, "--learning-rate", rate,
                           "--data", path, "--json", "-q"))  # fmt: skip
    losses = answer["simulations"][0]["losses"]
    expected = reference(x, labels, optimizer(rate))
    assert len(losses) == STEPS
    assert losses == pytest.approx(expected, abs=1e-5, rel=1e-5)
    assert losses[-1] < 0.8 * losses[0]


def test_a_precision_is_compared_with_fp32(run, tmp_path) -> None:
    table = tmp_path / "curves.csv"
    result = run("train", MODEL, "--simulate", 5, "--batch", 4, "--samples", 40, "--precision", "bf16", "--csv", table)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    rows = [line.split()[0] for line in lines if line.startswith(("fp32 ", "bf16 "))]
    assert rows == ["fp32", "bf16"]
    assert "difference" in result.stdout and "accuracy" in result.stdout
    rows = list(csv.DictReader(table.open()))
    assert [row["precision"] for row in rows] == ["fp32"] * 6 + ["bf16"] * 6
    assert [int(row["step"]) for row in rows[:6]] == list(range(6))


def test_the_default_is_200_steps_of_32_samples(run) -> None:
    answer = answer_of(run("train", "mlp-robotics:inputs=2,hidden=2,layers=1,outputs=2", "--simulate", "--json", "-q"))
    assert (answer["steps"], answer["batch"]) == (200, 32)
    assert [each["precision"] for each in answer["simulations"]] == ["fp32"]
    assert [each["step"] for each in answer["simulations"][0]["measured"]] == [0, 50, 100, 150, 200]


def test_the_answer_is_the_same_for_any_number_of_jobs(run) -> None:
    def losses(jobs: int) -> list:
        answer = answer_of(run("train", MODEL, "--simulate", 5, "--compare", "fp32,bf16", "--precision", "fp16", "--jobs",
                               jobs, "--json", "-q"))  # fmt: skip
        return [(each["precision"], each["losses"]) for each in answer["simulations"]]

    assert losses(1) == losses(3)
    assert [name for name, _ in losses(2)] == ["fp32", "bf16", "fp16"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--simulate", "5", "-o", "x.onnx"), "does not go with --simulate"),
        (("--simulate", "5", "--saved"), "does not go with --simulate"),
        (("--simulate", "5", "--recompute", "blocks"), "does not go with --simulate"),
        (("--simulate", "0"), "0 steps are not possible"),
        (("--simulate", "five"), "'five' is not a whole number"),
        (("--simulate", "5", "--seed", "-1"), "--seed"),
        (("--simulate", "5", "--data", "absent.csv"), "absent.csv"),
        (("--data", "x.csv"), "--simulate"),
    ],
)
def test_what_does_not_go_together_is_said(run, arguments, words) -> None:
    result = run("train", MODEL, *arguments)
    assert result.returncode == 1
    assert words in result.stderr


def test_duplicates_are_trained_once_and_notes_name_the_precision(run) -> None:
    result = run("train", MODEL, "--simulate", 2, "--batch", 4, "--compare", "fp32,fp32,int8-integer")
    assert result.returncode == 0, result.stderr
    assert sum(line.startswith("fp32 ") for line in result.stdout.splitlines()) == 1
    assert "int8-integer: weights are kept in" in result.stderr and "use --optimizer sgd" in result.stderr


def test_large_networks_are_refused_with_an_estimate(run) -> None:
    fails(run("train", "resnet50", "--simulate"), 1, "too much work", "hours", "--force")


def test_json_is_valid_when_training_diverges(run) -> None:
    result = run("train", MODEL, "--simulate", 20, "--optimizer", "sgd", "--learning-rate", "1e6", "--json", "-q")
    simulation = json.loads(result.stdout, parse_constant=lambda name: pytest.fail(name))["simulations"][0]
    assert simulation["diverged"] and len(simulation["losses"]) < 20
