"""Whole training steps: the file that `monet train` writes, run by onnxruntime in float32 for three steps, against
PyTorch's functions, autograd, losses and optimizers in float64 on the forward network.

Loss, every gradient, new parameter, optimizer state, running statistic and every tensor of the forward part is
compared, in each step from what the step before left. Where PyTorch is absent its answers for the first step are taken
from expected/steps.json.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import step_differences
from onnx_step import Ran, onnx_steps
from step_cases import CASES, StepCase
from step_files import StepFiles, make_files


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.name)
def run(request, monet: Path, oracle: Path, tmp_path_factory) -> tuple[StepFiles, list[Ran]]:
    files = make_files(request.param, monet, oracle, tmp_path_factory.mktemp(request.param.name))
    return files, onnx_steps(files)


def report(case: StepCase, problems: list[str]) -> None:
    __tracebackhide__ = True
    assert not problems, f"{case.name}: {len(problems)} tensors differ:\n" + "\n".join(problems[:40])


def test_names(run) -> None:
    """Weights are inputs, never initializers; whatever is kept for the next step comes out as NAME.new."""
    files, _ = run
    inputs = {value.name for value in files.step.graph.input}
    initializers = {tensor.name for tensor in files.step.graph.initializer}
    assert files.trained
    assert set(files.kept()) <= inputs
    assert not initializers & set(files.kept())
    assert len(files.outputs) == 1, "each of these networks has one output"
    for name in (output.name for output in files.step.graph.output):
        known = name in ("loss", *files.outputs) or name.removesuffix(".grad") in files.trained
        assert known or (name.endswith(".new") and name.removesuffix(".new") in inputs), name


def test_against_torch(run) -> None:
    pytest.importorskip("torch")
    from torch_step import torch_step

    files, steps = run
    found = []
    for number, ran in enumerate(steps, 1):
        theirs = torch_step(files, number, ran.kept, ran)
        problems = step_differences.problems(ran.results | ran.inside, theirs, ran.kept)
        found += [f"step {number}: {text}" for text in problems]
    report(files.case, found)


def test_against_digests(run) -> None:
    files, steps = run
    expected = step_differences.load().get(files.case.name)
    assert expected, f"{files.case.name} is new: run `python tests/training/make_expected.py --steps BUILD`"
    report(files.case, step_differences.digest_problems(steps[0].results, expected))


def test_a_wrong_tensor_is_found() -> None:
    state = np.random.RandomState(3)
    kept = {"w": state.normal(size=(4, 5))}
    right = {"w.grad": state.normal(size=(4, 5)), "b.grad": np.full(3, 1e-9)}
    right["w.new"] = kept["w"] - 0.1 * right["w.grad"]
    digest = step_differences.digest(right)

    def problems(changes: dict[str, np.ndarray]) -> list[str]:
        return step_differences.problems(right | changes, right, kept)

    for same in ({}, {"b.grad": np.full(3, -3e-9)}):  # rounding around 0
        assert not problems(same)
        assert not step_differences.digest_problems(right | same, digest)
    for name, value in right.items():
        wrong = value.copy()
        wrong.flat[1] += 0.01 * np.linalg.norm(kept["w"])
        assert problems({name: wrong})
        assert step_differences.digest_problems(right | {name: wrong}, digest)
    assert problems({"w.new": right["w.new"] - 3e-5 * kept["w"]}), "weight decay that PyTorch does not have"
    assert problems({"c.new": np.zeros(1)})
    assert problems({"w.new": np.full((4, 5), np.nan)})
    assert problems({"w.grad": right["w.grad"].T})
    assert step_differences.problems({"w.grad": right["w.grad"]}, right, kept)
    assert step_differences.digest_problems({"w.grad": right["w.grad"]}, digest)
    masked = {"w.grad": right["w.grad"], "mask": np.array([0, -np.inf])}
    assert not step_differences.problems(masked, masked, {})
    assert step_differences.problems(masked | {"mask": np.array([-np.inf, -np.inf])}, masked, {})
