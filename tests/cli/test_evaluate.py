"""Does `monet evaluate` keep its contract: sums that add up, files, tables, exit status, errors that help?"""

from __future__ import annotations

import csv
import itertools
import json
from collections import defaultdict
from functools import partial
from pathlib import Path

import pytest
from commands import answering, is_mistake, run_command

NETWORK = "mlp-robotics"
MACHINES = ["edge_tpu", "monet_2x2", "h100", "raspberry_pi_4"]
every_machine = pytest.mark.parametrize("hardware", MACHINES)
KEYS = {"schema", "latency_cycles", "latency_s", "energy_pj", "energy_breakdown", "peak_bytes", "live_peak_bytes",
        "footprint_bytes", "macs", "nodes", "parameters", "saved_bytes", "stacks", "tiles", "bound", "wall_s"}
MORE_KEYS = {"model", "hardware", "mode", "objective", "fits", "options", "phases", "operators", "resources", "memories",
             "critical_path", "inference", "filled", "checked", "warnings", "notes"}
FILES = {"result.json", "details.json", "operators.csv", "lifetimes.csv", "trace.json", "chakra.et", "plan.yaml",
         "report.html"}

# 552 KiB of weights do not fit into 64 KiB.
TOO_SMALL = """\
monet: 1
name: tiny
clock: 1 GHz
technology: 22 nm
memories:
  dram: {kind: dram, type: LPDDR4, size: 64 KiB, ports: {rw: {kind: read_write, width: 64 bit/cycle}}}
cores:
  pe:
    array:
      dimensions: {D1: 4, D2: 4}
      operations: {all: {cycles: 1, energy: 0.5 pJ}}
      precisions: {fp32: {rate: 1, accumulate: fp32}}
    memories:
      sram: {size: 16 KiB, ports: {rw: {kind: read_write, width: 128 bit/cycle}}}
      dram: {use: dram}
links:
  - {bus: [pe, dram], width: 64 bit/cycle}
"""


@pytest.fixture
def run(monet: Path):
    return partial(run_command, monet, "evaluate")


@pytest.fixture
def evaluated(run):
    return answering(run)


