"""Does `monet remat` keep its contract: best known values, JSON, schedules, exit status, errors that help?"""

from __future__ import annotations

import json
import math
import time
from functools import partial
from pathlib import Path

import pytest
from commands import answering, fails, interrupted, run_command

# 0 (4 B) is read first and last: 0 -> 1 -> 2 -> 3, 0 -> 3. Peak 4 + 4 + 2 at node 2; without 0 there, 3 needs 7.
NODES = [("a", 5, 4), ("b", 2, 4), ("c", 2, 2), ("d", 1, 1)]
LINKS = [(0, 1), (1, 2), (2, 3), (0, 3)]


def checkmate(nodes=NODES, links=LINKS) -> dict:
    return {
        "directed": True,
        "nodes": [{"id": i, "name": name, "cost_cpu": cpu, "cost_ram": ram} for i, (name, cpu, ram) in enumerate(nodes)],
        "links": [{"source": a, "target": b} for a, b in links],
    }


def poet() -> dict:
    nodes = [{"id": 0, "op": "Input", "flop": 0, "out_elems": 100, "deps": []}]
    for i in range(1, 6):
        nodes.append({"id": i, "op": "Linear", "flop": 1000 * i, "out_elems": 50, "deps": [i - 1]})
    for i in range(6, 11):
        nodes.append({"id": i, "op": "Gradient", "flop": 2000, "out_elems": 50, "deps": sorted({i - 1, 10 - i})})
    return {"name": "net", "nodes": nodes}


DEVICES = {
    "devices": {
        "mkr1000(m0)": {"FLOPS": 1e5, "FLOPS_PER_WATT": 1e6, "PAGEIN_LATENCY": 1e-4, "PAGEIN_THROUGHPUT": 4e6,
                        "PAGEOUT_LATENCY": 1e-4, "PAGEOUT_THROUGHPUT": 4e6, "MEMORY_POWER": 0.3, "TYPE": 4},
        "jetsontx2": {"PAGEIN_LATENCY": 1e-4},
    }
}


@pytest.fixture
def run(monet: Path):
    return partial(run_command, monet, "remat")


@pytest.fixture
def solved(run):
    return answering(run)


def write(path: Path, data: dict) -> Path:
    path.write_text(json.dumps(data))
    return path


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    return write(tmp_path / "graph.json", checkmate())


@pytest.fixture
def network(tmp_path: Path) -> Path:
    return write(tmp_path / "net.json", poet())


@pytest.fixture
def devices(tmp_path: Path) -> Path:
    return write(tmp_path / "devices.json", DEVICES)


@pytest.fixture
def instances(shared: Path) -> Path:
    folder = shared / "reference" / "instances"
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent")
    return folder


def chain(path: Path, layers: int) -> Path:
    links = {(i - 1, i) for i in range(1, 2 * layers + 1)} | {(i, 2 * layers - i) for i in range(layers)}
    return write(path, checkmate([(f"n{i}", 1, 1) for i in range(2 * layers + 1)], sorted(links)))


def replay(schedule: dict, data: dict, budget: int) -> float:
    """Every operand in memory, every byte within the budget; the time of all runs."""
    node = {n["name"]: n for n in data["nodes"]}
    names = {n["id"]: n["name"] for n in data["nodes"]}
    reads = {name: [] for name in node}
    for link in data["links"]:
        reads[names[link["target"]]].append(names[link["source"]])
    here, ran, time_sum = set(), set(), 0.0
    for action in schedule["actions"]:
        name = action["node"]
        if action["action"] == "free":
            here.remove(name)
            continue
        assert action["action"] == "compute" and name not in here
        assert all(operand in here for operand in reads[name]), action
        here.add(name)
        ran.add(name)
        time_sum += node[name]["cost_cpu"]
        assert sum(node[other]["cost_ram"] for other in here) <= budget, action
    assert ran == set(node)
    return time_sum


def test_json(solved, graph, tmp_path) -> None:
    out = tmp_path / "schedule.json"
    found = solved(graph, "--budget", "8B", "-o", out)
    assert found.pop("wall_s") >= 0
    assert found["schema"] == 1 and found["found"] is True and found["proven"] is True
    assert found["base_time"] == 10 and found["base_peak_bytes"] == 10 and found["budget_bytes"] == 8
    # 0 has to go while 2 runs.
    assert found["time"] == 15 == found["bound_time"] and found["extra_percent"] == pytest.approx(50)
    assert found["recomputed"] == [{"node": "a", "times": 1}] and found["paged"] == [] and found["executions"] == 5
    assert found["peak_bytes"] == 8 and found["true_time"] == 15 and found["energy_j"] is None
    assert found["reordered"] is None and found["deadline_met"] is None and found["structural_bytes"] == 8
    assert replay(json.loads(out.read_text()), checkmate(), 8) == 15


