"""Runs an exported step with onnxruntime, in float32: what a user of the file would do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx
import onnxruntime
from step_files import LEARNING_RATE, STATES, STEPS, StepFiles, Tensors
from step_values import shape_of, type_of


@dataclass
class Ran:
    kept: Tensors  # before the step
    results: Tensors  # all outputs
    inside: Tensors  # what the nodes of the forward network give


def onnx_steps(files: StepFiles) -> list[Ran]:
    """What X.new replaces is given to the next step as X."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    names = [output.name for output in files.step.graph.output]
    model = onnx.ModelProto.FromString(files.step.SerializeToString())
    inside = [name for name in files.inside() if name not in names]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in inside)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    kept = files.kept()
    for value in files.step.graph.input:
        name, _, state = value.name.rpartition(".")
        if state in STATES and name in files.trained:
            kept[value.name] = np.zeros(shape_of(value), type_of(value))
    ran = []
    for number in range(1, STEPS + 1):
        given = kept | files.batch(number) | {"learning_rate": LEARNING_RATE, "step": number}
        feeds = {value.name: np.asarray(given[value.name], type_of(value)) for value in files.step.graph.input}
        values = dict(zip(names + inside, session.run(names + inside, feeds)))
        results = {name: values[name] for name in names}
        ran.append(Ran(kept, results, {name: values[name] for name in files.inside()}))
        kept = kept | {name.removesuffix(".new"): value for name, value in results.items() if name.endswith(".new")}
    return ran
