"""One ONNX node with values in place of names, and the table of the functions that run it."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import torch
from onnx import helper

FLOATING = {onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16}
INTEGERS = {
    onnx.TensorProto.BOOL: torch.bool, onnx.TensorProto.INT8: torch.int8, onnx.TensorProto.INT16: torch.int16,
    onnx.TensorProto.INT32: torch.int32, onnx.TensorProto.INT64: torch.int64, onnx.TensorProto.UINT8: torch.uint8,
    onnx.TensorProto.UINT16: torch.uint16, onnx.TensorProto.UINT32: torch.uint32, onnx.TensorProto.UINT64: torch.uint64,
}


class Unsupported(Exception):
    """An operator, or a use of it, that is not run with PyTorch."""


class Node:
    """`inputs` holds tensors, lists of tensors (sequences) and None for what is absent."""

    def __init__(self, proto: onnx.NodeProto, inputs: list, opset: int, dtype: torch.dtype):
        self.op = proto.op_type
        self.inputs = inputs
        self.opset = opset
        self.dtype = dtype
        self.outputs = list(proto.output)
        self._attributes = {a.name: helper.get_attribute_value(a) for a in proto.attribute}

    def attribute(self, name: str, default=None):
        value = self._attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def has(self, i: int) -> bool:
        return i < len(self.inputs) and self.inputs[i] is not None

    def input(self, i: int = 0):
        return self.inputs[i] if self.has(i) else None

    def integers(self, name: str, i: int) -> list[int] | None:
        """A list that older operator sets have as attribute `name`, newer ones as input `i`; None: absent."""
        if name in self._attributes:
            value = self._attributes[name]
            return list(value) if isinstance(value, (list, tuple)) else [value]
        return self.input(i).reshape(-1).to(torch.int64).tolist() if self.has(i) else None

    def type_of(self, element_type: int) -> torch.dtype:
        return self.dtype if element_type in FLOATING else INTEGERS[element_type]


OPERATORS: dict[tuple[str, str], Callable[[Node], object]] = {}


def operator(*names: str, domain: str = ""):
    """Registers a function for operators: it gives one output, or a tuple of them."""

    def register(function):
        for name in names:
            OPERATORS[domain, name] = function
        return function

    return register


MICROSOFT = "com.microsoft"
