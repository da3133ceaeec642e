"""What exporters of PyTorch do to a network, each in a graph as small as shows it: parameters and products stay exact,
or the program says why they cannot be."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


def weight(name: str, *shape: int, value: float | None = None) -> onnx.TensorProto:
    """Random unless a value is given."""
    values = np.random.default_rng(0).standard_normal(shape) if value is None else np.full(shape, value)
    return numpy_helper.from_array(values.astype(np.float32), name)


def integers(name: str, *values: int) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(values, dtype=np.int64), name)


def number(name: str, value: float) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.float32(value), "value"))


def tensor(name: str, shape, kind: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


class Inspected:
    def __init__(self, report: dict):
        self.parameters = report["parameters"]
        self.macs = report["macs"]["forward"]
        self.operators = {row["operator"]: row["nodes"] for row in report["operators"]}
        self.warnings = report["warnings"]
        self.notes = report["notes"]
        self.outputs = [output["name"] for output in report["outputs"]]


@pytest.fixture
def inspect(monet: Path, tmp_path: Path):
    def run(nodes, initializers, inputs, outputs, *, batch: int = 2, producer: str = "pytorch", signature: str = ""):
        graph = helper.make_graph(nodes, "network", inputs, outputs, initializers)
        if signature:
            entry = graph.metadata_props.add()
            entry.key, entry.value = "pkg.torch.export.ExportedProgram.graph_signature", signature
        model = helper.make_model(graph, producer_name=producer, opset_imports=[helper.make_opsetid("", 18)])
        path = tmp_path / "network.onnx"
        path.write_bytes(model.SerializeToString())
        command = [monet, "inspect", path, "--batch", str(batch), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode in (0, 1), done.stderr
        return Inspected(json.loads(done.stdout)) if done.returncode == 0 else done.stderr

    return run


def test_a_bias_that_starts_at_zero_is_a_parameter(inspect):
    nodes = [helper.make_node("Conv", ["x", "conv.weight", "conv.bias"], ["y"])]
    initializers = [weight("conv.weight", 8, 3, 3, 3), weight("conv.bias", 8, value=0)]
    found = inspect(nodes, initializers, [tensor("x", ["batch", 3, 8, 8])], [tensor("y", None)])
    assert found.parameters == 8 * 3 * 9 + 8


def test_a_bias_of_zeros_that_is_a_constant_is_none(inspect):
    zeros = numpy_helper.from_array(np.zeros(8, dtype=np.float32), "value")
    nodes = [
        helper.make_node("Constant", [], ["zeros"], value=zeros),
        helper.make_node("Conv", ["x", "conv.weight", "zeros"], ["y"]),
    ]
    found = inspect(nodes, [weight("conv.weight", 8, 3, 3, 3)], [tensor("x", ["batch", 3, 8, 8])], [tensor("y", None)])
    assert found.parameters == 8 * 3 * 9


def test_merged_initializers_are_taken_apart(inspect):
    """The tracing exporter keeps one of several equal initializers and an Identity under the name of each other."""
    nodes = [
        helper.make_node("Identity", ["norm1.weight"], ["norm2.weight"]),
        helper.make_node("Identity", ["norm1.bias"], ["norm2.bias"]),
        helper.make_node("Identity", ["norm1.weight"], ["norm1.running_var"]),
        helper.make_node("Identity", ["norm1.bias"], ["norm1.running_mean"]),
        helper.make_node(
            "BatchNormalization", ["x", "norm1.weight", "norm1.bias", "norm1.running_mean", "norm1.running_var"], ["h"]
        ),
        helper.make_node("InstanceNormalization", ["h", "norm2.weight", "norm2.bias"], ["y"]),
    ]
    initializers = [weight("norm1.weight", 4, value=1), weight("norm1.bias", 4, value=0)]
    found = inspect(nodes, initializers, [tensor("x", ["batch", 4, 8, 8])], [tensor("y", None)])
    assert found.parameters == 16
    assert any("merged" in note for note in found.notes)


@pytest.mark.parametrize(("producer", "counted"), [("pytorch", 1), ("somebody", 0)])
def test_a_single_number_with_a_module_s_name_is_trained(inspect, producer, counted):
    nodes = [
        helper.make_node("MatMul", ["x", "layer.weight"], ["h"]),
        helper.make_node("Mul", ["h", "layer.gain"], ["y"]),
    ]
    initializers = [weight("layer.weight", 4, 4), weight("layer.gain", value=1)]
    found = inspect(nodes, initializers, [tensor("x", ["batch", 4])], [tensor("y", None)], producer=producer)
    assert found.parameters == 16 + counted


def test_a_slope_that_is_reshaped_is_trained(inspect):
    nodes = [
        helper.make_node("Reshape", ["act.weight", "shape"], ["slope"]),
        helper.make_node("PRelu", ["x", "slope"], ["y"]),
    ]
    initializers = [weight("act.weight", 1, value=0.25), integers("shape", 1, 1)]
    found = inspect(nodes, initializers, [tensor("x", ["batch", 4, 4])], [tensor("y", None)])
    assert found.parameters == 1


def test_numbers_that_scale_a_weight_are_not_trained(inspect):
    nodes = [
        helper.make_node("Mul", ["layer.weight", "onnx::Mul_26"], ["w"]),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    initializers = [weight("layer.weight", 4, 4), weight("onnx::Mul_26", value=2)]
    found = inspect(nodes, initializers, [tensor("x", ["batch", 4])], [tensor("y", None)])
    assert found.parameters == 16


def test_group_norm(inspect):
    nodes = [
        helper.make_node("Reshape", ["x", "groups"], ["g"]),
        helper.make_node("InstanceNormalization", ["g", "ones", "zeros"], ["n"]),
        helper.make_node("Shape", ["x"], ["full"]),
        helper.make_node("Reshape", ["n", "full"], ["r"]),
        helper.make_node("Unsqueeze", ["norm.weight", "axes"], ["scale"]),
        helper.make_node("Mul", ["r", "scale"], ["m"]),
        helper.make_node("Unsqueeze", ["norm.bias", "axes"], ["bias"]),
        helper.make_node("Add", ["m", "bias"], ["y"]),
    ]
    for name, value in (("ones", 1), ("zeros", 0)):
        literal = numpy_helper.from_array(np.full(2, value, dtype=np.float32), "value")
        nodes.insert(0, helper.make_node("Constant", [], [name], value=literal))
    initializers = [weight("norm.weight", 8), weight("norm.bias", 8), integers("groups", 0, 2, -1)]
    initializers.append(integers("axes", 1, 2))
    found = inspect(nodes, initializers, [tensor("x", ["batch", 8, 6, 6])], [tensor("y", None)])
    assert found.parameters == 16
    assert found.operators == {"GroupNormalization": 1}


@pytest.mark.parametrize("operator", ["Dropout", "ScatterND", "LayerNormalization"])
def test_a_weight_stays_one_behind_operators_without_data(inspect, operator):
    """A table of relative positions that is dropped out or normalized, a bias of which a part is set to zero."""
    if operator == "Dropout":
        train = numpy_helper.from_array(np.array(True), "value")
        nodes = [
            number("ratio", 0.5),
            helper.make_node("Constant", [], ["train"], value=train),
            helper.make_node("Dropout", ["table", "ratio", "train"], ["t"]),
        ]
    elif operator == "ScatterND":
        nodes = [helper.make_node("ScatterND", ["table", "rows", "zero"], ["t"])]
    else:
        nodes = [helper.make_node("LayerNormalization", ["table", "norm.weight"], ["t"])]
    nodes += [helper.make_node("Transpose", ["t"], ["u"]), helper.make_node("MatMul", ["x", "u"], ["y"])]
    initializers = [weight("table", 6, 4)]
    if operator == "ScatterND":
        rows = numpy_helper.from_array(np.array([[1]], dtype=np.int64), "rows")
        zero = helper.make_node("Constant", [], ["zero"], value=weight("value", 1, 4, value=0))
        initializers.append(rows)
        nodes.insert(0, zero)
    if operator == "LayerNormalization":
        initializers.append(weight("norm.weight", 4))
    found = inspect(nodes, initializers, [tensor("x", ["batch", 4])], [tensor("y", None)])
    assert found.parameters == 24 + (4 if operator == "LayerNormalization" else 0)


def test_normalization_of_the_input_is_not_trained(inspect):
    nodes = [
        helper.make_node("Sub", ["x", "mean"], ["c"]),
        helper.make_node("Div", ["c", "std"], ["n"]),
        helper.make_node("Conv", ["n", "conv.weight"], ["y"]),
    ]
    initializers = [weight("mean", 1, 3, 1, 1), weight("std", 1, 3, 1, 1), weight("conv.weight", 8, 3, 3, 3)]
    found = inspect(nodes, initializers, [tensor("x", ["batch", 3, 8, 8])], [tensor("y", None)])
    assert found.parameters == 8 * 27


def test_a_position_that_is_added_to_the_input_is_trained(inspect):
    nodes = [
        helper.make_node("Add", ["x", "model.position"], ["h"]),
        helper.make_node("MatMul", ["h", "model.weight"], ["y"]),
    ]
    initializers = [weight("model.position", 1, 5, 4), weight("model.weight", 4, 4)]
    found = inspect(nodes, initializers, [tensor("x", ["batch", 5, 4])], [tensor("y", None)])
    assert found.parameters == 20 + 16


def test_a_norm_without_scale_gets_no_parameters_from_the_exporter(inspect):
    nodes = [
        helper.make_node("MatMul", ["x", "layer.weight"], ["h"]),
        helper.make_node("LayerNormalization", ["h", "val_3"], ["y"]),
    ]
    signature = "# inputs\np_layer_weight: PARAMETER target='layer.weight'\nx: USER_INPUT\n"
    initializers = [weight("layer.weight", 4, 4), weight("val_3", 4, value=1)]
    found = inspect(nodes, initializers, [tensor("x", ["batch", 4])], [tensor("y", None)], signature=signature)
    assert found.parameters == 16
    assert not found.warnings


def test_parameters_that_an_optimizer_dropped_are_reported(inspect):
    nodes = [helper.make_node("MatMul", ["x", "val_1"], ["y"])]
    signature = "a: PARAMETER target='layer.weight'\nb: PARAMETER target='layer.bias'\n"
    inputs, outputs = [tensor("x", ["batch", 4])], [tensor("y", None)]
    found = inspect(nodes, [weight("val_1", 4, 4)], inputs, outputs, signature=signature)
    assert found.parameters == 16
    assert any("1 of the parameters that the exporter lists" in warning for warning in found.warnings)


def test_a_transposed_copy_of_a_table_is_reported(inspect):
    nodes = [
        helper.make_node("Gather", ["embed.weight", "x"], ["h"]),
        helper.make_node("MatMul", ["h", "onnx::MatMul_7"], ["y"]),
    ]
    initializers = [weight("embed.weight", 10, 4), weight("onnx::MatMul_7", 4, 10)]
    found = inspect(nodes, initializers, [tensor("x", ["batch", 3], TensorProto.INT64)], [tensor("y", None)])
    assert any("ties" in warning for warning in found.warnings)


def squeeze_if_one(axis_size_name: str) -> list[onnx.NodeProto]:
    """PyTorch's squeeze(1) of an axis that the trace leaves open."""
    then = helper.make_graph(
        [helper.make_node("Squeeze", ["h", "one"], ["squeezed"])], "then", [], [tensor("squeezed", None)]
    )
    otherwise = helper.make_graph([helper.make_node("Identity", ["h"], ["same"])], "else", [], [tensor("same", None)])
    return [
        helper.make_node("Shape", ["h"], ["sizes"], start=1, end=2),
        helper.make_node("Equal", ["sizes", "one"], ["is_one"]),
        helper.make_node("If", ["is_one"], [axis_size_name], then_branch=then, else_branch=otherwise),
    ]


