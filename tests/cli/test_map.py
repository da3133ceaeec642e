"""Does `monet map` keep its contract: numbers, tables, files, exit status, errors that help?"""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path

import pytest
from commands import answering, is_mistake, run_command

NETWORK = "mlp-robotics"
LAYER_KEYS = {"name", "operator", "phase", "core", "macs", "cycles", "ideal_cycles", "energy_pj", "utilization",
              "bound_cycles", "nests"}
NEST_KEYS = {"unit", "precision", "loops", "unrolled", "order", "cycles", "ideal_cycles", "compute_cycles",
             "stall_cycles", "load_cycles", "unload_cycles", "fill_cycles", "energy_pj", "energy_breakdown", "traffic",
             "bound_cycles", "bound_pj", "bound_by", "mappings"}


@pytest.fixture
def run(monet: Path):
    return partial(run_command, monet, "map")


@pytest.fixture
def mapped(run):
    return answering(run)


# JSON


def test_json(mapped) -> None:
    found = mapped(NETWORK, "--hardware", "edge_tpu")
    assert found["schema"] == 1
    assert (found["model"], found["hardware"], found["mode"], found["objective"]) == (
        NETWORK, "edge_tpu", "monet", "latency")
    assert [layer["operator"] for layer in found["layers"]] == ["Gemm", "Relu"] * 3 + ["Gemm"]
    # 32-256-256-256-8, without biases, which are additions
    assert [layer["macs"] for layer in found["layers"][::2]] == [32 * 256, 256 * 256, 256 * 256, 256 * 8]
    for layer in found["layers"]:
        assert set(layer) == LAYER_KEYS
        assert layer["bound_cycles"] <= layer["cycles"] and layer["ideal_cycles"] <= layer["cycles"]
        assert layer["utilization"] == pytest.approx(layer["ideal_cycles"] / layer["cycles"])
        for nest in layer["nests"]:
            assert set(nest) == NEST_KEYS


@pytest.mark.parametrize("hardware", ["edge_tpu", "tpu_v4", "stm32f407"])
def test_parts_add_up(mapped, hardware) -> None:
    found = mapped(NETWORK, "--hardware", hardware, "--training")
    for key in ("cycles", "energy_pj", "macs", "bound_cycles"):
        assert found["total"][key] == pytest.approx(sum(layer[key] for layer in found["layers"]), rel=1e-12)
    assert found["total"]["seconds"] == pytest.approx(found["total"]["cycles"] / found["clock_hz"], rel=1e-12)
    for layer in found["layers"]:
        for key in ("cycles", "energy_pj", "ideal_cycles", "bound_cycles"):
            assert layer[key] == pytest.approx(sum(nest[key] for nest in layer["nests"]), rel=1e-12)
        for nest in layer["nests"]:
            parts = ("compute_cycles", "stall_cycles", "load_cycles", "unload_cycles", "fill_cycles")
            assert nest["cycles"] == pytest.approx(sum(nest[part] for part in parts), rel=1e-9)
            assert nest["energy_pj"] == pytest.approx(sum(nest["energy_breakdown"].values()), rel=1e-9)
            assert nest["bound_pj"] <= nest["energy_pj"] * (1 + 1e-9)


def test_the_same_for_any_number_of_threads_and_every_time(run) -> None:
    arguments = ("resnet18-cifar:image=8", "--hardware", "edge_tpu", "--training", "--json")
    texts = {run(*arguments, "--jobs", jobs).stdout for jobs in (1, 4, 1, 4)}
    assert len(texts) == 1 and json.loads(texts.pop())["layers"]


