"""Runs the program as a user does, and says what must come of it."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

HANG_S = 600  # far above what any command should take, so that a busy machine fails nothing


def run_command(monet: Path, *arguments: object, **options) -> subprocess.CompletedProcess:
    return subprocess.run([monet, *map(str, arguments)], capture_output=True, text=True, timeout=HANG_S, **options)


def answer_of(result: subprocess.CompletedProcess) -> dict:
    """What a command that must succeed says with --json."""
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def answering(run: Callable[..., subprocess.CompletedProcess]) -> Callable[..., dict]:
    """Runs a command for what it answers."""
    return lambda *arguments: answer_of(run(*arguments, "--json", "-q"))


def interrupted(monet: Path, *arguments: object, after_s: float) -> subprocess.CompletedProcess:
    """As if Ctrl-C were pressed."""
    command = [monet, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(after_s)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=HANG_S)
    return subprocess.CompletedProcess(command, process.returncode, out, error)


def fails(result: subprocess.CompletedProcess, status: int, *words: str) -> None:
    """It ends with that status, and its last line says all of the words."""
    assert result.returncode == status, result.stderr
    last = result.stderr.splitlines()[-1]
    assert last.startswith("monet: ")
    for word in words:
        assert word in last, last


def is_mistake(result: subprocess.CompletedProcess, *words: str) -> None:
    """The user's: nothing is printed but what is wrong."""
    fails(result, 1, *words)
    assert result.stdout == ""
