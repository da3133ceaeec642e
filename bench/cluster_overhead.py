"""Designs a second on the workers of a cluster against threads of one process, and what the engine costs.

    .venv/bin/python bench/cluster_overhead.py [--space edge_tpu] [--samples 600] [--workers 1 2 4] [--repeat 3]

Both evaluate the same sample of the space with the program; the best of the runs counts. A run's time is that of the
exploration itself, without the start of the program and of workers. Overhead: how many designs a second less than as
many threads. With more workers than processors both are bound by the processors.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent


def designs_per_s(arguments: argparse.Namespace, *how: str) -> float:
    best = 0.0
    for _ in range(arguments.repeat):
        with tempfile.TemporaryDirectory() as folder:
            command = [arguments.monet, "explore", arguments.space, "--method", "random", "--samples",
                       str(arguments.samples), "--store", f"{folder}/bench.sqlite", "--json", "-q", *how]
            result = subprocess.run(command, capture_output=True, text=True,
                                    env={**os.environ, "MONET_PYTHON": sys.executable})
        if result.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}\n{result.stderr}")
        best = max(best, json.loads(result.stdout)["designs_per_s"])
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--monet", default=SOURCE / "build" / "monet", type=Path)
    parser.add_argument("--space", default="edge_tpu")
    parser.add_argument("--samples", default=600, type=int)
    parser.add_argument("--workers", default=[1, 2, 4], type=int, nargs="+")
    parser.add_argument("--repeat", default=3, type=int)
    arguments = parser.parse_args()

    print(f"{arguments.samples} designs of {arguments.space}, {os.cpu_count()} processors, best of {arguments.repeat}")
    print(f"{'workers':>8} {'threads, designs/s':>20} {'cluster, designs/s':>20} {'overhead':>10}")
    for workers in arguments.workers:
        threads = designs_per_s(arguments, "--jobs", str(workers))
        cluster = designs_per_s(arguments, "--cluster", f"local:{workers}")
        overhead = 100 * (1 - cluster / threads)
        print(f"{workers:>8} {threads:>20.1f} {cluster:>20.1f} {overhead:>9.1f}%", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
