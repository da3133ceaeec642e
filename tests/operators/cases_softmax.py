"""Softmax and the losses on top of it. Losses carry @reference where the other runtime has no kernel for them."""

import itertools

import numpy as np
from case import case

SEED = 20242


def scores(*shape: int) -> np.ndarray:
    return np.random.default_rng(SEED + sum(shape)).normal(size=shape).astype(np.float32) * 3


def labels(classes: int, *shape: int, kind=np.int64) -> np.ndarray:
    return np.random.default_rng(SEED + classes).integers(0, classes, size=shape).astype(kind)


def softmaxes():
    x = {"x": scores(2, 3, 4, 5)}
    for op in ("Softmax", "LogSoftmax"):
        for axis in (None, 0, 1, 2, 3, -1, -3):
            yield case(f"{op}/axis{axis}", op, x, opset=13, axis=axis)
            yield case(f"{op}/matrix-axis{axis}", op, x, opset=12, axis=axis)
        yield case(f"{op}/vector", op, {"x": scores(7)}, opset=13)
        yield case(f"{op}/large", op, {"x": scores(2, 9) * np.float32(100)}, opset=13)
        yield case(f"{op}/opset9", op, {"x": scores(3, 6)}, opset=9)


def log_probabilities(x: np.ndarray) -> np.ndarray:
    shifted = x - x.max(axis=1, keepdims=True)
    return (shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))).astype(np.float32)


def loss_inputs(shape: tuple[int, ...], weighted: bool, ignored: int | None, kind=np.int64) -> dict[str, np.ndarray]:
    target = labels(shape[1], shape[0], *shape[2:], kind=kind)
    if ignored is not None:
        target.flat[0] = ignored
    inputs = {"scores": scores(*shape), "labels": target}
    if weighted:
        inputs["weights"] = np.linspace(0.5, 1.5, shape[1]).astype(np.float32)
    return inputs


def losses():
    shapes = {"matrix": (5, 4), "signal": (2, 4, 3), "image": (2, 5, 3, 2)}
    for (name, shape), reduction, weighted, ignored in itertools.product(
            shapes.items(), (None, "none", "sum", "mean"), (False, True), (None, 2, -1)):
        tag = f"{name}-{reduction}-weighted{int(weighted)}-ignore{ignored}"
        options = dict(opset=13, reduction=reduction, ignore_index=ignored)
        inputs = loss_inputs(shape, weighted, ignored)
        yield case(f"SoftmaxCrossEntropyLoss/{tag}", "SoftmaxCrossEntropyLoss", inputs, **options)
        yield case(f"SoftmaxCrossEntropyLoss/{tag}-log-prob", "SoftmaxCrossEntropyLoss", inputs,
                   ["loss", "log_prob"], **options)
        inputs["scores"] = log_probabilities(inputs["scores"])
        yield case(f"NegativeLogLikelihoodLoss/{tag}", "NegativeLogLikelihoodLoss", inputs, **options)
    inputs = loss_inputs((5, 4), False, None, kind=np.int32)
    yield case("SoftmaxCrossEntropyLoss/int32", "SoftmaxCrossEntropyLoss", inputs, opset=12)


def cases():
    yield from softmaxes()
    yield from losses()
