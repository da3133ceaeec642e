"""Losses of 50 training steps in PyTorch, in float64, for tests/training/training_curve_test.cpp.

    python tests/training/training_curve.py        writes expected/training_curve.json; needs torch

Starting values and data are sine waves, the same as in tests/support/values.h.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import torch
from torch import nn

STEPS = 50


def waves(shape, seed: float, scale: float) -> torch.Tensor:
    index = torch.arange(math.prod(shape), dtype=torch.float64)
    return (scale * torch.sin(0.7 + 1.3 * index + 0.9 * seed)).reshape(shape)


def starting_value(name: str, shape, seed: float) -> torch.Tensor:
    if len(shape) >= 2:
        return waves(shape, seed, 1.5 / math.sqrt(math.prod(shape[1:])))
    return waves(shape, seed, 0.1) + (1 if name.endswith(("weight", "var")) else 0)


def initialize(network: nn.Module) -> None:
    with torch.no_grad():
        for i, (name, parameter) in enumerate(network.named_parameters()):
            parameter.copy_(starting_value(name, parameter.shape, float(i)))


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 5))


def convolutional() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(2, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(54, 5)
    )


def curve(network: nn.Module, data: torch.Tensor, make_optimizer) -> list[float]:
    network = network.double()
    initialize(network)
    optimizer = make_optimizer(network.parameters())
    target = torch.arange(data.shape[0]) % 5
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(network(data), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main() -> None:
    flat, images = waves((10, 6), 100, 1), waves((10, 2, 6, 6), 100, 1)
    curves = {
        "mlp adam": curve(mlp(), flat, lambda p: torch.optim.Adam(p, lr=0.01)),
        "mlp sgd": curve(mlp(), flat, lambda p: torch.optim.SGD(p, lr=0.2)),
        "convolutional adamw": curve(convolutional(), images, lambda p: torch.optim.AdamW(p, lr=0.01)),
        "convolutional momentum": curve(convolutional(), images, lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9)),
    }
    path = Path(__file__).parent / "expected" / "training_curve.json"
    path.write_text(json.dumps(curves, indent=1) + "\n")


if __name__ == "__main__":
    main()
