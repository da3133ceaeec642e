"""Graphs written as ONNX: valid by ONNX's own checker, the same numbers in another runtime, the same network when read.

The cases are those of tests/operators: every operator, each attribute at each kind of value.
"""

from __future__ import annotations

import importlib
import json
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from test_operators import BATCH, difference, expected

TESTS = Path(__file__).resolve().parent.parent

FAMILIES = sorted(path.stem for path in (TESTS / "operators").glob("cases_*.py"))
MODELS = sorted((TESTS.parent / "data" / "models").glob("*.onnx"))

# Double precision, which onnxruntime does not convolve in: run by the ONNX project's own evaluator.
NOT_IN_ONNXRUNTIME = "Could not find an implementation for Conv"


def rewrite(oracle: Path, folders: list[Path]) -> None:
    names = [str(folder) for folder in folders]
    for start in range(0, len(names), BATCH):
        subprocess.run([oracle, "--rewrite", *names[start : start + BATCH]], check=True, timeout=300)


def run(name: str, model: onnx.ModelProto, values: dict[str, np.ndarray]) -> list[np.ndarray]:
    try:
        return expected(name, model, values)
    except Exception as problem:
        if NOT_IN_ONNXRUNTIME not in str(problem):
            raise
        return expected(name + "@reference", model, values)


def problem_of(folder: Path, name: str, original: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> str:
    """What is wrong with the file that was written, or nothing."""
    error = folder / "error.txt"
    if error.exists():
        return error.read_text().strip()
    model = onnx.load(folder / "rewritten.onnx")
    onnx.checker.check_model(model, full_check=True)
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in original.graph.initializer} | inputs
    fed = {value.name: values[value.name] for value in model.graph.input}
    results = run(name, model, fed)
    wanted = expected(name, original, inputs)
    if len(results) != len(wanted):
        return f"{len(results)} outputs, expected {len(wanted)}"
    for value, result in zip(model.graph.output, results):
        if value.type.tensor_type.elem_type != onnx.helper.np_dtype_to_tensor_dtype(np.asarray(result).dtype):
            return f"output {value.name} is declared as another type than it has"
    differences = (difference(np.asarray(a, dtype=np.float64), np.asarray(b)) for a, b in zip(results, wanted))
    return next((text for text in differences if text), "")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_operator_gives_the_same_numbers(family: str, oracle: Path, tmp_path: Path) -> None:
    cases = list(importlib.import_module(family).cases())
    folders = [tmp_path / str(i) for i in range(len(cases))]
    for folder, (_, model, _) in zip(folders, cases):
        folder.mkdir()
        (folder / "model.onnx").write_bytes(model.SerializeToString())
    rewrite(oracle, folders)
    problems = []
    for folder, (name, model, inputs) in zip(folders, cases):
        try:
            problem = problem_of(folder, name, model, inputs)
        except Exception as exception:
            problem = str(exception)
        if problem:
            problems.append(f"{name}: {problem}")
    assert not problems, f"{len(problems)} of {len(cases)} cases differ:\n" + "\n".join(problems[:40])


def inspect(monet: Path, model: Path) -> dict:
    result = subprocess.run([monet, "inspect", model, "--json", "--layers", "--fused-norms"], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def operators(found: dict) -> Counter:
    """Without those that make a constant: ONNX's are folded when they are read."""
    return Counter(layer["operator"] for layer in found["layers"] if layer["inputs"])


@pytest.mark.parametrize("file", MODELS, ids=lambda path: path.name)
def test_a_network_is_the_same_when_it_is_read_again(file: Path, monet: Path, oracle: Path, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(file.read_bytes())
    rewrite(oracle, [tmp_path])
    error = tmp_path / "error.txt"
    assert not error.exists(), error.read_text()
    model = onnx.load(tmp_path / "rewritten.onnx")
    onnx.checker.check_model(model, full_check=True)
    before, after = inspect(monet, tmp_path / "model.onnx"), inspect(monet, tmp_path / "rewritten.onnx")
    for figure in ("parameters", "macs", "training_step"):
        assert before[figure] == after[figure], figure
    assert operators(before) == operators(after)
