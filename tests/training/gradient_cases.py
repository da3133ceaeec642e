"""The operator cases of tests/operators as questions about gradients: values away from kinks, and cotangents.

The scalar that is differentiated is the sum over a model's floating-point outputs of output · cotangent.
"""

from __future__ import annotations

import hashlib
import importlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import numpy_helper

RANDOM = {"Bernoulli", "RandomNormalLike", "RandomUniformLike"}
STATISTICS = {  # outputs through which no gradient flows, in PyTorch neither
    "BatchNormalization": {1, 2},
    "LayerNormalization": {1, 2},
}
BUFFERS = {"BatchNormalization": {"mean", "variance"}}  # inputs likewise
WHOLE_NUMBERS = {("OneHot", "i")}  # floating-point inputs that must stay whole


@dataclass
class GradientCase:
    name: str
    model: onnx.ModelProto
    values: dict[str, np.ndarray]  # of the model's inputs; floating-point ones are float64 and moved off every kink

    @property
    def operator(self) -> str:
        return self.model.graph.node[0].op_type

    def outside(self) -> dict[str, np.ndarray]:
        """Every value from outside, in the order of inputs.txt."""
        return {t.name: numpy_helper.to_array(t) for t in self.model.graph.initializer} | self.values

    def wanted(self) -> list[str]:
        """Floating-point values from outside: what gradients are wanted of."""
        buffers = BUFFERS.get(self.operator, set())
        return [name for name, value in self.outside().items()
                if np.issubdtype(value.dtype, np.floating) and name not in buffers]

    def seeded(self) -> list[int]:
        """The outputs that count."""
        skipped = STATISTICS.get(self.operator, set())
        floating = {onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16}
        return [i for i, output in enumerate(self.model.graph.output)
                if output.type.tensor_type.elem_type in floating and i not in skipped]

    def cotangent(self, output: int, shape: tuple[int, ...]) -> np.ndarray:
        return random_state(f"{self.name}/cotangent/{output}").uniform(-1, 1, shape)

    def fingerprint(self) -> str:
        """Changes when the case does."""
        content = hashlib.sha256(self.model.SerializeToString(deterministic=True))
        for name, value in self.values.items():
            content.update(name.encode() + np.ascontiguousarray(value).tobytes())
        return content.hexdigest()[:8]


def random_state(text: str) -> np.random.RandomState:
    return np.random.RandomState(zlib.crc32(text.encode()))


def moved(name: str, value: np.ndarray) -> np.ndarray:
    """Off zeros, whole numbers and ties by up to 0.002, upwards: every operator stays where it is defined."""
    return value.astype(np.float64) + random_state(name).uniform(0.001, 0.002, value.shape)


def gradient_cases(family: str) -> Iterator[GradientCase]:
    """Those of cases_*.py that have a floating-point value from outside and a floating-point output."""
    for name, model, inputs in importlib.import_module(family).cases():
        operator = model.graph.node[0].op_type
        if operator in RANDOM:
            continue
        values = {key: moved(f"{name}/{key}", value)
                  if np.issubdtype(value.dtype, np.floating) and (operator, key) not in WHOLE_NUMBERS else value
                  for key, value in inputs.items()}
        case = GradientCase(name, model, values)
        if case.wanted() and case.seeded():
            yield case
