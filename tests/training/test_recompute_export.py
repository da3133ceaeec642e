"""Is the exported step with recomputations the same step: bit for bit in our executor, in onnxruntime, and by count?"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from gradient_cases import random_state
from onnx import TensorProto, helper, numpy_helper
from step_values import parameter, shape_of, type_of

NETWORKS = {
    "mlp": ["mlp-robotics:batch=3,inputs=5,hidden=7,outputs=4"],
    "resnet18-cifar": ["resnet18-cifar:image=8,batch=2", "--optimizer", "sgd"],
    "mobilenet-v2": ["mobilenet-v2:image=32,batch=2", "--optimizer", "sgd"],
    "gpt2-tiny": ["gpt2:batch=2,layers=2,width=16,heads=2,ffn=32,vocabulary=23,tokens=6"],
    "gpt2-flash": ["gpt2:batch=2,layers=2,width=16,heads=2,ffn=32,vocabulary=23,tokens=6,flash=1"],
    "bert": ["bert-base:batch=2,layers=2,width=16,heads=2,ffn=32,vocabulary=23,tokens=6,positions=8"],
    "unet": ["unet:image=32,features=2"],
}
EXECUTED = ("mlp", "resnet18-cifar", "gpt2-tiny", "gpt2-flash", "bert", "unet")  # small enough for plain loops
BLOCKS = ("resnet18-cifar", "mobilenet-v2", "gpt2-tiny", "gpt2-flash", "bert")


def train(monet: Path, arguments: list[str], file: Path) -> dict:
    result = subprocess.run([monet, "train", *arguments, "--json", "-o", file], capture_output=True, text=True,
                            timeout=300)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def value_for(value: onnx.ValueInfoProto) -> np.ndarray:
    kind = type_of(value)
    if np.issubdtype(kind, np.integer):
        return random_state(value.name).randint(0, 2, shape_of(value)).astype(kind)
    scalars = {"step": 3, "learning_rate": 1e-2}
    if value.name in scalars:
        return np.full(shape_of(value), scalars[value.name], kind)
    made = parameter(value.name, shape_of(value))
    return np.asarray(np.abs(made) if value.name.endswith((".v", "running_var")) else made).astype(kind)


def values_for(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    return {value.name: value_for(value) for value in model.graph.input}


def in_onnxruntime(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    options = onnxruntime.SessionOptions()
    # Rewriting by the runtime may add in another order in one of the two files.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, values_for(model)), strict=True))


def in_our_executor(oracle: Path, model: onnx.ModelProto, folder: Path) -> dict[str, np.ndarray]:
    folder.mkdir()
    onnx.save(model, folder / "model.onnx")
    lines = []
    for i, (name, value) in enumerate(values_for(model).items()):
        np.save(folder / f"input_{i}.npy", value.astype(np.float64, order="C"))
        lines.append(f"{name}\tinput_{i}.npy\n")
    (folder / "inputs.txt").write_text("".join(lines))
    subprocess.run([oracle, folder], check=True, timeout=600)
    assert not (folder / "error.txt").exists(), (folder / "error.txt").read_text()
    return {output.name: np.load(folder / f"output_{i}.npy") for i, output in enumerate(model.graph.output)}


def copies(model: onnx.ModelProto) -> list[str]:
    return [node.name for node in model.graph.node if "~1" in node.name]


def the_two(monet: Path, name: str, folder: Path, options: list[str]) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    plain, again = folder / "plain.onnx", folder / "again.onnx"
    before = train(monet, NETWORKS[name], plain)
    after = train(monet, [*NETWORKS[name], *options], again)
    assert "recomputed" not in before
    found = after["recomputed"]
    assert found["tensors"] and found["nodes"] > 0
    assert after["macs"]["forward"] == before["macs"]["forward"]
    assert after["macs"]["backward"] == before["macs"]["backward"] + found["macs"]
    assert after["nodes"]["backward"] == before["nodes"]["backward"] + found["nodes"]
    assert after["saved_bytes"] < before["saved_bytes"]
    assert after["static_bytes"] == before["static_bytes"]
    first, second = onnx.load(plain), onnx.load(again)
    assert not copies(first) and copies(second)
    assert [o.name for o in first.graph.output] == [o.name for o in second.graph.output]
    assert any(o.name.endswith(".grad") for o in second.graph.output)
    return first, second


def assert_same(first: dict[str, np.ndarray], second: dict[str, np.ndarray], tolerance: float) -> None:
    assert first.keys() == second.keys()
    for name, value in first.items():
        assert np.all(np.isfinite(value)), name
        if tolerance == 0:
            assert value.tobytes() == second[name].tobytes(), name
        else:
            np.testing.assert_allclose(second[name], value, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("name, pattern", [(name, "*") for name in NETWORKS] + [(name, "blocks") for name in BLOCKS])
def test_the_exported_step_computes_the_same(monet, oracle, tmp_path, name, pattern) -> None:
    first, second = the_two(monet, name, tmp_path, ["--recompute", pattern])
    onnx.checker.check_model(second)
    assert_same(in_onnxruntime(first), in_onnxruntime(second), 0)
    if name in EXECUTED:
        assert_same(in_our_executor(oracle, first, tmp_path / "a"), in_our_executor(oracle, second, tmp_path / "b"), 0)


def dropout_network(path: Path) -> None:
    """Two residual blocks with dropout in them."""
    shapes = {f"fc{i}.weight": (6, 6) for i in range(4)} | {"out.weight": (6, 3)}
    nodes, x = [], "x"
    for i in range(2):
        nodes += [
            helper.make_node("MatMul", [x, f"fc{2 * i}.weight"], [f"a{i}"]),
            helper.make_node("Relu", [f"a{i}"], [f"b{i}"]),
            helper.make_node("Dropout", [f"b{i}", "ratio", "training"], [f"c{i}"], seed=7 + i),
            helper.make_node("MatMul", [f"c{i}", f"fc{2 * i + 1}.weight"], [f"d{i}"]),
            helper.make_node("Add", [f"d{i}", x], [f"y{i}"]),
        ]
        x = f"y{i}"
    nodes.append(helper.make_node("MatMul", [x, "out.weight"], ["scores"]))
    constants = [numpy_helper.from_array(np.array(0.5, np.float32), "ratio"),
                 numpy_helper.from_array(np.array(True), "training")]
    weights = [numpy_helper.from_array(parameter(name, shape).astype(np.float32), name)
               for name, shape in shapes.items()]
    graph = helper.make_graph(nodes, "dropout", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 6])],
                              [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [8, 3])],
                              weights + constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def with_seeds(model: onnx.ModelProto) -> onnx.ModelProto:
    """With random operators that draw the same in both files: seeded by name."""
    for node in model.graph.node:
        if node.op_type == "Dropout":
            del node.attribute[:]
            node.attribute.append(helper.make_attribute("seed", sum(node.name.encode())))
    return model


def test_dropout_is_repeated_with_its_mask(monet, tmp_path) -> None:
    network = tmp_path / "dropout.onnx"
    dropout_network(network)
    plain, again = tmp_path / "plain.onnx", tmp_path / "again.onnx"
    train(monet, [str(network)], plain)
    found = train(monet, [str(network), "--recompute", "blocks"], again)
    assert found["recomputed"]["nodes"] >= 6
    first, second = with_seeds(onnx.load(plain)), with_seeds(onnx.load(again))
    assert sum(node.op_type == "Dropout" for node in second.graph.node) == 2
    results = in_onnxruntime(first)
    assert_same(results, in_onnxruntime(second), 1e-6)
    assert 0 < np.count_nonzero(results["fc1.weight.grad"])


def test_a_plan_says_what_is_recomputed(monet, tmp_path) -> None:
    name = NETWORKS["gpt2-tiny"]
    saved = [each["name"] for each in train(monet, name, tmp_path / "plain.onnx")["saved"]]
    chosen = [tensor for tensor in saved if "gelu" in tensor.lower()] or saved[2:4]
    plan = tmp_path / "plan.yaml"
    plan.write_text("plan: 1\ntensors:\n" + "".join(f'  "{tensor}": recompute\n' for tensor in chosen)
                    + f'  "{saved[0]}": {{page: flash}}\n')
    found = train(monet, [*name, "--plan", str(plan)], tmp_path / "again.onnx")
    assert sorted(found["recomputed"]["tensors"]) == sorted(chosen)
    kept = train(monet, [*name, "--plan", str(plan), "--keep", chosen[0]], tmp_path / "kept.onnx")
    assert sorted(kept["recomputed"]["tensors"]) == sorted(chosen[1:])
    text = subprocess.run([monet, "train", *name, "--plan", plan], capture_output=True, text=True, timeout=60)
    assert f"\nrecomputed   {len(chosen)} tensors, by " in text.stdout
    assert "1 tensors are paged by the plan: the step itself is the same" in text.stderr


def test_a_step_from_a_file_can_be_rewritten(monet, tmp_path) -> None:
    step = tmp_path / "step.onnx"
    train(monet, NETWORKS["gpt2-tiny"], step)
    found = train(monet, [str(step), "--recompute", "*"], tmp_path / "again.onnx")
    assert found["recomputed"]["nodes"] > 0
    assert_same(in_onnxruntime(onnx.load(step)), in_onnxruntime(onnx.load(tmp_path / "again.onnx")), 1e-6)


def test_errors(monet, tmp_path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text("plan: 1\ngraph: " + "0" * 32 + "\ntensors: {\"*\": recompute}\n")
    for arguments, message in [
        (["mlp-robotics", "--recompute", "blocks"], "no residual blocks or transformer layers that could be found"),
        (["mlp-robotics", "--recompute", "layer7*"], "no saved tensor matches 'layer7*'"),
        (["mlp-robotics", "--plan", tmp_path / "none.yaml"], "none.yaml"),
        (["mlp-robotics", "--plan", plan], "plan.yaml:2:8: the plan was made for another graph"),
        (["mlp-robotics", "--recompute", "weights"], "cannot be recomputed: it is there before the step begins"),
    ]:
        result = subprocess.run([monet, "train", *arguments], capture_output=True, text=True, timeout=60)
        assert result.returncode == 1 and result.stdout == "", arguments
        assert message in result.stderr, result.stderr
    forced = subprocess.run([monet, "train", "mlp-robotics", "--plan", plan, "--force"], capture_output=True, text=True,
                            timeout=60)
    assert forced.returncode == 0 and "made for another graph" in forced.stderr