@pytest.fixture
def too_small(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.yaml"
    path.write_text(TOO_SMALL)
    return path


def same(first: object, second: object) -> object:
    """`first` without what a clock on the wall says; checked against `second`."""
    def without_times(found: dict) -> dict:
        return {key: value for key, value in found.items() if not key.startswith("wall")}

    assert without_times(first) == without_times(second)


# JSON


def test_json(run) -> None:
    result = run(NETWORK, "--hardware", "edge_tpu", "--json", "-q")
    assert result.returncode == 0 and result.stderr == ""
    found = json.loads(result.stdout)
    assert KEYS | MORE_KEYS <= set(found)
    assert found["schema"] == 1
    assert (found["model"], found["hardware"], found["mode"], found["objective"]) == (
        NETWORK, "edge_tpu", "training", "latency")
    assert {"latency_cycles", "energy_pj"} <= set(found["bound"])
    assert found["fits"] is True and found["checked"] and found["filled"]
    assert found["tiles"] >= len([row for row in found["operators"] if row["tiles"] > 0]) > 0
    assert found["tiles"] == sum(row["tiles"] for row in found["operators"])


def test_counts_are_those_of_the_training_step(monet, evaluated) -> None:
    numbers = ("--precision", "int8-everywhere")  # the machine's own recipe
    trained = json.loads(run_command(monet, "train", NETWORK, "--batch", 4, *numbers, "--json", "-q").stdout)
    found = evaluated(NETWORK, "--batch", 4, "--hardware", "edge_tpu")
    assert found["macs"] == sum(trained["macs"].values())
    assert found["nodes"] == sum(trained["nodes"].values())
    assert found["parameters"] == trained["parameters"]
    assert found["saved_bytes"] == trained["saved_bytes"]
    assert found["batch"] == 4


@every_machine
def test_energy_adds_up(evaluated, hardware) -> None:
    found = evaluated(NETWORK, "--hardware", hardware)
    assert found["energy_pj"] == pytest.approx(sum(found["energy_breakdown"].values()), rel=1e-9)
    for row in found["operators"]:
        assert row["energy_pj"] == pytest.approx(sum(row["energy_breakdown"].values()), rel=1e-9)
    assert sum(row["energy_pj"] for row in found["operators"]) <= found["energy_pj"] * (1 + 1e-9)


@every_machine
def test_time_adds_up(evaluated, hardware) -> None:
    found = evaluated(NETWORK, "--hardware", hardware)
    latency = found["latency_cycles"]
    assert found["latency_s"] == pytest.approx(latency / found["clock_hz"], rel=1e-12)
    assert latency == pytest.approx(sum(phase["latency_cycles"] for phase in found["phases"]), rel=1e-9)
    assert [phase["phase"] for phase in found["phases"]] == ["forward", "backward", "optimizer"]
    for part in found["resources"]:
        assert part["busy_cycles"] + part["idle_cycles"] == pytest.approx(latency, rel=1e-9), part
        assert 0 <= part["utilization"] <= 1 + 1e-9
        if part["kind"] == "core":
            assert part["idle_cycles"] == pytest.approx(sum(part["idle_by"].values()), rel=1e-6, abs=1e-6), part
            kinds = ("compute_cycles", "stall_cycles", "load_cycles", "fill_cycles", "slowed_cycles")
            assert part["busy_cycles"] == pytest.approx(sum(part[kind] for kind in kinds), rel=1e-6, abs=1e-6), part
    cores = sum(part["busy_cycles"] for part in found["resources"] if part["kind"] == "core")
    assert cores == pytest.approx(sum(row["busy_cycles"] for row in found["operators"]), rel=1e-9)
    assert all(0 <= row["start"] <= row["end"] <= latency * (1 + 1e-9) for row in found["operators"])


@every_machine
def test_nothing_is_better_than_its_bound(evaluated, hardware) -> None:
    found = evaluated(NETWORK, "--hardware", hardware)
    assert 0 < found["bound"]["latency_cycles"] <= found["latency_cycles"] * (1 + 1e-9)
    if found["lowering"] == "eager":
        assert found["bound"]["energy_pj"] is None  # of kernels none is known
    else:
        assert 0 < found["bound"]["energy_pj"] <= found["energy_pj"] * (1 + 1e-9)


@every_machine
def test_no_operator_is_faster_than_its_bound(evaluated, hardware) -> None:
    for row in evaluated(NETWORK, "--hardware", hardware)["operators"]:
        assert row["bound_cycles"] <= row["busy_cycles"] * (1 + 1e-9), row


def test_a_mesh_of_a_thousand_cores(evaluated) -> None:
    found = evaluated("lenet5", "--hardware", "edge_tpu", "--set", "x=32", "--set", "y=32", "--no-compare")
    assert sum(part["kind"] == "core" for part in found["resources"]) == 1026
    assert found["checked"]


def test_cores_under_one_memory_work_side_by_side(evaluated) -> None:
    found = evaluated("resnet18-cifar", "--batch", 4, "--hardware", "raspberry_pi_4", "--no-compare")
    # Not 4 times the bound: the rest is cores that wait for one that is still at a long part of an operator beside.
    assert found["latency_cycles"] < 1.15 * found["bound"]["latency_cycles"]


def test_a_constant_begins_no_phase(evaluated) -> None:
    found = evaluated("resnet18-cifar", "--hardware", "edge_tpu", "--no-compare")
    forward, backward, _ = found["phases"]
    assert backward["start"] > forward["start"]
    first = min(row["start"] for row in found["operators"] if row["phase"] == "backward" and row["operator"] != "Fill")
    assert backward["start"] == first


def test_what_stalls_does_not_compute(evaluated) -> None:
    found = evaluated("resnet18-cifar", "--hardware", "edge_tpu", "--no-compare")
    of_path = {kind: sum(step["end"] - step["start"] for step in found["critical_path"] if step["kind"] == kind)
               for kind in ("compute", "stall")}
    tiles = {kind: found["critical_by_kind"].get(kind, 0) for kind in ("compute", "stall", "load", "fill", "slowed")}
    assert of_path["compute"] == pytest.approx(tiles["compute"], rel=1e-6)
    assert of_path["stall"] == pytest.approx(sum(tiles.values()) - tiles["compute"], rel=1e-6)


@every_machine
def test_the_critical_path_reaches_from_start_to_end(evaluated, hardware) -> None:
    found = evaluated(NETWORK, "--hardware", hardware)
    path = found["critical_path"]
    assert path[0]["start"] == 0 and path[-1]["end"] == pytest.approx(found["latency_cycles"], rel=1e-9)
    for before, after in itertools.pairwise(path):
        assert after["start"] == pytest.approx(before["end"], rel=1e-9, abs=1e-6)
    assert sum(found["critical_by_kind"].values()) == pytest.approx(found["latency_cycles"], rel=1e-9)


@every_machine
def test_memory(evaluated, hardware) -> None:
    found = evaluated(NETWORK, "--hardware", hardware)
    for memory in found["memories"]:
        name = memory["name"]
        assert found["live_peak_bytes"][name] == memory["live_peak_bytes"]
        assert sum(memory["peak_by_role"].values()) == pytest.approx(memory["live_peak_bytes"], rel=1e-9)
        if name in found["peak_bytes"]:
            assert memory["live_peak_bytes"] <= found["peak_bytes"][name]
        if memory["capacity_bytes"] > 0:
            assert found["peak_bytes"].get(name, memory["live_peak_bytes"]) <= memory["capacity_bytes"]
        for tensor in memory["alive_at_peak"]:
            assert tensor["start"] <= memory["peak_at"] <= tensor["end"] and tensor["bytes"] > 0
        sizes = [tensor["bytes"] for tensor in memory["alive_at_peak"]]
        assert sizes == sorted(sizes, reverse=True)
    assert sum(found["footprint_bytes"].values()) in found["live_peak_bytes"].values()


def test_the_same_for_any_number_of_threads(evaluated) -> None:
    first, second, again = (evaluated(NETWORK, "--hardware", "monet_2x2", "--jobs", jobs) for jobs in (1, 4, 1))
    same(first, second)
    same(first, again)


def test_inference_is_less(evaluated) -> None:
    training = evaluated(NETWORK, "--hardware", "edge_tpu")
    inference = evaluated(NETWORK, "--hardware", "edge_tpu", "--inference")
    assert inference["mode"] == "inference" and inference["inference"] is None
    assert [phase["phase"] for phase in inference["phases"]] == ["forward"]
    for key in ("latency_cycles", "energy_pj", "macs", "nodes"):
        assert 0 < inference[key] < training[key]
    assert inference["saved_bytes"] == 0
    for key in ("latency_cycles", "energy_pj"):
        assert training["inference"][key] == inference[key]
    assert training["inference"]["peak_bytes"] < max(training["live_peak_bytes"].values())


def test_what_is_switched_off_is_not_there(evaluated) -> None:
    found = evaluated(NETWORK, "--hardware", "edge_tpu", "--no-check", "--no-compare", "--no-pack")
    assert found["checked"] == "" and found["inference"] is None
    assert all(memory["packed_peak_bytes"] == 0 for memory in found["memories"])
    usual = evaluated(NETWORK, "--hardware", "edge_tpu")
    assert (found["latency_cycles"], found["energy_pj"]) == (usual["latency_cycles"], usual["energy_pj"])


def test_a_batch(evaluated) -> None:
    one = evaluated(NETWORK, "--hardware", "edge_tpu")
    many = evaluated(NETWORK, "--hardware", "edge_tpu", "--batch", 256)
    assert one["latency_cycles"] < many["latency_cycles"] and one["saved_bytes"] < many["saved_bytes"]


def test_options_of_training(evaluated) -> None:
    adam = evaluated(NETWORK, "--hardware", "edge_tpu", "--optimizer", "adam")
    sgd = evaluated(NETWORK, "--hardware", "edge_tpu", "--optimizer", "sgd")
    assert sgd["footprint_bytes"].get("optimizer state", 0) == 0
    assert sgd["energy_pj"] < adam["energy_pj"]
    last = evaluated(NETWORK, "--hardware", "edge_tpu", "--last-layers", 1)
    assert last["nodes"] < adam["nodes"] and last["latency_cycles"] < adam["latency_cycles"]


def test_a_family(evaluated) -> None:
    small = evaluated("resnet18-cifar", "--hardware", "edge_tpu", "--set", "x=1", "--set", "y=1", "--inference")
    large = evaluated("resnet18-cifar", "--hardware", "edge_tpu", "--set", "x=4", "--set", "y=4", "--inference")
    assert large["latency_cycles"] < small["latency_cycles"]


# Plans


def test_a_saved_plan_gives_the_same_result(run, evaluated, tmp_path) -> None:
    plan = tmp_path / "plan.yaml"
    first = evaluated(NETWORK, "--hardware", "monet_2x2", "--save-plan", plan)
    second = evaluated(NETWORK, "--hardware", "monet_2x2", "--plan", plan)
    for key in ("latency_cycles", "energy_pj", "peak_bytes", "live_peak_bytes", "tiles", "stacks"):
        assert second[key] == first[key]


def test_a_plan_for_another_machine(run, tmp_path) -> None:
    plan = tmp_path / "plan.yaml"
    assert run(NETWORK, "--hardware", "edge_tpu", "--save-plan", plan, "-q").returncode == 0
    is_mistake(run(NETWORK, "--hardware", "edge_tpu", "--set", "lanes=2", "--plan", plan), str(plan), "--force")
    forced = run(NETWORK, "--hardware", "edge_tpu", "--set", "lanes=2", "--plan", plan, "--force", "-q")
    assert forced.returncode == 0 and "warning" in forced.stderr


# Text


def test_text(run, evaluated) -> None:
    result = run(NETWORK, "--hardware", "edge_tpu", "-q")
    assert result.returncode == 0 and result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0] == "mlp-robotics on edge_tpu: a training step, batch 1, mapped for latency"
    found = evaluated(NETWORK, "--hardware", "edge_tpu")
    after = 3 + len(found["diagnosis"])
    assert f"{round(found['latency_cycles']):,} cycles at 800 MHz" in lines[after]
    assert lines[1].startswith("numbers      int8-everywhere, the machine's recipe")
    assert lines[2] == "model        loop nests on arrays; this machine was not compared with measurements"
    assert [line.split("  ")[0] for line in lines[after:after + 6]] == ["latency", "energy", "peak memory", "bound", "work",
                                                            "checked"]
    for title in ("phase", "energy of", "cores, share of the step", "links and ports", "memories", "alive then",
                  "costliest operators", "critical path", "against inference"):
        assert any(line.startswith(title + " ") or line == title for line in lines), title
    assert any(" at its peak, " in line for line in lines)
    assert "the default policy has filled in:" in result.stdout