def test_text(run, graph) -> None:
    result = run(graph, "--budget", "0.8")
    assert result.returncode == 0 and result.stderr == ""
    assert "50.0000 %" in result.stdout and "No schedule in the given order takes less time." in result.stdout
    assert "No bound was looked for." in run(graph, "--budget", "0.8", "--no-bound").stdout


def test_a_part_is_rounded_up(solved, graph) -> None:
    assert solved(graph, "--budget", "0.75")["budget_bytes"] == math.ceil(0.75 * 10) == 8
    assert solved(graph, "--budget", "1")["extra_percent"] == 0


def test_reorder_reports_both(solved, tmp_path) -> None:
    """Worked out in tests/remat/remat_search_test.cpp."""
    nodes = [("a", 5, 10), ("b", 5, 10), ("c", 1, 1), ("d", 1, 1), ("e", 1, 1)]
    data = checkmate(nodes, [(0, 2), (1, 3), (2, 4), (3, 4)])
    path, out = write(tmp_path / "g.json", data), tmp_path / "schedule.json"
    found = solved(path, "--budget", "12B", "--reorder", "-o", out)
    assert found["time"] == 23 and found["reordered"]["time"] == 13 and found["reordered"]["proven"] is True
    assert replay(json.loads(out.read_text()), data, 12) == 13
    assert solved(path, "--budget", "12B", "--no-reorder")["reordered"] is None


def test_energy_paging_and_deadline(solved, network, devices) -> None:
    base = ("--profiles", devices, "--device", "MKR1000", "--budget", "900B")
    found = solved(network, *base)
    assert found["objective"] == "energy" and found["time_unit"] == "s" and found["device"] == "mkr1000(m0)"
    assert found["base_energy_j"] == pytest.approx(25000 / 1e6) and found["base_time"] == pytest.approx(25000 / 1e5)
    assert found["energy_j"] >= found["bound_energy_j"] * (1 - 1e-9) and found["bound_time"] is None
    assert found["true_peak_bytes"] <= 900 and found["peak_bytes"] <= 900
    late = solved(network, *base, "--deadline", "1.5x")
    assert late["deadline"] == pytest.approx(0.375) and late["deadline_met"] is True
    assert solved(network, *base, "--deadline", "300ms")["deadline"] == pytest.approx(0.3)
    assert solved(network, *base, "--objective", "time")["objective"] == "time"
    paged = solved(network, *base, "--no-recompute")
    assert paged["recomputed"] == [] and paged["paged"]
    rerun = solved(network, *base, "--no-paging")
    assert rerun["paged"] == [] and rerun["recomputed"]
    assert found["energy_j"] <= min(paged["energy_j"], rerun["energy_j"]) * (1 + 1e-12)
    assert solved(network, *base, "--page", "512B")["energy_j"] >= found["energy_j"]
    assert solved(network, *base, "--fixed", "10B")["peak_bytes"] <= 900


def test_methods_and_switches_agree(solved, tmp_path) -> None:
    path = chain(tmp_path / "chain.json", 6)
    best = solved(path, "--budget", "5B")
    assert best["proven"] is True
    assert solved(path, "--budget", "5B", "--method", "milp", "--time-limit", 120)["time"] == best["time"]
    for switches in (["--no-prune"], ["--no-improve"], ["--no-bound"], ["--seed", "7"], ["--jobs", "1"]):
        found = solved(path, "--budget", "5B", *switches)
        assert found["time"] >= best["time"] and (not found["proven"] or found["time"] == best["time"])


def test_same_answer_for_any_number_of_threads(solved, tmp_path) -> None:
    path = chain(tmp_path / "chain.json", 10)
    outs = []
    for jobs in (1, 2, 5):
        out = tmp_path / f"{jobs}.json"
        solved(path, "--budget", "5B", "--jobs", jobs, "--time-limit", 600, "-o", out)
        outs.append(out.read_text())
    assert outs[0] == outs[1] == outs[2]


def test_too_little(run, graph, tmp_path) -> None:
    out = tmp_path / "schedule.json"
    result = run(graph, "--budget", "7B", "--json", "-o", out)
    fails(result, 2, "nothing fits into 7 bytes", "b needs 8 bytes at once", "a (4 B), b (4 B)",
          "a schedule for 8 bytes was found, 80.00 %")
    found = json.loads(result.stdout)
    assert found["found"] is False and found["proven"] is True and found["time"] is None
    assert found["smallest_budget_bytes"] == 8 and not out.exists()


