"""Is torch_runner the operators that ONNX means? Its forward values on every operator case, in float32, against
onnxruntime (or the reference evaluator, as in tests/operators)."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from gradient_cases import RANDOM
from test_operators import FAMILIES, difference, expected


@pytest.mark.parametrize("family", FAMILIES)
def test_family(family: str) -> None:
    torch = pytest.importorskip("torch")
    from torch_runner import run
    from torch_runner.runner import as_tensor

    problems = []
    for name, model, inputs in importlib.import_module(family).cases():
        if model.graph.node[0].op_type in RANDOM:
            continue
        tensors = {key: as_tensor(value, torch.float32) for key, value in inputs.items()}
        outputs = run(model, tensors, torch.float32).values()
        for k, (actual, wanted) in enumerate(zip(outputs, expected(name, model, inputs))):
            problem = difference(actual.numpy().astype(np.float64), np.asarray(wanted))
            if problem:
                problems.append(f"{name}: output {k}: {problem}")
    assert not problems, f"{len(problems)} cases differ:\n" + "\n".join(problems[:40])