def test_rows_of_tables(run) -> None:
    few = run(NETWORK, "--hardware", "edge_tpu", "-q", "--operators", 2, "--tensors", 1).stdout
    everything = run(NETWORK, "--hardware", "edge_tpu", "-q", "--operators", 0, "--tensors", 0).stdout
    assert "--operators 0 shows all" in few and "--tensors 0 shows all" in few
    assert "shows all" not in everything and len(everything) > len(few)


def test_zeros_between_are_written_too(evaluated) -> None:
    """The gradient of a 1x1 convolution with steps of 2 adds to a quarter of the elements: 8 x 64 x 32 x 32 in 8 bits."""
    found = evaluated("resnet18-cifar", "--batch", 8, "--hardware", "edge_tpu", "--off-chip", "--no-compare")
    [row] = [row for row in found["operators"] if row["name"] == "layer2.0.downsample.0.grad.ConvTranspose"]
    assert row["home_write_bytes"] == 8 * 64 * 32 * 32


# Files


def test_a_folder_with_everything(run, tmp_path) -> None:
    folder = tmp_path / "new" / "results"
    result = run(NETWORK, "--hardware", "monet_2x2", "-o", folder, "--json", "-q")
    assert result.returncode == 0
    assert {path.name for path in folder.iterdir()} == FILES
    found = json.loads((folder / "result.json").read_text())
    shown = json.loads(result.stdout)
    assert shown.pop("wall_s") > 0 and shown.pop("wall_breakdown"), "files hold no time of this computer"
    assert found == shown
    # Once more into the same folder.
    assert run(NETWORK, "--hardware", "monet_2x2", "-o", folder, "-q").returncode == 0


