"""The commands and the Python code that documents show, with what the documents say about running them.

A fenced block of `sh` or `console`, an indented block with lines that begin with a program's name or with `$ `, and a
fenced block of `python` are run. Comments just before a block say more:

    <!-- not run: REASON -->     why it cannot run in a test
    <!-- exit status: 2 -->      of its last command
    <!-- output -->              what the block shows must be what comes out; a line `...` stands for any lines
    <!-- file: NAME -->          the block, whatever it is, is a file of that name for the commands after it
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"(`{3,}|~{3,})\s*(\S*)")
MARK = re.compile(r"<!--\s*(not run|exit status|output|file)\s*(?::\s*(.*?))?\s*-->")
PROGRAMS = re.compile(
    r"(\$ |((build/)?monet|make|pip3?|python3?|pytest|dask|srun|sbatch|helm|kubectl|docker|apt-get|npm|sudo|cp|cat)\s"
    r"|\.venv/bin/|[A-Z_]+=\S+ \S)"
)
# `monet map MODEL [--batch N]` says how a command is written; it is none.
SYNOPSIS = re.compile(r"\s\[|\.\.\.$|…$")
HEREDOC = re.compile(r"<<\s*'?(\w+)'?")


@dataclass
class Command:
    line: int
    text: str
    shown: list[str] = field(default_factory=list)  # the output below it, in a block with `$ `
    shown_from: int = 0  # line number of the first of these


@dataclass
class Block:
    kind: str  # "shell", "python", "file"
    line: int  # of the first line inside
    text: str
    marks: dict[str, str]
    commands: list[Command] = field(default_factory=list)

    @property
    def not_run(self) -> str | None:
        return self.marks.get("not run")

    @property
    def exit_status(self) -> int:
        return int(self.marks.get("exit status", 0))


def _raw_blocks(lines: list[str]):
    """(language, None for an indented one; number of the line before it; number of its first line; its lines)."""
    index, blank_before = 0, True
    while index < len(lines):
        fence = FENCE.match(lines[index])
        if fence:
            start = index
            index += 1
            while index < len(lines) and not lines[index].startswith(fence[1]):
                index += 1
            yield fence[2], start, start + 2, lines[start + 1 : index]
            index += 1
            blank_before = False
        elif blank_before and lines[index].startswith("    "):
            start = index
            while index < len(lines) and (lines[index].startswith("    ") or not lines[index].strip()):
                index += 1
            inside = [line[4:] for line in lines[start:index]]
            while not inside[-1].strip():
                inside.pop()
            yield None, start, start + 1, inside
            blank_before = True
        else:
            blank_before = not lines[index].strip() or MARK.fullmatch(lines[index].strip()) is not None
            index += 1


def _marks_before(lines: list[str], start: int) -> dict[str, str]:
    marks: dict[str, str] = {}
    index = start - 1
    while index >= 0 and (not lines[index].strip() or MARK.fullmatch(lines[index].strip())):
        mark = MARK.fullmatch(lines[index].strip())
        if mark:
            marks[mark[1]] = mark[2] or ""
        index -= 1
    return marks


def _commands(inside: list[str], first: int, prompted: bool) -> list[Command]:
    commands: list[Command] = []
    index = 0
    while index < len(inside):
        line, number = inside[index], first + index
        index += 1
        if prompted and not line.startswith("$ "):
            if commands:
                commands[-1].shown.append(line)
                commands[-1].shown_from = commands[-1].shown_from or number
            continue
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        text = line[2:] if prompted else line
        while text.endswith("\\") and index < len(inside):
            text += "\n" + inside[index]
            index += 1
        heredoc = HEREDOC.search(text)
        while heredoc and index < len(inside):
            text += "\n" + inside[index]
            index += 1
            if inside[index - 1] == heredoc[1]:
                heredoc = None
        commands.append(Command(number, text))
    return commands


def blocks_of(document: Path) -> list[Block]:
    lines = document.read_text(encoding="utf-8").splitlines()
    blocks = []
    for language, start, first, inside in _raw_blocks(lines):
        marks = _marks_before(lines, start)
        text = "\n".join(inside) + "\n"
        prompted = any(line.startswith("$ ") for line in inside)
        if "file" in marks:
            blocks.append(Block("file", first, text, marks))
        elif language == "python":
            blocks.append(Block("python", first, text, marks))
        elif language in ("sh", "bash", "shell", "console") or (
            not language
            and inside
            and any(PROGRAMS.match(line) for line in inside)
            and (prompted or not any(SYNOPSIS.search(line) for line in inside))
        ):
            block = Block("shell", first, text, marks)
            block.commands = _commands(inside, first, prompted)
            blocks.append(block)
    return blocks
