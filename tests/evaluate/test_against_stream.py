"""Does a whole step come out as Stream's own runs did, and where it does not, for which reason?

The reference: what Stream (commit 70eb6751, and its extension for training graphs) printed on tpu_like_quad_core, one
line a node. Node by node the rules themselves are compared in tests/compat/stream_reference_test.cpp; here the program
carries out the plan that those lines are, and docs/validation-peers.md has the figures. Tables are printed: pytest -s.
"""

from __future__ import annotations

import csv
import json
import math
import re
import resource
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import pytest

CORES = ["tpu_like0", "tpu_like1", "tpu_like2", "tpu_like3", "pooling", "simd"]
DRAM_PJ_PER_BYTE = 1000 / 8  # 1000 pJ for 64 bits
DRAM_BYTES_PER_CYCLE = 8

# Totals of the two runs, from reference/monet.md and reference/zigzag_stream.md.
TRAINING = {"pj": 7.789e10, "cycles": 1.0978e8, "cpu_s": 741}
INFERENCE = {"pj": 2.6525e9, "on_chip": 7.644e8, "off_chip": 1.8367e9, "eviction": 2.54e7, "core_to_core": 2.60e7,
             "cycles": 7.552e6, "cpu_s": 280, "pool_over_charge": 2.886e8}


def rows(path: Path) -> list[dict]:
    with path.open() as file:
        return list(csv.DictReader(file))


def cores_of(row: dict) -> list[str]:
    return [CORES[int(core)] for core in re.findall(r"\d+", row["cores"])]


@pytest.fixture(scope="session")
def machine(monet: Path, shared: Path, tmp_path_factory) -> Path:
    folder = shared / "reference" / "stream"
    path = tmp_path_factory.mktemp("machine") / "quad.yaml"
    subprocess.run([monet, "hardware", "import", folder / "hardware" / "tpu_like_quad_core.yaml", "--mapping",
                    folder / "mapping" / "tpu_like_quad_core_ga.yaml", "-o", path, "-q"], check=True)
    return path


@pytest.fixture(scope="session")
def evaluate(monet: Path, machine: Path, tmp_path_factory):
    """Result, one row for each operator, and CPU seconds."""

    def call(model: object, *arguments: object) -> tuple[dict, list[dict], float]:
        table = tmp_path_factory.mktemp("result") / "operators.csv"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([monet, "evaluate", model, "--hardware", machine, "--no-compare", "--no-pack", "--json",
                               "-q", "--csv", table, *map(str, arguments)], capture_output=True, text=True, timeout=300)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert done.returncode == 0, done.stderr
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return json.loads(done.stdout), rows(table), cpu

    return call


def off_chip_pj(operator: dict) -> float:
    return (float(operator["home_read_bytes"]) + float(operator["home_write_bytes"])) * DRAM_PJ_PER_BYTE


def true_macs(row: dict, node: dict) -> int:
    """Of the whole node: the loops of a tile, with K as it is before it is padded to divide by the cores."""
    sizes = {name: int(size) for name, size in re.findall(r"(\w+): (\d+)", row["dims"])}
    whole = math.prod(sizes.values()) * int(row["tiles"])
    if row["type"] not in ("gemm", "matmul"):
        return whole
    columns = json.loads(node["out_shapes"].split(";")[0])[-1]
    return whole // (sizes["K"] * int(row["tiles"])) * columns


class Training:
    """The layer-by-layer run, joined to the nodes of its file and to the operators that the program lists."""

    def __init__(self, folder: Path, operators: list[dict]):
        self.rows = rows(folder / "resnet18_training_layer_by_layer.csv")
        nodes = rows(folder / "resnet18_full_training_nodes.csv")
        by_type = defaultdict(list)
        for operator in operators:
            by_type[operator["operator"]].append(operator["name"])
        seen: Counter = Counter()
        self.nodes, self.names = {}, {}
        for node in nodes:
            number = int(node["idx"])
            self.nodes[number] = node
            if node["op"] in by_type:
                self.names[number] = by_type[node["op"]][seen[node["op"]]]
                seen[node["op"]] += 1
                assert self.names[number].startswith(node["name"] or node["outputs"].split(";")[0])

    def split_loop(self, row: dict) -> str:
        """What Stream calls K, in our names: those of a convolution or product, else by the axis."""
        node = self.nodes[int(row["id"])]
        if row["type"] in ("convtranspose", "matmul", "gemm", "averagepoolgrad"):
            return "K"
        if row["type"] == "reducesum":
            return {2: "B", 3: "D", 4: "OY"}[len(json.loads(node["in_shapes"].split(";")[0]))]
        return "OX"

    def write_plan(self, path: Path) -> Path:
        lines = ["plan: 1", "order: graph", "operators:"]
        for row in self.rows:
            tiles, cores = int(row["tiles"]), cores_of(row)
            split = f"split: {{{self.split_loop(row)}: {tiles}}}, " if tiles > 1 else ""
            taken = ", ".join(cores[i % len(cores)] for i in range(tiles))
            lines.append(f'  "{self.names[int(row["id"])]}": {{{split}cores: [{taken}]}}')
        path.write_text("\n".join(lines) + "\n")
        return path


