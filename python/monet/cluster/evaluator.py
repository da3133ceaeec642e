"""Runs in a process of its own: reads what to open, then designs, and answers with a line each.

    python3 -m monet.cluster.evaluator

First line in: {"opener", "text", "path"}; answer: {"fingerprint"} or {"error"}. Then a design a line; answer:
{"outcome": line} or {"error"}. The process ends with its standard input, also in the middle of a design.
"""

from __future__ import annotations

import importlib
import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import Protocol


class Space(Protocol):
    """What an opener gives."""

    def fingerprint(self) -> str: ...
    def evaluate(self, design: int) -> str: ...


def open_space(text: str, path: str) -> Space:
    from monet import _core

    return _core.DesignWorker.open(text, path)


def opener_named(name: str) -> Callable[[str, str], Space]:
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)


def private_streams():
    """Standard input and output for us alone: what others print goes to standard error."""
    lines_in, lines_out = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return lines_in, lines_out


def _read_all(stream, lines: queue.SimpleQueue) -> None:
    for line in stream:
        lines.put(line)
    os._exit(0)


def main() -> int:
    lines_in, lines_out = private_streams()
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read_all, args=(lines_in, lines), daemon=True).start()

    def answer(**fields: str) -> None:
        lines_out.write(json.dumps(fields) + "\n")
        lines_out.flush()

    setup = json.loads(lines.get())
    try:
        space = opener_named(setup["opener"])(setup["text"], setup["path"])
        answer(fingerprint=space.fingerprint())
    except Exception as error:
        answer(error=str(error) or repr(error))
        return 1
    while True:
        design = int(lines.get())
        try:
            answer(outcome=space.evaluate(design))
        except Exception as error:
            answer(error=str(error) or repr(error))


if __name__ == "__main__":
    sys.exit(main())
