"""Does `monet map` keep to mappings that files prescribe, and give ZigZag's results by its rules?"""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path

import pytest
from commands import answering, is_mistake, run_command

NETWORK = "mlp-robotics"

# One array of 4 x 4 for a mapping file to prescribe, a buffer, and memory outside.
MACHINE = """\
monet: 1
name: toy
recipe: int8-everywhere
clock: 1 GHz
technology: 22 nm
memories:
  dram: {kind: dram, type: LPDDR4, size: 1 GiB, ports: {rw: {kind: read_write, width: 64 bit/cycle}}}
cores:
  pe:
    array:
      dimensions: {D1: 4, D2: 4}
      operations: {all: {cycles: 1, energy: 0.5 pJ}}
      precisions: {int8: {rate: 1, accumulate: int32}}
    memories:
      sram: {size: 256 KiB, ports: {rw: {kind: read_write, width: 128 bit/cycle}}}
      dram: {use: dram}
links:
  - {bus: [pe, dram], width: 64 bit/cycle}
"""


@pytest.fixture
def run(monet: Path):
    return partial(run_command, monet, "map")


@pytest.fixture
def mapped(run):
    return answering(run)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    path = tmp_path / "toy.yaml"
    path.write_text(MACHINE)
    return path


@pytest.fixture
def zigzag(shared: Path) -> Path:
    folder = shared / "reference" / "zigzag"
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent")
    return folder


# Prescribed mappings


def test_a_prescribed_mapping_is_kept(mapped, machine, tmp_path) -> None:
    file = tmp_path / "mapping.yaml"
    file.write_text("""\
- name: default
  spatial_mapping: {D1: ["K, 4"], D2: ["C, 2"]}
- name: layers.1
  spatial_mapping: {D1: ["C, 4"], D2: ["K, 4"]}
  temporal_ordering: [[K, 64], [C, 64]]
""")
    found = mapped(NETWORK, "--hardware", machine, "--mapping", file)
    nests = {layer["name"]: layer["nests"][0] for layer in found["layers"]}
    assert nests["layers.0"]["unrolled"] == {"K on D1": 4, "C on D2": 2}
    assert nests["layers.1"]["unrolled"] == {"C on D1": 4, "K on D2": 4}
    loops = [line.split("#")[0].strip() for line in nests["layers.1"]["order"].splitlines()]
    assert [line for line in loops if line.startswith("for")] == ["for C in 64:", "for K in 64:"]
    assert found["total"]["cycles"] >= mapped(NETWORK, "--hardware", machine)["total"]["cycles"]


def test_channels_of_sums_are_called_g(mapped, machine, tmp_path) -> None:
    file = tmp_path / "mapping.yaml"
    file.write_text("- name: Relu\n  spatial_mapping: {D1: [\"G, 4\"], D2: [\"C, 1\"]}\n")
    found = mapped(NETWORK, "--hardware", machine, "--mapping", file, "--layer", "relu.0")
    assert found["layers"][0]["nests"][0]["unrolled"] == {"K on D1": 4}


def test_a_mapping_for_another_array(run, machine, tmp_path) -> None:
    file = tmp_path / "mapping.yaml"
    file.write_text("- name: default\n  spatial_mapping: {D3: [\"K, 4\"]}\n")
    result = run(NETWORK, "--hardware", machine, "--mapping", file, "--json", "-q")
    assert result.returncode == 2
    for layer in json.loads(result.stdout)["unmapped"]:
        assert f"{file}:1:3" in layer["reason"] and "D3" in layer["reason"]


def test_vector_lanes_need_no_mapping_file(mapped, zigzag) -> None:
    """The file is about arrays of two dimensions; sums and activations run on other cores."""
    found = mapped(NETWORK, "--hardware", "edge_tpu", "--mapping", zigzag / "mapping" / "tpu_like.yaml")
    assert found["unmapped"] == [] and found["layers"][1]["core"] == "simd"


# Mistakes


def test_a_mapping_file_that_is_none(run, tmp_path) -> None:
    path = tmp_path / "mapping.yaml"
    path.write_text("- name: default\n  spatial_mapping: {D1: [K 32\n")
    is_mistake(run(NETWORK, "--hardware", "edge_tpu", "--mapping", path), str(path), ":3:1")
    path.write_text("- name: default\n  spacial_mapping: {}\n")
    is_mistake(run(NETWORK, "--hardware", "edge_tpu", "--mapping", path), f"{path}:2:3", "spacial_mapping",
          "spatial_mapping")


def test_the_other_tools_mode_wants_an_entry(run, tmp_path) -> None:
    path = tmp_path / "mapping.yaml"
    path.write_text("- name: Conv\n")
    is_mistake(run(NETWORK, "--hardware", "tpu_like", "--zigzag", "--mapping", path), str(path), "layers.0", "named default")
    path.write_text("- name: default\n  spatial_mapping: {D1: [\"Q, 32\"]}\n")
    is_mistake(run(NETWORK, "--hardware", "tpu_like", "--zigzag", "--mapping", path), f"{path}:", "\"Q\"", "OY, OX, FY, FX")


# Against ZigZag 3.8.5

# Totals of its own tests of these two examples.
TOTALS = {"tpu_like": (3703960.5, 1871436380.66), "edge_tpu_like": (2887804.5, 1903229377.55)}
every_machine = pytest.mark.parametrize("name", TOTALS)


