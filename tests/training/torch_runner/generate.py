"""Operators that make values."""

import torch

from torch_runner.node import Node, Unsupported, operator
from torch_runner.runner import as_tensor
from onnx import numpy_helper


@operator("Constant")
def constant(n: Node):
    for name in ("value_float", "value_floats"):
        if n.attribute(name) is not None:
            return torch.tensor(n.attribute(name), dtype=n.dtype)
    for name in ("value_int", "value_ints"):
        if n.attribute(name) is not None:
            return torch.tensor(n.attribute(name), dtype=torch.int64)
    return as_tensor(numpy_helper.to_array(n.attribute("value")), n.dtype)


@operator("ConstantOfShape")
def constant_of_shape(n: Node):
    value = n.attribute("value")
    fill = torch.zeros(1, dtype=n.dtype) if value is None else as_tensor(numpy_helper.to_array(value), n.dtype)
    return fill.reshape(()).expand(n.input().tolist())


@operator("Shape")
def shape(n: Node):
    return torch.tensor(n.input().shape[n.attribute("start", 0):n.attribute("end")], dtype=torch.int64)


@operator("Size")
def size(n: Node):
    return torch.tensor(n.input().numel())


@operator("Range")
def value_range(n: Node):
    start, limit, delta = n.inputs
    count = max(int(torch.ceil((limit - start).to(torch.float64) / delta.to(torch.float64))), 0)
    return start + delta * torch.arange(count)


@operator("EyeLike")
def eye_like(n: Node):
    rows, columns = n.input().shape
    eye = torch.ones(rows, columns).triu(n.attribute("k", 0)).tril(n.attribute("k", 0))
    kind = n.attribute("dtype")
    return eye.to(n.input().dtype if kind is None else n.type_of(kind))


@operator("Dropout")
def dropout(n: Node):
    training = n.has(2) and bool(n.input(2))
    ratio = n.input(1).item() if n.has(1) else 0.5
    if training and ratio > 0:
        raise Unsupported("Dropout that drops")
    return n.input(), torch.ones(n.input().shape, dtype=torch.bool)


@operator("Bernoulli", "RandomUniformLike", "RandomNormalLike", "RandomUniform", "RandomNormal", "Multinomial")
def random(n: Node):
    raise Unsupported(f"{n.op}: random")
