"""Does every machine run what networks of others are written with, and say how?"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import pytest
from commands import answering, is_mistake, run_command
from onnx import TensorProto, helper, numpy_helper

MACHINES = ["edge_tpu", "fusemax", "monet_2x2", "h100", "raspberry_pi_4"]


@pytest.fixture
def evaluated(monet: Path):
    return answering(partial(run_command, monet, "evaluate"))


def save(path: Path, nodes: list, inputs: dict, outputs: dict, weights: dict, opset: int = 17) -> Path:
    values = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
              for name, shape in {**inputs, **outputs}.items()}
    initializers = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = helper.make_graph(nodes, "net", [values[name] for name in inputs], [values[name] for name in outputs],
                              initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]), path)
    return path


@pytest.fixture
def branches(tmp_path: Path):
    """So many linear layers over one input, joined by one operator."""
    def make(op: str, count: int) -> Path:
        weights = {f"w{i}": np.zeros((16, 16), np.float32) for i in range(count)}
        nodes = [helper.make_node("MatMul", ["x", f"w{i}"], [f"y{i}"], name=f"layer{i}") for i in range(count)]
        nodes.append(helper.make_node(op, [f"y{i}" for i in range(count)], ["y"], name="join"))
        return save(tmp_path / f"{op}.onnx", nodes, {"x": [4, 16]}, {"y": [4, 16]}, weights)
    return make


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("op", ["Sum", "Max", "Min", "Mean"])
def test_an_operator_of_many_inputs(evaluated, branches, machine: str, op: str) -> None:
    found = evaluated(branches(op, 40), "--hardware", machine)
    assert any(f"{op} of 40 inputs 'join'" in note for note in found["notes"])
    names = [row["name"] for row in found["operators"]]
    assert "join" in names and "join.1" in names


def test_there_is_no_most_of_inputs(evaluated, branches) -> None:
    """Inputs are counted in a byte, but not before an operator of many has become a chain."""
    found = evaluated(branches("Sum", 300), "--hardware", "edge_tpu")
    assert any("Sum of 300 inputs 'join'" in note for note in found["notes"])


def test_gradients_of_what_many_read_and_of_many_norms(evaluated, tmp_path: Path) -> None:
    """The gradient of a tensor with 40 readers is a sum of 40; so is the norm of 41 parameters' gradients."""
    count = 40
    weights = {f"w{i}": np.zeros((16, 16), np.float32) for i in range(count)} | {"first": np.zeros((16, 16), np.float32)}
    nodes = [helper.make_node("MatMul", ["x", "first"], ["h"], name="stem")]
    joined = "h"
    for i in range(count):
        nodes.append(helper.make_node("MatMul", ["h", f"w{i}"], [f"y{i}"], name=f"layer{i}"))
        nodes.append(helper.make_node("Add", [joined, f"y{i}"], [f"z{i}"], name=f"add{i}"))
        joined = f"z{i}"
    path = save(tmp_path / "net.onnx", nodes, {"x": [4, 16]}, {joined: [4, 16]}, weights)
    found = evaluated(path, "--hardware", "edge_tpu", "--clip-norm", "1")
    assert found["fits"]


@pytest.fixture
def attention(tmp_path: Path) -> Path:
    """Q, K and V by linear layers, and the operator that scaled_dot_product_attention becomes."""
    weights = {name: np.zeros((32, 32), np.float32) for name in "qkvo"}
    nodes = []
    for name in "qkv":
        nodes.append(helper.make_node("MatMul", ["x", name], [f"{name}1"], name=f"layer_{name}"))
        nodes.append(helper.make_node("Reshape", [f"{name}1", "heads"], [f"{name}2"], name=f"split_{name}"))
        nodes.append(helper.make_node("Transpose", [f"{name}2"], [f"{name}3"], perm=[0, 2, 1, 3], name=f"order_{name}"))
    nodes.append(helper.make_node("Attention", ["q3", "k3", "v3"], ["a"], name="attention", is_causal=1))
    nodes.append(helper.make_node("Transpose", ["a"], ["a1"], perm=[0, 2, 1, 3], name="back"))
    nodes.append(helper.make_node("Reshape", ["a1", "merged"], ["a2"], name="merge"))
    nodes.append(helper.make_node("MatMul", ["a2", "o"], ["y"], name="layer_o"))
    shapes = {"heads": np.array([2, 16, 4, 8]), "merged": np.array([2, 16, 32])}
    return save(tmp_path / "attention.onnx", nodes, {"x": [2, 16, 32]}, {"y": [2, 16, 32]}, weights | shapes, opset=23)