def test_operators_have_the_numbers_of_json(run, tmp_path) -> None:
    path = tmp_path / "operators.csv"
    found = json.loads(run(NETWORK, "--hardware", "edge_tpu", "--csv", path, "--json", "-q").stdout)
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == [row["name"] for row in found["operators"]]
    for row, expected in zip(rows, found["operators"], strict=True):
        assert row["cores"].split(";") == (expected["cores"] or [""])
        assert row["operator"] == expected["operator"] and row["phase"] == expected["phase"]
        for key in ("tiles", "macs", "start", "end", "busy_cycles", "compute_cycles", "stall_cycles", "load_cycles",
                    "fill_cycles", "slowed_cycles", "wait_cycles", "bound_cycles", "energy_pj"):
            assert float(row[key]) == expected[key]


def test_buffers_at_one_time_are_at_different_addresses(run, tmp_path) -> None:
    path = tmp_path / "lifetimes.csv"
    found = json.loads(run(NETWORK, "--hardware", "edge_tpu", "--lifetimes", path, "--json", "-q").stdout)
    by_memory = defaultdict(list)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            assert 0 <= float(row["start"]) <= float(row["end"]) <= found["latency_cycles"] * (1 + 1e-9)
            if row["address"]:
                by_memory[row["memory"]].append((float(row["start"]), float(row["end"]), int(row["address"]),
                                                 int(row["bytes"])))
    assert by_memory
    for memory, buffers in by_memory.items():
        top = max(address + size for _, _, address, size in buffers)
        assert -(-top // 64) * 64 == found["peak_bytes"][memory], "places are multiples of 64 bytes"
        for a, b in itertools.combinations(buffers, 2):
            together = a[0] < b[1] and b[0] < a[1]
            assert not together or a[2] + a[3] <= b[2] or b[2] + b[3] <= a[2], (memory, a, b)


def test_a_trace_that_viewers_read(run, tmp_path) -> None:
    path = tmp_path / "trace.json"
    found = json.loads(run(NETWORK, "--hardware", "monet_2x2", "--trace", path, "--json", "-q").stdout)
    events = json.loads(path.read_text())["traceEvents"]
    threads = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    times = [event["ts"] for event in events if event["ph"] != "M"]
    assert times == sorted(times)
    ends: dict[int, float] = defaultdict(float)
    for event in events:
        if event["ph"] == "X":
            assert event["ts"] >= ends[event["tid"]] - 1e-6 and event["tid"] in threads
            ends[event["tid"]] = event["ts"] + event["dur"]
    assert max(ends.values()) == pytest.approx(1e6 * found["latency_s"], rel=1e-6, abs=2e-3)
    starts = {event["id"]: event["ts"] for event in events if event["ph"] == "s"}
    finishes = {event["id"]: event["ts"] for event in events if event["ph"] == "f"}
    assert starts and starts.keys() == finishes.keys()
    assert all(starts[flow] <= finishes[flow] for flow in starts)
    assert {event["name"] for event in events if event["ph"] == "C"} >= {"dram bytes"}
    tiles = [event for event in events if event["ph"] == "X" and threads[event["tid"]].startswith("core ")]
    assert len(tiles) == found["tiles"]


# What does not fit


DEEP = "mlp-robotics:inputs=16,hidden=16,layers=10,outputs=4"  # 2,788 parameters with two moments each: 44 KiB in all


def test_optimizer_state_on_a_card_makes_a_step_fit_a_microcontroller(evaluated, run) -> None:
    kept = run(DEEP, "--hardware", "poet_mkr1000", "--json", "-q", "--no-compare")
    assert kept.returncode == 2
    kept = json.loads(kept.stdout)
    assert kept["peak_bytes"]["cpu/ram"] > 32 << 10
    paged = evaluated(DEEP, "--hardware", "poet_mkr1000", "--page", "optimizer-state", "storage")
    assert paged["fits"] and paged["peak_bytes"]["cpu/ram"] <= 32 << 10
    assert paged["peak_bytes"]["storage"] >= 2 * 4 * paged["parameters"]
    assert kept["latency_cycles"] < paged["latency_cycles"] and kept["energy_pj"] < paged["energy_pj"]
    both = evaluated(DEEP, "--hardware", "poet_mkr1000", "--page", "optimizer-state", "storage", "--page", "*.weight",
                     "storage")
    assert both["peak_bytes"]["cpu/ram"] < paged["peak_bytes"]["cpu/ram"]


def test_blocks_are_recomputed(evaluated) -> None:
    model, machine = "gpt2:layers=2,width=16,heads=2,ffn=32,vocabulary=23,tokens=6", ("--hardware", "edge_tpu")
    plain = evaluated(model, *machine)
    again = evaluated(model, *machine, "--recompute", "blocks")
    repeated = [row for row in again["operators"] if row["name"].endswith("~1")]
    assert repeated and again["macs"] > plain["macs"]
    assert all(row["name"].startswith("blocks.") for row in repeated)


def test_what_does_not_fit(run, too_small, tmp_path) -> None:
    result = run(NETWORK, "--hardware", too_small, "--precision", "fp32", "-q", "-o", tmp_path / "out")
    assert result.returncode == 2, result.stderr
    lines = result.stdout.splitlines()
    assert lines[3].startswith("DOES NOT FIT") and "dram" in lines[3]
    assert any(line.startswith("what could be done") for line in lines)
    assert any(line.startswith("alive then") for line in lines)
    found = json.loads((tmp_path / "out" / "result.json").read_text())
    assert found["fits"] is False and "dram" in found["does_not_fit"] and found["options"]
    assert all(option["fits"] or option["reason"] for option in found["options"])


# Mistakes

ON_EDGE_TPU = (NETWORK, "--hardware", "edge_tpu")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("MODEL", "monet evaluate --help")),
        ((NETWORK,), ("--hardware is required",)),
        (("mlp-robotic", "--hardware", "h100"), ("mlp-robotic", "did you mean 'mlp-robotics'")),
        ((NETWORK, "--hardware", "edge_tp"), ("edge_tp", "did you mean 'edge_tpu'")),
        ((NETWORK, "--hardware", "no/such.yaml"), ("no/such.yaml",)),
        ((*ON_EDGE_TPU, "--objective", "speed"), ("--objective", "choose one of latency, energy, edp")),
        ((*ON_EDGE_TPU, "--precision", "int9"), ("--precision", "int9", "bf16")),
        ((*ON_EDGE_TPU, "--set", "q=1"), ("'q'", "lanes")),
        ((*ON_EDGE_TPU, "--set", "lanes"), ("--set", "NAME=VALUE")),
        ((*ON_EDGE_TPU, "--batch", "many"), ("--batch", "not a whole number")),
        ((*ON_EDGE_TPU, "--dim", "sequence"), ("--dim", "NAME=NUMBER")),
        ((*ON_EDGE_TPU, "--factors", "13"), ("--factors", "1 to 12")),
        ((*ON_EDGE_TPU, "--jobs", "-1"), ("--jobs",)),
        ((*ON_EDGE_TPU, "--operators", "-1"), ("--operators",)),
        ((*ON_EDGE_TPU, "--order", "random"), ("--order", "critical-path", "graph", "listed")),
        ((*ON_EDGE_TPU, "--transfers", "air"), ("--transfers", "direct", "memory")),
        ((*ON_EDGE_TPU, "--inferenc"), ("--inferenc", "did you mean '--inference'")),
        ((*ON_EDGE_TPU, "--optimizer", "adm"), ("adm", "did you mean 'adam'")),
        ((*ON_EDGE_TPU, "--loss", "mean"), ("--loss", "mean")),
        ((*ON_EDGE_TPU, "--plan", "no/such.yaml"), ("no/such.yaml",)),
        ((*ON_EDGE_TPU, "--recompute", "blocks"), ("no residual blocks or transformer layers", "name tensors")),
        ((*ON_EDGE_TPU, "--recompute", "weights"), ("cannot be recomputed", "keep it, or page it")),
        ((NETWORK, "--hardware", "stm32f746", "--page", "weights", "flash"), ("nothing leads from cpu/sram to flash",)),
        ((*ON_EDGE_TPU, "--csv", "no/such/x.csv", "-q"), ("no/such/x.csv", "cannot be written")),
        ((*ON_EDGE_TPU, "--trace", "no/such/x.json", "-q"), ("no/such/x.json", "cannot be written")),
        ((*ON_EDGE_TPU, "--lifetimes", "no/such/x.csv", "-q"), ("no/such/x.csv", "cannot be written")),
        ((*ON_EDGE_TPU, "--save-plan", "no/such/x.yaml", "-q"), ("no/such/x.yaml", "cannot be written")),
        ((*ON_EDGE_TPU, "--cache", "no/such/x", "-q"), ("no/such/x", "cannot be written")),
    ],
)
def test_mistakes(run, arguments, words) -> None:
    is_mistake(run(*arguments), *words)


