"""Gradients of every operator case, by this program's rules in float64, against PyTorch's autograd in float64.

Where PyTorch is absent its answers are taken from expected/operator_gradients.json (see digests.py); where it is there,
that file is checked too.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import digests
import numpy as np
import pytest
from differences import difference
from gradient_cases import GradientCase, gradient_cases
from monet_gradients import Answer, monet_gradients
from refusals import REFUSALS, refusal
from test_operators import FAMILIES


@pytest.fixture(scope="module", params=FAMILIES)
def family(request, oracle: Path, tmp_path_factory) -> list[tuple[GradientCase, Answer]]:
    cases = list(gradient_cases(request.param))
    return list(zip(cases, monet_gradients(oracle, tmp_path_factory.mktemp(request.param), cases)))


def check(family: list[tuple[GradientCase, Answer]],
          compare: Callable[[GradientCase], dict[str, Callable[[np.ndarray], str]]]) -> None:
    """`compare(case)` gives for each wanted value a function that says what is wrong with its gradient."""
    __tracebackhide__ = True
    problems = []
    for case, answer in family:
        if answer.error:
            problems.append(f"{case.name}: {answer.error}")
            continue
        for name, problem_of in compare(case).items():
            if name in answer.refused:
                if not refusal(case, name):
                    problems.append(f"{case.name}: gradient of '{name}': {answer.refused[name]}")
                continue
            if name not in answer.gradients and name not in case.values:
                continue  # an initializer that was folded into the graph
            problem = problem_of(answer.gradients.get(name, np.zeros(case.outside()[name].shape)))
            if problem:
                problems.append(f"{case.name}: gradient of '{name}': {problem}")
    assert not problems, f"{len(problems)} problems in {len(family)} cases:\n" + "\n".join(problems[:40])


def test_against_torch(family) -> None:
    pytest.importorskip("torch")
    from torch_gradients import torch_gradients

    def compare(case):
        return {name: lambda ours, theirs=theirs: difference(ours, theirs)
                for name, theirs in torch_gradients(case).items()}

    check(family, compare)


def test_against_digests(family) -> None:
    expected = digests.load()

    def compare(case):
        entry = expected.get(case.name, {})
        assert entry.get("case") == case.fingerprint(), (
            f"{case.name} is new or has changed: run `python tests/training/make_expected.py`")
        return {name: lambda ours, numbers=numbers: digests.digest_difference(ours, numbers)
                for name, numbers in entry["gradients"].items()}

    check(family, compare)


def test_refusals_are_current(oracle: Path, tmp_path: Path) -> None:
    listed = {each.operator for each in REFUSALS}
    cases = [case for name in FAMILIES for case in gradient_cases(name) if case.operator in listed]
    answers = monet_gradients(oracle, tmp_path, cases)
    met = [refusal(case, name) for case, answer in zip(cases, answers) for name in answer.refused]
    unused = [each for each in REFUSALS if each not in met]
    assert not unused, f"no longer refused: take these out of refusals.py: {unused}"


def test_digests_are_of_torch() -> None:
    pytest.importorskip("torch")
    from torch_gradients import torch_gradients

    expected = digests.load()
    names = set()
    for case in (case for name in FAMILIES for case in gradient_cases(name)):
        names.add(case.name)
        for name, gradient in torch_gradients(case).items():
            problem = digests.digest_difference(gradient, expected[case.name]["gradients"][name], 1e-9)
            assert not problem, f"{case.name}: gradient of '{name}': {problem}"
    assert names == set(expected)


@pytest.mark.parametrize("size", [1, 2, 10, 1000, 100000])
def test_a_digest_finds_one_wrong_element(size: int) -> None:
    state = np.random.RandomState(size)
    gradient = state.normal(size=size)
    expected = digests.digest(gradient)
    assert not digests.digest_difference(gradient, expected)
    for place in state.choice(size, min(size, 20), replace=False):
        for sign in (-1, 1):
            wrong = gradient.copy()
            wrong[place] += sign * 1e-4 * np.linalg.norm(gradient)
            assert digests.digest_difference(wrong, expected), place
    assert digests.digest_difference(np.full(size, np.nan), expected)
    assert digests.digest_difference(gradient, digests.digest(np.zeros(size)))


def test_a_difference_is_found() -> None:
    gradient = np.random.RandomState(1).normal(size=(3, 4))
    assert not difference(gradient, gradient)
    assert difference(gradient * (1 + 2e-6), gradient)
    assert difference(gradient.T, gradient)
    assert difference(gradient * np.nan, gradient)
    assert difference(np.full(3, 1e-5), np.zeros(3))
