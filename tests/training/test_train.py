"""`monet train` on files of real exporters and on published graphs: counts, bytes, the exported file, every message."""

from __future__ import annotations

import csv
import json
import math
import subprocess
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

NETWORKS = ("resnet18", "resnet50", "resnet18_cifar", "mobilenet_v2", "gpt2_small", "gpt2_small_flash", "gpt2_tiny",
            "bert_base", "unet", "mlp_robotics")
EXPORTS = {"traced": ".onnx", "captured": ".dynamo.onnx"}
every_network = pytest.mark.parametrize("network", NETWORKS)
every_export = pytest.mark.parametrize("export", EXPORTS)


@pytest.fixture
def train(monet: Path):
    def call(model: Path | str, *options: object) -> dict:
        result = subprocess.run([monet, "train", model, "--json", *map(str, options)], capture_output=True, text=True,
                                timeout=120)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    return call


@pytest.fixture
def refusal(monet: Path):
    """The message of a command that must end with status 1 and print nothing."""

    def call(*arguments: object) -> str:
        result = subprocess.run([monet, "train", *map(str, arguments)], capture_output=True, text=True, timeout=60)
        assert result.returncode == 1, result.stderr
        assert result.stdout == ""
        assert result.stderr.startswith("monet: ") and result.stderr.count("\n") == 1, result.stderr
        return result.stderr

    return call


def measured(data: Path, network: str) -> list[dict[str, str]]:
    with open(data / "groundtruth" / "h200_training.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["network"] == network]
    return [row for row in rows if row["precision"] == "fp32" and row["checkpoint"] == "no"]


@every_export
@every_network
def test_backward_macs_are_those_that_pytorch_counts(train, data, network, export) -> None:
    file = data / "models" / (network + EXPORTS[export])
    for row in measured(data, network):
        found = train(file, "--batch", row["batch"], "--optimizer", row["optimizer"])
        assert found["parameters"] == found["trained_parameters"] == int(row["parameters"])
        assert found["macs"]["forward"] == int(row["fwd_flops"]) // 2
        if network != "mobilenet_v2":  # PyTorch over-counts the weight gradient of grouped convolutions
            assert found["macs"]["backward"] == int(row["bwd_flops"]) // 2, f"batch {row['batch']}"


@every_export
@every_network
def test_saved_and_static_bytes_are_those_that_pytorch_allocates(train, data, network, export) -> None:
    """Within 3 % and 4 %, from batch 4 and 10 MiB on: below, the measurement is rounding and workspace."""
    file = data / "models" / (network + EXPORTS[export])
    for row in measured(data, network):
        saved = int(row["after_forward_bytes"]) - int(row["static_bytes"])
        if int(row["batch"]) < 4 or saved <= 10 << 20:
            continue
        found = train(file, "--batch", row["batch"], "--optimizer", row["optimizer"])
        assert found["saved_bytes"] == pytest.approx(saved, rel=0.03), row
        assert found["static_bytes"] == pytest.approx(int(row["static_bytes"]), rel=0.04), row


def forward_part(path: Path, nodes: int) -> onnx.ModelProto:
    """The first nodes of a published training graph, as a network of its own."""
    model = onnx.load(path, load_external_data=False)
    kept = list(model.graph.node[:nodes])
    read = {name for node in kept for name in node.input}
    outputs = [name for node in kept for name in node.output if name not in read]
    graph = helper.make_graph(
        kept, "forward", [value for value in model.graph.input if value.name in read],
        [helper.make_tensor_value_info(outputs[-1], TensorProto.FLOAT, None)],
        [tensor for tensor in model.graph.initializer if tensor.name in read])
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)


@pytest.mark.parametrize("name, nodes, macs, saved, elements",
                         [("resnet18_full", 49, 4_436_303_872, 19, 2_230_312),
                          ("gpt2like", 139, 6_618_611_712, 35, 7_782_400)])
def test_the_forward_parts_of_published_graphs_give_the_published_numbers(
        train, shared, tmp_path, name, nodes, macs, saved, elements) -> None:
    path = tmp_path / "forward.onnx"
    onnx.save(forward_part(shared / "reference" / "monet" / f"{name}_training.onnx", nodes), path)
    found = train(path, "--parameters")
    assert found["macs"]["backward"] == macs
    assert len(found["saved"]) == saved
    assert sum(each["elements"] for each in found["saved"]) == found["saved_elements"] == elements
    matrices = sum(math.prod(p["shape"]) for p in found["parameter_list"] if len(p["shape"]) > 1)
    assert name != "resnet18_full" or matrices == 11_164_352


