"""What this program does not differentiate although PyTorch can, each with the reason."""

from __future__ import annotations

from dataclasses import dataclass, field

from onnx import helper

from gradient_cases import GradientCase


@dataclass(frozen=True)
class Refusal:
    operator: str
    inputs: tuple[int, ...]  # places of the inputs
    reason: str
    attributes: dict[str, tuple] = field(default_factory=dict)  # only where each has one of these values

    def covers(self, case: GradientCase, name: str) -> bool:
        node = case.model.graph.node[0]
        given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        return (node.op_type == self.operator and name in node.input and list(node.input).index(name) in self.inputs
                and all(given.get(key) in values for key, values in self.attributes.items()))


CLASS_WEIGHTS = "the weights of classes are not trained; PyTorch's own loss has no derivative for them either"
NOT_ADDED = {"reduction": (b"mul", b"max", b"min")}

REFUSALS = [
    Refusal("DequantizeLinear", (1,), "scales of quantized tensors come from calibration, not from training"),
    Refusal("GridSample", (0, 1), "cubic sampling is not differentiated", {"mode": (b"cubic", b"bicubic")}),
    Refusal("NegativeLogLikelihoodLoss", (2,), CLASS_WEIGHTS),
    Refusal("ScatterElements", (0, 2), "only 'none' and 'add' occur in training", NOT_ADDED),
    Refusal("ScatterND", (0, 2), "only 'none' and 'add' occur in training", NOT_ADDED),
    Refusal("SoftmaxCrossEntropyLoss", (2,), CLASS_WEIGHTS),
]


def refusal(case: GradientCase, name: str) -> Refusal | None:
    return next((each for each in REFUSALS if each.covers(case, name)), None)
