"""Does `monet explore` keep its contract: JSON, a store that survives, the same results in any order, files, exit status,
errors that help?"""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

# 3 · 2 · 2 designs of a family that comes with the program, with a network that takes milliseconds.
SPACE = """\
space: 1
name: small
description: twelve designs
hardware: edge_tpu
parameters:
  x: [1, 2, 4]
  lanes: [1, 4]
  pe_memory: [1 MiB, 2 MiB]
{extra}workloads:
  - {{name: inference, network: "mlp-robotics:hidden=32,layers=2", batch: 8, step: inference}}
  - {{name: training, network: "mlp-robotics:hidden=32,layers=2", batch: 8, step: training}}
objectives: [latency, energy]
"""
DESIGNS = 12
NETWORKS = Path(__file__).resolve().parents[2] / "data" / "models"


@pytest.fixture
def run(monet: Path, tmp_path: Path):
    def call(*arguments: object, folder: Path = tmp_path) -> subprocess.CompletedProcess:
        return subprocess.run([monet, "explore", *map(str, arguments)], capture_output=True, text=True, timeout=600,
                              cwd=folder)

    return call


@pytest.fixture
def found(run):
    def call(*arguments: object) -> dict:
        result = run(*arguments, "--json", "-q")
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    return call


@pytest.fixture
def space(tmp_path: Path) -> Path:
    return write(tmp_path / "small.yaml")


def write(path: Path, extra: str = "") -> Path:
    path.write_text(SPACE.format(extra=extra))
    return path


def fails(result: subprocess.CompletedProcess, status: int, *words: str) -> None:
    assert result.returncode == status, result.stderr
    last = result.stderr.splitlines()[-1]
    assert last.startswith("monet: ")
    for word in words:
        assert word in last, last


def exported(run, store: Path) -> str:
    lines = store.with_suffix(".jsonl")
    result = run("--show", store, "--jsonl", lines, "-q")
    assert result.returncode == 0, result.stderr
    return lines.read_text()


def test_json_has_the_contract(found, space) -> None:
    answer = found(space, "--store", "s.sqlite")
    assert answer["schema"] == 1 and answer["space"] == "small" and answer["method"] == "all"
    assert answer["space_size"] == answer["seen"] == answer["fresh"] == DESIGNS and answer["complete"] is True
    assert answer["evaluated"] + answer["failed"] + answer["excluded"] == DESIGNS and answer["evaluated"] > 0
    assert answer["designs_per_s"] > 0 and 0 <= answer["hypervolume"] <= 1
    assert answer["objectives"] == ["latency", "energy"] and answer["workloads"] == ["inference", "training"]
    assert answer["front"]
    assert [(one["recipe"], one["designs"]) for one in answer["recipes"]] == [("int8-everywhere", answer["evaluated"])]
    assert all(workload["recipe"] == "int8-everywhere" for one in answer["front"] for workload in one["workloads"])
    points = []
    for one in answer["front"]:
        assert set(one["design"]) == {"x", "lanes", "pe_memory"}
        assert {"latency_s", "energy_pj", "edp", "area_mm2", "peak_bytes", "cost", "utilization"} <= set(one["metrics"])
        assert [workload["workload"] for workload in one["workloads"]] == ["inference", "training"]
        points.append((one["metrics"]["latency_s"], one["metrics"]["energy_pj"]))
    assert points == sorted(points)
    for a in points:
        assert not any(b != a and b[0] <= a[0] and b[1] <= a[1] for b in points)
    assert len(answer["sensitivities"]) == 2 * 3 and len(answer["correlations"]) == 2
    assert all(0 <= row["share"] <= 1 for row in answer["sensitivities"])