def kinds_of(found: dict, name: str) -> set[str]:
    """Cores that run an operator, without their numbers."""
    cores = next(row["cores"] for row in found["operators"] if row["name"] == name)
    return {core.rstrip("0123456789_") for core in cores}


def test_attention_runs_in_its_parts_where_no_core_runs_it_whole(evaluated, attention, tmp_path: Path) -> None:
    for machine in ["fusemax", "edge_tpu", "monet_2x2", "tpu_like_quad_core"]:
        plan = tmp_path / f"{machine}.yaml"
        found = evaluated(attention, "--hardware", machine, "--save-plan", plan)
        assert found["expanded"] == ["attention", "attention.grad.AttentionGrad"]
        assert any("runs Attention: 1 runs as the simpler operators" in note for note in found["notes"])
        names = {row["name"] for row in found["operators"]}
        assert "attention" not in names and "attention.grad.AttentionGrad" not in names
        products = [name for name in names if name.startswith("attention") and "MatMul" in name]
        assert len(products) == 2 + 5  # Q·Kᵀ and P·V; Q·Kᵀ again, and four for the gradients
        # Products run where the layers do, the rest where the update does.
        layers = {core for name in ["layer_q", "layer_o"] for core in kinds_of(found, name)}
        assert {core for name in products for core in kinds_of(found, name)} <= layers
        others = {core for name in names if name.startswith("attention.Exp") for core in kinds_of(found, name)}
        assert others and not others & layers
        again = evaluated(attention, "--hardware", machine, "--plan", plan)
        assert again["expanded"] == found["expanded"]
        assert again["latency_cycles"] == found["latency_cycles"] and again["energy_pj"] == found["energy_pj"]


def test_attention_is_mapped_in_its_parts(monet, attention) -> None:
    found = json.loads(run_command(monet, "map", attention, "--hardware", "edge_tpu", "--json", "-q").stdout)
    [name] = {layer["name"].rpartition(".")[0] for layer in found["layers"] if layer["name"].endswith(".Exp")}
    parts = [layer for layer in found["layers"] if layer["name"].startswith(name + ".")]
    assert [part["operator"] for part in parts].count("MatMul") == 2 and not found["unmapped"]
    # Its name stands for its parts.
    alone = json.loads(run_command(monet, "map", attention, "--hardware", "edge_tpu", "--layer", name, "--json", "-q").stdout)
    assert alone["layers"] == parts


def test_attention_stays_whole_where_a_core_runs_it(evaluated, attention) -> None:
    found = evaluated(attention, "--hardware", "h100")
    assert found["expanded"] == [] and "attention" in {row["name"] for row in found["operators"]}


def test_expanded_attention_saves_what_it_saves_whole(evaluated, attention) -> None:
    """The probabilities are computed anew in the backward part, in parts as well."""
    whole = evaluated(attention, "--hardware", "h100")
    parts = evaluated(attention, "--hardware", "fusemax", "--set", "arithmetic=fp32")
    assert parts["saved_bytes"] == whole["saved_bytes"]


def test_a_plan_of_an_expanded_step_is_one_of_train_too(monet, evaluated, attention, tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    evaluated(attention, "--hardware", "fusemax", "--set", "arithmetic=fp32", "--save-plan", plan, "--recompute", "*")
    result = run_command(monet, "train", attention, "--plan", plan, "--json", "-q")
    assert result.returncode == 0, result.stderr


def test_tiles_of_the_default_policy_fit(evaluated) -> None:
    """What passes between the nests of Adafactor's update: two pieces of half the memory, and two bytes."""
    for machine in ["edge_tpu", "monet_2x2"]:
        found = evaluated("resnet18-cifar", "--optimizer", "adafactor", "--hardware", machine, "--set", "arithmetic=bf16")
        assert found["latency_cycles"] > 0


# As the machine of docs/describe-your-hardware.md was: no random numbers, and here no roots either.
MACHINE = """\
monet: 1
name: mine
clock: 1 GHz
technology: 22 nm
memories:
  dram: {kind: dram, type: LPDDR4, size: 4 GiB, ports: {rw: {width: 25.6 GB/s}}}
cores:
  array:
    operators: [convolution, contraction]
    array:
      dimensions: {K: {size: 32, loops: [K]}, C: {size: 32, loops: [C, FX, FY]}}
      operations: {mac: 1, add: 1, multiply: 1}
    memories: {sram: {size: 1 MiB, ports: {rw: {width: 1024 bit/cycle}}}, dram: {use: dram}}
  vector:
    vector: {lanes: 32, operations: {arithmetic: 1, divide: 8, exp: 8, log: 8}}
    memories: {sram: {size: 256 KiB, ports: {rw: {width: 1024 bit/cycle}}}, dram: {use: dram}}
links:
  - {bus: [array, vector, dram], width: 512 bit/cycle}
"""


@pytest.fixture
def dropping(tmp_path: Path) -> Path:
    """Two layers with dropout of half of it in between."""
    weights = {"w": np.zeros((16, 16), np.float32), "ratio": np.array(0.5, np.float32), "on": np.array(True)}
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], name="layer"),
             helper.make_node("Dropout", ["a", "ratio", "on"], ["b"], name="drop1"),
             helper.make_node("Tanh", ["b"], ["c"], name="squash"),
             helper.make_node("Dropout", ["c", "ratio", "on"], ["y"], name="drop2")]
    return save(tmp_path / "dropping.onnx", nodes, {"x": [4, 16]}, {"y": [4, 16]}, weights)