def test_a_training_step_is_not_differentiated_again(train, shared) -> None:
    found = train(shared / "reference" / "monet" / "resnet18_full_training.onnx")
    assert found["nodes"] == {"forward": 49, "backward": 251, "optimizer": 315}
    assert any("already" in note for note in found["notes"])
    assert (len(found["saved"]), found["saved_elements"]) == (19, 2_230_312)


def test_the_exported_step_is_sound_and_reads_back(train, monet, tmp_path) -> None:
    path = tmp_path / "step.onnx"
    made = train("resnet18-cifar:image=8", "--batch", 2, "--optimizer", "adamw", "-o", path)
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    inputs = {value.name for value in model.graph.input}
    outputs = {value.name for value in model.graph.output}
    assert {"input", "target", "step", "learning_rate", "fc.weight", "fc.weight.m", "fc.weight.v"} <= inputs
    assert {"loss", "fc.weight.grad", "fc.weight.new", "fc.weight.m.new", "bn1.running_mean.new"} <= outputs
    assert all(not tensor.name.endswith("weight") for tensor in model.graph.initializer)
    again = train(path)
    assert again["parameters"] == made["parameters"]
    assert again["macs"]["forward"] == made["macs"]["forward"]
    assert again["training_step"] and all(again["nodes"].values())


def test_json_has_the_names_of_the_contract(train) -> None:
    found = train("mlp-robotics", "--batch", 4)
    assert found["schema"] == 1
    assert {"parameters", "macs", "nodes", "saved_bytes", "static_bytes", "saved"} <= found.keys()
    assert {"name", "bytes"} <= found["saved"][0].keys()
    # Parameters, two moments, inputs and targets.
    assert found["static_bytes"] == 3 * 4 * found["parameters"] + 4 * 4 * 32 + 8 * 4


@pytest.mark.parametrize("arguments, words", [
    (["mlp-robotics", "--loss", "hinge"], "there is no loss 'hinge'"),
    (["mlp-robotics", "--loss", "mes"], "did you mean 'mse'?"),
    (["mlp-robotics", "--loss", "output:reward"], "the network has no output 'reward'"),
    (["mlp-robotics", "--loss", "output:logits"], "a loss is one floating-point number"),
    (["mlp-robotics:outputs=1"], "use --loss mse or bce"),
    (["mlp-robotics", "--class-axis", "7"], "it has no axis 7"),
    (["mlp-robotics", "--label-smoothing", "1.5"], "from 0 to 1"),
    (["mlp-robotics", "--optimizer", "adm"], "adam"),
    (["mlp-robotics", "--optimizer-form", "fuse"], "did you mean 'fused'?"),
    (["mlp-robotics", "--conv-gradient", "winograd"], "use direct or im2col"),
    (["mlp-robotics", "--beta1", "1"], "beta1"),
    (["mlp-robotics", "--clip-norm", "0"], "clip"),
    (["mlp-robotics", "--accumulate", "0"], "micro-batches"),
    (["mlp-robotics", "--freeze", "*"], "every parameter is frozen"),
    (["mlp-robotics", "--train", "encoder.*"], "no parameter matches 'encoder.*'"),
    (["mlp-robotics", "--last-layers", "0"], "at least 1"),
    (["mlp-robotics", "--lora", "0"], "a rank of 0 is not possible"),
    (["mlp-robotics", "--lora-alpha", "4"], "add --lora RANK"),
    (["mlp-robotics", "--lora", "4", "--lora-target", "head"], "matches 'head'"),
    (["mlp-robotics", "--precision", "fp33"], "did you mean 'fp32'?"),
    (["mlp-robotics", "-o", "no-such-folder/step.onnx"], "no-such-folder"),
    (["no-such-network"], "no-such-network"),
])
def test_a_mistake_is_named_with_what_to_do(refusal, arguments, words) -> None:
    assert words in refusal(*arguments)


def test_an_operator_that_cannot_be_differentiated_is_named_with_what_lies_behind(refusal, tmp_path) -> None:
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "weight"], ["y"], name="product"),
         helper.make_node("QuantizeLinear", ["y", "scale"], ["q"], name="quantize"),
         helper.make_node("DequantizeLinear", ["q", "scale"], ["z"], name="dequantize")], "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)],
        [helper.make_tensor("weight", TensorProto.FLOAT, [4, 4], [0.5] * 16),
         helper.make_tensor("scale", TensorProto.FLOAT, [], [0.1])])
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    message = refusal(path)
    assert "depends on no parameter" in message or "'weight'" in message
