"""Does `monet compare` say what changed between two results, with parts that add up, and errors that help?"""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path

import pytest
from commands import is_mistake, run_command
from pages import data_of

NETWORK = "resnet18-cifar"
CASES = {
    "kept": (NETWORK, "--batch", 1, "--hardware", "edge_tpu"),
    "recomputed": (NETWORK, "--batch", 1, "--hardware", "edge_tpu", "--recompute", "*relu*"),
    "other": ("mlp-robotics", "--hardware", "raspberry_pi_4"),
    "live": (NETWORK, "--batch", 1, "--hardware", "edge_tpu", "--no-pack"),
}


@pytest.fixture(scope="module")
def folder(monet: Path, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    for name, arguments in CASES.items():
        (folder / name).mkdir()
        result = run_command(monet, "evaluate", *arguments, "--json", "-q", "--no-compare")
        assert result.returncode == 0, result.stderr
        (folder / name / "result.json").write_text(result.stdout)
    return folder


@pytest.fixture
def run(monet: Path, folder: Path):
    return partial(run_command, monet, "compare", cwd=folder)


@pytest.fixture
def compared(run):
    def call(a: str, b: str) -> dict:
        result = run(a, b, "--json", "-q")
        assert result.returncode == 0 and result.stderr == "", result.stderr
        return json.loads(result.stdout)

    return call


def result_of(folder: Path, name: str) -> dict:
    return json.loads((folder / name / "result.json").read_text())


def parts_of(found: dict) -> dict[str, dict]:
    return {row["part"]: row for row in found["rows"]}


@pytest.mark.parametrize(("a", "b"), [("kept", "recomputed"), ("kept", "other"), ("other", "recomputed"), ("kept", "live")])
def test_parts_follow_their_totals_and_add_up(compared, a, b) -> None:
    found = compared(a, b)
    assert found["schema"] == 1 and found["command"] == "compare"
    sums: dict[str, list[float]] = {}
    total = None
    for row in found["rows"]:
        assert row["delta"] == pytest.approx(row["b"] - row["a"], rel=1e-9, abs=1e-9)
        assert row["unit"] in ("cycles", "s", "pJ", "bytes", "")
        if ": " not in row["part"]:
            total = row["part"]
            continue
        assert row["part"].startswith(f"{total}: ")
        for i, side in enumerate(("a", "b", "delta")):
            sums.setdefault(total, [0, 0, 0])[i] += row[side]
    rows = parts_of(found)
    assert {"energy by place", "traffic of home memory", "macs"} <= sums.keys()
    for part, values in sums.items():
        for side, value in zip(("a", "b", "delta"), values, strict=True):
            assert value == pytest.approx(rows[part][side], rel=1e-9, abs=1e-9 * abs(rows[part]["a"]) + 1e-12), part


def test_totals_are_those_of_the_results(compared, folder) -> None:
    found = parts_of(compared("kept", "recomputed"))
    for side, name in (("a", "kept"), ("b", "recomputed")):
        result = result_of(folder, name)
        assert found["latency"][side] == result["latency_cycles"]
        assert found["energy"][side] == result["energy_pj"]
        assert found["macs"][side] == result["macs"]
        assert found["memory dram"][side] == result["peak_bytes"]["dram"]
        assert found["saved for the backward part"][side] == result["saved_bytes"]
        assert found["utilization"][side] == result["utilization"]
        assert found["recomputed operators"][side] == sum(row["recomputed"] for row in result["operators"])
        dram = next(memory for memory in result["memories"] if memory["name"] == "dram")
        assert found["traffic of home memory"][side] == pytest.approx(dram["read_bytes"] + dram["written_bytes"])
        for role, size in dram["peak_by_role"].items():
            assert found[f"memory dram: {role}"][side] == size
        for key, heading in (("latency_by", "latency"), ("energy_by", "energy")):
            for part, value in result.get(key, {}).items():
                assert found[f"{heading}: {part}"][side] == value
    assert found["recomputed operators"]["b"] > 0 > found["saved for the backward part"]["delta"]
    assert "time" not in found, "one clock"


def test_clocks_that_differ(compared, folder) -> None:
    found = compared("kept", "other")
    rows = parts_of(found)
    assert rows["time"]["unit"] == "s" and found["clock_hz"] is None
    for side, name in (("a", "kept"), ("b", "other")):
        assert rows["time"][side] == pytest.approx(result_of(folder, name)["latency_s"], rel=1e-12)
    assert {"network", "machine", "clock"} <= {each["what"] for each in found["assumptions"]}
    assert (found["a"], found["b"]) == ("resnet18-cifar on edge_tpu", "mlp-robotics on raspberry_pi_4")


def test_nothing_differs_from_itself(compared, run) -> None:
    found = compared("kept", "kept/result.json")
    assert all(row["delta"] == 0 for row in found["rows"])
    assert found["operators"] == found["assumptions"] == []
    assert run("kept", "kept").stdout.startswith("Nothing differs")


def test_operators_that_differ_most(compared, folder) -> None:
    found = compared("kept", "recomputed")
    before, after = ({(row["phase"], row["name"]): row for row in result_of(folder, name)["operators"]}
                     for name in ("kept", "recomputed"))
    changes = [abs(row["b_cycles"] - row["a_cycles"]) for row in found["operators"]]
    assert changes == sorted(changes, reverse=True) and changes[0] > 0
    largest = max(abs(before.get(key, {"busy_cycles": 0})["busy_cycles"] - after.get(key, {"busy_cycles": 0})["busy_cycles"])
                  for key in before.keys() | after.keys())
    assert changes[0] == largest
    for row in found["operators"]:
        key = (row["phase"], row["name"])
        assert row["a_cycles"] == before.get(key, {"busy_cycles": 0})["busy_cycles"]
        assert row["b_pj"] == after.get(key, {"energy_pj": 0})["energy_pj"]


def test_text(run, compared) -> None:
    result = run("kept", "recomputed", "-q")
    assert result.returncode == 0 and result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0] == compared("kept", "recomputed")["summary"]
    assert lines[0].startswith("The latency of b is ") and "% more than " in lines[0]
    assert lines[2:4] == ["a  kept", "b  recomputed"]
    for title in ("latency ", "energy ", "memory dram ", "traffic of home memory ", "operators that differ most "):
        assert any(line.startswith(title) for line in lines), title
    assert " ms " in next(line for line in lines if line.startswith("latency "))