def test_a_design_equals_its_evaluation(monet, found, space) -> None:
    best = found(space)["front"][0]
    options = [f"--set={name}={value}" for name, value in best["design"].items()]
    result = subprocess.run([monet, "evaluate", "mlp-robotics:hidden=32,layers=2", "--batch", "8", "--hardware", "edge_tpu",
                             *options, "--json", "-q"], capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr
    evaluation = json.loads(result.stdout)
    training = best["workloads"][1]
    assert training["latency_s"] == evaluation["latency_s"] and training["energy_pj"] == evaluation["energy_pj"]


def test_text(run, space) -> None:
    result = run(space)
    assert result.returncode == 0, result.stderr
    for words in ("12 of 12 designs seen (100%)", "The front in latency, energy", "share of variance", "rank correlation",
                  "store: small.sqlite", "numbers: int8-everywhere; all tensors in 8 bits, nothing trains so"):
        assert words in result.stdout, result.stdout


def test_the_store_is_kept_by_default_and_resumed(run, found, space, tmp_path) -> None:
    first = found(space)
    assert (tmp_path / "small.sqlite").exists() and list(tmp_path.glob("small.sqlite?*")) == []
    fails(run(space), 1, "small.sqlite", "--resume", "--store")
    again = found(space, "--resume")
    assert again["fresh"] == 0 and again["seen"] == DESIGNS and again["front"] == first["front"]


@pytest.mark.parametrize("method", ["random", "sobol", "nsga2", "surrogate", "narrow"])
def test_methods_repeat_themselves(found, space, method) -> None:
    answers = [found(space, "--method", method, "--samples", 6, "--population", 4, "--seed", 3, "--store", store)
               for store in ("a.sqlite", "b.sqlite")]
    assert answers[0]["front"] == answers[1]["front"] and answers[0]["seen"] == answers[1]["seen"] <= DESIGNS
    assert answers[0]["method"] == method


def test_any_number_of_threads_gives_the_same(run, found, space, tmp_path) -> None:
    for jobs in (1, 2, 5):
        found(space, "--jobs", jobs, "--store", tmp_path / f"{jobs}.sqlite")
    texts = {exported(run, tmp_path / f"{jobs}.sqlite") for jobs in (1, 2, 5)}
    assert len(texts) == 1


def test_killed_at_random_moments_equals_never_interrupted(monet, run, found, space, tmp_path) -> None:
    whole, torn = tmp_path / "whole.sqlite", tmp_path / "torn.sqlite"
    start = time.monotonic()
    found(space, "--store", whole)
    seconds = time.monotonic() - start
    moments = random.Random(1)
    for _ in range(20):
        process = subprocess.Popen([monet, "explore", space, "--store", torn, "--resume", "-q"], cwd=tmp_path,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0, seconds))
        process.kill()
        process.wait()
    answer = found(space, "--store", torn, "--resume")
    assert answer["seen"] == DESIGNS
    assert exported(run, torn) == exported(run, whole)
    with sqlite3.connect(torn) as store:
        assert store.execute("SELECT count(*) FROM claims").fetchone() == (0,)


