"""Gradients in a few numbers each: the norm, and projections on fixed vectors, for machines without PyTorch.

Every element of the vectors is at least 0.5 in magnitude, so an element of a gradient that is wrong by d moves every
projection by at least d / 2: with the tolerance below, 0.0001 of the norm in one place is always found.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).parent / "expected" / "operator_gradients.json"
PROJECTIONS = 4
DIGITS = 12
TOLERANCE = 1e-5  # of the norm
VANISHING = 1e-12


def project(gradient: np.ndarray) -> list[float]:
    """[norm, projections]"""
    flat = gradient.ravel()
    state = np.random.RandomState(flat.size)
    vectors = state.uniform(0.5, 1.5, (PROJECTIONS, flat.size)) * state.choice([-1, 1], (PROJECTIONS, flat.size))
    return [float(np.linalg.norm(flat)), *(float(value) for value in vectors @ flat)]


def digest(gradient: np.ndarray) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in project(gradient)]


def digest_difference(gradient: np.ndarray, expected: list[float], tolerance: float = TOLERANCE) -> str:
    """What is wrong, or nothing."""
    found = project(gradient)
    if not np.all(np.isfinite(found)):
        return "is not finite"
    scale = expected[0] if expected[0] > VANISHING else 1.0
    error = max(abs(a - b) for a, b in zip(found, expected)) / scale
    return "" if error <= tolerance else f"differs from its digest by {error:.1e} of the norm"


def load() -> dict[str, dict]:
    """By case: fingerprint, and the digest of each gradient."""
    return json.loads(FILE.read_text())


def save(digests: dict[str, dict]) -> None:
    FILE.parent.mkdir(exist_ok=True)
    lines = [f"{json.dumps(name)}: {json.dumps(entry, separators=(',', ':'))}" for name, entry in digests.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
