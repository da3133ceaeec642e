"""Does `monet pack` keep its contract: addresses, JSON, files, exit status, errors that help?"""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path

import pytest
from commands import answering, fails, run_command

HEADING = "id,lower,upper,size"
# Two long ones that never meet, one across both: 4 + 3 at most, and it can be had.
BUFFERS = [("weights", 0, 9, 3), ("first", 0, 4, 4), ("second", 4, 9, 4)]


@pytest.fixture
def run(monet: Path):
    return partial(run_command, monet, "pack")


@pytest.fixture
def packed(run):
    return answering(run)


def write(path: Path, rows=BUFFERS, heading: str = HEADING) -> Path:
    path.write_text("\n".join([heading, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


@pytest.fixture
def buffers(tmp_path: Path) -> Path:
    return write(tmp_path / "buffers.csv")


@pytest.fixture
def instances(shared: Path) -> Path:
    folder = shared / "reference" / "instances" / "packing"
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent")
    return folder


def check(path: Path, capacity: int) -> None:
    """All pairs."""
    with open(path, newline="") as file:
        rows = [{key: value if key == "id" else int(value) for key, value in row.items()} for row in csv.DictReader(file)]
    assert rows
    for i, a in enumerate(rows):
        assert 0 <= a["offset"] <= capacity - a["size"] and a["offset"] % a.get("alignment", 1) == 0
        for b in rows[:i]:
            together = max(a["lower"], b["lower"]) < min(a["upper"], b["upper"])
            overlap = max(a["offset"], b["offset"]) < min(a["offset"] + a["size"], b["offset"] + b["size"])
            assert not (together and overlap), (a, b)


def test_json(packed, buffers) -> None:
    found = packed(buffers)
    assert found.pop("wall_s") >= 0
    fullest = found.pop("fullest")
    assert fullest["time"] == 0 and fullest["buffers"] == ["first", "weights"]
    assert found == {"schema": 1, "file": str(buffers), "buffers": 3, "capacity": None, "peak_bytes": 7,
                     "max_load_bytes": 7, "placed": True, "proven": True}


def test_text(run, buffers) -> None:
    result = run(buffers, "--capacity", "1KiB")
    assert result.returncode == 0 and result.stderr == ""
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["capacity", "1.00", "KiB", "1,024"] in lines or ["capacity", "1", "KiB", "1,024"] in lines
    assert any(line[:4] == ["packed", "7", "B", "7"] for line in lines)


@pytest.mark.parametrize(("text", "capacity"), [("7", 7), ("1MiB", 1 << 20), ("1.5 kB", 1500), ("64 kbit", 8000)])
def test_capacity_with_units(packed, buffers, text, capacity) -> None:
    found = packed(buffers, "--capacity", text)
    assert found["capacity"] == capacity and found["placed"] is True


def test_offsets_are_written(run, packed, buffers, tmp_path) -> None:
    out = tmp_path / "out.csv"
    packed(buffers, "--capacity", 7, "-o", out)
    assert out.read_text().splitlines()[0] == "id,lower,upper,size,offset"
    check(out, 7)
    # What was written can be read: the offsets are an unknown column.
    again = run(out)
    assert again.returncode == 0 and f"{out}:1:21: the column \"offset\" is ignored" in again.stderr
    assert run(out, "-q").stderr == ""


def test_alignment(packed, tmp_path) -> None:
    rows = [('"a, b"', 0, 2, 1, 1), ("c", 0, 2, 100, 64), ("d", 0, 2, 64, 64)]
    path, out = write(tmp_path / "aligned.csv", rows, HEADING + ",alignment"), tmp_path / "out.csv"
    found = packed(path, "-o", out)
    assert found["peak_bytes"] == 64 + 100 + 1 == found["max_load_bytes"]
    check(out, 165)
    assert '"a, b"' in out.read_text()


def test_too_little(run, buffers, tmp_path) -> None:
    out = tmp_path / "out.csv"
    result = run(buffers, "--capacity", 5, "--json", "-o", out)
    fails(result, 2, "do not fit into 5 bytes", "at time 0", "2 are alive", "7 bytes", "2 bytes too much", "first (4 B)",
          "weights (3 B)", "a packing into 7 bytes was found")
    found = json.loads(result.stdout)
    assert found["placed"] is False and found["proven"] is True and found["capacity"] == 5
    assert not out.exists()
    assert "too little" in run(buffers, "--capacity", 5).stdout


def test_more_than_the_load_is_needed(run, tmp_path) -> None:
    """8 bytes at once, and yet 9 are needed: tests/packing/packing_test.cpp tries all orders."""
    times = [(2, 6, 2), (5, 10, 3), (6, 9, 4), (0, 3, 4), (3, 6, 2), (1, 2, 3), (2, 4, 2)]
    path = write(tmp_path / "hard.csv", [(f"b{i}", *time) for i, time in enumerate(times)])
    fails(run(path, "--capacity", 8), 2, "certain", "8 bytes", "takes 9 bytes", "1 bytes too much", "more capacity")


def test_no_packing_found(run, instances) -> None:
    """Nobody knows whether these fit."""
    result = run(instances / "minimalloc_D.1048576.csv", "--capacity", 990000, "--time-limit", 0.2)
    fails(result, 2, "no packing of the buffers was found", "986,112", "--time-limit")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("FILE is required", "monet pack --help")),
        (("no/such.csv",), ("no/such.csv", "cannot open")),
        (("FILE", "--capacity", "much"), ("--capacity", "much", "512KiB")),
        (("FILE", "--capacity", "1 MHz"), ("--capacity", "512KiB")),
        (("FILE", "--capacity", "1.5"), ("--capacity", "whole number of bytes")),
        (("FILE", "--capacity", "3 bit"), ("--capacity", "whole number of bytes")),
        (("FILE", "--capacity=-1"), ("--capacity", "bytes")),
        (("FILE", "--time-limit", "0"), ("--time-limit", "above 0")),
        (("FILE", "--time-limit", "x"), ("--time-limit",)),
        (("FILE", "--capasity", "1"), ("--capasity", "did you mean '--capacity'")),
        (("FILE", "-o", "no/such/out.csv"), ("no/such/out.csv", "cannot be written")),
    ],
)
def test_mistakes(run, buffers, arguments, words) -> None:
    result = run(*(buffers if argument == "FILE" else argument for argument in arguments))
    assert result.stdout == ""
    fails(result, 1, *words)


def test_a_file_that_is_none(run, tmp_path) -> None:
    """The messages are tested in tests/packing/packing_csv_test.cpp."""
    path = write(tmp_path / "bad.csv", [("a", 0, "3x", 4)])
    fails(run(path), 1, f"{path}:2:5", '"3x"', "whole number")
    path.write_bytes(bytes(range(256)) * 10)
    fails(run(path), 1, str(path))


def test_help_has_examples(run) -> None:
    result = run("--help")
    assert result.returncode == 0 and "Examples:" in result.stdout and "--capacity 1MiB" in result.stdout


@pytest.mark.parametrize("name", "ABCDEF")
def test_minimalloc(packed, instances, tmp_path, name) -> None:
    out = tmp_path / "out.csv"
    found = packed(instances / f"minimalloc_{name}.1048576.csv", "--capacity", "1MiB", "-o", out)
    assert found["placed"] is True and found["peak_bytes"] <= 1 << 20
    check(out, 1 << 20)
