"""Compares the tensors that a step gives with those that it should give, directly or by their digests."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from step_files import Tensors

FILE = Path(__file__).parent / "expected" / "steps.json"
TOLERANCE = 1e-4  # ||ours - theirs|| / ||theirs||: float32 against float64
ROUNDING = 2e-7  # of a float32
PROJECTED_TOLERANCE = 1e-3  # of the norm, of a projection
VANISHING = 1e-6  # of the largest gradient: rounding errors of a gradient that is 0
PROJECTIONS = 2


def scales(theirs: Tensors, kept: Tensors) -> dict[str, float]:
    """What the error of each tensor is measured by: its norm; that of the change for what replaces a tensor of `kept`,
    if rounding to float32 leaves the change to be seen; that of the largest gradient for a gradient that is 0, and its
    momentum."""
    norms = {name: float(np.linalg.norm(value[np.isfinite(value)])) for name, value in theirs.items()}
    largest = max((norm for name, norm in norms.items() if name.endswith(".grad")), default=0.0)
    result = {}
    for name, norm in norms.items():
        old = kept.get(name.removesuffix(".new")) if name.endswith(".new") else None
        if name.endswith((".grad", ".momentum.new")) and norm <= VANISHING * largest:
            norm = largest
        elif old is not None:
            norm = max(float(np.linalg.norm(theirs[name] - old)), ROUNDING / TOLERANCE * norm)
        result[name] = norm or 1.0
    return result


def problems(ours: Tensors, theirs: Tensors, kept: Tensors) -> list[str]:
    """What is wrong with the tensors of one step, before which there was `kept`."""
    found = [f"{name}: missing" for name in theirs if name not in ours]
    scale = scales(theirs, kept)
    for name, value in ours.items():
        if name not in theirs:
            found.append(f"{name}: PyTorch has no such tensor")
        elif value.shape != theirs[name].shape:
            found.append(f"{name}: shape {value.shape}, expected {theirs[name].shape}")
        else:
            differs = value != theirs[name]  # both may be infinite
            error = np.linalg.norm(value[differs].astype(np.float64) - theirs[name][differs]) / scale[name]
            if not error <= TOLERANCE:
                found.append(f"{name}: relative difference {error:.2e}")
    return found


def project(value: np.ndarray) -> np.ndarray:
    flat = value.astype(np.float64).ravel()
    state = np.random.RandomState(flat.size)
    vectors = state.uniform(0.5, 1.5, (PROJECTIONS, flat.size)) * state.choice([-1, 1], (PROJECTIONS, flat.size))
    return np.array([np.linalg.norm(flat), *(vectors @ flat)])


def digest(theirs: Tensors) -> dict[str, list[float]]:
    """[scale, norm, projections] of every tensor of a step, each with the same relative error."""
    scale = scales(theirs, {})
    return {name: [float(f"{number:.7g}") for number in (scale[name], *project(value))]
            for name, value in theirs.items()}


def digest_problems(ours: Tensors, expected: dict[str, list[float]]) -> list[str]:
    found = []
    for name, (scale, *numbers) in expected.items():
        if name not in ours:
            found.append(f"{name}: missing")
            continue
        error = np.abs(project(ours[name]) - numbers).max() / scale
        if not error <= PROJECTED_TOLERANCE:
            found.append(f"{name}: differs from its digest by {error:.1e} of the norm")
    return found


def load() -> dict[str, dict[str, list[float]]]:
    """By case: digests of the first step."""
    return json.loads(FILE.read_text())


def save(digests: dict[str, dict[str, list[float]]]) -> None:
    FILE.parent.mkdir(exist_ok=True)
    cases = []
    for name, tensors in digests.items():
        lines = [f" {json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in tensors.items()]
        cases.append(f"{json.dumps(name)}: {{\n" + ",\n".join(lines) + "}")
    FILE.write_text("{\n" + ",\n".join(cases) + "\n}\n")
