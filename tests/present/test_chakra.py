"""Is the Chakra trace a graph that others can read, and does it have all of the schedule?"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from pathlib import Path

import pytest
from chakra import COMM_RECV, COMM_SEND, COMP, MEM_LOAD, MEM_STORE, attributes, read_chakra
from commands import run_command

CASES = {
    "several cores": ("resnet18-cifar", "--batch", "2", "--hardware", "monet_2x2"),
    "cut into tiles": ("mlp-robotics", "--batch", "64", "--hardware", "edge_tpu"),
    "one core with paging": ("mlp-robotics", "--batch", "16", "--hardware", "poet_rpi", "--page", "*", "storage"),
}
TYPE_OF = {"fetch": MEM_LOAD, "page in": MEM_LOAD, "write back": MEM_STORE, "page out": MEM_STORE,
           "core to core": COMM_SEND}  # fmt: skip


@pytest.fixture(scope="module", params=CASES, ids=lambda name: name.replace(" ", "_"))
def written(monet, request, tmp_path_factory) -> tuple[object, list, Path]:
    folder = tmp_path_factory.mktemp("chakra")
    result = run_command(monet, "evaluate", *CASES[request.param], "-q", "-o", folder, "--chakra", folder / "step.et")
    assert result.returncode == 0, result.stderr
    return *read_chakra(folder / "step.et"), folder


def slices_of(folder: Path) -> list[dict]:
    """The events of the trace for viewers, without its critical path: the other writer of the same schedule."""
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    return [event for event in events if event["ph"] == "X" and names[event["tid"]] != "critical path"]


def test_metadata_comes_first(written) -> None:
    metadata, nodes, folder = written
    assert metadata.version == "0.0.4"
    result = json.loads((folder / "result.json").read_text())
    assert attributes(metadata)["model"] == result["model"]
    assert nodes


def test_ids_are_unique_and_dependencies_come_before(written) -> None:
    _, nodes, _ = written
    seen: set[int] = set()
    for node in nodes:
        assert node.id not in seen
        # In the order of the file all dependencies are known: so there are no rings.
        assert set(node.ctrl_deps) | set(node.data_deps) <= seen
        seen.add(node.id)


def test_a_node_for_each_event_and_a_second_end_for_what_is_sent(written) -> None:
    _, nodes, folder = written
    events = Counter(TYPE_OF.get(event["cat"], COMP) for event in slices_of(folder))
    types = Counter(node.type for node in nodes)
    assert types.pop(COMM_RECV, 0) == events[COMM_SEND]
    assert types == events


def test_times_and_bytes_are_those_of_the_schedule(written) -> None:
    _, nodes, folder = written
    own = [node for node in nodes if node.type != COMM_RECV]
    events = slices_of(folder)
    as_nodes = sorted((a["start_cycle"], a["start_cycle"] + a["cycles"], n.name) for n in own for a in [attributes(n)])
    as_events = sorted((e["args"]["start_cycle"], e["args"]["end_cycle"], e["name"]) for e in events)
    assert len(as_nodes) == len(as_events)
    for node, event in zip(as_nodes, as_events):
        assert node[0] == event[0] and math.isclose(node[1], event[1], rel_tol=1e-12) and node[2] == event[2]
    moved = sum(attributes(node)["tensor_size"] for node in own if node.type != COMP)
    assert moved == sum(event["args"].get("bytes", 0) for event in events)


def test_microseconds_on_a_core_add_up(written) -> None:
    """Each is rounded, but not their sum: a core's durations and gaps telescope."""
    metadata, nodes, _ = written
    clock = attributes(metadata)["clock_hz"]
    for node in nodes:
        if node.type == COMM_RECV:
            continue
        exact = attributes(node)
        assert abs(node.start_time_micros - exact["start_cycle"] / clock * 1e6) <= 0.5 + 1e-6
        end = (exact["start_cycle"] + exact["cycles"]) / clock * 1e6
        assert abs(node.start_time_micros + node.duration_micros - end) <= 0.5 + 1e-6


def test_operations_and_bytes_of_tiles_add_up_to_their_operators(written) -> None:
    _, nodes, folder = written
    operations: Counter = Counter()
    moved: Counter = Counter()
    for node in nodes:
        if node.type == COMP:
            has = attributes(node)
            assert has["is_cpu_op"] is False
            operations[has["operator"]] += has["num_ops"]
            moved[has["operator"]] += has["tensor_size"]
    with (folder / "operators.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["name"] in operations]
    assert rows
    for row in rows:
        assert operations[row["name"]] == 2 * float(row["macs"])
        assert abs(moved[row["name"]] - float(row["home_read_bytes"]) - float(row["home_write_bytes"])) <= 1


def test_tiles_of_a_core_follow_each_other(written) -> None:
    _, nodes, _ = written
    last: dict[str, int] = {}
    for node in nodes:
        if node.type == COMP:
            core = attributes(node)["resource"]
            assert list(node.ctrl_deps) == ([last[core]] if core in last else [])
            last[core] = node.id


def test_what_is_received_was_sent(written) -> None:
    _, nodes, _ = written
    by_id = {node.id: node for node in nodes}
    for node in nodes:
        if node.type == COMM_RECV:
            (sent,) = node.data_deps
            assert by_id[sent].type == COMM_SEND
            ours, theirs = attributes(node), attributes(by_id[sent])
            for name in ("comm_size", "comm_tag", "comm_src", "comm_dst"):
                assert ours[name] == theirs[name]
            assert ours["comm_src"] != ours["comm_dst"]
