"""Operators on each element by itself."""

import functools

import numpy as np
import torch
import torch.nn.functional as F

from torch_runner.node import MICROSOFT, Node, Unsupported, operator

UNARY = {
    "Abs": torch.abs, "Acos": torch.acos, "Acosh": torch.acosh, "Asin": torch.asin, "Asinh": torch.asinh,
    "Atan": torch.atan, "Atanh": torch.atanh, "BitwiseNot": torch.bitwise_not, "Ceil": torch.ceil, "Cos": torch.cos,
    "Cosh": torch.cosh, "Erf": torch.erf, "Exp": torch.exp, "Floor": torch.floor, "HardSwish": F.hardswish,
    "IsNaN": torch.isnan, "Log": torch.log, "Mish": F.mish, "Neg": torch.neg, "Not": torch.logical_not,
    "Reciprocal": torch.reciprocal, "Relu": F.relu, "Round": torch.round, "Sigmoid": torch.sigmoid, "Sign": torch.sign,
    "Sin": torch.sin, "Sinh": torch.sinh, "Softplus": F.softplus, "Softsign": F.softsign, "Sqrt": torch.sqrt,
    "Tan": torch.tan, "Tanh": torch.tanh,
}
BINARY = {
    "Add": torch.add, "And": torch.logical_and, "BitwiseAnd": torch.bitwise_and, "BitwiseOr": torch.bitwise_or,
    "BitwiseXor": torch.bitwise_xor, "Equal": torch.eq, "Greater": torch.gt, "GreaterOrEqual": torch.ge,
    "Less": torch.lt, "LessOrEqual": torch.le, "Mul": torch.mul, "Or": torch.logical_or, "Sub": torch.sub,
    "Xor": torch.logical_xor,
}


@operator(*UNARY)
def unary(n: Node):
    return UNARY[n.op](n.input())


@operator(*BINARY)
def binary(n: Node):
    return BINARY[n.op](n.input(0), n.input(1))


@operator("Elu")
def elu(n: Node):
    return F.elu(n.input(), n.attribute("alpha", 1.0))


@operator("Celu")
def celu(n: Node):
    return F.celu(n.input(), n.attribute("alpha", 1.0))


@operator("Selu")
def selu(n: Node):
    alpha = n.attribute("alpha", 1.67326319217681884765625)
    return n.attribute("gamma", 1.05070102214813232421875) * F.elu(n.input(), alpha)


@operator("LeakyRelu")
def leaky_relu(n: Node):
    return F.leaky_relu(n.input(), n.attribute("alpha", np.float32(0.01).item()))


@operator("PRelu")
def prelu(n: Node):
    x, slope = n.input(0), n.input(1)
    return torch.where(x > 0, x, x * slope)


@operator("ThresholdedRelu")
def thresholded_relu(n: Node):
    return F.threshold(n.input(), n.attribute("alpha", 1.0), 0.0)


@operator("HardSigmoid")
def hard_sigmoid(n: Node):
    scaled = n.attribute("alpha", np.float32(0.2).item()) * n.input() + n.attribute("beta", 0.5)
    return torch.clamp(scaled, 0, 1)


@operator("Shrink")
def shrink(n: Node):
    x, bias, edge = n.input(), n.attribute("bias", 0.0), n.attribute("lambd", 0.5)
    return torch.where(x < -edge, x + bias, torch.where(x > edge, x - bias, torch.zeros_like(x)))


@operator("Gelu")
@operator("Gelu", domain=MICROSOFT)
def gelu(n: Node):
    return F.gelu(n.input(), approximate=n.attribute("approximate", "none"))


@operator("FastGelu", domain=MICROSOFT)
def fast_gelu(n: Node):
    return F.gelu(n.input(0) + n.input(1) if n.has(1) else n.input(0), approximate="tanh")


@operator("Swish")
@operator("QuickGelu", domain=MICROSOFT)
def swish(n: Node):
    alpha = n.attribute("alpha", 1.0 if n.op == "Swish" else np.float32(1.702).item())
    return F.silu(n.input()) if alpha == 1 else n.input() * torch.sigmoid(alpha * n.input())


@operator("IsInf")
def is_inf(n: Node):
    x = n.input()
    return (torch.isposinf(x) & bool(n.attribute("detect_positive", 1))) | (
        torch.isneginf(x) & bool(n.attribute("detect_negative", 1)))


@operator("Clip")
def clip(n: Node):
    low = n.input(1) if n.has(1) else n.attribute("min")
    high = n.input(2) if n.has(2) else n.attribute("max")
    if low is None and high is None:
        return n.input()
    if isinstance(low, torch.Tensor) != isinstance(high, torch.Tensor):  # clamp wants both of one kind
        infinite = torch.tensor(torch.inf if high is None else -torch.inf, dtype=n.dtype)
        low, high = (infinite if low is None else low), (infinite if high is None else high)
    return torch.clamp(n.input(), min=low, max=high)


@operator("Div")
def div(n: Node):
    return torch.div(n.input(0), n.input(1), rounding_mode=None if n.input(0).is_floating_point() else "trunc")


@operator("Mod")
def mod(n: Node):
    return (torch.fmod if n.attribute("fmod", 0) else torch.remainder)(n.input(0), n.input(1))


@operator("Pow")
def power(n: Node):
    return torch.pow(n.input(0), n.input(1)).to(n.input(0).dtype)


@operator("BitShift")
def bit_shift(n: Node):
    shift = np.left_shift if n.attribute("direction") == "LEFT" else np.right_shift
    return torch.from_numpy(shift(n.input(0).numpy(), n.input(1).numpy()))


@operator("Max", "Min", "Sum", "Mean")
def variadic(n: Node):
    combine = {"Max": torch.maximum, "Min": torch.minimum}.get(n.op, torch.add)
    result = functools.reduce(combine, n.inputs)
    return result / len(n.inputs) if n.op == "Mean" else result


@operator("Where")
def where(n: Node):
    return torch.where(n.input(0), n.input(1), n.input(2))


@operator("Cast")
def cast(n: Node):
    return n.input().to(n.type_of(n.attribute("to")))


@operator("CastLike")
def cast_like(n: Node):
    return n.input().to(n.input(1).dtype)


def along(n: Node, parameter: torch.Tensor) -> torch.Tensor:
    """A scale or zero point, shaped so that it is broadcast along the node's axis."""
    if parameter.dim() != 1:
        return parameter
    if n.attribute("block_size", 0):
        raise Unsupported(f"{n.op} in blocks")
    shape = [1] * n.input().dim()
    shape[n.attribute("axis", 1)] = -1
    return parameter.reshape(shape)


@operator("QuantizeLinear")
def quantize(n: Node):
    if n.has(2):
        kind = n.input(2).dtype
    else:
        kind = n.type_of(n.attribute("output_dtype", 0) or 2)
    scaled = torch.round(n.input() / along(n, n.input(1)))
    limits = torch.iinfo(kind)
    zero = along(n, n.input(2)).to(n.dtype) if n.has(2) else 0
    return torch.clamp(scaled + zero, limits.min, limits.max).to(kind)


@operator("DequantizeLinear")
def dequantize(n: Node):
    zero = along(n, n.input(2)).to(n.dtype) if n.has(2) else 0
    return (n.input().to(n.dtype) - zero) * along(n, n.input(1))
