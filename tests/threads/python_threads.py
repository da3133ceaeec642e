"""Calls of the Python package from many threads at once, for a module built with the thread sanitizer (scripts/threads.sh).

Each thread asks the same questions in another order; all must get the same answers, and the sanitizer must stay quiet.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import monet

THREADS = 4


def latencies(plans: list[monet.SearchedPlan]) -> list[float]:
    return [plan.latency_s for plan in plans]


def questions(folder: Path) -> dict[str, Callable[[], object]]:
    buffers = folder / "buffers.csv"
    rows = [f"{i},{i % 7},{i % 7 + 3},{64 * (1 + i % 5)}" for i in range(40)]
    buffers.write_text("\n".join(["id,lower,upper,size", *rows]) + "\n")
    machine = monet.hardware("edge_tpu", x=2, y=2)
    step = monet.load("mlp-robotics").train(optimizer="adam", batch=8)
    plan = monet.fuse(step, machine, effort=0.1).plan
    return {
        "evaluate": lambda: monet.evaluate(step, machine).latency_s,
        "with threads": lambda: monet.evaluate("lenet5", "monet_2x2", batch=2, jobs=2).energy_pj,
        "with a plan": lambda: monet.evaluate(step, machine, plan=plan).latency_s,
        "checkpoint": lambda: latencies(monet.checkpoint(step, machine, population=4, generations=2).plans),
        "optimize": lambda: latencies(monet.optimize(step, machine, population=4, generations=2).plans),
        "train": lambda: monet.load("lenet5").train(optimizer="sgd", batch=2).saved_bytes,
        "hardware": monet.presets,
        "recipes": lambda: len(monet.recipes()),
        "pack": lambda: monet.pack(buffers).peak_bytes,
        "refused": refusal,
    }


def refusal() -> str:
    try:
        monet.evaluate("lenet5", "nosuch")
    except monet.Error as error:
        return str(error)
    return "accepted"


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        expected = {what: repr(ask()) for what, ask in questions(Path(name)).items()}
        asked = questions(Path(name))  # values that none has read yet
        wrong: list[str] = []

        def work(first: int) -> None:
            names = list(asked)
            for what in names[first:] + names[:first]:
                try:
                    found = repr(asked[what]())
                except Exception as error:  # noqa: BLE001: whatever a thread meets is a finding
                    found = f"{type(error).__name__}: {error}"
                if found != expected[what]:
                    wrong.append(f"{what}: {found}, not {expected[what]}")

        threads = [threading.Thread(target=work, args=(2 * i,)) for i in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(*wrong, sep="\n", file=sys.stderr)
    print(f"threads: {len(asked)} questions in {THREADS} threads of Python, {len(wrong)} other answers")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
