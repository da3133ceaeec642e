"""Normalizations, in inference and in training."""

import itertools

import numpy as np
from case import FLOAT, case

SEED = 20243
MICROSOFT = "com.microsoft"


def values(*shape: int) -> np.ndarray:
    return np.random.default_rng(SEED + sum(shape)).normal(size=shape).astype(np.float32)


def positive(*shape: int) -> np.ndarray:
    return np.random.default_rng(SEED + sum(shape)).uniform(0.5, 1.5, size=shape).astype(np.float32)


def batch_norm():
    for shape in ((4, 3), (2, 3, 5), (2, 3, 4, 5), (2, 3, 2, 3, 4)):
        channels = shape[1]
        inputs = {"x": values(*shape), "scale": positive(channels), "bias": values(channels),
                  "mean": values(channels), "variance": positive(channels)}
        rank = len(shape)
        for epsilon in (None, 0.1):
            yield case(f"BatchNormalization/{rank}-epsilon{epsilon}", "BatchNormalization", inputs, opset=15,
                       epsilon=epsilon)
        yield case(f"BatchNormalization/{rank}-opset9", "BatchNormalization", inputs, opset=9)
        yield case(f"BatchNormalization/{rank}-opset7", "BatchNormalization", inputs, opset=7)
        for momentum in (None, 0.5):
            yield case(f"BatchNormalization/{rank}-training-momentum{momentum}", "BatchNormalization", inputs,
                       ["y", "new_mean", "new_variance"], opset=15, momentum=momentum, training_mode=1, epsilon=0.01)
        yield case(f"BatchNormalization/{rank}-training-opset14", "BatchNormalization", inputs,
                   ["y", "new_mean", "new_variance"], opset=14, training_mode=1)


def layer_norm():
    for shape in ((3, 8), (2, 3, 4), (2, 3, 4, 5)):
        x = values(*shape)
        rank = len(shape)
        for axis in (None, *range(-rank, rank)):
            normalized = shape[-1 if axis is None else axis % rank:] if axis is not None else shape[-1:]
            scaled = {"x": x, "scale": positive(*normalized)}
            biased = {**scaled, "bias": values(*normalized)}
            tag = f"{rank}-axis{axis}"
            yield case(f"LayerNormalization/{tag}", "LayerNormalization", biased, axis=axis)
            yield case(f"LayerNormalization/{tag}-no-bias", "LayerNormalization", scaled, axis=axis, epsilon=0.1)
            yield case(f"LayerNormalization/{tag}-statistics", "LayerNormalization", biased,
                       ["y", "mean", "inverse"], axis=axis, stash_type=1)
            yield case(f"SimplifiedLayerNormalization/{tag}", "SimplifiedLayerNormalization", scaled, axis=axis,
                       epsilon=0.01)
            yield case(f"RMSNormalization/{tag}", "RMSNormalization", scaled, opset=23, axis=axis)
            yield case(f"RMSNormalization/{tag}-epsilon", "RMSNormalization", scaled, opset=23, axis=axis, epsilon=0.1)


def skip_norm():
    x = {"x": values(2, 3, 8), "skip": values(2, 3, 8) * np.float32(0.5)}
    scale, beta, bias = positive(8), values(8), positive(8) + np.float32(1)
    outputs = ["y", "", "", "sum"]
    for epsilon, with_bias, with_sum in itertools.product((None, 0.1), (False, True), (False, True)):
        tag = f"epsilon{epsilon}-bias{int(with_bias)}-sum{int(with_sum)}"
        options = dict(outputs=outputs if with_sum else ["y"], domain=MICROSOFT, epsilon=epsilon)
        layer = {**x, "scale": scale, "beta": beta, **({"bias": bias} if with_bias else {})}
        yield case(f"SkipLayerNormalization/{tag}", "SkipLayerNormalization", layer, **options)
        simple = {**x, "scale": scale, **({"bias": bias} if with_bias else {})}
        yield case(f"SkipSimplifiedLayerNormalization/{tag}", "SkipSimplifiedLayerNormalization", simple, **options)
    yield case("SkipLayerNormalization/no-beta", "SkipLayerNormalization", {**x, "scale": scale}, domain=MICROSOFT)


def group_norm():
    for shape, groups in (((2, 6, 4), 3), ((2, 6, 3, 4), 2), ((1, 4, 5, 3), 4), ((2, 4, 3, 3), 1)):
        for epsilon in (None, 0.1):
            tag = f"{len(shape)}-groups{groups}-epsilon{epsilon}"
            by_group = {"x": values(*shape), "scale": positive(groups), "bias": values(groups)}
            yield case(f"GroupNormalization/opset18-{tag}@reference", "GroupNormalization", by_group, opset=18,
                       num_groups=groups, epsilon=epsilon)
            by_channel = {"x": values(*shape), "scale": positive(shape[1]), "bias": values(shape[1])}
            yield case(f"GroupNormalization/opset21-{tag}", "GroupNormalization", by_channel, opset=21,
                       num_groups=groups, epsilon=epsilon)


def instance_norm():
    for shape, epsilon in itertools.product(((2, 3, 5), (2, 3, 4, 5), (1, 2, 3, 4, 5)), (None, 0.1)):
        inputs = {"x": values(*shape), "scale": positive(shape[1]), "bias": values(shape[1])}
        yield case(f"InstanceNormalization/{len(shape)}-epsilon{epsilon}", "InstanceNormalization", inputs,
                   epsilon=epsilon)


def lp_norm():
    for axis, p in itertools.product((None, 0, 1, -1), (None, 1, 2)):
        yield case(f"LpNormalization/axis{axis}-p{p}", "LpNormalization", {"x": values(3, 4, 5)}, axis=axis, p=p)


def mean_variance():
    for axes in (None, [0, 2, 3], [2, 3], [1], [-1]):
        yield case(f"MeanVarianceNormalization/{axes}", "MeanVarianceNormalization", {"x": values(3, 2, 4, 5)},
                   opset=13, axes=axes)
    yield case("MeanVarianceNormalization/opset9", "MeanVarianceNormalization", {"x": values(3, 2, 4, 5)}, opset=9)


def local_response():
    x = {"x": values(2, 7, 4, 3)}
    for size in (1, 3, 5):
        yield case(f"LRN/size{size}", "LRN", x, size=size)
    yield case("LRN/strong", "LRN", x, size=3, alpha=0.5, beta=0.6, bias=2.0)
    yield case("LRN/alpha", "LRN", x, size=3, alpha=0.9)
    yield case("LRN/beta", "LRN", x, size=5, alpha=0.9, beta=1.5)


def cases():
    yield from batch_norm()
    yield from layer_norm()
    yield from skip_norm()
    yield from group_norm()
    yield from instance_norm()
    yield from lp_norm()
    yield from mean_variance()
    yield from local_response()
