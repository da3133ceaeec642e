"""What a person sees: colour and lines that fit on a terminal, plain text elsewhere, progress, Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time

import pytest
from commands import run_command
from terminal import on_terminal, plain

STEP = ("mlp-robotics", "--hardware", "edge_tpu")
NOTED = ("mlp-robotics", "--hardware", "stm32f407", "--training")  # labels run at the rate of other numbers
BUFFERS = "id,lower,upper,size\nweights,0,9,4096\nactivation,2,5,1000\n"


@pytest.fixture(scope="module")
def commands(tmp_path_factory, monet) -> dict[str, tuple]:
    """One call of each command that prints something for people."""
    folder = tmp_path_factory.mktemp("terminal")
    (folder / "buffers.csv").write_text(BUFFERS)
    nodes = [{"id": i, "cost_cpu": 1, "cost_ram": 10} for i in range(6)]
    links = [{"source": i, "target": i + 1} for i in range(5)] + [{"source": 0, "target": 5}]
    (folder / "graph.json").write_text(json.dumps({"nodes": nodes, "links": links}))
    store = folder / "mcu.sqlite"
    explored = run_command(monet, "explore", "mcu", "--samples", 8, "--store", store, "-q")
    assert explored.returncode == 0, explored.stderr
    return {
        "inspect": ("inspect", "resnet18", "--layers"),
        "train": ("train", "resnet18-cifar", "--saved", "--parameters"),
        "hardware list": ("hardware", "list"),
        "hardware show": ("hardware", "show", "edge_tpu"),
        "hardware show values": ("hardware", "show", "tpu_v4", "--values"),
        "map": ("map", *STEP, "--nests"),
        "evaluate": ("evaluate", *STEP),
        "evaluate, many cores": ("evaluate", "resnet18-cifar", "--hardware", "edge_tpu"),
        "fuse": ("fuse", *STEP),
        "checkpoint": ("checkpoint", *STEP, "--pareto", "--evaluations", 20),
        "optimize": ("optimize", *STEP, "--evaluations", 20, "--generations", 1),
        "explore --list": ("explore", "--list"),
        "explore --show": ("explore", "--show", store),
        "pack": ("pack", folder / "buffers.csv"),
        "remat": ("remat", folder / "graph.json", "--budget", "1.0"),
        "validate": ("validate", "silicon"),
    }


COMMANDS = ["inspect", "train", "hardware list", "hardware show", "hardware show values", "map", "evaluate",
            "evaluate, many cores", "fuse", "checkpoint", "optimize", "explore --list", "explore --show", "pack", "remat",
            "validate"]  # fmt: skip


@pytest.mark.parametrize("columns", [80, 100, 140])
@pytest.mark.parametrize("name", COMMANDS)
def test_lines_fit_and_nothing_is_lost(monet, commands, name, columns) -> None:
    piped = run_command(monet, *commands[name], "-q")
    assert piped.returncode == 0, piped.stderr
    shown = on_terminal(monet, *commands[name], "-q", columns=columns)
    assert shown.status == 0
    text = plain(shown.output)
    for line in text.splitlines():
        assert line == line.rstrip()
        # A word that is wider than the terminal has nowhere to go.
        assert len(line) <= columns or max(map(len, line.split())) > columns // 2, line

    def words(output: str) -> set[str]:
        # What is measured anew each time differs from call to call.
        kept = [line for line in output.splitlines() if not re.search(r"\d (m|u)?s\b|a second", line)]
        return {word for word in " ".join(kept).split() if set(word) != {"-"}}

    assert words(piped.stdout) <= {word for word in text.split()}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_pipe_gets_plain_text_without_blanks_at_ends(monet, commands, name) -> None:
    result = run_command(monet, *commands[name])
    assert "\x1b" not in result.stdout + result.stderr
    for line in result.stdout.splitlines():
        assert line == line.rstrip()


def test_headings_are_bold_and_rules_dim(monet) -> None:
    shown = on_terminal(monet, "hardware", "list", columns=140).output
    assert shown.startswith("\x1b[1mname")
    assert re.search(r"\x1b\[2m-+\x1b\[0m\n", shown)


def test_errors_warnings_and_notes_have_their_colours(monet) -> None:
    assert "\x1b[31mmonet:\x1b[0m resnet1: " in on_terminal(monet, "inspect", "resnet1").messages
    assert "\x1b[31mmonet:\x1b[0m there is no command" in on_terminal(monet, "inspct").messages
    assert "\x1b[2mmonet: note: " in on_terminal(monet, "map", *NOTED).messages


def test_what_does_not_fit_is_red(monet, tmp_path) -> None:
    (tmp_path / "buffers.csv").write_text(BUFFERS)
    shown = on_terminal(monet, "pack", tmp_path / "buffers.csv", "--capacity", "1KiB")
    assert shown.status == 2
    assert "\x1b[31mtoo little\x1b[0m" in shown.output


@pytest.mark.parametrize(
    ("options", "environment", "coloured"),
    [
        ((), {}, True),
        ((), {"NO_COLOR": "1"}, False),
        ((), {"NO_COLOR": ""}, True),
        ((), {"TERM": "dumb"}, False),
        (("--color", "never"), {}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
    ],
)
def test_who_decides_on_colour(monet, options, environment, coloured) -> None:
    shown = on_terminal(monet, "hardware", "list", *options, **environment)
    assert ("\x1b[" in shown.output) == coloured


def test_each_stream_is_looked_at_by_itself(monet) -> None:
    messages = on_terminal(monet, "map", *NOTED, output=False)
    assert "\x1b" not in messages.output and "\x1b[2mmonet: note" in messages.messages
    output = on_terminal(monet, "map", *NOTED, messages=False)
    assert "\x1b[1m" in output.output and "\x1b" not in output.messages


def test_colour_can_be_had_in_a_pipe(monet) -> None:
    assert run_command(monet, "hardware", "list", "--color", "always").stdout.startswith("\x1b[1mname")
    wrong = run_command(monet, "hardware", "list", "--color", "allways")
    assert wrong.returncode == 1 and "did you mean 'always'?" in wrong.stderr


def test_json_and_files_are_left_alone(monet) -> None:
    shown = on_terminal(monet, "inspect", "resnet18", "--json", columns=80).output
    assert "\x1b" not in shown and json.loads(shown)["schema"] == 1
    schema = on_terminal(monet, "hardware", "check", "--schema", columns=80).output
    assert "\x1b" not in schema and json.loads(schema)


LONG = {
    "evaluate": ("evaluate", "resnet50", "--hardware", "edge_tpu", "--factors", 8, "--jobs", 1),
    "map": ("map", "resnet50", "--training", "--hardware", "edge_tpu", "--full", "--jobs", 1),
    "fuse": ("fuse", "resnet18", "--hardware", "monet_2x2", "--effort", 50, "--jobs", 1),
    "checkpoint": ("checkpoint", "resnet18", "--hardware", "monet_2x2", "--pareto", "--jobs", 1),
    "optimize": ("optimize", "resnet18", "--hardware", "monet_2x2", "--jobs", 1),
    "explore": ("explore", "edge_tpu", "--jobs", 1),
    "validate": ("validate", "h200", "--jobs", 1),
}


@pytest.mark.parametrize("name", [name for name in LONG if name != "evaluate"])
def test_progress_and_ctrl_c(monet, tmp_path, name, monkeypatch) -> None:
    """A line with how far it is; after Ctrl-C the answer so far, and the line is gone."""
    monkeypatch.chdir(tmp_path)
    shown = on_terminal(monet, *LONG[name], columns=60, interrupt_at=" of ")
    assert shown.status in (0, 2), shown.messages
    drawn = [piece for piece in shown.messages.split("\r") if piece.endswith("\x1b[K") and piece != "\x1b[K"]
    assert drawn
    for line in drawn:
        assert len(plain(line)) < 60
    assert "ending with what was found; Ctrl-C again ends at once" in shown.messages
    rest = shown.messages[shown.messages.rindex("\r") :]
    assert rest.startswith(("\r\x1b[K", "\r\n")), "the line is taken away"
    assert shown.output or shown.status == 2


def test_progress_is_not_for_pipes_nor_for_the_quiet(monet) -> None:
    assert "\r" not in run_command(monet, "map", *STEP, "--full").stderr
    assert "\r" not in on_terminal(monet, "map", *STEP, "--full", "-q").messages.replace("\r\n", "\n")


def test_a_second_interrupt_ends_at_once(monet, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with subprocess.Popen(
        [monet, "fuse", "resnet18", "--hardware", "monet_2x2", "--effort", "50", "--jobs", "1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        time.sleep(1)
        while process.poll() is None:
            os.kill(process.pid, signal.SIGINT)
            time.sleep(0.01)
    assert process.returncode in (0, -signal.SIGINT)
