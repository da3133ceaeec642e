"""Designs of a space of machines, evaluated one by one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from monet import _core


class Explorer:
    """A space that was opened: its networks are read once, and what designs have in common is done once.

    `space` is a file, or the name of one that comes with the library: "edge_tpu"; `network` and `batch` take the place
    of those of its workloads.
    """

    def __init__(
        self, space: str | os.PathLike[str], network: str | os.PathLike[str] = "", batch: int | None = None
    ) -> None:
        self.text, self.path = _core.read_space(os.fspath(space), os.fspath(network), batch or 0)
        self._worker = _core.DesignWorker.open(self.text, self.path)

    @property
    def fingerprint(self) -> str:
        """Says what is evaluated: equal ones give equal outcomes."""
        return self._worker.fingerprint()

    def line(self, design: int) -> str:
        """The outcome of a design as one line of JSON, as stores and clusters keep it."""
        return self._worker.evaluate(design)

    def evaluate(self, design: int) -> dict[str, Any]:
        """The outcome of a design, which is its place in the order of all points of the space."""
        outcome: dict[str, Any] = json.loads(self.line(design))
        return outcome

    def evaluate_all(self, designs: Iterable[int], jobs: int | None = None) -> Iterator[dict[str, Any]]:
        """Outcomes in the order of the designs, on `jobs` threads (as many as there are processors by default)."""
        with ThreadPoolExecutor(jobs or os.cpu_count()) as threads:
            yield from threads.map(self.evaluate, designs)


def run_batch(
    space: Explorer | str | os.PathLike[str], designs: Iterable[int], jobs: int | None = None
) -> list[dict[str, Any]]:
    """The outcomes of designs of a space, in their order."""
    explorer = space if isinstance(space, Explorer) else Explorer(space)
    return list(explorer.evaluate_all(designs, jobs))
