"""Runs ONNX models node by node with PyTorch's own functions, so that autograd is the referee for gradients.

    outputs = run(model, {"x": torch.tensor(...)})

Floating-point tensors are all of one type, float64 unless told: that of a file is not looked at. Gradients flow to
every tensor of `inputs`; an initializer takes its value from `inputs` too, if it is there. Operators that PyTorch has
no function for are composed of those it has; `Unsupported` is raised for what makes no sense to compare.
"""

from torch_runner import (  # noqa: F401  each registers its operators
    contraction, convolution, elementwise, generate, movement, norm, pool, reduction, resize, sequence, softmax, view)
from torch_runner.node import OPERATORS, Node, Unsupported
from torch_runner.runner import run

__all__ = ["OPERATORS", "Node", "Unsupported", "run"]