@pytest.mark.parametrize("size", [1, 3])
def test_a_branch_that_a_shape_decides(inspect, size):
    nodes = [
        helper.make_node("MatMul", ["x", "layer.weight"], ["h"]),
        *squeeze_if_one("s"),
        helper.make_node("MatMul", ["s", "last.weight"], ["y"]),
    ]
    initializers = [weight("layer.weight", 4, 4), weight("last.weight", 4, 2), integers("one", 1)]
    found = inspect(nodes, initializers, [tensor("x", ["batch", size, 4])], [tensor("y", None)], batch=5)
    assert (found.parameters, found.macs) == (24, 5 * size * 24)


def test_a_branch_that_data_decide_is_refused(inspect):
    nodes = [helper.make_node("Cast", ["x"], ["is_one"], to=TensorProto.BOOL), helper.make_node("Relu", ["x"], ["h"])]
    nodes += [squeeze_if_one("y")[-1]]
    error = inspect(nodes, [integers("one", 1)], [tensor("x", [1])], [tensor("y", None)], batch=1)
    assert "If" in error and "control flow" in error


def loop(turns: str, body: onnx.GraphProto, *state: str, outputs: list[str]) -> onnx.NodeProto:
    return helper.make_node("Loop", [turns, "", *state], outputs, body=body)


