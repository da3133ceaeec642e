"""Every operator of the float64 executor against onnxruntime in float32, each attribute at each kind of value.

The cases are in cases_*.py. A case whose name ends in @reference is one that onnxruntime does not run: it is compared
with the ONNX project's own reference evaluator.
"""

from __future__ import annotations

import importlib
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

FAMILIES = sorted(path.stem for path in Path(__file__).parent.glob("cases_*.py"))
TOLERANCE = 1e-4  # relative to the largest magnitude of the tensor
BATCH = 200  # cases a call of the executor


def expected(name: str, model: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    if name.endswith("@reference"):
        return ReferenceEvaluator(model).run(None, inputs)
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def write_case(folder: Path, model: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> None:
    folder.mkdir()
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer} | inputs
    lines = []
    for i, (name, value) in enumerate(values.items()):
        np.save(folder / f"in_{i}.npy", np.ascontiguousarray(value.astype(np.float64)).reshape(value.shape))
        lines.append(f"{name}\tin_{i}.npy\n")
    (folder / "inputs.txt").write_text("".join(lines))


def difference(actual: np.ndarray, wanted: np.ndarray) -> str:
    """What is wrong, or nothing."""
    if actual.shape != wanted.shape:
        return f"shape {actual.shape}, expected {wanted.shape}"
    wanted = wanted.astype(np.float64)
    if not np.array_equal(np.isnan(actual), np.isnan(wanted)):
        return "not-a-numbers differ"
    finite = np.isfinite(wanted)
    if not np.array_equal(actual[~finite & ~np.isnan(wanted)], wanted[~finite & ~np.isnan(wanted)]):
        return "infinities differ"
    if not finite.any():
        return ""
    scale = max(np.abs(wanted[finite]).max(), 1e-6)
    error = np.abs(actual[finite] - wanted[finite]).max() / scale
    return "" if error <= TOLERANCE else f"relative difference {error:.2e}"


@pytest.mark.parametrize("family", FAMILIES)
def test_family(family: str, oracle: Path, tmp_path: Path) -> None:
    cases = list(importlib.import_module(family).cases())
    assert cases, f"{family} has no cases"
    names = [name for name, _, _ in cases]
    assert len(set(names)) == len(names), "case names must be unique"
    for i, (_, model, inputs) in enumerate(cases):
        write_case(tmp_path / str(i), model, inputs)
    folders = [str(tmp_path / str(i)) for i in range(len(cases))]
    for start in range(0, len(folders), BATCH):
        subprocess.run([oracle, *folders[start : start + BATCH]], check=True, timeout=300)
    problems = []
    for i, (name, model, inputs) in enumerate(cases):
        error = tmp_path / str(i) / "error.txt"
        if error.exists():
            problems.append(f"{name}: {error.read_text().strip()}")
            continue
        for k, wanted in enumerate(expected(name, model, inputs)):
            problem = difference(np.load(tmp_path / str(i) / f"output_{k}.npy"), np.asarray(wanted))
            if problem:
                problems.append(f"{name}: output {k}: {problem}")
    assert not problems, f"{len(problems)} of {len(cases)} cases differ:\n" + "\n".join(problems[:40])
