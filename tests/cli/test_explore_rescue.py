"""Is a store that goes away or is damaged noticed, and what it still has rescued? Never a crash, never exit status 3."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

# 40 · 2 · 2 designs.
SPACE = """\
space: 1
name: large
hardware: edge_tpu
parameters:
  x: {from: 1, to: 40}
  lanes: [1, 4]
  pe_memory: [1 MiB, 2 MiB]
workloads:
  - {name: inference, network: "mlp-robotics:hidden=32,layers=2", batch: 8, step: inference}
  - {name: training, network: "mlp-robotics:hidden=32,layers=2", batch: 8, step: training}
objectives: [latency, energy]
"""
DESIGNS = 160
PAGE = 4096


@pytest.fixture
def explore(monet: Path, tmp_path: Path):
    def call(*arguments: object) -> subprocess.CompletedProcess:
        return subprocess.run([monet, "explore", *map(str, arguments)], capture_output=True, text=True, timeout=600,
                              cwd=tmp_path)

    return call


@pytest.fixture
def space(tmp_path: Path) -> Path:
    path = tmp_path / "large.yaml"
    path.write_text(SPACE)
    return path


@pytest.fixture
def store(explore, space, tmp_path: Path) -> Path:
    assert explore(space, "-q").returncode == 0
    return tmp_path / "large.sqlite"


def rows(store: Path) -> dict[int, tuple]:
    with closing(sqlite3.connect(store)) as database:
        designs = {row[0]: row for row in database.execute("SELECT * FROM designs")}
        results: dict[int, list] = {}
        for row in database.execute("SELECT * FROM results ORDER BY design, workload"):
            results.setdefault(row[0], []).append(row)
    return {design: (row, results.get(design)) for design, row in designs.items()}


def remove(store: Path) -> None:
    store.unlink()


def replace(store: Path) -> None:
    other = store.with_name("other")
    other.write_text("another file")
    other.rename(store)


def cut(store: Path) -> None:
    os.truncate(store, 0)


def overwrite(store: Path) -> None:
    with store.open("r+b") as file:
        file.write(random.Random(1).randbytes(store.stat().st_size))


@pytest.mark.parametrize(("damage", "words"), [(remove, "was removed"), (replace, "was replaced by another file"),
                                               (cut, "the store was"), (overwrite, "the store was")])
def test_a_store_that_goes_away_meanwhile(monet, explore, tmp_path, damage, words) -> None:
    store = tmp_path / "edge.sqlite"
    command = [monet, "explore", "edge_tpu", "--method", "random", "--samples", "3000", "--store", store, "-q", "--jobs", "1"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        if store.exists():
            with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as reader:
                if reader.execute("SELECT count(*) FROM designs").fetchone()[0] > 0:
                    break
        time.sleep(0.01)
    assert process.poll() is None
    damage(store)
    _, message = process.communicate(timeout=600)
    assert process.returncode == 1, message
    assert message.startswith(f"monet: {store}: ") and words in message and "designs had been saved" in message
    rescued = tmp_path / "edge.rescued.sqlite"
    assert f"are now in {rescued}" in message
    count = len(rows(rescued))
    assert count > 0 and f"{count} designs are now in" in message
    shown = explore("--show", rescued, "--json", "-q")
    assert shown.returncode == 0 and json.loads(shown.stdout)["seen"] == count, shown.stderr
    again = explore("edge_tpu", "--method", "random", "--samples", count + 1, "--store", rescued, "--resume", "--json", "-q")
    assert again.returncode == 0, again.stderr
    if damage is replace:
        assert store.read_text() == "another file"


def check_damaged(explore, space: Path, damaged: Path, good: dict[int, tuple]) -> int:
    """However it was damaged: an answer or an error that helps; what is rescued is right and can be filled on."""
    for arguments in (("--show", damaged), (space, "--store", damaged, "--resume")):
        result = explore(*arguments, "-q")
        assert result.returncode in (0, 1), result.stderr
        if result.returncode == 1:
            assert str(damaged) in result.stderr and ("--rescue" in result.stderr or "no store" in result.stderr)
    rescued = explore(space, "--rescue", damaged, "--json", "--store", "new.sqlite")
    assert rescued.returncode in (0, 1), rescued.stderr
    if rescued.returncode == 1:
        assert "no design can be read any more" in rescued.stderr
        return 0
    new = damaged.with_name("new.sqlite")
    kept = rows(new)
    assert len(kept) == json.loads(rescued.stdout)["rescued"]
    assert all(good[design] == row for design, row in kept.items())
    assert explore("--show", new, "-q").returncode == 0
    whole = explore(space, "--store", new, "--resume", "--json", "-q")
    assert whole.returncode == 0, whole.stderr
    assert json.loads(whole.stdout)["fresh"] == DESIGNS - len(kept)
    assert rows(new) == good
    new.unlink()
    return len(kept)


def test_cut_stores(explore, space, store) -> None:
    good, content = rows(store), store.read_bytes()
    damaged = store.with_name("damaged.sqlite")
    counts = []
    for part in (0, 0.02, 0.3, 0.5, 0.7, 0.99):
        damaged.write_bytes(content[: int(len(content) * part)])
        counts.append(check_damaged(explore, space, damaged, good))
    assert counts == sorted(counts) and counts[0] == 0 and counts[-1] > DESIGNS / 2


@pytest.mark.parametrize("seed", range(8))
def test_pages_of_garbage(explore, space, store, seed) -> None:
    chance = random.Random(seed)
    content = bytearray(store.read_bytes())
    for _ in range(chance.randint(1, 3)):
        at = PAGE * chance.randrange(len(content) // PAGE)
        content[at : at + PAGE] = chance.randbytes(PAGE)
    damaged = store.with_name("damaged.sqlite")
    damaged.write_bytes(content)
    check_damaged(explore, space, damaged, rows(store))
    assert damaged.exists()


def test_a_number_that_was_changed_is_no_defect_of_ours(explore, space, store) -> None:
    with closing(sqlite3.connect(store)) as database, database:
        database.execute("UPDATE results SET latency_s = 1e-9, latency_cycles = 1 WHERE design = 7")
    result = explore(space, "--resume")
    assert result.returncode == 1 and "the store is damaged: design 7 has other results" in result.stderr


def test_rescue_says_what_it_did_and_overwrites_nothing(explore, space, store, tmp_path) -> None:
    before = store.read_bytes()
    result = explore("--rescue", "large.sqlite")
    assert result.returncode == 0 and result.stdout == "160 designs of large.sqlite are now in large.rescued.sqlite\n"
    again = explore("--rescue", store, "--store", tmp_path / "large.rescued.sqlite")
    assert again.returncode == 1 and "there is such a file already" in again.stderr
    assert store.read_bytes() == before
    for wrong in (("--show", store), ("--list",), ("--jobs", 2), ("--csv", "a.csv"), ("--resume",)):
        result = explore("--rescue", store, *wrong)
        assert result.returncode == 1 and "--rescue" in result.stderr, wrong
    other = tmp_path / "other.yaml"
    other.write_text(SPACE.replace("batch: 8", "batch: 4"))
    result = explore(other, "--rescue", store)
    assert result.returncode == 1 and "the store is not of" in result.stderr


def test_processes_that_were_killed_leave_no_record(monet, explore, space, tmp_path) -> None:
    store = tmp_path / "large.sqlite"
    process = subprocess.Popen([monet, "explore", "edge_tpu", "--store", store, "-q"], cwd=tmp_path)
    while not store.exists() or not owners(store):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert owners(store) == 1
    result = explore("edge_tpu", "--store", store, "--resume", "--method", "random", "--samples", 3, "-q")
    assert result.returncode == 0, result.stderr
    assert owners(store) == 0


def owners(store: Path) -> int:
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as database:
        return database.execute("SELECT count(*) FROM owners").fetchone()[0]