def test_a_loop_whose_turns_are_known(inspect):
    """Each turn multiplies what is carried and gives a row that is stacked; a branch inside reads what the body made."""
    inner = helper.make_graph([helper.make_node("Relu", ["product"], ["r"])], "then", [], [tensor("r", None)])
    same = helper.make_graph([helper.make_node("Neg", ["product"], ["s"])], "else", [], [tensor("s", None)])
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["going"], ["goes_on"]),
            helper.make_node("MatMul", ["carried", "layer.weight"], ["product"]),
            helper.make_node("Equal", ["turn", "first"], ["is_first"]),
            helper.make_node("If", ["is_first"], ["next"], then_branch=inner, else_branch=same),
            helper.make_node("ReduceSum", ["next"], ["total"], keepdims=0),
        ],
        "body",
        [tensor("turn", [], TensorProto.INT64), tensor("going", [], TensorProto.BOOL), tensor("carried", None)],
        [tensor("goes_on", [], TensorProto.BOOL), tensor("next", None), tensor("total", None)],
    )
    first = numpy_helper.from_array(np.array(0, dtype=np.int64), "first")
    nodes = [loop("turns", body, "x", outputs=["y", "totals"])]
    initializers = [weight("layer.weight", 4, 4), integers("turns", 3), first]
    outputs = [tensor("y", None), tensor("totals", None)]
    found = inspect(nodes, initializers, [tensor("x", ["batch", 4])], outputs, batch=2)
    assert (found.parameters, found.macs) == (16, 3 * 2 * 16)
    assert found.operators["Relu"] == 1 and found.operators["Neg"] == 2


