"""What this program's own rules say about gradient cases, in its float64 executor."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from test_operators import write_case

from gradient_cases import GradientCase

BATCH = 200  # cases a call of the executor


@dataclass
class Answer:
    gradients: dict[str, np.ndarray] = field(default_factory=dict)  # those that were folded away are absent
    refused: dict[str, str] = field(default_factory=dict)  # the message, by value
    error: str = ""


def call(oracle: Path, option: list[str], folders: list[Path]) -> None:
    for start in range(0, len(folders), BATCH):
        subprocess.run([oracle, *option, *folders[start:start + BATCH]], check=True, timeout=600)


def monet_gradients(oracle: Path, folder: Path, cases: list[GradientCase]) -> list[Answer]:
    folders = [folder / str(i) for i in range(len(cases))]
    for case, place in zip(cases, folders):
        write_case(place, case.model, case.values)
    call(oracle, [], folders)  # for the outputs' shapes
    for case, place in zip(cases, folders):
        for i in case.seeded():
            if (place / f"output_{i}.npy").exists():
                np.save(place / f"cotangent_{i}.npy", case.cotangent(i, np.load(place / f"output_{i}.npy").shape))
    call(oracle, ["--gradients"], folders)
    return [read_answer(case, place) for case, place in zip(cases, folders)]


def read_answer(case: GradientCase, folder: Path) -> Answer:
    answer = Answer()
    if (folder / "error.txt").exists():
        answer.error = (folder / "error.txt").read_text().strip()
        return answer
    for k, name in enumerate(case.outside()):
        if (folder / f"gradient_{k}.npy").exists():
            answer.gradients[name] = np.load(folder / f"gradient_{k}.npy")
        if (folder / f"refused_{k}.txt").exists():
            answer.refused[name] = (folder / f"refused_{k}.txt").read_text().strip()
    return answer
