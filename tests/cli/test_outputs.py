"""What commands write: whole or not at all, the same each time, and nothing in it that steers a terminal or a spreadsheet."""

from __future__ import annotations

import csv
import json
import os
import resource
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from commands import HANG_S, run_command
from onnx import TensorProto, helper, numpy_helper, save

STEP = ["mlp-robotics", "--hardware", "edge_tpu"]
FOLDER = {"details.json", "operators.csv", "lifetimes.csv", "plan.yaml", "trace.json", "chakra.et", "result.json", "report.html"}


def with_streams(monet: Path, *arguments: object, **streams) -> int:
    return subprocess.run([monet, *map(str, arguments)], timeout=HANG_S, **streams).returncode


def closed_pipe():
    """The end of a pipe that nobody reads."""
    read, write = os.pipe()
    os.close(read)
    return os.fdopen(write, "w")


def test_messages_that_nobody_reads_change_nothing(monet: Path, tmp_path: Path) -> None:
    with closed_pipe() as nobody, open("/dev/full", "w") as full, open(os.devnull, "w") as nothing:
        for messages in (nobody, full):
            assert with_streams(monet, "hardware", "show", "nosuch", stdout=nothing, stderr=messages) == 1
            folder = tmp_path / messages.name.__str__().strip("/").replace("/", "_")
            assert with_streams(monet, "evaluate", *STEP, "-o", folder, stdout=nothing, stderr=messages) == 0
            assert {path.name for path in folder.iterdir()} == FOLDER
        # A reader who has gone ends it quietly; a full disk does not.
        assert with_streams(monet, "evaluate", *STEP, stdout=nobody, stderr=nothing) == 0
        assert with_streams(monet, "evaluate", *STEP, stdout=full, stderr=nothing) == 1


def test_a_plan_that_is_cut_is_told(monet: Path, tmp_path: Path) -> None:
    plan, part = tmp_path / "plan.yaml", tmp_path / "cut.yaml"
    assert run_command(monet, "evaluate", *STEP, "--save-plan", plan, "-q").returncode == 0
    whole = plan.read_bytes()
    for share in range(1, 100, 3):
        part.write_bytes(whole[: len(whole) * share // 100])
        result = run_command(monet, "evaluate", *STEP, "--plan", part, "-q")
        assert result.returncode == 1 and str(part) in result.stderr, share
    assert "the plan is cut short" in result.stderr


def test_a_file_that_does_not_fit_leaves_the_old_one(monet: Path, tmp_path: Path) -> None:
    """Where the disk is full: here files may not grow beyond 4,096 bytes."""
    plan, folder = tmp_path / "plan.yaml", tmp_path / "results"
    assert run_command(monet, "evaluate", "resnet18-cifar", "--hardware", "edge_tpu", "--save-plan", plan, "-q").returncode == 0
    assert run_command(monet, "evaluate", *STEP, "-o", folder, "-q").returncode == 0
    before = {path: path.read_bytes() for path in [plan, *folder.iterdir()]}

    def small_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    for arguments in (["resnet18-cifar", "--hardware", "edge_tpu", "--batch", "2", "--save-plan", plan], [*STEP, "--batch", "2", "-o", folder]):
        result = run_command(monet, "evaluate", *arguments, "-q", preexec_fn=small_files)
        assert result.returncode == 1 and "cannot be written: File too large" in result.stderr, result.stderr
    assert {path: path.read_bytes() for path in [plan, *folder.iterdir()]} == before


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed: it ends the program at a call of one's choice")
@pytest.mark.parametrize(("call", "time", "replaces", "left"), [
    ("fsync", 3, False, "nothing"), ("linkat", 3, False, "nothing"), ("rename", 1, False, "nothing"),
    ("fsync", 3, True, "old"), ("linkat", 1, True, "old"), ("rename", 3, True, "told"),
])
def test_ended_in_the_middle_of_writing_a_folder(monet: Path, tmp_path: Path, call: str, time: int, replaces: bool, left: str) -> None:
    """A folder is complete or unchanged; where its files are replaced one after the other, readers are told."""
    folder = tmp_path / "results"
    if replaces:
        assert run_command(monet, "evaluate", *STEP, "-o", folder, "-q").returncode == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()} if replaces else {}
    command = ["evaluate", *STEP, "--batch", "2", "-o", str(folder), "-q", "--jobs", "1"]
    trace = ["strace", "-f", "-o", os.devnull, "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={time}"]
    ended = subprocess.run([*trace, str(monet), *command], capture_output=True, text=True, timeout=HANG_S)
    if ended.returncode == 0 or "ptrace" in ended.stderr:
        pytest.skip("it cannot be ended there: no tracing here, or files without names are not known to this disk")
    if left == "nothing":
        assert not folder.exists()
    elif left == "old":
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    else:
        for reader in (["report", folder, "-o", tmp_path / "page.html"], ["compare", folder, folder]):
            result = run_command(monet, *reader)
            assert result.returncode == 1 and "its files are of two runs" in result.stderr
    # The next one mends it.
    assert run_command(monet, *command).returncode == 0
    assert {path.name for path in folder.iterdir()} >= FOLDER
    assert run_command(monet, "compare", folder, folder, "-q").returncode == 0


def test_streams_that_are_closed_are_no_files(monet: Path, tmp_path: Path) -> None:
    """The first file that is opened would have their numbers, and what is said would be written into it."""
    assert run_command(monet, "evaluate", *STEP, "-o", tmp_path / "open", "-q").returncode == 0

    def close_all() -> None:
        for stream in range(3):
            os.close(stream)

    closed = tmp_path / "closed"
    # There was output, and nobody got it.
    assert with_streams(monet, "evaluate", *STEP, "-v", "-o", closed, preexec_fn=close_all) == 1
    for path in (tmp_path / "open").iterdir():
        assert path.read_bytes() == (closed / path.name).read_bytes(), path.name


def test_a_table_into_a_pipe_that_nobody_reads(monet: Path) -> None:
    with closed_pipe() as nobody:
        assert with_streams(monet, "map", *STEP, "--csv", "/dev/stdout", "-q", stdout=nobody) == 0


@pytest.mark.parametrize("command", [
    ["evaluate", *STEP],
    ["checkpoint", "resnet18-cifar", "--hardware", "edge_tpu", "--pareto"],
    ["optimize", "mlp-robotics", "--hardware", "edge_tpu", "--generations", "2", "--population", "4"],
])
def test_the_same_again_gives_the_same_files(monet: Path, tmp_path: Path, command: list[str]) -> None:
    folders = []
    for number in "ab":
        folder = tmp_path / number / "out"
        result = run_command(monet, *command, "-o", folder, "-q")
        assert result.returncode == 0, result.stderr
        folders.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert folders[0].keys() == folders[1].keys()
    for name, data in folders[0].items():
        assert data == folders[1][name], name
        assert b"wall_s" not in data or name == "report.html", name


HOSTILE = ["\x1b]0;owned\x07", "\x1b[2J\x1b[H", "=cmd|' /C calc'!A0", "+1+1", "@SUM(A1)", "-2+3", "\u009b31m", "\u202egnp.exe", "a\rb"]


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    nodes, inside = [], "x"
    for number, name in enumerate(HOSTILE):
        nodes.append(helper.make_node("Gemm", [inside, "w"], [f"y{number}"], name=name))
        inside = f"y{number}"
    graph = helper.make_graph(nodes, "g\x1b[31m", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 8])],
                              [helper.make_tensor_value_info(inside, TensorProto.FLOAT, [4, 8])],
                              [numpy_helper.from_array(np.zeros((8, 8), np.float32), "w")])
    path = tmp_path / "hostile.onnx"
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path