def test_a_loop_that_data_end_is_refused(inspect):
    body = helper.make_graph(
        [
            helper.make_node("ReduceSum", ["carried"], ["sum"], keepdims=0),
            helper.make_node("Cast", ["sum"], ["goes_on"], to=TensorProto.BOOL),
            helper.make_node("Relu", ["carried"], ["next"]),
        ],
        "body",
        [tensor("turn", [], TensorProto.INT64), tensor("going", [], TensorProto.BOOL), tensor("carried", None)],
        [tensor("goes_on", [], TensorProto.BOOL), tensor("next", None)],
    )
    nodes = [loop("", body, "x", outputs=["y"])]
    error = inspect(nodes, [], [tensor("x", ["batch", 4])], [tensor("y", None)])
    assert "Loop" in error and "control flow" in error


def test_a_loop_without_end_is_refused(inspect):
    body = helper.make_graph(
        [helper.make_node("Identity", ["going"], ["goes_on"]), helper.make_node("Identity", ["carried"], ["next"])],
        "body",
        [tensor("turn", [], TensorProto.INT64), tensor("going", [], TensorProto.BOOL), tensor("carried", None)],
        [tensor("goes_on", [], TensorProto.BOOL), tensor("next", None)],
    )
    nodes = [loop("", body, "x", outputs=["y"])]
    error = inspect(nodes, [], [tensor("x", ["batch", 4])], [tensor("y", None)])
    assert "Loop" in error or "loops" in error


def test_repeated_heads_follow_another_batch(inspect):
    """Grouped queries: keys [batch, 2, 1, …] are expanded to [batch, 2, 3, …], with the batch written in the target."""
    nodes = [
        helper.make_node("Unsqueeze", ["x", "axis"], ["u"]),
        helper.make_node("Expand", ["u", "shape"], ["e"]),
        helper.make_node("Reshape", ["e", "heads"], ["h"]),
        helper.make_node("MatMul", ["h", "layer.weight"], ["y"]),
    ]
    initializers = [integers("axis", 2), integers("shape", 4, 2, 3, 5, 8), integers("heads", 4, 6, 5, 8)]
    initializers.append(weight("layer.weight", 8, 8))
    found = inspect(nodes, initializers, [tensor("x", [4, 2, 5, 8])], [tensor("y", None)], batch=7)
    assert found.macs == 7 * 6 * 5 * 64