@pytest.fixture(scope="session")
def training(shared: Path, evaluate, tmp_path_factory):
    folder = shared / "reference" / "monet"
    model = folder / "resnet18_full_training.onnx"
    listed = evaluate(model, "--zigzag", "--factors", 5, "--order", "graph")[1]
    joined = Training(folder, listed)
    plan = joined.write_plan(tmp_path_factory.mktemp("plan") / "training.yaml")
    return joined, model, plan


def test_training_layer_by_layer(training, evaluate) -> None:
    joined, model, plan = training
    result, operators, cpu = evaluate(model, "--zigzag", "--factors", 5, "--plan", plan)
    ours = {operator["name"]: operator for operator in operators}
    worst: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    equal: Counter = Counter()
    unequal = []
    alone = 0.0
    for row in joined.rows:
        operator = ours[joined.names[int(row["id"])]]
        tiles = int(row["tiles"])
        assert int(operator["tiles"]) == tiles
        assert float(operator["macs"]) == true_macs(row, joined.nodes[int(row["id"])]), row["name"]
        found = (float(operator["energy_pj"]) - off_chip_pj(operator), off_chip_pj(operator),
                 (float(operator["busy_cycles"]) - float(operator["slowed_cycles"])) / tiles)
        wanted = (float(row["onchip"]), float(row["offchip"]), float(row["runtime_per_tile"]))
        errors = [abs(a / b - 1) for a, b in zip(found, wanted)]
        worst[row["type"]] = [max(pair) for pair in zip(worst[row["type"]], errors)]
        if max(errors) < 1e-9:
            equal[row["type"]] += 1
        else:
            unequal.append((row["name"], max(errors)))
        words = wanted[1] / (DRAM_PJ_PER_BYTE * DRAM_BYTES_PER_CYCLE)
        alone += max(math.ceil(tiles / len(cores_of(row))) * wanted[2], words)

    print(f"\n{'largest error':16} {'nodes':>6} {'equal':>6} {'on chip':>9} {'off chip':>9} {'cycles':>9}")
    nodes = Counter(row["type"] for row in joined.rows)
    for kind, errors in worst.items():
        print(f"{kind:16} {nodes[kind]:6} {equal[kind]:6} " + " ".join(f"{100 * error:8.4f}%" for error in errors))
    print("not equal:", unequal)
    print(f"energy {result['energy_pj']:.6g} pJ, there {TRAINING['pj']:.6g}; latency {result['latency_cycles']:.6g} "
          f"cycles, there {TRAINING['cycles']:.6g}; every operator alone {alone:.6g}")
    print(f"{cpu:.2f} CPU s, there {TRAINING['cpu_s']}: {TRAINING['cpu_s'] / cpu:.0f} times")

    # Stream pads K to a multiple of the cores, 10 to 12 and 27 to 28; here the last tiles are smaller.
    assert {name for name, _ in unequal} == {"/linear/Gemm", "/conv1/Conv_Grad/ConvGrad_0_MatMul"}
    assert sum(equal.values()) == 436
    assert result["energy_pj"] == pytest.approx(TRAINING["pj"], rel=5e-4)  # that figure has four digits
    nodes_pj = sum(float(row["onchip"]) + float(row["offchip"]) for row in joined.rows)
    assert result["energy_pj"] == pytest.approx(nodes_pj, rel=1e-5)
    # Stream runs one operator after the other. Here independent ones overlap; the DRAM's width is a lower bound.
    words = sum(off_chip_pj(operator) for operator in operators) / (DRAM_PJ_PER_BYTE * DRAM_BYTES_PER_CYCLE)
    assert words <= result["latency_cycles"] <= alone
    assert alone == pytest.approx(TRAINING["cycles"], rel=0.05)


# What is lifted, one after the other: options, and whether the plan of the run is kept.
LIFTED = [
    ("as there", ["--zigzag", "--factors", 5], True),
    ("our mappings; nothing is free", ["--precision", "int8", "--off-chip"], True),
    ("data stay on chip where they fit", ["--precision", "int8"], True),
]
STEPS = [
    ("our step of the same network: all parameters, moments and running values written back",
     "resnet18-cifar-folded", ["--optimizer-form", "elementwise", "--conv-gradient", "im2col"]),
    ("weight gradients as convolutions", "resnet18-cifar-folded", ["--optimizer-form", "elementwise"]),
    ("Adam as one operator for each weight", "resnet18-cifar-folded", []),
    ("batch norms that are trained", "resnet18-cifar", ["--batch", 4]),
]