def test_names_of_others_do_not_steer_the_terminal(monet: Path, hostile: Path, tmp_path: Path) -> None:
    for command in (["inspect", hostile, "--layers"], ["evaluate", hostile, "--hardware", "edge_tpu", "--operators", "0"],
                    ["map", hostile, "--hardware", "edge_tpu"], ["evaluate", hostile, "--hardware", "edge_tpu", "--json"],
                    ["fuse", hostile, "--hardware", "edge_tpu"]):
        result = run_command(monet, *command, "--color", "never")
        assert result.returncode == 0, result.stderr
        for text in (result.stdout, result.stderr):
            assert not [c for c in text if (ord(c) < 32 and c not in "\n\t") or 0x7f <= ord(c) < 0xa0 or c == "\u202e"], command
    bad = tmp_path / "\x1b[31mbad.yaml"
    bad.write_bytes(b"monet: 1\nname: \x1b]0;x\x07\xff\n")
    result = run_command(monet, "hardware", "check", bad)
    assert result.returncode == 1 and "\x1b" not in result.stderr and "\\x1b[31mbad.yaml" in result.stderr


def test_cells_are_no_formulas_and_read_back_right(monet: Path, hostile: Path, tmp_path: Path) -> None:
    table = tmp_path / "operators.csv"
    assert run_command(monet, "evaluate", hostile, "--hardware", "edge_tpu", "--inference", "--csv", table, "-q").returncode == 0
    with table.open(newline="") as file:
        names = [row["name"] for row in csv.DictReader(file)]
    assert not [name for name in names if name.startswith(("=", "+", "-", "@", "\t", "\r"))]
    for name in ("=cmd|' /C calc'!A0", "+1+1", "@SUM(A1)", "-2+3"):
        assert "'" + name in names
    buffers = tmp_path / "buffers.csv"
    buffers.write_text("id,lower,upper,size\n=1+1,0,3,8\nb,1,4,8\n")
    once, twice = tmp_path / "once.csv", tmp_path / "twice.csv"
    for source, target in ((buffers, once), (once, twice)):
        assert run_command(monet, "pack", source, "-o", target, "-q").returncode == 0
    assert once.read_text() == twice.read_text() and "'=1+1" in once.read_text()
    answer = json.loads(run_command(monet, "pack", once, "--json", "-q").stdout)
    assert "'=1+1" not in json.dumps(answer)


# Whose first evaluation takes seconds.
@pytest.mark.parametrize("command", [["fuse"], ["optimize"], ["checkpoint", "--memory-budget", "90%"]], ids=lambda words: words[0])
def test_a_limit_that_is_over_before_the_first_answer_says_so(monet: Path, command: list[str]) -> None:
    result = run_command(monet, *command, "resnet50", "--hardware", "edge_tpu", "--batch", "16", "--time-limit", "0.01")
    assert result.returncode == 1 and "stopped before there was an answer (give it more time)" in result.stderr