def test_training_has_all_phases(mapped) -> None:
    forward = mapped(NETWORK, "--hardware", "edge_tpu")
    found = mapped(NETWORK, "--hardware", "edge_tpu", "--training", "--optimizer", "adamw")
    assert {layer["phase"] for layer in forward["layers"]} == {"forward"}
    assert {layer["phase"] for layer in found["layers"]} == {"forward", "backward", "optimizer"}
    updates = [layer for layer in found["layers"] if layer["operator"] == "AdamUpdate"]
    assert len(updates) == 8  # a weight and a bias for each of four layers
    # Each weight gradient is as large as the forward product, and so is each input gradient but the first.
    macs = [layer["macs"] for layer in forward["layers"]]
    products = [layer for layer in found["layers"] if layer["phase"] == "backward" and layer["operator"] == "MatMul"]
    assert sum(layer["macs"] for layer in products) <= 2 * sum(macs) - macs[0]


def test_a_batch(mapped) -> None:
    one = mapped(NETWORK, "--hardware", "edge_tpu")
    four = mapped(NETWORK, "--hardware", "edge_tpu", "--batch", 4)
    assert four["total"]["macs"] == 4 * one["total"]["macs"]
    assert one["total"]["cycles"] < four["total"]["cycles"] < 4 * one["total"]["cycles"]


def test_objectives(mapped) -> None:
    """Each is the best by its own measure among the same mappings: without other sizes tried afterwards."""
    options = ("resnet18-cifar", "--hardware", "edge_tpu_like", "--layer", "*conv*", "--no-refine")
    found = {name: mapped(*options, "--objective", name) for name in ("latency", "energy", "edp")}
    for fast, frugal, both in zip(*(found[name]["layers"] for name in ("latency", "energy", "edp")), strict=True):
        assert fast["cycles"] <= frugal["cycles"] * (1 + 1e-9)
        assert frugal["energy_pj"] <= fast["energy_pj"] * (1 + 1e-9)
        assert fast["cycles"] <= both["cycles"] * (1 + 1e-9) and frugal["energy_pj"] <= both["energy_pj"] * (1 + 1e-9)


def test_precisions(mapped) -> None:
    bits = {}
    for name in ("fp32", "bf16", "int8"):
        found = mapped(NETWORK, "--hardware", "h100", "--lowering", "nests", "--precision", name, "--layer", "layers.1")
        nest = found["layers"][0]["nests"][0]
        bits[name] = sum(entry["read_bits"] for entry in nest["traffic"] if entry["memory"].endswith("hbm"))
    assert bits["fp32"] == 2 * bits["bf16"] == 4 * bits["int8"] > 0


def test_on_chip_operands_do_not_come_from_outside(mapped) -> None:
    outside = mapped(NETWORK, "--hardware", "edge_tpu")
    inside = mapped(NETWORK, "--hardware", "edge_tpu", "--on-chip")
    assert inside["total"]["cycles"] < outside["total"]["cycles"]
    memories = {entry["memory"] for layer in inside["layers"] for nest in layer["nests"] for entry in nest["traffic"]}
    assert "dram" not in memories


def test_one_core(mapped) -> None:
    found = mapped(NETWORK, "--hardware", "edge_tpu", "--core", "simd")
    assert {(layer["core"], layer["operator"]) for layer in found["layers"]} == {("simd", "Relu")}
    assert {layer["reason"] for layer in found["unmapped"]} == {"Gemm is not among the operators of core simd"}


def test_a_family(mapped) -> None:
    small = mapped("resnet18-cifar", "--hardware", "edge_tpu", "--on-chip", "--layer", "*conv*")
    large = mapped("resnet18-cifar", "--hardware", "edge_tpu", "--on-chip", "--layer", "*conv*", "--set", "lanes=16")
    assert large["total"]["cycles"] < small["total"]["cycles"]


def test_operations_by_rate(mapped) -> None:
    """POET's MKR1000: 1/6 million operations a second, of which a MAC is two; 2,525,252.5 of them from a joule."""
    found = mapped(NETWORK, "--hardware", "poet_mkr1000")
    for layer, outputs in zip(found["layers"][::2], (256, 256, 256, 8), strict=True):
        operations = 2 * layer["macs"] + outputs  # the bias: an addition for each output
        assert layer["cycles"] / found["clock_hz"] == pytest.approx(operations * 6e-6, rel=1e-12)
        assert layer["energy_pj"] == pytest.approx(operations * 1e12 / (1e9 / 396), rel=1e-9)


