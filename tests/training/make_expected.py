"""Writes what the tests expect where PyTorch is absent, from PyTorch.

    python tests/training/make_expected.py                 gradients of operators: run it when operator cases change
    python tests/training/make_expected.py --steps BUILD   whole steps, in both precisions: run it when step_cases.py or
                                                           a network changes
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
OPERATORS = HERE.parent / "operators"
sys.path[:0] = [str(HERE), str(OPERATORS)]


def operator_gradients() -> None:
    import digests
    from gradient_cases import gradient_cases
    from torch_gradients import torch_gradients

    entries = {}
    for family in sorted(path.stem for path in OPERATORS.glob("cases_*.py")):
        for case in gradient_cases(family):
            gradients = {name: digests.digest(value) for name, value in torch_gradients(case).items()}
            entries[case.name] = {"case": case.fingerprint(), "gradients": gradients}
    digests.save(entries)
    print(f"{digests.FILE}: {len(entries)} cases, {digests.FILE.stat().st_size} bytes")


def steps(build: Path) -> None:
    import step_differences
    from step_cases import CASES
    from step_files import make_files
    from torch_step import torch_step

    entries = {}
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            files = make_files(case, build / "monet", build / "monet_oracle", Path(folder))
        entries[case.name] = step_differences.digest(files.sturdy(torch_step(files, 1, files.kept())))
    step_differences.save(entries)
    print(f"{step_differences.FILE}: {len(entries)} cases, {step_differences.FILE.stat().st_size} bytes")


def gradients_of_networks(build: Path) -> None:
    import network_gradients
    from step_files import make_files
    from torch_step import torch_step

    entries = {}
    for case in network_gradients.CASES:
        with tempfile.TemporaryDirectory() as folder:
            files = make_files(case, build / "monet", build / "monet_oracle", Path(folder))
        entries[case.name] = network_gradients.digest(torch_step(files, 1, files.kept()))
    network_gradients.save(entries)
    print(f"{network_gradients.FILE}: {len(entries)} cases, {network_gradients.FILE.stat().st_size} bytes")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--steps"]:
        steps(Path(sys.argv[2]))
        gradients_of_networks(Path(sys.argv[2]))
    else:
        operator_gradients()