def test_sequence_and_batch_in_one_axis_follow_another_batch(inspect):
    """nn.MultiheadAttention: [sequence, batch, width] is joined to [sequence · batch, width] and taken apart again."""
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0, 2]),
        helper.make_node("Reshape", ["t", "joined"], ["j"]),
        helper.make_node("MatMul", ["j", "layer.weight"], ["m"]),
        helper.make_node("Reshape", ["m", "apart"], ["a"]),
        helper.make_node("Transpose", ["a"], ["y"], perm=[1, 0, 2]),
    ]
    initializers = [integers("joined", 30, 8), integers("apart", 10, 3, 8), weight("layer.weight", 8, 8)]
    found = inspect(nodes, initializers, [tensor("x", [3, 10, 8])], [tensor("y", None)], batch=5)
    assert found.macs == 5 * 10 * 64


def test_an_output_that_keeps_its_batch_is_not_passed_over(inspect):
    nodes = [
        helper.make_node("ReduceSum", ["x", "axis"], ["s"], keepdims=1),
        helper.make_node("Expand", ["s", "shape"], ["y"]),
    ]
    initializers = [integers("axis", 0), integers("shape", 3, 4)]
    error = inspect(nodes, initializers, [tensor("x", [3, 4])], [tensor("y", None)], batch=5)
    assert isinstance(error, str) and "batch" in error


def test_a_weight_in_a_constant_node_is_noted(inspect):
    """Some exporters write weights as Constant nodes. They look like the numbers of a formula."""
    value = weight("value", 16, 32)
    nodes = [helper.make_node("Constant", [], ["w"], value=value), helper.make_node("MatMul", ["x", "w"], ["y"])]
    found = inspect(nodes, [], [tensor("x", ["batch", 16])], [tensor("y", None)])
    assert found.parameters == 0
    assert any("'w' (16x32) is not counted as a parameter" in note for note in found.notes)


def test_a_weight_that_is_an_input_is_noted(inspect):
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    found = inspect(nodes, [], [tensor("x", ["batch", 16]), tensor("w", [16, 32])], [tensor("y", None)])
    assert found.parameters == 0
    assert any("'w' (16x32) is not counted as a parameter: it is an input" in note for note in found.notes)


def test_quantized_weights_are_warned_about(inspect):
    """Weights are integers; their scales, one for each channel, are found by calibration."""
    quantized = numpy_helper.from_array(np.ones((8, 3, 3, 3), dtype=np.int8), "quantized")
    nodes = [
        helper.make_node("DequantizeLinear", ["quantized", "scale"], ["w"], axis=0),
        helper.make_node("Conv", ["x", "w"], ["y"]),
    ]
    found = inspect(nodes, [quantized, weight("scale", 8)], [tensor("x", ["batch", 3, 8, 8])], [tensor("y", None)])
    assert found.parameters == 0
    assert any("quantized" in warning and "'quantized'" in warning for warning in found.warnings)


def test_a_weight_that_is_quantized_on_the_way_is_a_parameter(inspect):
    """Training that is aware of quantization rounds its weights and keeps them in floating point."""
    zero = numpy_helper.from_array(np.zeros(8, dtype=np.int8), "zero")
    nodes = [
        helper.make_node("QuantizeLinear", ["conv.weight", "scale", "zero"], ["q"], axis=0),
        helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["w"], axis=0),
        helper.make_node("Conv", ["x", "w"], ["y"]),
    ]
    initializers = [weight("conv.weight", 8, 3, 3, 3), weight("scale", 8), zero]
    found = inspect(nodes, initializers, [tensor("x", ["batch", 3, 8, 8])], [tensor("y", None)])
    assert found.parameters == 8 * 3 * 9
    assert found.warnings == []


def test_a_weight_inside_a_loop_counts_once(inspect):
    body = helper.make_graph(
        [helper.make_node("MatMul", ["h", "w"], ["g"]), helper.make_node("Identity", ["c"], ["d"])],
        "body",
        [tensor("i", [], TensorProto.INT64), tensor("c", [], TensorProto.BOOL), tensor("h", None)],
        [tensor("d", [], TensorProto.BOOL), tensor("g", None)],
        [weight("w", 16, 16)],
    )
    nodes = [helper.make_node("Loop", ["turns", "", "x"], ["y"], name="loop", body=body)]
    found = inspect(nodes, [integers("turns", 3)], [tensor("x", ["batch", 16])], [tensor("y", None)])
    assert found.parameters == 16 * 16
    assert found.macs == 2 * 3 * 16 * 16
    assert found.outputs == ["y"]
