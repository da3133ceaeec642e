"""Spaces for tests of the cluster, as workers open them: "fake_spaces:NAME". The text of a space says what is special.

A design is evaluated to a line that nothing but its number decides.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from pathlib import Path


class FakeSpace:
    """`text` is JSON: poison: designs that end their process; broken: designs that fail; hangs, kills_worker: a design;
    seconds: for each design; pids: a folder for the ids of workers; folder: scratch; beside: there is a file beside."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.settings = json.loads(text)
        self.path = path
        if folder := self.settings.get("pids"):
            Path(folder, f"{os.getppid()}").touch()  # the worker, whose child this is

    def fingerprint(self) -> str:
        beside = Path(self.path).with_name("beside.txt")
        content = beside.read_text() if self.settings.get("beside") else ""
        return hashlib.sha256((self.text + content).encode()).hexdigest()

    def evaluate(self, design: int) -> str:
        settings = self.settings
        if design in settings.get("poison", []):
            os._exit(7)
        if design in settings.get("broken", []):
            raise ValueError(f"{design} is broken")
        if design == settings.get("hangs") and self._first_time(f"hung-{design}"):
            time.sleep(600)
        if design == settings.get("kills_worker"):
            os.kill(os.getppid(), 9)
            time.sleep(600)
        time.sleep(settings.get("seconds", 0))
        return line_of(design)

    def _first_time(self, what: str) -> bool:
        try:
            Path(self.settings["folder"], what).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def line_of(design: int) -> str:
    return json.dumps({"design": design, "value": hashlib.sha256(str(design).encode()).hexdigest()})


def fingerprint_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def open_fake(text: str, path: str) -> FakeSpace:
    return FakeSpace(text, path)


def open_never(text: str, path: str) -> FakeSpace:
    raise ValueError("the space is empty")


class KillingSpace:
    """The library's own, whose worker is killed once, by the first design that is evaluated anywhere."""

    def __init__(self, text: str, path: str) -> None:
        from monet import _core

        self._worker = _core.DesignWorker.open(text, path)
        # One for each cluster: all its processes are in one group.
        self._mark = Path(tempfile.gettempdir(), f"monet-killed-{os.getpgid(0)}")

    def fingerprint(self) -> str:
        return self._worker.fingerprint()

    def evaluate(self, design: int) -> str:
        line = self._worker.evaluate(design)
        try:
            self._mark.touch(exist_ok=False)
        except FileExistsError:
            return line
        os.kill(os.getppid(), 9)
        time.sleep(600)
        return line


def open_killing(text: str, path: str) -> KillingSpace:
    return KillingSpace(text, path)
