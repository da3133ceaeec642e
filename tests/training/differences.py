"""How far two gradients are apart."""

from __future__ import annotations

import numpy as np

TOLERANCE = 1e-6
VANISHING = 1e-12  # a norm below this is 0


def difference(ours: np.ndarray, theirs: np.ndarray) -> str:
    """What is wrong, or nothing: ||ours - theirs|| / ||theirs||, absolute where `theirs` vanishes."""
    if ours.shape != theirs.shape:
        return f"shape {ours.shape}, expected {theirs.shape}"
    norm = np.linalg.norm(theirs)
    error = np.linalg.norm(ours - theirs) / (norm if norm > VANISHING else 1.0)
    return "" if error <= TOLERANCE else f"relative difference {error:.2e}"  # not-a-number is not <=