def test_two_processes_fill_one_store(monet, run, found, space, tmp_path) -> None:
    command = [monet, "explore", space, "--store", "both.sqlite", "--resume", "--json", "-q"]
    processes = [subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [json.loads(process.communicate(timeout=600)[0]) for process in processes]
    assert all(process.returncode == 0 for process in processes)
    assert sum(answer["fresh"] for answer in answers) == DESIGNS
    found(space, "--store", tmp_path / "one.sqlite")
    assert exported(run, tmp_path / "both.sqlite") == exported(run, tmp_path / "one.sqlite")


def test_an_interrupt_leaves_what_was_found(monet, run, tmp_path) -> None:
    """Ctrl-C at some moment: exit 0 and the way to go on, or all was done before."""
    space = tmp_path / "large.yaml"
    space.write_text(SPACE.format(extra="").replace("x: [1, 2, 4]", "x: {from: 1, to: 40}").replace("small", "large"))
    process = subprocess.Popen([monet, "explore", space, "--json", "--jobs", "1"], cwd=tmp_path, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    store = tmp_path / "large.sqlite"
    while process.poll() is None:
        if store.exists():
            with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as reader:
                if reader.execute("SELECT count(*) FROM designs").fetchone()[0] > 0:
                    break
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    answer = json.loads(out)
    assert answer["seen"] > 0
    if not answer["complete"]:
        assert "--resume" in err


def test_show_and_files(run, found, space, tmp_path) -> None:
    found(space, "--csv", "designs.csv", "-o", "out")
    shown = found("--show", "small.sqlite", "--objectives", "energy@training,area")
    assert shown["objectives"] == ["energy@training", "area"] and shown["seen"] == DESIGNS
    with open(tmp_path / "designs.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["design"]) for row in rows] == list(range(DESIGNS))
    ran = [row for row in rows if row["status"] == "ran"]
    least = min(float(row["training.energy_pj"]) for row in ran)
    assert shown["front"][0]["workloads"][1]["energy_pj"] == least
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"report.html", "designs.csv", "front.json"}
    assert (tmp_path / "out" / "designs.csv").read_bytes() == (tmp_path / "designs.csv").read_bytes()
    assert json.loads((tmp_path / "out" / "front.json").read_text())["evaluated"] == len(ran)
    result = run("--show", "small.sqlite", "-o", "page.html")
    assert result.returncode == 0, result.stderr
    page = (tmp_path / "page.html").read_text()
    assert page.lower().startswith("<!doctype html>")


def test_showing_needs_no_space_file_and_changes_nothing(run, found, space, tmp_path) -> None:
    found(space)
    store = tmp_path / "small.sqlite"
    before = store.read_bytes()
    space.unlink()
    assert found("--show", store)["seen"] == DESIGNS
    assert store.read_bytes() == before and list(tmp_path.glob("small.sqlite?*")) == []


def test_sql_users_have_a_view(found, space, tmp_path) -> None:
    answer = found(space)
    with sqlite3.connect(tmp_path / "small.sqlite") as store:
        rows = store.execute("SELECT json_extract(parameters, '$.x'), workload, latency_s FROM explored "
                             "WHERE failure IS NULL ORDER BY design, workload").fetchall()
    assert len(rows) == 2 * answer["evaluated"]
    assert {row[0] for row in rows} <= {1, 2, 4} and {row[1] for row in rows} == {"inference", "training"}


def test_excluded_designs_are_counted(found, tmp_path) -> None:
    answer = found(write(tmp_path / "small.yaml", "constraints: [x <= 2]\n"))
    assert answer["excluded"] == 4 and answer["seen"] == DESIGNS
    assert sum(one["designs"] for one in answer["failures"]) == answer["excluded"] + answer["failed"]


def test_no_design_runs(run, tmp_path) -> None:
    space = write(tmp_path / "small.yaml", "constraints: [x > 4]\n")
    result = run(space)
    fails(result, 2, "none of the 12 designs", "12 of them because")
    assert result.stdout == ""
    assert json.loads(run("--show", "small.sqlite", "--json").stdout)["evaluated"] == 0


def test_time_limit(found, space) -> None:
    answer = found(space, "--time-limit", "1e-9")
    assert answer["seen"] < DESIGNS and answer["complete"] is False


def test_list(run) -> None:
    result = run("--list")
    assert result.returncode == 0 and "edge_tpu" in result.stdout and "10,000" in result.stdout
    names = {one["name"]: one["size"] for one in json.loads(run("--list", "--json").stdout)["spaces"]}
    assert names["edge_tpu"] == 10000 and names["fusemax"] == 5120


def test_help_has_examples(run) -> None:
    result = run("--help")
    assert result.returncode == 0 and "Examples:" in result.stdout and "--resume" in result.stdout


def test_wrong_arguments(run, space) -> None:
    fails(run(), 1, "a space is missing", "--list")
    fails(run(space, "--show", "x.sqlite"), 1, "do not go together")
    fails(run("--list", "--show", "x.sqlite"), 1, "do not go together")
    fails(run(space, "--all", "--samples", 3), 1, "--samples")
    fails(run(space, "--method", "guess"), 1, "guess")
    fails(run(space, "--objectives", "latencie"), 1, "latencie")
    fails(run("no_such_space"), 1, "no_such_space")
    fails(run("edge_tp"), 1, "edge_tpu")
    fails(run("--resum"), 1, "--resume")
    fails(run(space, "--store", "no/such/folder.sqlite"), 1, "folder.sqlite")


def test_stores_that_are_none(run, space, tmp_path) -> None:
    fails(run("--show", "absent.sqlite"), 1, "absent.sqlite", "there is no such store")
    (tmp_path / "text.sqlite").write_text("words " * 1000)
    fails(run("--show", "text.sqlite"), 1, "text.sqlite", "not a SQLite database")
    fails(run(space, "--store", "text.sqlite", "--resume"), 1, "not a SQLite database")
    with sqlite3.connect(tmp_path / "other.sqlite") as other:
        other.execute("CREATE TABLE songs (title TEXT)")
    fails(run("--show", "other.sqlite"), 1, "another program")


def test_another_space_or_version_is_refused(run, found, space, tmp_path) -> None:
    found(space)
    write(space, "# changed\n")
    fails(run(space, "--resume"), 1, "small.sqlite", "its space is not the same text")
    write(space)
    with sqlite3.connect(tmp_path / "small.sqlite") as store:
        store.execute("UPDATE meta SET value = '0.0.1' WHERE key = 'version'")
    fails(run(space, "--resume"), 1, "monet 0.0.1 made it")
    assert found("--show", "small.sqlite")["seen"] == DESIGNS
    with sqlite3.connect(tmp_path / "small.sqlite") as store:
        store.execute("PRAGMA user_version = 99")
    fails(run("--show", "small.sqlite"), 1, "format 99")


def test_files_that_cannot_be_written(run, found, space) -> None:
    found(space)
    fails(run("--show", "small.sqlite", "--csv", "no/such.csv"), 1, "no/such.csv", "cannot be written")
    if os.path.exists("/dev/full"):
        assert run("--show", "small.sqlite", "--csv", "/dev/full").returncode == 1


def test_an_output_does_not_replace_the_store(monet, tmp_path) -> None:
    store = tmp_path / "mcu.sqlite"
    assert subprocess.run([monet, "explore", "mcu", "--samples", "3", "--store", store, "-q"]).returncode == 0
    before = store.read_bytes()
    for option in ("--csv", "--jsonl", "-o"):
        result = subprocess.run([monet, "explore", "--show", store, option, store], capture_output=True, text=True)
        assert result.returncode == 1 and "this is the store" in result.stderr
    assert store.read_bytes() == before


def test_a_process_that_ended_and_was_not_waited_for_holds_nobody_up(monet, tmp_path) -> None:
    store = tmp_path / "edge.sqlite"
    command = [monet, "explore", "edge_tpu", "--method", "random", "--samples", "40", "--store", store, "--resume", "-q"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not store.exists() and process.returncode is None:
        time.sleep(0.01)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGKILL)  # a zombie until it is waited for
    assert subprocess.run(command, capture_output=True, timeout=600).returncode == 0
    process.wait()


def test_what_follows_from_parameters_is_not_shown_as_a_formula(monet, tmp_path) -> None:
    space = tmp_path / "space.yaml"
    space.write_text(
        "space: 1\nname: half\nhardware: edge_tpu\nparameters: {x: [1, 2, 4], y: =x / 2}\n"
        "workloads: [{network: mlp-robotics}]\nobjectives: [latency]\n", encoding="utf-8")
    table = tmp_path / "half.csv"
    result = subprocess.run([monet, "explore", space, "--store", tmp_path / "half.sqlite", "--csv", table, "--json", "-q"],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert (answer["evaluated"], answer["failed"]) == (2, 1)  # half a row of elements is no machine
    assert "=x" not in table.read_text(encoding="utf-8")


def test_another_network_and_batch(found, run, space, tmp_path) -> None:
    elsewhere = tmp_path / "nets"
    elsewhere.mkdir()
    network = elsewhere / "it's mine.onnx"
    network.write_bytes((NETWORKS / "mlp_robotics.onnx").read_bytes())
    result = found(space, "--network", "nets/it's mine.onnx", "--batch", 2)
    assert result["store"] == "small-it_s_mine-b2.sqlite" and result["evaluated"] == DESIGNS
    assert [each["workload"] for each in result["front"][0]["workloads"]] == ["inference", "training"]
    same = found(space, "--network", "mlp-robotics", "--batch", 2)
    assert [each["metrics"] for each in same["front"]] == [each["metrics"] for each in result["front"]]
    again = found(space, "--network", "nets/it's mine.onnx", "--batch", 2, "--resume")
    assert again["fresh"] == 0 and again["front"] == result["front"]
    shown = found("--show", result["store"])
    assert shown["front"] == result["front"] and str(network) in shown["description"]


def test_a_network_that_is_none_or_stands_there_already(run, space, tmp_path) -> None:
    fails(run(space, "--network", "lenet6"), 1, "'lenet5'")
    assert not list(tmp_path.glob("*.sqlite"))
    own = write(tmp_path / "own.yaml", "network: lenet5\nbatch: 4\n")
    fails(run(own, "--network", "unet"), 1, "own.yaml: its 'network' is said already", "--network")
    fails(run(own, "--batch", 2), 1, "its 'batch' is said already")
    fails(run("--list", "--network", "unet"), 1, "--network does not go with --list")