def test_certain_that_nothing_fits(run, tmp_path) -> None:
    """a (4 B) cannot be made again and is needed at the end: it is there while b (6 B) is made from x (1 B)."""
    data = checkmate([("a", 1, 4), ("x", 1, 1), ("b", 1, 6), ("c", 1, 0)], [(0, 1), (1, 2), (1, 3), (0, 3)])
    data["nodes"][0]["recompute"] = False
    path = write(tmp_path / "g.json", data)
    fails(run(path, "--budget", "10B"), 2, "certain that no schedule fits into 10 bytes", "more than 7 bytes",
          "a schedule for 11 bytes was found")


def test_nothing_was_found(run, tmp_path) -> None:
    """Without a bound nobody knows."""
    data = checkmate([("a", 1, 4), ("x", 1, 1), ("b", 1, 6), ("c", 1, 0)], [(0, 1), (1, 2), (1, 3), (0, 3)])
    data["nodes"][0]["recompute"] = False
    path = write(tmp_path / "g.json", data)
    fails(run(path, "--budget", "10B", "--no-bound"), 2, "no schedule was found for 10 bytes")


def test_too_early(run, graph) -> None:
    fails(run(graph, "--budget", "8B", "--deadline", "0.5x"), 2, "the deadline 5 is before 10", "later --deadline")
    fails(run(graph, "--budget", "8B", "--deadline", "1.2x"), 2, "the deadline 12", "the quickest takes 15", "--budget")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("GRAPH is required", "monet remat --help")),
        (("FILE",), ("--budget is required",)),
        (("no/such.json", "--budget", "0.9"), ("no/such.json", "cannot open")),
        (("FILE", "--budget", "much"), ("--budget", "much", "5000B")),
        (("FILE", "--budget", "5000"), ("--budget", "'5000' is not a part from 0 to 1", "5000B")),
        (("FILE", "--budget", "0"), ("--budget", "'0' is not a part")),
        (("FILE", "--budget=-1B"), ("--budget",)),
        (("FILE", "--budget", "1.5B"), ("--budget", "whole number of bytes")),
        (("FILE", "--budget", "3 MHz"), ("--budget", "5000B")),
        (("FILE", "--budget", "0.9", "--deadline", "soon"), ("--deadline", "20ms")),
        (("FILE", "--budget", "0.9", "--deadline", "3 MiB"), ("--deadline", "'3 MiB' is no time")),
        (("FILE", "--budget", "0.9", "--deadline", "0x"), ("--deadline", "'0x' is out of range")),
        (("FILE", "--budget", "0.9", "--time-limit", "0"), ("--time-limit", "above 0")),
        (("FILE", "--budget", "0.9", "--fixed", "3"), ("--fixed", "512B")),
        (("FILE", "--budget", "0.9", "--fixed", "x"), ("--fixed", "512B")),
        (("FILE", "--budget", "0.9", "--page", "0B"), ("--page", "at least one byte")),
        (("FILE", "--budget", "0.9", "--objective", "beauty"), ("--objective",)),
        (("FILE", "--budget", "0.9", "--objective", "energy"), ("--objective", "no energies", "choose time")),
        (("FILE", "--budget", "0.9", "--method", "magic"), ("--method",)),
        (("FILE", "--budget", "0.9", "--device", "m0"), ("--device", "no file of devices", "--profiles")),
        (("FILE", "--budget", "0.9", "--profiles", "DEVICES"), ("--profiles", "--device")),
        (("FILE", "--budget", "0.9", "--profiles", "DEVICES", "--device", "m0"), ("times of their own", "leave out")),
        (("FILE", "--budget", "0.9", "--profiles", "no.json", "--device", "m0"), ("no.json", "cannot open")),
        (("NET", "--budget", "0.9"), ("operation counts", "--profiles FILE --device NAME")),
        (("NET", "--budget", "0.9", "--profiles", "DEVICES", "--device", "mkr100"), ("did you mean 'mkr1000'",)),
        (("NET", "--budget", "0.9", "--profiles", "DEVICES", "--device", "jetsontx2"), ("has no FLOPS", "another")),
        (("FILE", "--budget", "0.9", "--reoder"), ("--reoder", "did you mean '--reorder'")),
        (("FILE", "--budget", "0.9", "-o", "no/such/out.json"), ("no/such/out.json", "cannot be written", "name a file")),
    ],
)
def test_mistakes(run, graph, network, devices, arguments, words) -> None:
    names = {"FILE": graph, "NET": network, "DEVICES": devices}
    result = run(*(names.get(argument, argument) for argument in arguments))
    assert result.stdout == ""
    fails(result, 1, *words)


def test_a_graph_too_large_for_the_program(run, tmp_path) -> None:
    path = chain(tmp_path / "chain.json", 300)
    fails(run(path, "--budget", "0.9", "--method", "milp"), 1, "variables", "at most 400,000", "choose search")