def test_number_formats_are_named_whether_they_differ_or_not(run, compared) -> None:
    everywhere = "int8-everywhere, the machine's recipe: it has no unit for the network's own; all tensors in 8 bits, nothing trains so"
    assert run("kept", "recomputed", "-q").stdout.splitlines()[4] == f"numbers  {everywhere}"
    lines = run("kept", "other", "-q").stdout.splitlines()
    assert lines[4:6] == [f"numbers  a: {everywhere}", "         b: fp32, the network's own"]
    found = compared("kept", "other")
    assert found["recipe"] == {"a": "int8-everywhere", "b": "fp32"} and found["recipe_from"] == {"a": "machine", "b": "file"}


def test_results_that_do_not_name_their_number_formats(run, folder, tmp_path) -> None:
    old = result_of(folder, "kept")
    del old["recipe"], old["recipe_from"], old["recipe_text"]
    (tmp_path / "result.json").write_text(json.dumps(old))
    assert run("kept", tmp_path, "-q").stdout.splitlines()[5] == "         b: not said"


def test_the_first_sentence_names_the_part_that_explains_most(run, folder, tmp_path) -> None:
    result = result_of(folder, "kept")
    whole = result["latency_cycles"]
    paths = []
    for name, extra in (("a", 0), ("b", whole)):
        (tmp_path / name).mkdir()
        changed = {**result, "latency_cycles": whole + extra,
                   "latency_by": {"compute": whole / 2, "stall": whole / 4 + 0.25 * extra, "traffic": whole / 4 + 0.75 * extra}}
        (tmp_path / name / "result.json").write_text(json.dumps(changed))
        paths.append(tmp_path / name)
    first = run(*paths).stdout.splitlines()[0]
    assert "2 times" in first and "; traffic explains 75% of that" in first


def test_files(run, compared, folder, tmp_path) -> None:
    result = run("kept", "recomputed", "--csv", tmp_path / "parts.csv", "-o", tmp_path / "page.html", "-q")
    if "no report page" in result.stderr:
        pytest.skip("this build has no report page")
    assert result.returncode == 0, result.stderr
    found = compared("kept", "recomputed")
    with open(tmp_path / "parts.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["part"] for row in rows] == [row["part"] for row in found["rows"]]
    for row, expected in zip(rows, found["rows"], strict=True):
        assert (float(row["a"]), float(row["b"]), float(row["delta"])) == (expected["a"], expected["b"], expected["delta"])
    data = data_of(tmp_path / "page.html")
    assert data["comparison"] == found
    assert [each["result"] for each in data["evaluations"]] == [result_of(folder, name) for name in ("kept", "recomputed")]


# Notes and mistakes


def test_what_cannot_be_compared_is_said(run, folder, tmp_path) -> None:
    result = run("kept", "live")
    assert "note: only one of them has addresses in dram: what is live is compared" in result.stderr
    old = result_of(folder, "kept")
    for key in ("latency_by", "energy_by"):
        old.pop(key, None)
    (tmp_path / "result.json").write_text(json.dumps(old))
    result = run(tmp_path, "kept")
    assert result.returncode == 0 and "does not say what its latency consists of" in result.stderr
    assert run(tmp_path, "kept", "-q").stderr == ""
    old["clock_hz"] = None
    (tmp_path / "result.json").write_text(json.dumps(old))
    assert "note: one of the machines has no clock" in run(tmp_path, "kept").stderr


def test_mistakes(run, folder, tmp_path) -> None:
    is_mistake(run(), "A", "monet compare --help")
    is_mistake(run("kept"), "B", "monet compare --help")
    is_mistake(run("kept", "nothing"), "nothing", "No such file")
    is_mistake(run("kept", tmp_path), "there is no result.json in this folder")
    wrong = tmp_path / "wrong.json"
    for text, words in [
        ("{", ("wrong.json:1:", "cut short")),
        ('{"schema": }', ("wrong.json:1:", "not the JSON of a result")),
        ('{"schema": 1, "command": "optimize"}', ("`monet optimize`", "--plan")),
        ('{"schema": 7, "command": "evaluate"}', ("made by a later version of monet",)),
        ('{"schema": 1, "command": "evaluate", "energy_pj": 1}', ('"latency_cycles" is missing',)),
        ('{"schema": 1, "command": "evaluate", "energy_pj": 1, "latency_cycles": 1, "latency_by": 7}',
         ('"latency_by" is a number, not an object',)),
    ]:
        wrong.write_text(text)
        is_mistake(run("kept", wrong), *words)
    is_mistake(run("kept", "other", "--csv", "no/such/x.csv", "-q"), "no/such/x.csv", "cannot be written")
    is_mistake(run("kept", "other", "-o", "no/such/x.html", "-q"), "no/such/x.html")
    for output in ("kept/result.json", "other/result.json"):
        is_mistake(run("kept", "other", "--csv", output, "-q"), output, "this is one of the results")
        is_mistake(run("kept", "other", "-o", output, "-q"), output, "there is a file that is no page")
