"""What is no file to read is refused with the reason, before it fills the memory; text may come out of a pipe."""

import os
import subprocess
import threading
from pathlib import Path

import pytest

PLAN = "plan: 1\norder: graph\n"
ON_EDGE_TPU = ("evaluate", "lenet5", "--hardware", "edge_tpu", "--factors", "2", "-q")


def run(monet: Path, *arguments: object, **more: object) -> subprocess.CompletedProcess[str]:
    command = [str(monet), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **more)


# Where each kind of file is given; {} is its name.
READERS = {
    "model": ("inspect", "{}"),
    "hardware": ("hardware", "check", "{}"),
    "imported": ("hardware", "import", "{}"),
    "plan": (*ON_EDGE_TPU, "--plan", "{}"),
    "costs": (*ON_EDGE_TPU, "--custom", "{}"),
    "recipe": (*ON_EDGE_TPU, "--precision", "{}"),
    "cache": (*ON_EDGE_TPU, "--cache", "{}"),
    "space": ("explore", "{}", "--samples", "1"),
    "store": ("explore", "edge_tpu", "--store", "{}", "--resume", "--samples", "1"),
    "buffers": ("pack", "{}"),
    "graph": ("remat", "{}", "--budget", "0.9"),
    "result": ("compare", "{}", "{}"),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(("name", "reason"), [("/dev/zero", "it is a device"), ("/dev/null", "it is a device")])
def test_a_device_is_refused(monet: Path, tmp_path: Path, reader: str, name: str, reason: str) -> None:
    if reader == "recipe":  # known by its ending
        (tmp_path / "recipe.yaml").symlink_to(name)
        name = str(tmp_path / "recipe.yaml")
    result = run(monet, *(word.format(name) for word in READERS[reader]))
    assert result.returncode == 1, result.stderr
    assert reason in result.stderr and name in result.stderr


@pytest.mark.parametrize("reader", [name for name in READERS if name != "result"])
def test_a_folder_is_refused(monet: Path, tmp_path: Path, reader: str) -> None:
    name = tmp_path / "folder.yaml"
    name.mkdir()
    result = run(monet, *(word.format(name) for word in READERS[reader]))
    assert result.returncode == 1, result.stderr
    assert "folder" in result.stderr and str(name) in result.stderr


def test_hardware_comes_out_of_a_pipe(monet: Path, tmp_path: Path) -> None:
    text = (Path(__file__).resolve().parents[2] / "presets/edge_tpu.yaml").read_text()
    plain = run(monet, *ON_EDGE_TPU)
    piped = run(monet, "evaluate", "lenet5", "--hardware", "/dev/stdin", "--factors", "2", "-q", input=text)
    assert piped.returncode == 0, piped.stderr
    # The name of the machine stands in the first line, what it took in another.
    answers = [[line for line in one.stdout.splitlines()[1:] if "computed in" not in line] for one in (plain, piped)]
    assert answers[0] == answers[1]
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(text))
    writer.start()
    named = run(monet, "hardware", "check", pipe)
    writer.join()
    assert named.returncode == 0, named.stderr


def test_a_plan_comes_out_of_a_pipe(monet: Path) -> None:
    result = run(monet, *ON_EDGE_TPU, "--plan", "/dev/stdin", input=PLAN)
    assert result.returncode == 0, result.stderr


def test_a_pipe_without_end_is_given_up(monet: Path) -> None:
    with subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as endless:
        result = run(monet, "hardware", "check", "/dev/stdin", stdin=endless.stdout)
        endless.kill()
    assert result.returncode == 1
    assert "there is more than 256 MiB in this pipe" in result.stderr


def test_a_folder_that_may_not_be_written_is_called_so(monet: Path) -> None:
    # Nobody makes files there, whoever asks.
    for arguments in (
        ("explore", "edge_tpu", "--store", "/sys/new.sqlite", "--samples", "1"),
        ("train", "lenet5", "-o", "/sys/new.onnx"),
        (*ON_EDGE_TPU, "-o", "/sys/new"),
    ):
        result = run(monet, *arguments)
        assert result.returncode == 1, result.stderr
        reasons = ("Permission denied", "Operation not permitted", "Read-only file system")
        assert any(reason in result.stderr for reason in reasons), result.stderr
        assert "No such file" not in result.stderr
