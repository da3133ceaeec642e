"""On a worker of the cluster: the space, opened once in a process for each batch that runs at a time."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
import weakref
from pathlib import Path
from typing import Any

from monet.cluster.process import CannotOpen, Ended, EvaluatingProcess


class Refused(Exception):
    """This worker must not evaluate: its outcomes would be others, or there would be none."""


def local_folder() -> str | None:
    """Where the engine keeps what it removes when the worker ends."""
    try:
        from distributed import get_worker

        return get_worker().local_directory
    except Exception:
        return None


class OpenSpace:
    """A space with its files in a folder of this worker's own, and processes that have it open."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self._setup = setup
        self._lock = threading.Lock()
        self._idle: list[EvaluatingProcess] = []
        self.used = time.monotonic()
        self._path = setup["path"]
        if setup["files"]:
            root = tempfile.mkdtemp(prefix="monet-", dir=local_folder())
            self._remove = weakref.finalize(self, shutil.rmtree, root, True)
            # Where they stand on the machine of the program, below the folder: relative names stay right.
            self._path = root + setup["path"]
            Path(self._path).parent.mkdir(parents=True, exist_ok=True)
            for path, content in setup["files"].items():
                target = Path(root + path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)

    def take(self) -> EvaluatingProcess:
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.alive():
                    return process
                process.end()
        return self._start()

    def give(self, process: EvaluatingProcess) -> None:
        with self._lock:
            self._idle.append(process)

    def close(self) -> None:
        with self._lock:
            while self._idle:
                self._idle.pop().end()
        if hasattr(self, "_remove"):
            self._remove()

    def _start(self) -> EvaluatingProcess:
        setup = self._setup
        try:
            process = EvaluatingProcess(setup["opener"], setup["text"], self._path, setup["limit_s"])
        except CannotOpen as error:
            raise Refused(f"cannot open the space: {error}") from None
        except Ended as error:
            raise Refused(f"a process that opens the space ended: {error}") from None
        if process.fingerprint != setup["fingerprint"]:
            process.end()
            raise Refused(
                f"opens the space with the fingerprint {process.fingerprint}, the program with {setup['fingerprint']}"
            )
        return process


# Of explorations that ended without a word.
FORGOTTEN_S = 1800

_spaces: dict[str, OpenSpace] = {}
_spaces_lock = threading.Lock()


def space_of(setup: dict[str, Any]) -> OpenSpace:
    with _spaces_lock:
        now = time.monotonic()
        for key, other in list(_spaces.items()):
            if key != setup["key"] and now - other.used > FORGOTTEN_S:
                _spaces.pop(key).close()
        space = _spaces.get(setup["key"])
        if space is None:
            space = _spaces[setup["key"]] = OpenSpace(setup)
        space.used = now
        return space


def release(key: str) -> None:
    with _spaces_lock:
        space = _spaces.pop(key, None)
    if space is not None:
        space.close()


def evaluate(setup: dict[str, Any], designs: list[int]) -> dict[str, Any]:
    """Every design once: lines of those that were evaluated, and why others were not. Fails with Refused."""
    import monet

    if monet.__version__ != setup["version"]:
        raise Refused(f"has monet {monet.__version__}, the program is {setup['version']}")
    space = space_of(setup)
    process = space.take()
    outcomes: list[str] = []
    failed: list[dict[str, Any]] = []
    start = time.monotonic()
    for design in designs:
        reason = ""
        for _ in range(setup["tries"]):
            try:
                answer = process.evaluate(design)
            except Ended as error:
                reason = f"it ended the worker that evaluated it ({setup['tries']} tries): {error}"
                process.end()
                process = space.take()
                continue
            reason = answer.get("error", "")
            if not reason:
                outcomes.append(answer["outcome"])
            break
        if reason:
            failed.append({"design": design, "failure": reason})
    seconds = time.monotonic() - start
    space.give(process)
    return {"outcomes": outcomes, "failed": failed, "seconds": seconds, "process": os.getpid()}