def arguments_for(zigzag: Path, name: str) -> tuple:
    return (zigzag / "resnet18.onnx", "--hardware", zigzag / "hardware" / f"{name}.yaml", "--mapping",
            zigzag / "mapping" / f"{name}.yaml")


def reference(zigzag: Path, name: str) -> dict[str, dict[str, str]]:
    with open(zigzag / "results" / f"resnet18_{name}_latency.csv", newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


def outer_words(row: dict[str, str]) -> float:
    """All accesses of the outermost memory; on both machines, it has one port of 64 bits for all of them."""
    levels = [operand.split(":")[1].split("|")[-1] for operand in row["accesses"].split(";")]
    return sum(float(access.split("=")[1]) for level in levels for access in level.split(","))


@every_machine
def test_zigzags_results(mapped, zigzag, name) -> None:
    rows = reference(zigzag, name)
    found = mapped(*arguments_for(zigzag, name), "--zigzag")
    assert found["mode"] == "zigzag" and {layer["name"] for layer in found["layers"]} == set(rows)
    cycles, energy = TOTALS[name]
    assert found["total"]["cycles"] == pytest.approx(cycles, rel=1e-9)
    assert found["total"]["energy_pj"] == pytest.approx(energy, rel=1e-9, abs=0.005)  # printed with two digits
    for layer in found["layers"]:
        row, nest = rows[layer["name"]], layer["nests"][0]
        assert layer["macs"] == float(row["macs"])
        for key, column in (("cycles", "latency_total2"), ("energy_pj", "energy_pJ"), ("ideal_cycles", "ideal_cycle")):
            assert layer[key] == pytest.approx(float(row[column]), rel=1e-9)
        for key, column in (("compute_cycles", "ideal_temporal_cycle"), ("stall_cycles", "stall_cc"),
                            ("load_cycles", "onload_cc"), ("unload_cycles", "offload_cc")):
            assert nest[key] == pytest.approx(float(row[column]), rel=1e-9, abs=1e-9)
        outer = [entry for entry in nest["traffic"] if entry["memory"].endswith("dram")]
        assert sum(entry["read_words"] + entry["written_words"] for entry in outer) == outer_words(row)


@every_machine
def test_the_full_search_is_never_worse_and_somewhere_better(mapped, zigzag, name) -> None:
    rows = reference(zigzag, name)
    better = {}
    for layer in mapped(*arguments_for(zigzag, name), "--zigzag", "--full")["layers"]:
        theirs = float(rows[layer["name"]]["latency_total2"])
        assert layer["cycles"] <= theirs * (1 + 1e-12), layer["name"]
        if layer["cycles"] < theirs * (1 - 1e-9):
            better[layer["name"]] = 100 * (layer["cycles"] / theirs - 1)
    print(f"\n{name}: {len(better)} of {len(rows)} layers are faster")
    for layer, percent in better.items():
        print(f"  {layer:48} {percent:+.3f} %")
    assert better


@every_machine
def test_our_model_on_its_machine(mapped, zigzag, name) -> None:
    """Where our products take over a percent longer than there, it takes less time than the transfers through the one
    port of the outermost memory, which cannot be."""
    rows = reference(zigzag, name)
    found = {layer["name"]: layer for layer in mapped(*arguments_for(zigzag, name))["layers"]}
    print(f"\n{name}: cycles there, ours of the product, ours with the bias")
    for layer, row in rows.items():
        theirs, busy = float(row["latency_total2"]), outer_words(row)
        product = found[layer]["nests"][0]["cycles"]
        impossible = "  less than its DRAM is busy" if theirs < busy else ""
        print(f"  {layer:48} {theirs:11.1f} {product:11.1f} {100 * (product / theirs - 1):+6.2f} % "
              f"{found[layer]['cycles']:11.1f}{impossible}")
        assert product >= found[layer]["nests"][0]["bound_cycles"] and found[layer]["macs"] == float(row["macs"])
        if product > 1.01 * theirs:
            assert theirs < busy, layer
    free = {layer["name"]: layer for layer in mapped(*arguments_for(zigzag, name)[:3])["layers"]}
    total = sum(free[layer]["cycles"] for layer in rows)
    print(f"  with any unrolling, biases included: {total:.0f}, {100 * (total / TOTALS[name][0] - 1):+.2f} %")
    assert total < TOTALS[name][0]


def test_loading_times_that_are_not_negative(mapped, zigzag) -> None:
    usual = mapped(*arguments_for(zigzag, "tpu_like"), "--zigzag")
    found = mapped(*arguments_for(zigzag, "tpu_like"), "--zigzag", "--non-negative")
    assert all(layer["nests"][0]["load_cycles"] >= 0 for layer in found["layers"])
    assert found["total"]["cycles"] >= usual["total"]["cycles"]


@pytest.mark.parametrize("name", ["ascend_like", "edge_tpu_like", "eyeriss_like", "gemm_l1", "meta_prototype",
                                  "tesla_npu_like", "tpu_like"])
def test_its_files_are_machines(mapped, zigzag, name) -> None:
    found = mapped(NETWORK, "--hardware", zigzag / "hardware" / f"{name}.yaml")
    assert found["unmapped"] == [] and found["total"]["cycles"] > 0
