"""A small network as an exporter would write it: weights in the file, batch norm in inference mode."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from step_values import parameter

SHAPES = {
    "conv.weight": (4, 3, 3, 3), "conv.bias": (4,), "norm.weight": (4,), "norm.bias": (4,), "norm.running_mean": (4,),
    "norm.running_var": (4,), "fc.weight": (3, 64), "fc.bias": (3,),
}


def write_network(path: Path) -> None:
    nodes = [
        helper.make_node("Conv", ["image", "conv.weight", "conv.bias"], ["c"], pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
        helper.make_node("BatchNormalization", ["c", "norm.weight", "norm.bias", "norm.running_mean",
                                                "norm.running_var"], ["n"]),
        helper.make_node("Relu", ["n"], ["r"]),
        helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "fc.weight", "fc.bias"], ["scores"], transB=1),
    ]
    graph = helper.make_graph(
        nodes, "small", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [4, 3, 8, 8])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [4, 3])],
        [numpy_helper.from_array(parameter(name, shape).astype(np.float32), name) for name, shape in SHAPES.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def in_training_mode(model: onnx.ModelProto) -> onnx.ModelProto:
    """With batch norms as PyTorch's train() sets them: statistics of the batch, running ones updated."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    for node in model.graph.node:
        if node.op_type != "BatchNormalization" or any(a.name == "training_mode" and a.i for a in node.attribute):
            continue
        node.attribute.append(helper.make_attribute("training_mode", 1))
        for statistic in node.input[3:5]:
            node.output.append(f"{statistic}.new")
            model.graph.output.append(helper.make_tensor_value_info(f"{statistic}.new", TensorProto.FLOAT, None))
    return model