@pytest.mark.parametrize("name", ["file", "file/folder"])
def test_a_folder_that_cannot_be_made(run, tmp_path, name) -> None:
    (tmp_path / "file").write_text("")
    is_mistake(run(*ON_EDGE_TPU, "-o", tmp_path / name, "-q"), str(tmp_path / name), "cannot be made", "-o")


def test_help_has_examples(run) -> None:
    result = run("--help")
    assert result.returncode == 0
    for words in ("Examples:", "monet evaluate resnet18 --hardware edge_tpu", "Exit status:", "--optimizer", "--plan"):
        assert words in result.stdout


def test_what_moves_inside_a_core_is_not_called_nothing(run, evaluated) -> None:
    """Registers cost energy as part of tiles; bytes are counted where transfers and streams go."""
    memories = {each["name"]: each for each in evaluated("lenet5", "--hardware", "tpu_like")["memories"]}
    registers = memories["core/rf_2B"]
    assert registers["energy_pj"] > 0 and registers["read_bytes"] is None and registers["written_bytes"] is None
    assert memories["core/dram"]["read_bytes"] > 0
    lines = run("lenet5", "--hardware", "tpu_like", "-q").stdout.splitlines()
    row = next(line for line in lines if line.startswith("core/rf_2B ")).split()
    assert row[-4:-2] == ["-", "-"], row


@pytest.mark.parametrize(("hardware", "known"), [("h200", True), ("h100", False), ("jetson_agx_orin", False)])
def test_a_graphics_processor_says_how_well_it_is_known(evaluated, monet, hardware, known) -> None:
    found = evaluated(NETWORK, "--hardware", hardware)
    error = found["expected_error"]
    assert found["lowering"] == "eager" and found["checked"] and found["energy_pj"] > 0
    assert set(error) == {"latency_percent", "energy_percent", "memory_percent", "source"}
    assert all((value is not None) == known for value in error.values())
    text = run_command(monet, "evaluate", NETWORK, "--hardware", hardware, "-q").stdout
    assert "eager kernels" in text.splitlines()[0]
    assert ("mean errors: latency" if known else "nothing was compared") in text
    shown = json.loads(run_command(monet, "hardware", "show", hardware, "--json", "-q").stdout)
    assert shown["expected_error"] == error
