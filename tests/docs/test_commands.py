"""Does every command, and every piece of Python, that README and docs show really run, and show that?

A document runs from its beginning to its end in an empty folder, in which `data`, `presets`, `spaces` and `build` are
those of the project; `monet` is the program that was built. Each mistake is given with the document and its line.

    MONET_UPDATE_DOCS=1 pytest tests/docs      writes what comes out into the blocks that are marked <!-- output -->
"""

from __future__ import annotations

import difflib
import importlib.util
import os
import re
import subprocess
import sys
import traceback
from pathlib import Path

import pytest
from commands import HANG_S
from documents import Block, Command, blocks_of
from shown_output import as_shown, same, without_end

SOURCE = Path(__file__).resolve().parents[2]
UPDATE = "MONET_UPDATE_DOCS" in os.environ
PACKAGE = importlib.util.find_spec("monet") is not None

# Why a block may be left out. A reason may go on after one of these: "takes long: ten minutes".
REASONS = (
    "builds the project",
    "installs packages",
    "needs a browser",
    "needs a cloud",
    "needs a Slurm cluster",
    "needs files of your own",
    "needs Docker",
    "needs Kubernetes",
    "needs machines of your own",
    "needs PyTorch",
    "needs the reference files",
    "synopsis",
    "takes long",
)
# What would change this machine or the project, and so has to be left out.
CHANGES = re.compile(r"^(sudo|apt-get|pip3?|npm|make|docker|\.venv/bin/pip)\s")


def test_what_is_left_out_has_a_reason(document):
    name = document.relative_to(SOURCE)
    for block in blocks_of(document):
        reason = block.not_run
        assert reason is None or reason.startswith(REASONS), f"{name}:{block.line}: not run: {reason}; see REASONS"
        for command in block.commands:
            unmarked = reason is None and CHANGES.match(command.text)
            assert not unmarked, f"{name}:{command.line}: say <!-- not run: REASON --> before it"


def folder_of(tmp_path: Path, monet: Path) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    for name in ("data", "presets", "spaces"):
        (folder / name).symlink_to(SOURCE / name)
    (folder / "build").symlink_to(monet.parent)
    return folder


class Run:
    """One document, in its folder."""

    def __init__(self, document: Path, folder: Path, monet: Path):
        self.document, self.folder = document, folder
        self.name = document.relative_to(SOURCE).as_posix()
        self.environment = {
            **os.environ,
            "PATH": f"{monet.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "MONET_PYTHON": sys.executable,
            "MPLBACKEND": "Agg",
        }
        self.namespace: dict = {"__name__": "__main__"}
        self.mistakes: list[str] = []
        self.updates: list[tuple[Command, list[str]]] = []

    def block(self, block: Block) -> None:
        if block.kind == "file":
            (self.folder / block.marks["file"]).write_text(block.text, encoding="utf-8")
        elif block.kind == "python":
            self.python(block)
        else:
            for command in block.commands:
                last = command is block.commands[-1]
                self.command(command, block.exit_status if last else 0, "output" in block.marks)

    def command(self, command: Command, status: int, compare: bool) -> None:
        place = f"{self.name}:{command.line}"
        if CHANGES.match(command.text):
            return
        done = subprocess.run(
            ["bash", "-eu", "-o", "pipefail", "-c", command.text],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=HANG_S,
            check=False,
        )
        if done.returncode != status:
            tail = "\n".join(done.stdout.splitlines()[-10:])
            self.mistakes.append(f"{place}: exit status {done.returncode}, not {status}: {command.text}\n{tail}")
        elif compare and not same(command.shown, done.stdout.splitlines()):
            if UPDATE:
                self.updates.append((command, as_shown(without_end(command.shown), done.stdout.splitlines())))
            else:
                shown, output = without_end(command.shown), done.stdout.splitlines()
                difference = list(difflib.unified_diff(shown, as_shown(shown, output), "shown", "now", lineterm=""))
                self.mistakes.append("\n".join([f"{place}: shows something else: {command.text}", *difference[:40]]))

    def python(self, block: Block) -> None:
        # Empty lines before it, so that a traceback has the line of the document.
        code = "\n" * (block.line - 1) + block.text
        try:
            exec(compile(code, self.document, "exec"), self.namespace)
        except Exception:
            self.mistakes.append(f"{self.name}:{block.line}: {traceback.format_exc(limit=-3)}")

    def write_updates(self) -> None:
        lines = self.document.read_text(encoding="utf-8").splitlines()
        for command, output in reversed(self.updates):
            first = (command.shown_from or command.line + 1 + command.text.count("\n")) - 1
            indent = re.match(r" *", lines[command.line - 1])[0]
            lines[first : first + len(without_end(command.shown))] = [f"{indent}{line}".rstrip() for line in output]
        self.document.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.long
def test_document_runs(document, monet, tmp_path, monkeypatch):
    blocks = [block for block in blocks_of(document) if block.not_run is None]
    if not blocks:
        pytest.skip("it has no commands")
    if not PACKAGE:
        absent = [block for block in blocks if block.kind == "python" or "--cluster" in block.text]
        blocks = [block for block in blocks if block not in absent]
        if absent and not blocks:
            pytest.skip("the Python package is not installed; run `make python`")
    run = Run(document, folder_of(tmp_path, monet), monet)
    monkeypatch.chdir(run.folder)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    for block in blocks:
        run.block(block)
    if run.updates:
        run.write_updates()
    assert not run.mistakes, "\n\n".join([f"{len(run.mistakes)} mistakes", *run.mistakes])
