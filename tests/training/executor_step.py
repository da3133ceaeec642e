"""Runs one exported step with the float64 executor: the same operators as in the file, without rounding to speak of."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
from step_files import LEARNING_RATE, STATES, StepFiles
from step_values import shape_of


def executor_step(files: StepFiles, oracle: Path, folder: Path) -> dict[str, np.ndarray]:
    """All outputs of the first step, by name."""
    (folder / "model.onnx").write_bytes(files.step.SerializeToString())
    given = files.kept() | files.batch(1) | {"learning_rate": LEARNING_RATE, "step": 1}
    lines = []
    for i, value in enumerate(files.step.graph.input):
        name, _, state = value.name.rpartition(".")
        zero = state in STATES and name in files.trained
        array = np.zeros(shape_of(value)) if zero else np.asarray(given[value.name], np.float64)
        np.save(folder / f"in_{i}.npy", np.ascontiguousarray(array).reshape(shape_of(value)))
        lines.append(f"{value.name}\tin_{i}.npy\n")
    (folder / "inputs.txt").write_text("".join(lines))
    subprocess.run([oracle, folder], check=True, timeout=900)
    error = folder / "error.txt"
    assert not error.exists(), error.read_text()
    return {output.name: np.load(folder / f"output_{i}.npy") for i, output in enumerate(files.step.graph.output)}
