"""What PyTorch's autograd says about a gradient case."""

from __future__ import annotations

import numpy as np
import torch

from gradient_cases import GradientCase
from torch_runner import run


def torch_gradients(case: GradientCase) -> dict[str, np.ndarray]:
    """The gradient of every wanted value, in float64; zeros where none arrives."""
    values = {name: torch.from_numpy(np.array(value, order="C")) for name, value in case.outside().items()}
    wanted = case.wanted()
    for name in wanted:
        values[name] = values[name].to(torch.float64).requires_grad_()
    outputs = list(run(case.model, values).values())
    total = torch.zeros((), dtype=torch.float64)
    for i in case.seeded():
        total = total + (outputs[i] * torch.from_numpy(case.cotangent(i, tuple(outputs[i].shape)))).sum()
    if not total.requires_grad:
        return {name: np.zeros(tuple(values[name].shape)) for name in wanted}
    gradients = torch.autograd.grad(total, [values[name] for name in wanted], materialize_grads=True, allow_unused=True)
    return {name: gradient.numpy() for name, gradient in zip(wanted, gradients)}
