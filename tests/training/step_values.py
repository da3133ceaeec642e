"""Values that a step starts with, and batches of data: seeded by name, so that everyone makes the same ones."""

from __future__ import annotations

import numpy as np
import onnx
from gradient_cases import random_state
from onnx import helper


def shape_of(value: onnx.ValueInfoProto) -> tuple[int, ...]:
    return tuple(size.dim_value for size in value.type.tensor_type.shape.dim)


def type_of(value: onnx.ValueInfoProto) -> np.dtype:
    return helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)


def parameter(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Of a size at which signals neither grow nor fade: weights by their fan-in, scales of norms near 1."""
    noise = random_state(name).normal(size=shape)
    if name.endswith("running_var"):
        return 1 + 0.5 * np.tanh(noise)
    if len(shape) > 1:
        return noise / np.sqrt(np.prod(shape[1:]))
    scale = name.endswith("weight") or name.endswith("scale")
    return 1 + 0.1 * noise if scale else 0.1 * noise


def index_limit(model: onnx.ModelProto, name: str) -> int:
    """How many rows the smallest table has that an integer input looks up."""
    sizes = {value.name: shape_of(value) for value in model.graph.input}
    same, limits = {name}, []
    for node in model.graph.node:
        if node.op_type in ("Cast", "Identity", "Reshape") and node.input[0] in same:
            same.add(node.output[0])
        if node.op_type == "Gather" and node.input[1] in same:
            limits.append(sizes[node.input[0]][0])
    return min(limits, default=2)


def data(model: onnx.ModelProto, value: onnx.ValueInfoProto, step: int) -> np.ndarray:
    state, kind = random_state(f"{value.name}/{step}"), type_of(value)
    if np.issubdtype(kind, np.floating):
        return state.normal(size=shape_of(value)).astype(kind)
    return state.randint(0, index_limit(model, value.name), shape_of(value)).astype(kind)


def target(value: onnx.ValueInfoProto, loss: str, classes: int, step: int) -> np.ndarray:
    state = random_state(f"target/{step}")
    if loss == "cross-entropy":
        return state.randint(0, classes, shape_of(value)).astype(type_of(value))
    draw = state.uniform(0, 1, shape_of(value)) if loss == "bce" else state.normal(size=shape_of(value))
    return draw.astype(type_of(value))