def test_a_file_that_is_none(run, tmp_path) -> None:
    """The messages are tested in tests/remat/remat_reader_test.cpp."""
    path = tmp_path / "bad.json"
    path.write_text('{"nodes": [\n{"id": 0, ]}')
    fails(run(path, "--budget", "0.9"), 1, f"{path}:2:11", "JSON")
    path.write_bytes(bytes(range(256)) * 10)
    fails(run(path, "--budget", "0.9"), 1, str(path))
    data = checkmate(links=[*LINKS, (3, 1)])
    fails(run(write(path, data), "--budget", "0.9"), 1, "wait for each other")
    data = checkmate(links=[(0, 1), (3, 2)])
    assert "another was made" in run(write(path, data), "--budget", "0.9").stderr
    assert run(path, "--budget", "0.9", "-q").stderr == ""


def test_interrupted_it_answers(monet, tmp_path) -> None:
    path = chain(tmp_path / "chain.json", 200)
    result = interrupted(monet, "remat", path, "--budget", "12B", "--json", "--time-limit", 3600, "--no-bound", after_s=3)
    assert json.loads(result.stdout)["base_time"] == 401


def test_interrupted_in_an_integer_program_it_answers(monet, tmp_path) -> None:
    """CBC cannot be asked to end: at 121 nodes it is in the root of its search for minutes."""
    path = chain(tmp_path / "chain.json", 60)
    start = time.monotonic()
    result = interrupted(monet, "remat", path, "--budget", "9B", "--method", "milp", "--json", "--time-limit", 3600, after_s=3)
    assert time.monotonic() - start < 30
    answer = json.loads(result.stdout)
    assert answer["out_of_time"] and not answer["proven"] and answer["bound_time"] >= answer["base_time"] == 121


def test_a_time_limit_holds_in_an_integer_program(run, tmp_path) -> None:
    """Once for the program, and at most once more for what would do."""
    path = chain(tmp_path / "chain.json", 60)
    answer = json.loads(run(path, "--budget", "9B", "--method", "milp", "--json", "--time-limit", 4).stdout)
    assert answer["out_of_time"] and answer["wall_s"] < 25


def test_help_has_examples(run) -> None:
    result = run("--help")
    assert result.returncode == 0 and "Examples:" in result.stdout and "--device MKR1000" in result.stdout


@pytest.mark.parametrize(("layers", "budget", "executions"), [(8, 4, 26), (12, 5, 37), (16, 8, 43), (20, 8, 55)])
def test_unit_chains(solved, tmp_path, layers, budget, executions) -> None:
    """Proven by integer programming: the table beside the public instances."""
    found = solved(chain(tmp_path / "chain.json", layers), "--budget", f"{budget}B", "--time-limit", 120)
    assert found["executions"] == executions and found["proven"] is True


@pytest.mark.parametrize(
    ("name", "part", "percent"),
    [("VGG16", 0.9, 1.968), ("fcn_8", 0.8, 0.1361), ("vgg_unet", 0.9, 1.129), ("random_layered_n100", 0.8, 2.296)],
)
def test_public_graphs(solved, instances, name, part, percent) -> None:
    path = next((instances / "remat").glob(f"{name}*"))
    found = solved(path, "--budget", part, "--time-limit", 60)
    assert found["extra_percent"] <= percent + 0.0006


def test_poets_networks(solved, instances) -> None:
    """Never dearer than the optimum of POET's own program on its own model."""
    folder = instances / "poet"
    for network, device, budget, joules in [("linear", "MKR1000", "4000B", 0.10473012),
                                            ("linear", "MKR1000", "3600B", 0.10485774),
                                            ("transformer", "RPiNoCache", "32MB", 119.43748029)]:
        found = solved(folder / f"{network}.json", "--budget", budget, "--profiles", folder / "chipsets.json", "--device",
                       device, "--deadline", "2x", "--time-limit", 60)
        assert found["energy_j"] <= joules * (1 + 1e-7) and found["deadline_met"] is True and found["proven"] is True


@pytest.mark.long
def test_poets_plan_misses_the_true_deadline(solved, instances) -> None:
    """Its model takes transfers as free in time: the plan is late once they are not. Ours is in time."""
    folder = instances / "poet"
    arguments = (folder / "resnet18_cifar.json", "--budget", 0.15, "--profiles", folder / "chipsets.json", "--device",
                 "a72", "--deadline", "1.05x", "--time-limit", 20)
    free = solved(*arguments, "--free-transfers", "--no-bound")
    assert free["time"] <= free["deadline"] < free["true_time"] and free["deadline_met"] is False
    ours = solved(*arguments, "--no-bound")
    assert ours["true_time"] <= ours["deadline"] and ours["deadline_met"] is True
    assert ours["true_peak_bytes"] <= ours["budget_bytes"]