def test_all_that_a_machine_is_missing_is_said_at_once(monet, dropping, tmp_path: Path) -> None:
    machine = tmp_path / "mine.yaml"
    machine.write_text(MACHINE)
    result = run_command(monet, "evaluate", dropping, "--hardware", machine)
    assert result.returncode == 2
    for words in ["2 Dropout (such as 'drop1')", "without random", "1 Tanh (such as 'squash')", "1 Sqrt (such as 'w.update.Sqrt')"]:
        assert words in result.stderr, result.stderr


def test_what_is_missing_can_be_asked_beforehand(monet, dropping, tmp_path: Path) -> None:
    machine = tmp_path / "mine.yaml"
    machine.write_text(MACHINE)
    check = partial(run_command, monet, "hardware", "check", machine, "--network", dropping)
    result = check("--json", "-q")
    assert result.returncode == 2
    found = json.loads(result.stdout)
    assert found["schema"] == 1 and not found["runs"]
    forward = {row["operator"]: row for row in found["inference"]["missing"]}
    assert forward["Dropout"]["count"] == 2 and forward["Dropout"]["example"] == "drop1"
    assert "without random" in " ".join(forward["Dropout"]["reasons"])
    step = {row["operator"] for row in found["training"]["missing"]}
    assert set(forward) < step  # the update takes roots
    text = check()
    assert text.returncode == 2 and "2 Dropout, such as 'drop1'" in text.stdout
    # A machine that has them all.
    machine.write_text(MACHINE.replace("operations: {arithmetic: 1,", "operations: {all: 1,"))
    result = check("--json", "-q")
    assert result.returncode == 0, result.stdout
    assert json.loads(result.stdout)["training"]["missing"] == []
    assert "every operator has a core" in check().stdout
    # One on which inference runs, and training does not.
    machine.write_text(MACHINE.replace("log: 8", "log: 8, random: 1, tanh: 8"))
    assert check().returncode == 2
    assert check("--inference").returncode == 0
    assert check("--optimizer", "sgd").returncode == 0


def test_the_documented_machine_runs_stochastic_depth(monet, dropping, tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "describe-your-hardware.md").read_text()
    machine = tmp_path / "machine.yaml"
    machine.write_text(text.split("<!-- file: machine.yaml -->\n```yaml\n")[1].split("```")[0])
    result = run_command(monet, "hardware", "check", machine, "--network", dropping, "--precision", "bf16")
    assert result.returncode == 0, result.stdout


@pytest.fixture
def biased(tmp_path: Path):
    """Scores to which a table is added before the softmax."""
    def make(table: np.ndarray) -> Path:
        weights = {name: np.zeros((8, 8), np.float32) for name in "qkv"} | {"attn.position_bias": table}
        nodes = [helper.make_node("MatMul", ["x", name], [f"{name}1"], name=f"layer_{name}") for name in "qkv"]
        nodes += [helper.make_node("Transpose", ["k1"], ["kt"], perm=[0, 2, 1], name="turn"),
                  helper.make_node("MatMul", ["q1", "kt"], ["scores"], name="scores"),
                  helper.make_node("Add", ["scores", "attn.position_bias"], ["biased"], name="bias"),
                  helper.make_node("Softmax", ["biased"], ["p"], name="softmax"),
                  helper.make_node("MatMul", ["p", "v1"], ["y"], name="mix")]
        return save(tmp_path / "biased.onnx", nodes, {"x": [2, 6, 8]}, {"y": [2, 6, 8]}, weights)
    return make


