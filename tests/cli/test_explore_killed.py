"""Is a store that was interrupted at any moment, and resumed, the same as one that never was?"""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

SPACE = """
space: 1
name: killed
hardware: edge_tpu
parameters:
  x: [1, 2, 4]
  y: [1, 2, 4]
  simd: {powers_of_two: 16..128}
  lanes: {powers_of_two: 1..8}
  pe_memory: [512 KiB, 1 MiB, 2 MiB]
workloads:
  - {name: training, network: mlp-robotics, batch: 8, step: training}
  - {name: inference, network: mlp-robotics, batch: 8, step: inference}
objectives: [latency@training, energy@training]
"""
DESIGNS = 3 * 3 * 4 * 4 * 3
KILLS = 20


@pytest.fixture
def space(tmp_path: Path) -> Path:
    path = tmp_path / "space.yaml"
    path.write_text(SPACE, encoding="utf-8")
    return path


def exported(monet: Path, store: Path) -> bytes:
    table = store.with_suffix(".csv")
    subprocess.run([monet, "explore", "--show", store, "--csv", table, "-q"], check=True, capture_output=True)
    return table.read_bytes()


@pytest.mark.parametrize("method", [["--all"], ["--method", "nsga2", "--samples", "200", "--population", "20"]])
def test_killed_at_any_moment_and_resumed(monet: Path, space: Path, tmp_path: Path, method: list[str]) -> None:
    def command(store: Path) -> list:
        return [monet, "explore", space, *method, "--store", store, "--resume", "--json", "-q", "--jobs", "2"]

    whole = tmp_path / "whole.sqlite"
    start = time.monotonic()
    first = json.loads(subprocess.run(command(whole), check=True, capture_output=True).stdout)
    duration = time.monotonic() - start
    if method == ["--all"]:
        assert first["evaluated"] + first["failed"] == DESIGNS

    store = tmp_path / "killed.sqlite"
    moments, killed = random.Random(1), 0
    for _ in range(KILLS):
        process = subprocess.Popen(command(store), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(moments.uniform(0, 0.3 * duration))
        process.send_signal(signal.SIGKILL)
        message = process.communicate()[1].decode()
        assert process.returncode in (0, -signal.SIGKILL), message
        killed += process.returncode != 0
    assert killed > 0
    before = len(finished(store))
    last = json.loads(subprocess.run(command(store), check=True, capture_output=True).stdout)
    assert last["fresh"] == first["fresh"] - before  # nothing twice
    assert last["front"] == first["front"]
    assert exported(monet, store) == exported(monet, whole)


def finished(store: Path) -> list:
    if not store.exists():
        return []
    with sqlite3.connect(store) as database:
        tables = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
        return database.execute("select design from designs").fetchall() if "designs" in tables else []


def test_two_processes_fill_one_store(monet: Path, space: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone.sqlite"
    subprocess.run([monet, "explore", space, "--all", "--store", alone, "-q"], check=True, capture_output=True)
    both = tmp_path / "both.sqlite"
    command = [monet, "explore", space, "--all", "--store", both, "--resume", "--json", "-q", "--jobs", "1"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    answers = []
    for process in processes:
        output, message = process.communicate()
        assert process.returncode == 0, message.decode()
        answers.append(json.loads(output))
    assert sum(answer["fresh"] for answer in answers) == DESIGNS  # each by one of them
    assert answers[0]["front"] == answers[1]["front"]
    assert exported(monet, both) == exported(monet, alone)
