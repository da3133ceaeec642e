"""A process that evaluates designs, as its worker sees it: one that dies or hangs takes nothing else with it."""

from __future__ import annotations

import collections
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from typing import Any


OPEN_S = 600  # at least, to open a space


class Ended(Exception):
    """The process is gone, by itself or because it took too long."""


class CannotOpen(Exception):
    """The process cannot open the space."""


class EvaluatingProcess:
    """Opens the space at once; fails with CannotOpen or Ended."""

    def __init__(self, opener: str, text: str, path: str, limit_s: float) -> None:
        self._limit_s = max(limit_s, OPEN_S)
        self._buffer = b""
        self._last_words: collections.deque[str] = collections.deque(maxlen=10)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "monet.cluster.evaluator"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        try:
            answer = self._ask(json.dumps({"opener": opener, "text": text, "path": path}))
            if "error" in answer:
                raise CannotOpen(answer["error"])
        except BaseException:
            self.end()
            raise
        self.fingerprint: str = answer["fingerprint"]
        self._limit_s = limit_s

    def evaluate(self, design: int) -> dict[str, Any]:
        """{"outcome": line} or {"error": text}. After Ended the object is of no more use."""
        return self._ask(str(design))

    def alive(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._listener.join(timeout=1)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            try:
                stream.close()
            except OSError:  # what could not be sent
                pass

    def _ask(self, line: str) -> dict[str, Any]:
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            pass  # it is gone; reading tells how
        return json.loads(self._read_line())

    def _read_line(self) -> bytes:
        deadline = time.monotonic() + self._limit_s
        stream = self._process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    self.end()
                    raise Ended(f"no answer in {self._limit_s:g} s")
                piece = os.read(stream.fileno(), 1 << 16)
                if not piece:
                    raise Ended(self._how())
                self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _how(self) -> str:
        status = self._process.wait()
        self._listener.join(timeout=1)
        try:
            how = f"exit status {status}" if status >= 0 else signal.Signals(-status).name
        except ValueError:
            how = f"signal {-status}"
        words = self._last_words[-1][:300] if self._last_words else ""
        return f"{how}: {words}" if words else how

    def _listen(self) -> None:
        try:
            for line in self._process.stderr:
                text = line.decode(errors="replace").strip()
                if text:
                    self._last_words.append(text)
                    print(text, file=sys.stderr)
        except ValueError:  # closed meanwhile
            pass