def test_lifting_simplifications_one_by_one(training, evaluate) -> None:
    _, model, plan = training
    found = []
    for name, options, keeps_plan in LIFTED:
        found.append((name, evaluate(model, *options, *(["--plan", plan] if keeps_plan else []))[0]))
    for name, network, options in STEPS:
        found.append((name, evaluate(network, "--precision", "int8", "--order", "graph", *options)[0]))
    print()
    for name, result in found:
        dram = sum(pj for part, pj in result["energy_breakdown"].items() if part == "memory dram")
        phases = {phase["phase"]: phase["energy_pj"] / 1e9 for phase in result["phases"]}
        by_phase = ", ".join(f"{phase} {mj:.2f}" for phase, mj in phases.items())
        print(f"{result['energy_pj'] / 1e9:8.2f} mJ, dram {dram / 1e9:6.2f}, {result['latency_cycles'] / 1e6:7.2f} "
              f"Mcycles, {by_phase}  {name}")
    energy = [result["energy_pj"] for _, result in found]
    assert energy[2] < energy[1]  # what stays on chip need not be fetched
    assert energy[5] < 0.7 * energy[4]  # 15 operators on each weight, piece by piece, become one
    assert all(result["macs"] == found[1][1]["macs"] for _, result in found[2:])


def test_inference_with_the_same_tiles_and_cores(shared: Path, evaluate, tmp_path) -> None:
    reference = rows(shared / "reference/stream/results/resnet18_inference_tpu_like_quad_core.csv")
    fused = [row for row in reference if float(row["offchip"]) == 0]
    stacks = [[row["name"] for row in fused if (int(row["id"]) <= 10) == first] for first in (True, False)]
    lines = ["plan: 1", "order: graph", "stacks:"]
    lines += [f"  - {{operators: {json.dumps(stack)}, tile: {{OY: 1}}}}" for stack in stacks]
    lines += ["operators:"]
    for row in reference:
        split = {"relu": "split: {OX: 4}, ", "gemm": "split: {K: 4}, "}.get(row["type"], "")
        lines.append(f'  "{row["name"]}": {{{split}cores: {json.dumps(cores_of(row))}}}')
    plan = tmp_path / "inference.yaml"
    plan.write_text("\n".join(lines) + "\n")

    model = shared / "reference/zigzag/resnet18.onnx"
    result, operators, cpu = evaluate(model, "--inference", "--precision", "int8", "--plan", plan)
    ours = {operator["name"]: operator for operator in operators}
    assert [int(ours[row["name"]]["tiles"]) for row in reference] == [int(row["tiles"]) for row in reference]

    off_chip = result["energy_breakdown"]["memory dram"]
    on_chip = result["energy_pj"] - off_chip
    theirs_on_chip = INFERENCE["on_chip"] - INFERENCE["pool_over_charge"] + INFERENCE["core_to_core"]
    theirs_off_chip = INFERENCE["off_chip"] + INFERENCE["eviction"]
    weights = 11_678_912  # bytes: each is read once
    print(f"\non chip   {on_chip:.4g} pJ, there {theirs_on_chip:.4g} without the pools' over-charge "
          f"({100 * (on_chip / theirs_on_chip - 1):+.1f} %)")
    print(f"off chip  {off_chip:.4g} pJ, there {theirs_off_chip:.4g} "
          f"({100 * (off_chip / theirs_off_chip - 1):+.1f} %); weights alone {weights * DRAM_PJ_PER_BYTE:.4g}")
    print(f"latency   {result['latency_cycles']:.4g} cycles, there {INFERENCE['cycles']:.4g}")
    busy: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in reference:
        busy[row["type"]][0] += float(row["runtime_per_tile"]) * int(row["tiles"])
        busy[row["type"]][1] += float(ours[row["name"]]["busy_cycles"]) - float(ours[row["name"]]["slowed_cycles"])
    for kind, (theirs, here) in busy.items():
        print(f"  cores busy with {kind:8} {here:10.0f} cycles, there {theirs:10.0f}")
    print(f"{cpu:.3f} CPU s, there {INFERENCE['cpu_s']}: {INFERENCE['cpu_s'] / cpu:.0f} times")

    assert on_chip == pytest.approx(theirs_on_chip, rel=0.1)
    assert weights * DRAM_PJ_PER_BYTE <= off_chip <= theirs_off_chip
    assert result["latency_cycles"] < INFERENCE["cycles"]


def test_what_is_free_is_said(evaluate, shared: Path) -> None:
    model = shared / "reference" / "monet" / "resnet18_full_training.onnx"
    result, operators, _ = evaluate(model, "--zigzag", "--precision", "fp32")
    assert any("38 Gather, 16 Pad, 29 Sum" in note for note in result["notes"]), result["notes"]
    assert any(note.startswith("--precision has no meaning") for note in result["notes"])
    for operator in operators:
        assert (float(operator["energy_pj"]) == 0) == (operator["operator"] in ("Gather", "Pad", "Sum"))