def test_every_preset_maps_a_training_step(monet, run) -> None:
    listed = run_command(monet, "hardware", "list", "--json")
    for preset in json.loads(listed.stdout)["presets"]:
        result = run(NETWORK, "--hardware", preset["name"], "--training", "--json", "-q")
        assert result.returncode in (0, 2), (preset["name"], result.stderr)
        found = json.loads(result.stdout)
        # Recipes of blocks convert what products read.
        converted = sum(layer["operator"] in ("Quantize", "Cast") for layer in found["layers"] + found["unmapped"])
        operators = len(found["layers"]) + len(found["unmapped"]) - converted
        if found["lowering"] == "eager":  # the updates are one launch, activations and biases run in others or not
            assert all(layer["kernel"]["us"] > 0 for layer in found["layers"]) and 0 < operators < 36
        else:
            assert operators > 36 if found["expanded"] else operators == 36
        assert found["recipe"] and found["recipe_from"] in ("file", "machine")
        assert all(layer["reason"] and layer["phase"] for layer in found["unmapped"])
        assert all(layer["cycles"] > 0 and layer["energy_pj"] >= 0 for layer in found["layers"])


def test_a_reason_is_given_once(mapped) -> None:
    """The machine has many equal cores."""
    for layer in mapped(NETWORK, "--hardware", "coral", "--training")["unmapped"]:
        parts = layer["reason"].split("; ")
        assert len(parts) == len(set(parts))


def test_labels_are_costed_at_a_rate_that_there_is(run) -> None:
    """Labels are int64, for which no such device has a rate."""
    result = run(NETWORK, "--hardware", "stm32f407", "--training", "--json")
    assert json.loads(result.stdout)["unmapped"] == []
    assert "core cpu: int64 operations are costed at its rate for fp32" in result.stderr


# Text


def test_text(run) -> None:
    result = run(NETWORK, "--hardware", "edge_tpu", "-q")
    assert result.returncode == 0 and result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0] == "mlp-robotics on edge_tpu, latency objective"
    assert lines[1].startswith("numbers      int8-everywhere, the machine's recipe")
    assert lines[2] == "model        loop nests on arrays; this machine was not compared with measurements"
    for title in ("operator", "MACs", "cycles", "ideal", "used", "stall", "bound", "energy", "binds"):
        assert title in lines[4]
    total = next(line for line in lines if line.startswith("total"))
    found = json.loads(run(NETWORK, "--hardware", "edge_tpu", "-q", "--json").stdout)["total"]
    # 32 x 256 + 256 x 256 + 256 x 256 + 256 x 8 weights, each used once
    assert found["macs"] == 141312 and "141.3 k" in total and f"{found['cycles']:,.0f}" in total
    assert "\n    for " not in result.stdout


def test_nests(run) -> None:
    result = run(NETWORK, "--hardware", "edge_tpu", "--nests", "--layer", "layers.1", "-q")
    for words in ("\nlayers.1\n  array int8: ", "    for K in ", "# output in pe0_0/sums", "side by side 64 of K on K",
                  "weight in dram: 8192 words read, 0 written"):
        assert words in result.stdout, result.stdout


def test_what_is_not_mapped_is_said(run) -> None:
    result = run(NETWORK, "--hardware", "diana", "--training", "-q")
    assert result.returncode == 0
    assert "not mapped and not counted (3):" in result.stdout
    assert "optimizer.Pow (Pow): Pow is not among the operators of core digital; " in result.stdout
    assert "no unit of core simd has all of its operations (without power)\n" in result.stdout