def test_a_learned_table_added_to_scores_is_trained(monet, biased) -> None:
    train = answering(partial(run_command, monet, "train"))
    learned = np.linspace(-1, 1, 36, dtype=np.float32).reshape(6, 6)
    mask = np.where(np.tri(6) > 0, 0, -np.inf).astype(np.float32)
    weights = 3 * 8 * 8
    assert train(biased(learned))["parameters"] == weights + 36
    assert train(biased(learned), "--buffer", "attn.*")["parameters"] == weights
    assert train(biased(mask))["parameters"] == weights
    assert train(biased(mask), "--parameter", "attn.position_bias")["parameters"] == weights + 36
    evaluated = answering(partial(run_command, monet, "evaluate"))
    found = evaluated(biased(mask), "--hardware", "fusemax", "--parameter", "*bias")
    assert found["parameters"] == weights + 36


def test_mistakes_about_what_is_trained(monet, biased) -> None:
    mask = biased(np.where(np.tri(6) > 0, 0, -1e9).astype(np.float32))
    for option in ["--parameter", "--buffer"]:
        is_mistake(run_command(monet, "train", mask, option, "attn.position_bia"), option, "did you mean")
        is_mistake(run_command(monet, "train", mask, option, "zzz*"), option, "no floating-point tensor", "zzz*")
    is_mistake(run_command(monet, "train", mask, "--train", "attn.position_bias"), "--train",
               "--parameter 'attn.position_bias'")
    both = run_command(monet, "train", mask, "--parameter", "attn*", "--buffer", "*bias")
    is_mistake(both, "named as a parameter and as a buffer")


def test_norms_that_a_file_spells_out(monet, tmp_path: Path) -> None:
    """x · rsqrt(mean(x²) + ε) · w, as written: x, the norm without w and the root are kept; as one operator: x and the root."""
    weights = {"w": np.zeros((32, 32), np.float32), "scale": np.ones(32, np.float32),
               "two": np.array(2, np.float32), "epsilon": np.array(1e-5, np.float32)}
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"], name="layer"),
             helper.make_node("Pow", ["h", "two"], ["square"], name="square"),
             helper.make_node("ReduceMean", ["square"], ["mean"], axes=[-1], name="mean"),
             helper.make_node("Add", ["mean", "epsilon"], ["shifted"], name="shift"),
             helper.make_node("Sqrt", ["shifted"], ["root"], name="root"),
             helper.make_node("Reciprocal", ["root"], ["inverse"], name="inverse"),
             helper.make_node("Mul", ["h", "inverse"], ["normed"], name="norm"),
             helper.make_node("Mul", ["normed", "scale"], ["scaled"], name="scale_it"),
             helper.make_node("MatMul", ["scaled", "w"], ["y"], name="last")]
    path = save(tmp_path / "norm.onnx", nodes, {"x": [16, 32]}, {"y": [16, 32]}, weights)
    train = answering(partial(run_command, monet, "train"))
    written, fused = train(path, "--loss", "mse"), train(path, "--loss", "mse", "--fused-norms")
    assert any("1 norm is spelt out" in note and "--fused-norms" in note for note in written["notes"])
    tensor = 16 * 32 * 4
    assert 0.9 * tensor <= written["saved_bytes"] - fused["saved_bytes"] <= 1.2 * tensor


# Every option of `monet train` that makes another step.
STEPS = [["--accumulate", "3"], ["--accumulate", "2", "--clip-norm", "1"], ["--clip-norm", "1"], ["--lora", "4"],
         ["--optimizer-form", "elementwise"], ["--optimizer", "adafactor"], ["--optimizer", "adam8bit"],
         ["--optimizer", "lion", "--weight-decay", "0.1"], ["--optimizer", "sgd", "--accumulate", "2"],
         ["--bias-only"], ["--last-layers", "1"], ["--freeze", "*bias*"], ["--precision", "mixed"],
         ["--precision", "mixed", "--accumulate", "2", "--loss-scale", "1024"], ["--label-smoothing", "0.1"],
         ["--recompute", "*", "--accumulate", "2"], ["--order", "frugal", "--accumulate", "2"],
         ["--precision", "mxfp8", "--accumulate", "2"]]


@pytest.mark.parametrize("options", STEPS, ids=" ".join)
def test_a_saved_plan_gives_the_same_again(evaluated, tmp_path: Path, options: list[str]) -> None:
    plan = tmp_path / "plan.yaml"
    machine = "tpu_v4" if "--precision" in options else "edge_tpu"
    how = ["mlp-robotics", "--batch", "4", "--hardware", machine, *options]
    first = evaluated(*how, "--save-plan", plan)
    how = [option for option in how if option not in ("--recompute", "*", "--order", "frugal")]
    again = evaluated(*how, "--plan", plan)
    for quantity in ["latency_cycles", "energy_pj", "peak_bytes", "saved_bytes", "macs", "tiles"]:
        assert again[quantity] == first[quantity], quantity
