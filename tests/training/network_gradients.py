"""Small networks whose gradients the float64 executor computes, and digests of PyTorch's answers for them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import step_cases
from step_differences import project

FILE = Path(__file__).parent / "expected" / "network_gradients.json"
TOLERANCE = 1e-6  # of the norm
VANISHING = 1e-9  # of the largest gradient
# Plain loops are slow: sizes at which a step takes seconds.
SMALLER = {
    "resnet18": "resnet18:batch=2,image=32,classes=5",
    "resnet50": "resnet50:batch=4,image=32,classes=5",
    "resnet18-cifar": "resnet18-cifar:batch=2,image=8",
    "resnet18-folded": "resnet18-cifar-folded:batch=2,image=8",
    "resnet18-im2col": "resnet18-cifar-folded:batch=2,image=8",
    "mobilenet-v2": "mobilenet-v2:batch=2,image=32,classes=5",
    "unet": "unet:batch=2,image=16,features=4,classes=5",
}
CASES = [replace(case, model=SMALLER.get(case.name, case.model), reference="float64") for case in step_cases.CASES]

Tensors = dict[str, np.ndarray]


def compared(tensors: Tensors) -> Tensors:
    return {name: value for name, value in tensors.items() if name == "loss" or name.endswith(".grad")}


def scales(theirs: Tensors) -> dict[str, float]:
    """The norm of each tensor; for a gradient that is 0 but for rounding, that of the largest."""
    norms = {name: float(np.linalg.norm(value)) for name, value in compared(theirs).items()}
    largest = max(norms.values())
    return {name: norm if norm > VANISHING * largest else largest for name, norm in norms.items()}


def problems(ours: Tensors, theirs: Tensors) -> list[str]:
    found = []
    for name, scale in scales(theirs).items():
        error = np.linalg.norm(ours[name] - theirs[name]) / scale
        if not error <= TOLERANCE:
            found.append(f"{name}: relative difference {error:.2e}")
    return found


def digest(theirs: Tensors) -> dict[str, list[float]]:
    """[scale, norm, projections] of each tensor."""
    return {name: [float(f"{number:.10g}") for number in (scale, *project(theirs[name]))]
            for name, scale in scales(theirs).items()}


def digest_problems(ours: Tensors, expected: dict[str, list[float]]) -> list[str]:
    found = []
    for name, (scale, *numbers) in expected.items():
        # A projection is about as large as the norm: vectors have entries from 0.5 to 1.5 of either sign.
        error = np.abs(project(ours[name]) - numbers).max() / scale
        if not error <= 2 * TOLERANCE:
            found.append(f"{name}: differs from its digest by {error:.1e} of the norm")
    return found


def load() -> dict[str, dict[str, list[float]]]:
    return json.loads(FILE.read_text())


def save(entries: dict[str, dict[str, list[float]]]) -> None:
    cases = []
    for name, tensors in entries.items():
        lines = [f" {json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in tensors.items()]
        cases.append(f"{json.dumps(name)}: {{\n" + ",\n".join(lines) + "}")
    FILE.write_text("{\n" + ",\n".join(cases) + "\n}\n")