PRODUCTS_ONLY = """\
monet: 1
name: products
clock: 500 MHz
memories:
  dram: {kind: dram, size: 1 GiB, ports: {rw: {kind: read_write, width: 64 bit/cycle}},
         read_energy: 1 pJ, write_energy: 1 pJ}
cores:
  core:
    array:
      dimensions: {row: {size: 4, loops: [D, B]}, column: {size: 4, loops: [K]}}
      operations: {mac: {cycles: 1, energy: 1 pJ}}
    memories:
      buffer: {kind: sram, size: 64 KiB, serves: all, ports: {rw: {kind: read_write, width: 64 bit/cycle}},
               read_energy: 1 pJ, write_energy: 1 pJ}
      dram: {use: dram}
"""


def test_nothing_could_be_mapped(run, tmp_path) -> None:
    machine = tmp_path / "products.yaml"
    machine.write_text(PRODUCTS_ONLY)
    result = run(NETWORK, "--hardware", machine, "--layer", "relu*", "--json", "-q")
    assert result.returncode == 2
    found = json.loads(result.stdout)
    assert found["layers"] == [] and len(found["unmapped"]) == 3


# CSV


def test_csv_has_the_numbers_of_json(run, tmp_path) -> None:
    path = tmp_path / "layers.csv"
    result = run(NETWORK, "--hardware", "diana", "--training", "--csv", path, "--json", "-q")
    found = json.loads(result.stdout)
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == [layer["name"] for layer in found["layers"] + found["unmapped"]]
    for row, layer in zip(rows, found["layers"], strict=False):
        for key in ("operator", "phase", "core"):
            assert row[key] == layer[key]
        for key in ("macs", "cycles", "ideal_cycles", "energy_pj", "utilization", "bound_cycles"):
            assert float(row[key]) == layer[key]
        for key in ("compute_cycles", "stall_cycles", "load_cycles", "unload_cycles", "fill_cycles"):
            assert float(row[key]) == pytest.approx(sum(nest[key] for nest in layer["nests"]), rel=1e-12)
        parts = dict(part.split("=") for part in row["energy_by_memory"].split(";"))
        assert sum(map(float, parts.values())) == pytest.approx(float(row["memory_pj"]), rel=1e-9)
        assert row["order"].count("side by side") == sum(len(nest["unrolled"]) for nest in layer["nests"])
    for row, layer in zip(rows[len(found["layers"]):], found["unmapped"], strict=True):
        assert row["reason"] == layer["reason"] and row["core"] == "" and float(row["cycles"]) == 0


# Choice of layers


def test_layers_by_pattern(mapped) -> None:
    everything = {layer["name"]: layer for layer in mapped(NETWORK, "--hardware", "edge_tpu")["layers"]}
    found = mapped(NETWORK, "--hardware", "edge_tpu", "--layer", "relu.?", "--layer", "layers.3")["layers"]
    assert [layer["name"] for layer in found] == ["relu.0", "relu.1", "relu.2", "layers.3"]
    assert all(layer == everything[layer["name"]] for layer in found)


# Kept mappings


def test_kept_mappings_give_the_same_numbers(run, mapped, tmp_path) -> None:
    path = tmp_path / "mappings"
    options = ("resnet18-cifar:image=8", "--hardware", "edge_tpu", "--training")
    fresh = mapped(*options)
    first = mapped(*options, "--cache", path)
    kept = path.read_bytes()
    second = mapped(*options, "--cache", path)
    assert kept and path.read_bytes() == kept
    assert second["mappings"] < first["mappings"]
    for found in (first, second):
        assert found["total"] == fresh["total"]
        assert [layer["cycles"] for layer in found["layers"]] == [layer["cycles"] for layer in fresh["layers"]]
        assert [layer["energy_pj"] for layer in found["layers"]] == [layer["energy_pj"] for layer in fresh["layers"]]
    assert mapped(*options, "--objective", "energy", "--cache", path)["total"] == mapped(
        *options, "--objective", "energy")["total"]


