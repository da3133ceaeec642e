"""The loop over the nodes of a model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from torch_runner.node import OPERATORS, Node, Unsupported


def as_tensor(array: np.ndarray, dtype: torch.dtype) -> torch.Tensor:
    tensor = torch.from_numpy(np.array(array, order="C"))
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def run(model: onnx.ModelProto, inputs: dict[str, torch.Tensor],
        dtype: torch.dtype = torch.float64,
        observe: Callable[[str, torch.Tensor], torch.Tensor] = lambda name, x: x) -> dict[str, torch.Tensor]:
    """The model's outputs by name, in their order. `inputs` may also hold values for initializers.

    `observe` sees every tensor that a node makes, with its name, and gives what is used in its place.
    """
    opsets = {entry.domain if entry.domain != "ai.onnx" else "": entry.version for entry in model.opset_import}
    values: dict[str, object] = {"": None}
    for tensor in model.graph.initializer:
        values[tensor.name] = as_tensor(numpy_helper.to_array(tensor), dtype)
    values |= {name: x.to(dtype) if x.is_floating_point() else x for name, x in inputs.items()}
    for proto in model.graph.node:
        domain = "" if proto.domain == "ai.onnx" else proto.domain
        function = OPERATORS.get((domain, proto.op_type))
        if function is None:
            raise Unsupported(f"{domain}.{proto.op_type}" if domain else proto.op_type)
        results = function(Node(proto, [values[name] for name in proto.input], opsets[domain], dtype))
        if not isinstance(results, tuple):
            results = (results,)
        for i, name in enumerate(proto.output):
            if name and i >= len(results):
                raise Unsupported(f"{proto.op_type}, output {i}")
            if name:
                values[name] = observe(name, results[i]) if isinstance(results[i], torch.Tensor) else results[i]
    return {output.name: values[output.name] for output in model.graph.output}
