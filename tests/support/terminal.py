"""Runs the program on a terminal, as a person sees it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
from dataclasses import dataclass
from pathlib import Path

from commands import HANG_S

ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@dataclass
class Seen:
    """What came, escape sequences included."""

    status: int
    output: str
    messages: str


def plain(text: str) -> str:
    """Without colours."""
    return ESCAPE.sub("", text)


def _terminal(columns: int) -> tuple[int, int]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    return ours, theirs


def on_terminal(
    monet: Path,
    *arguments: object,
    columns: int = 100,
    output: bool = True,
    messages: bool = True,
    interrupt_at: str = "",
    **environment: str,
) -> Seen:
    """`output`, `messages`: whether standard output and standard error are a terminal; else they are pipes.

    `interrupt_at`: Ctrl-C when the messages have that.
    """
    names = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    ends = [_terminal(columns) if terminal else os.pipe() for terminal in (output, messages)]
    process = subprocess.Popen(
        [monet, *map(str, arguments)],
        stdout=ends[0][1],
        stderr=ends[1][1],
        stdin=subprocess.DEVNULL,
        env={**names, "TERM": "xterm-256color", **environment},
    )
    for _, theirs in ends:
        os.close(theirs)
    texts = {ends[0][0]: b"", ends[1][0]: b""}
    open_ends = set(texts)
    interrupted = False
    while open_ends:
        ready, _, _ = select.select(list(open_ends), [], [], HANG_S)
        assert ready, "the program hangs"
        for end in ready:
            try:
                piece = os.read(end, 65536)
            except OSError:  # a terminal whose other end is closed
                piece = b""
            texts[end] += piece
            if not piece:
                open_ends.discard(end)
        if interrupt_at and not interrupted and interrupt_at.encode() in texts[ends[1][0]]:
            process.send_signal(signal.SIGINT)
            interrupted = True
    for end in texts:
        os.close(end)
    status = process.wait(HANG_S)
    decoded = [texts[end[0]].decode().replace("\r\n", "\n") for end in ends]
    return Seen(status, *decoded)