@pytest.mark.parametrize("damage", [
    lambda kept: kept[: len(kept) // 2 + 3],
    lambda kept: b"",
    lambda kept: b"\x00\xff garbage\n" + kept,
    lambda kept: kept.replace(b"1", b"7"),
    lambda kept: kept.replace(b" ", b"\n"),
    lambda kept: kept + b"9" * 100_000,
])
def test_a_damaged_file_of_mappings_is_harmless(run, mapped, tmp_path, damage) -> None:
    path = tmp_path / "mappings"
    options = (NETWORK, "--hardware", "edge_tpu", "--cache", path)
    expected = mapped(*options)
    path.write_bytes(damage(path.read_bytes()))
    found = run(*options, "--json", "-q")
    assert found.returncode in (0, 1), found.stderr
    if found.returncode == 0:
        # A changed mapping that still fits may be used: it is costed as what it is, and never better than the best.
        assert json.loads(found.stdout)["total"]["cycles"] >= expected["total"]["cycles"] * (1 - 1e-9)
    else:
        is_mistake(found, str(path))


# Mistakes


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("MODEL", "monet map --help")),
        ((NETWORK,), ("--hardware is required",)),
        (("mlp-robotic", "--hardware", "h100"), ("mlp-robotic", "did you mean 'mlp-robotics'")),
        ((NETWORK, "--hardware", "edge_tp"), ("edge_tp", "did you mean 'edge_tpu'")),
        ((NETWORK, "--hardware", "no/such.yaml"), ("no/such.yaml",)),
        ((NETWORK, "--hardware", "edge_tpu", "--core", "simt"), ("--core", "\"simt\"", "did you mean \"simd\"")),
        ((NETWORK, "--hardware", "edge_tpu", "--core", "q"), ("--core", "its cores are: pe0_0")),
        ((NETWORK, "--hardware", "edge_tpu", "--objective", "speed"), ("--objective", "choose one of latency, energy, edp")),
        ((NETWORK, "--hardware", "edge_tpu", "--layer", "layer.0"), ("--layer", "did you mean \"layers.0\"")),
        ((NETWORK, "--hardware", "edge_tpu", "--layer", "conv*"), ("--layer", "conv*", "monet inspect MODEL --layers")),
        ((NETWORK, "--hardware", "edge_tpu", "--mapping", "no/such.yaml"), ("no/such.yaml", "cannot open")),
        ((NETWORK, "--hardware", "edge_tpu", "--precision", "int9"), ("--precision", "int9", "bf16", "int8, int4")),
        ((NETWORK, "--hardware", "edge_tpu", "--set", "q=1"), ("'q'", "lanes")),
        ((NETWORK, "--hardware", "edge_tpu", "--factors", "13"), ("--factors", "1 to 12")),
        ((NETWORK, "--hardware", "edge_tpu", "--jobs", "-1"), ("--jobs",)),
        ((NETWORK, "--hardware", "edge_tpu", "--ful"), ("--ful", "did you mean '--full'")),
        ((NETWORK, "--hardware", "edge_tpu", "--training", "--optimizer", "adm"), ("adm", "did you mean 'adam'")),
        ((NETWORK, "--hardware", "edge_tpu", "--csv", "no/such/x.csv", "-q"), ("no/such/x.csv", "cannot be written")),
        ((NETWORK, "--hardware", "edge_tpu", "--cache", "no/such/x", "-q"), ("no/such/x", "cannot be written")),
        ((NETWORK, "--hardware", "poet_mkr1000", "--zigzag"), ("poet_mkr1000 has no core with an array",)),
        ((NETWORK, "--hardware", "poet_mkr1000", "--zigzag", "--core", "cpu"), ("core cpu has no array",)),
    ],
)
def test_mistakes(run, arguments, words) -> None:
    is_mistake(run(*arguments), *words)


def test_help_has_examples(run) -> None:
    result = run("--help")
    assert result.returncode == 0 and "Examples:" in result.stdout and "monet hardware list" in result.stdout
