"""Models of one operator, for comparing the graph interpreter with onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def tensor_type(array: np.ndarray) -> int:
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def model(op_type: str, inputs: dict[str, np.ndarray], outputs: list[str], opset: int = 17, domain: str = "",
          initializers: dict[str, np.ndarray] | None = None, output_types: list[int] | None = None,
          **attributes) -> onnx.ModelProto:
    """One node. Its inputs are those of `inputs`, then those of `initializers`, in their order.

    A value of None in `inputs` is an absent optional input, or keeps the place of the initializer of that name.
    `output_types` are TensorProto numbers; without them every output has the first input's type. An output "" is
    not wanted. Attributes that are None are left out.
    """
    initializers = initializers or {}
    names = [name if value is not None or name in initializers else "" for name, value in inputs.items()]
    names += [name for name in initializers if name not in inputs]
    given = {name: value for name, value in inputs.items() if value is not None}
    first = next(iter(given.values()), None)
    if first is None:
        first = next(iter(initializers.values()))
    output_types = output_types or [tensor_type(first)] * len(outputs)
    attributes = {key: value for key, value in attributes.items() if value is not None}
    node = helper.make_node(op_type, names, outputs, name="node", domain=domain, **attributes)
    graph = helper.make_graph(
        [node], op_type,
        [helper.make_tensor_value_info(name, tensor_type(value), value.shape) for name, value in given.items()],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in zip(outputs, output_types) if name],
        [numpy_helper.from_array(value, name) for name, value in initializers.items()])
    opsets = [helper.make_opsetid("", opset)]
    if domain:
        opsets.append(helper.make_opsetid(domain, 1))
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def case(name: str, op_type: str, inputs: dict[str, np.ndarray], outputs: list[str] | None = None,
         **options) -> tuple[str, onnx.ModelProto, dict[str, np.ndarray]]:
    """(name, model, inputs) as cases() yields them; `options` as model() takes them."""
    given = {key: value for key, value in inputs.items() if value is not None}
    return name, model(op_type, inputs, outputs or ["y"], **options), given


BOOL = TensorProto.BOOL
FLOAT = TensorProto.FLOAT
INT32 = TensorProto.INT32
INT64 = TensorProto.INT64
UINT8 = TensorProto.UINT8
INT8 = TensorProto.INT8
