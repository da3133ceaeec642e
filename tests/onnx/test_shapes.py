"""Every shape against the ONNX project's own inference, wherever that knows it."""

from __future__ import annotations

import importlib
import json
import math
import subprocess
from pathlib import Path

import onnx
import pytest
from onnx import ModelProto, TensorProto, shape_inference

MODELS = (
    *(f"{name}{export}" for export in (".onnx", ".dynamo.onnx")
      for name in ("resnet18", "resnet50", "resnet18_cifar", "mobilenet_v2", "gpt2_small", "gpt2_small_flash",
                   "gpt2_tiny", "bert_base", "unet", "mlp_robotics")),
    "resnet18.optimized.onnx", "gpt2_tiny.optimized.onnx",
)
FAMILIES = sorted(path.stem for path in (Path(__file__).parent.parent / "operators").glob("cases_*.py"))
LEAST_COMPARED = {"cases_sequence": 10}  # models of a family; elsewhere half of them
# Ten times 0.7 is 7 in single precision, as onnxruntime computes it, and 6.99… in double precision, as ONNX does.
ONNX_IS_WRONG = {"Resize_float_product"}

Shapes = dict[str, tuple[int, ...]]


def static_shape(value: onnx.ValueInfoProto) -> tuple[int, ...] | None:
    tensor = value.type.tensor_type
    if not value.type.HasField("tensor_type") or not tensor.HasField("shape"):
        return None
    dimensions = tensor.shape.dim
    return tuple(d.dim_value for d in dimensions) if all(d.HasField("dim_value") for d in dimensions) else None


def inferred(model: ModelProto) -> Shapes:
    """What ONNX finds. Shapes that the exporter noted do not help it: they are of another batch."""
    model = ModelProto.FromString(model.SerializeToString())
    del model.graph.value_info[:]
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    graph = shape_inference.infer_shapes(model, data_prop=True, strict_mode=False).graph
    shapes = {value.name: static_shape(value) for value in (*graph.input, *graph.value_info, *graph.output)}
    shapes |= {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    known = {name: shape for name, shape in shapes.items() if shape is not None}
    for name in doubtful(graph, known):
        known.pop(name, None)
    return known


def doubtful(graph: onnx.GraphProto, known: Shapes) -> set[str]:
    """Reshapes into another number of elements, which no run could do, and everything computed from them."""
    names: set[str] = set()
    for node in graph.node:
        bad = any(name in names for name in node.input)
        if node.op_type == "Reshape" and node.input[0] in known and node.output[0] in known:
            bad |= math.prod(known[node.input[0]]) != math.prod(known[node.output[0]])
        if bad:
            names.update(node.output)
    return names


def without_windows_in_padding(model: ModelProto, theirs: Shapes) -> None:
    """ONNX's text, onnxruntime and PyTorch leave out windows that start behind the data; ONNX's inference does not."""
    for node in model.graph.node:
        values = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
        if not node.op_type.endswith("Pool") or not values.get("ceil_mode") or "auto_pad" in values:
            continue
        rank = len(values["kernel_shape"])
        strides, pads = values.get("strides", [1] * rank), values.get("pads", [0] * 2 * rank)
        size = theirs[node.input[0]]
        for name in filter(theirs.__contains__, node.output):
            shape = list(theirs[name])
            for axis in range(rank):
                last_start = (shape[2 + axis] - 1) * strides[axis]
                shape[2 + axis] -= last_start >= size[2 + axis] + pads[axis]
            theirs[name] = tuple(shape)


def differences(ours: Shapes, theirs: Shapes) -> list[str]:
    common = sorted(ours.keys() & theirs.keys())
    return [f"{name}: {ours[name]}, ONNX finds {theirs[name]}" for name in common if ours[name] != theirs[name]]


def bind_batch(model: ModelProto, batch: int) -> None:
    for value in model.graph.input:
        value.type.tensor_type.shape.dim[0].dim_value = batch


def without_values(model: ModelProto) -> ModelProto:
    """Large initializers lie in files that are absent; ONNX needs to know no more than their shapes."""
    for tensor in model.graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")
    return model


@pytest.mark.parametrize("batch", (1, 6))
@pytest.mark.parametrize("file", MODELS)
def test_tensors_of_a_network(monet, data, file, batch) -> None:
    path = data / "models" / file
    result = subprocess.run([monet, "inspect", path, "--batch", str(batch), "--layers", "--json"],
                            capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    ours: Shapes = {}
    for layer in json.loads(result.stdout)["layers"]:
        ours |= {tensor["name"]: tuple(tensor["shape"]) for tensor in layer["outputs"]}
    model = without_values(onnx.load(path, load_external_data=False))
    bind_batch(model, batch)
    theirs = inferred(model)
    compared = len(ours.keys() & theirs.keys())
    print(f"{file} batch {batch}: {compared} of {len(ours)} tensors compared")
    assert not differences(ours, theirs)
    # ONNX loses its way at the Range and the SplitToSequence of captured graphs, and at a batch that is baked in.
    least = 0.1 if "optimized" in file or "dynamo" in file else 0.6
    assert compared >= least * len(ours)


@pytest.mark.parametrize("family", FAMILIES)
def test_operators(oracle, tmp_path, family) -> None:
    cases = [(name, model) for name, model, _ in importlib.import_module(family).cases()]
    folders = [tmp_path / str(i) for i in range(len(cases))]
    for folder, (_, model) in zip(folders, cases):
        folder.mkdir()
        (folder / "model.onnx").write_bytes(model.SerializeToString())
    subprocess.run([oracle, "--shapes", *folders], check=True, timeout=300)
    problems, compared = [], 0
    for folder, (name, model) in zip(folders, cases):
        lines = (folder / "shapes.txt").read_text().splitlines() if (folder / "shapes.txt").exists() else []
        ours = {line.partition("\t")[0]: tuple(map(int, line.partition("\t")[2].split())) for line in lines}
        theirs = {} if name in ONNX_IS_WRONG else inferred(model)
        without_windows_in_padding(model, theirs)
        compared += any(output.name in ours and output.name in theirs for output in model.graph.output)
        problems += [f"{name}: {problem}" for problem in differences(ours, theirs)]
    print(f"{family}: outputs of {compared} of {len(cases)} models compared")
    assert not problems, f"{len(problems)} shapes differ:\n" + "\n".join(problems[:40])
    assert compared >= LEAST_COMPARED.get(family, len(cases) // 2)
