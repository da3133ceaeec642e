"""Gradients of small versions of every built-in network, by the float64 executor, against PyTorch's autograd: 1e-6.

Where PyTorch is absent its answers are taken from expected/network_gradients.json.
"""

from __future__ import annotations

from pathlib import Path

import network_gradients
import numpy as np
import pytest
from executor_step import executor_step
from step_files import StepFiles, make_files


@pytest.fixture(scope="module", params=network_gradients.CASES, ids=lambda case: case.name)
def run(request, monet: Path, oracle: Path, tmp_path_factory) -> tuple[StepFiles, dict[str, np.ndarray]]:
    folder = tmp_path_factory.mktemp(request.param.name)
    files = make_files(request.param, monet, oracle, folder)
    (folder / "run").mkdir()
    return files, executor_step(files, oracle, folder / "run")


def test_against_torch(run) -> None:
    pytest.importorskip("torch")
    from torch_step import torch_step

    files, ours = run
    found = network_gradients.problems(ours, torch_step(files, 1, files.kept()))
    assert not found, "\n".join(found[:40])


def test_against_digests(run) -> None:
    files, ours = run
    found = network_gradients.digest_problems(ours, network_gradients.load()[files.case.name])
    assert not found, "\n".join(found[:40])


def test_one_wrong_element_is_found() -> None:
    state = np.random.RandomState(5)
    right = {"loss": np.array(0.7), "w.grad": state.normal(size=(6, 7)), "b.grad": np.full(3, 1e-15)}
    digest = network_gradients.digest(right)
    assert not network_gradients.problems(right, right) and not network_gradients.digest_problems(right, digest)
    wrong = {name: value.copy() for name, value in right.items()}
    wrong["w.grad"][2, 3] += 1e-5 * np.linalg.norm(right["w.grad"])
    assert network_gradients.problems(wrong, right) and network_gradients.digest_problems(wrong, digest)
