"""Does a file of costs price operators that the program does not know, and others, from the command line?"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import onnx
import pytest
from commands import answer_of, answering, fails, run_command
from onnx import TensorProto, helper

# One operation a cycle, right in the only memory: nothing moves.
MACHINE = """\
monet: 1
name: plain
clock: 1 GHz
memories:
  main: {kind: sram, size: 1 MiB, read_energy: 1 pJ, write_energy: 1 pJ, ports: {rw: {width: 4096 bit/cycle}}}
cores:
  simd:
    rate: {operations: {all: 1 GOP/s}, energy: {all: 1 pJ}}
    memories: {main: {use: main}}
"""
COSTS = "operators:\n  FancyNorm: {cycles: 20 + inputs / 16, energy: 1.5 pJ * inputs}\n"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    path = tmp_path / "machine.yaml"
    path.write_text(MACHINE)
    return path


@pytest.fixture
def costs(tmp_path: Path) -> Path:
    path = tmp_path / "costs.yaml"
    path.write_text(COSTS)
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """neg -> FancyNorm -> neg, of 64 elements each."""
    nodes = [helper.make_node("Neg", ["x"], ["a"], "before"),
             helper.make_node("FancyNorm", ["a"], ["b"], "fancy", domain="com.example", groups=2),
             helper.make_node("Neg", ["b"], ["y"], "after")]
    value = partial(helper.make_tensor_value_info, elem_type=TensorProto.FLOAT, shape=[8, 8])
    graph = helper.make_graph(nodes, "fancy", [value("x")], [value("y")], value_info=[value("b")])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    path = tmp_path / "fancy.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets), path)
    return path


@pytest.fixture
def run(monet: Path, machine: Path, model: Path):
    return partial(run_command, monet, "evaluate", model, "--hardware", machine, "--inference")


def test_cycles_and_energy_are_those_of_the_file(run, costs):
    answer = answering(run)("--custom", costs)
    assert answer["latency_cycles"] == 64 + (20 + 64 / 16) + 64
    fancy = next(row for row in answer["operators"] if row["name"] == "fancy")
    assert fancy["busy_cycles"] == fancy["compute_cycles"] == 20 + 64 / 16
    assert fancy["energy_pj"] == 1.5 * 64


def test_a_known_operator_may_be_priced_too(run, costs):
    costs.write_text(COSTS + "  Neg: {cycles: 1, energy: 0}\n")
    assert answering(run)("--custom", costs)["latency_cycles"] == 1 + (20 + 64 / 16) + 1


def test_without_a_cost_it_says_what_to_give(run):
    fails(run(), 1, "no cost is known for the custom operator 'FancyNorm' (node 'fancy')", "--custom")


def test_a_wrong_file_says_where(run, costs):
    costs.write_text("operators:\n  FancyNorm: {cycles: imputs, energy: 0}\n")
    fails(run("--custom", costs), 1, "costs.yaml:2:23", "'imputs' is no size of a tile")
    fails(run("--custom", costs.with_name("absent.yaml")), 1, "absent.yaml")


def test_a_cost_that_is_too_large_says_so(run, costs):
    costs.write_text("operators:\n  FancyNorm: {cycles: 1e308, energy: 0}\n")
    fails(run("--custom", costs), 1, "cost given for FancyNorm on core simd has", "cycles, which is more than 1e+18")
    costs.write_text("operators:\n  FancyNorm: {cycles: 1, energy: 1e308 pJ}\n")
    fails(run("--custom", costs), 1, "cost given for FancyNorm on core simd has", "pJ, which is more than 1e+18")
    costs.write_text("operators:\n  FancyNorm: {cycles: 1e18, energy: 1e18 pJ}\n")
    assert answering(run)("--custom", costs)["latency_cycles"] == pytest.approx(1e18)


def test_an_output_of_nothing_says_so(run, costs, model):
    broken = onnx.load(model)
    broken.graph.value_info[0].type.tensor_type.shape.dim[1].dim_value = 0
    onnx.save(broken, model)
    fails(run("--custom", costs), 1, "the custom operator FancyNorm has an output 'b' whose axis 1 has size 0")


def test_fusing_takes_it_too(monet, machine, model, costs):
    answer = answer_of(run_command(monet, "fuse", model, "--hardware", machine, "--inference", "--custom", costs,
                                   "--json", "-q"))
    assert answer["latency_cycles"] == 64 + (20 + 64 / 16) + 64


def test_a_trained_layer_behind_it_is_trained_and_one_in_front_is_not(monet, tmp_path):
    value = partial(helper.make_tensor_value_info, elem_type=TensorProto.FLOAT)
    weights = [helper.make_tensor(name, TensorProto.FLOAT, [64, 64], [0.0] * 4096) for name in ("w1", "w2")]
    nodes = [helper.make_node("MatMul", ["x", "w1"], ["a"], "first"),
             helper.make_node("FancyNorm", ["a"], ["b"], "fancy", domain="com.example"),
             helper.make_node("MatMul", ["b", "w2"], ["y"], "second")]
    graph = helper.make_graph(nodes, "g", [value("x", shape=["N", 64])], [value("y", shape=["N", 64])], weights,
                              value_info=[value("b", shape=["N", 64])])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    path = tmp_path / "trained.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets), path)
    fails(run_command(monet, "train", path), 1, "custom operator FancyNorm has no gradient", "'w1'", "freeze")
    written = tmp_path / "step.onnx"
    answer_of(run_command(monet, "train", path, "--freeze", "w1", "-o", written, "--json", "-q"))
    custom = [node for node in onnx.load(written).graph.node if node.domain == "com.example"]
    assert [node.op_type for node in custom] == ["FancyNorm"]
