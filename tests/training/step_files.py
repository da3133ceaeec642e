"""The two files of a case: the forward network as this program writes it, and the step that it makes of it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from step_cases import FILE, StepCase
from step_network import in_training_mode, write_network
from step_values import data, parameter, shape_of, target

STEPS = 3
LEARNING_RATE = np.float32(1e-3)
STATES = ("m", "v", "momentum")

Tensors = dict[str, np.ndarray]


@dataclass
class StepFiles:
    case: StepCase
    forward: onnx.ModelProto
    step: onnx.ModelProto

    @cached_property
    def trained(self) -> list[str]:
        """Parameters that the step updates."""
        outputs = {output.name for output in self.step.graph.output}
        return [name.removesuffix(".grad") for name in outputs if name.endswith(".grad")]

    @cached_property
    def outputs(self) -> list[str]:
        """What the network itself computes."""
        return [output.name for output in self.forward.graph.output if not output.name.endswith(".new")]

    def inside(self) -> list[str]:
        """Tensors that nodes make both in the forward network and in the step."""
        made = {name for node in self.step.graph.node for name in node.output}
        return [name for node in self.forward.graph.node for name in node.output if name and name in made]

    def kept(self) -> Tensors:
        """Parameters and buffers before the first step."""
        if self.case.model == FILE:
            return {t.name: numpy_helper.to_array(t) for t in self.forward.graph.initializer}
        replaced = {output.name.removesuffix(".new") for output in self.step.graph.output}
        return {value.name: parameter(value.name, shape_of(value)).astype(np.float32)
                for value in self.forward.graph.input if value.name in replaced}

    def sturdy(self, tensors: Tensors) -> Tensors:
        """Those that rounding in float32 does not change much, all through a network. Adam divides gradients by their
        size, however small; in a deep network with kinks, gradients depend on where rounding puts single units."""
        parts = ["new", "m.new", "v.new"] if self.case.optimizer.startswith("adam") or self.case.deep else []
        parts += ["grad", "momentum.new"] if self.case.deep else []
        unsteady = {f"{name}.{part}" for name in self.trained for part in parts}
        return {name: value for name, value in tensors.items() if name not in unsteady}

    def batch(self, step: int) -> Tensors:
        """Inputs of the network and `target`."""
        kept = self.kept()
        inputs = {value.name: value for value in self.step.graph.input}
        result = {value.name: data(self.forward, value, step) for value in self.forward.graph.input
                  if value.name not in kept}
        scores = next(output for output in self.step.graph.output if output.name == self.outputs[0])
        classes = shape_of(scores)[self.case.class_axis]
        return result | {"target": target(inputs["target"], self.case.loss, classes, step)}


def make_files(case: StepCase, monet: Path, oracle: Path, folder: Path) -> StepFiles:
    forward, step = folder / "forward.onnx", folder / "step.onnx"
    model = case.model
    if model == FILE:
        write_network(forward)
        model = forward
    else:
        subprocess.run([oracle, "--forward", model, forward], check=True, timeout=120)
    subprocess.run([monet, "train", model, *case.arguments(), "-q", "-o", step], check=True, timeout=120,
                   stdout=subprocess.DEVNULL)
    return StepFiles(case, in_training_mode(onnx.load(forward)), onnx.load(step))
