"""Files of real exporters: what is counted against PyTorch's own count and against published figures."""

from __future__ import annotations

import csv
import json
import math
import subprocess
from collections import Counter
from pathlib import Path

import pytest

# file in data/models, and the built-in network that is the same
NETWORKS = {
    "resnet18": "resnet18",
    "resnet50": "resnet50",
    "resnet18_cifar": "resnet18-cifar",
    "mobilenet_v2": "mobilenet-v2",
    "gpt2_small": "gpt2-small",
    "gpt2_small_flash": "gpt2-small:flash=1",
    "gpt2_tiny": "gpt2-tiny",
    "bert_base": "bert-base",
    "unet": "unet",
    "mlp_robotics": "mlp-robotics",
}
EXPORTS = {"traced": ".onnx", "captured": ".dynamo.onnx"}
OTHER_BATCHES = (3, 37)  # measured by nobody

every_network = pytest.mark.parametrize("network", NETWORKS)
every_export = pytest.mark.parametrize("export", EXPORTS)


def inspect(monet: Path, model: Path | str, *options: str) -> dict:
    result = subprocess.run([monet, "inspect", model, "--json", *options], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def measured(data: Path, network: str) -> dict[int, tuple[int, int]]:
    """Parameters and forward MACs by batch, as PyTorch counts them."""
    with open(data / "groundtruth" / "h200_training.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["network"] == network]
    rows = [row for row in rows if row["precision"] == "fp32" and row["checkpoint"] == "no"]
    return {int(row["batch"]): (int(row["parameters"]), int(row["fwd_flops"]) // 2) for row in rows}


@every_export
@every_network
def test_parameters_and_macs_are_those_that_pytorch_counts(monet, data, network, export) -> None:
    file = data / "models" / (network + EXPORTS[export])
    rows = measured(data, network)
    assert len(rows) >= 3
    for batch, (parameters, macs) in rows.items():
        found = inspect(monet, file, "--batch", str(batch))
        assert (found["parameters"], found["macs"]["forward"]) == (parameters, macs), f"batch {batch}"
        assert found["macs"]["backward"] == found["macs"]["optimizer"] == 0
        assert not found["training_step"] and not found["warnings"]


@every_export
@every_network
def test_macs_are_linear_in_the_batch(monet, data, network, export) -> None:
    file = data / "models" / (network + EXPORTS[export])
    rows = measured(data, network)
    batch, (parameters, macs) = next(iter(rows.items()))
    for other in OTHER_BATCHES:
        assert other not in rows
        found = inspect(monet, file, "--batch", str(other))
        assert (found["parameters"], found["macs"]["forward"]) == (parameters, macs * other // batch), f"batch {other}"


def mac_layers(found: dict) -> Counter:
    layers = (layer for layer in found["layers"] if layer["macs"])
    return Counter((layer["operator"], layer["macs"], tuple(layer["outputs"][0]["shape"])) for layer in layers)


@every_export
@every_network
def test_the_built_in_network_is_the_one_in_the_file(monet, data, network, export) -> None:
    file = inspect(monet, data / "models" / (network + EXPORTS[export]), "--batch", "2", "--layers")
    built_in = inspect(monet, NETWORKS[network], "--batch", "2", "--layers")
    for quantity in ("parameters", "parameter_tensors", "macs"):
        assert built_in[quantity] == file[quantity], quantity
    assert mac_layers(built_in) == mac_layers(file)


@pytest.mark.parametrize("batch", (1, 5))
@pytest.mark.parametrize(
    ("file", "plain", "warning"),
    [
        ("resnet18.optimized.onnx", "resnet18.dynamo.onnx", "batch norms were folded into 20 convolutions"),
        ("gpt2_tiny.optimized.onnx", "gpt2_tiny.dynamo.onnx", "equal initializers were merged"),
    ],
)
def test_an_optimized_export_can_be_costed_and_is_warned_of(monet, data, file, plain, warning, batch) -> None:
    found = inspect(monet, data / "models" / file, "--batch", str(batch))
    assert [text for text in found["warnings"] if warning in text], found["warnings"]
    assert ("baked in" in " ".join(found["notes"])) == (batch != 1)
    complete = inspect(monet, data / "models" / plain, "--batch", str(batch))
    assert found["macs"] == complete["macs"]
    assert found["parameters"] < complete["parameters"]


def test_the_peer_s_resnet18_opens(monet, shared) -> None:
    found = inspect(monet, shared / "reference" / "zigzag" / "resnet18.onnx")
    assert found["macs"]["forward"] == inspect(monet, "resnet18")["macs"]["forward"]


# Training graphs of the paper: nodes, millions of MACs to one digit, millions of element-wise operations with the
# digits that were published; each forward, backward, optimizer.
TRAINING_GRAPHS = {
    "resnet18_full": ((49, 251, 315), (2221.7, 4436.3, 0), ("3.21", "3.44", "167.5")),
    "resnet18_lora": ((129, 441, 600), (2376.5, 2523.3, 0), ("8.13", "6.65", "4.3")),
    "gpt2like": ((139, 213, 90), (3309.3, 6618.6, 0), ("10.9", "13.9", "69.6")),
}
PHASES = ("forward", "backward", "optimizer")
every_graph = pytest.mark.parametrize("graph", TRAINING_GRAPHS)


def training_graph(monet: Path, shared: Path, graph: str) -> dict:
    return inspect(monet, shared / "reference" / "monet" / f"{graph}_training.onnx", "--layers")


@every_graph
def test_nodes_and_macs_of_the_published_training_graphs(monet, shared, graph) -> None:
    nodes, macs, _ = TRAINING_GRAPHS[graph]
    found = training_graph(monet, shared, graph)
    assert found["training_step"]
    assert tuple(found["nodes"][phase] for phase in PHASES) == nodes
    assert tuple(round(found["macs"][phase] / 1e6, 1) for phase in PHASES) == macs
    if graph == "gpt2like":
        assert found["macs"]["backward"] == 2 * found["macs"]["forward"]


@every_graph
def test_element_wise_operations_of_the_published_training_graphs(monet, shared, graph) -> None:
    """The published figure is the number of elements that element-wise operators and softmaxes write.

    It leaves out reductions, pooling, the loss's gradient and the additions of biases, and takes a softmax or a sum of
    several tensors for one operation an element. Counted like that, every digit agrees. `other_operations` has all
    of them and is therefore larger; its deviation is printed.
    """
    counted = {"Add", "Sub", "Mul", "Div", "Sqrt", "Sum", "Relu", "ReluGrad", "Softmax", "LogSoftmax"}
    found = training_graph(monet, shared, graph)
    for phase, published in zip(PHASES, TRAINING_GRAPHS[graph][2]):
        layers = [layer for layer in found["layers"] if layer["phase"] == phase and layer["operator"] in counted]
        written = sum(math.prod(output["shape"]) for layer in layers for output in layer["outputs"])
        digits = len(published.partition(".")[2])
        assert f"{written / 1e6:.{digits}f}" == published, f"{phase}: {written}"
        operations = found["other_operations"][phase]
        deviation = 100 * (operations / written - 1)
        print(f"{graph} {phase}: published {published} M, counted {operations / 1e6:.2f} M, {deviation:+.1f} %")
        assert operations >= written
