"""Pooling: windows of every kind over one, two and three axes."""

import itertools

import numpy as np
from case import FLOAT, INT64, case

SEED = 20240


def images(*shape: int, kind=np.float32) -> np.ndarray:
    return np.random.default_rng(SEED + sum(shape)).normal(size=shape).astype(kind)


WINDOWS = {
    "plain": dict(kernel_shape=[3, 3]),
    "stride": dict(kernel_shape=[3, 2], strides=[2, 3]),
    "pads": dict(kernel_shape=[3, 3], pads=[1, 0, 2, 1]),
    "stride-pads": dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
    "large": dict(kernel_shape=[9, 8]),
    "single": dict(kernel_shape=[1, 1], strides=[2, 2]),
    "same-upper": dict(kernel_shape=[3, 4], strides=[2, 3], auto_pad="SAME_UPPER"),
    "same-lower": dict(kernel_shape=[3, 4], strides=[2, 3], auto_pad="SAME_LOWER"),
    "same-upper-unit": dict(kernel_shape=[4, 2], auto_pad="SAME_UPPER"),
    "same-lower-unit": dict(kernel_shape=[4, 2], auto_pad="SAME_LOWER"),
    "valid": dict(kernel_shape=[4, 4], strides=[3, 2], auto_pad="VALID"),
}
CEIL_WINDOWS = {
    "ceil": dict(kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
    "ceil-pads": dict(kernel_shape=[2, 3], strides=[2, 3], pads=[1, 1, 1, 1], ceil_mode=1),
    "ceil-start-in-padding": dict(kernel_shape=[1, 2], strides=[3, 3], pads=[0, 0, 0, 1], ceil_mode=1),
}
DILATED_WINDOWS = {
    "dilations": dict(kernel_shape=[3, 2], dilations=[2, 3]),
    "dilations-pads": dict(kernel_shape=[3, 3], dilations=[2, 1], strides=[1, 2], pads=[2, 1, 1, 1]),
    "dilations-ceil": dict(kernel_shape=[2, 2], dilations=[2, 2], strides=[3, 2], ceil_mode=1),
}


def max_pool():
    x = {"x": images(2, 3, 9, 8)}
    for name, window in {**WINDOWS, **CEIL_WINDOWS, **DILATED_WINDOWS}.items():
        yield case(f"MaxPool/{name}", "MaxPool", x, **window)
        for order in (0, 1):
            if order == 1 and "dilations" in name:
                continue
            yield case(f"MaxPool/{name}-indices-order{order}", "MaxPool", x, ["y", "indices"],
                       output_types=[FLOAT, INT64], storage_order=order, **window)
    yield case("MaxPool/opset7", "MaxPool", x, opset=7, kernel_shape=[2, 2], strides=[2, 2])
    yield case("MaxPool/opset8-indices", "MaxPool", x, ["y", "indices"], opset=8, output_types=[FLOAT, INT64],
               kernel_shape=[2, 2])
    yield case("MaxPool/ties", "MaxPool", {"x": np.zeros((1, 1, 4, 4), np.float32)}, ["y", "indices"],
               output_types=[FLOAT, INT64], kernel_shape=[2, 2])
    yield case("MaxPool/uint8", "MaxPool", {"x": np.arange(36, dtype=np.uint8).reshape(1, 1, 6, 6)},
               kernel_shape=[3, 3])
    yield case("MaxPool/1d", "MaxPool", {"x": images(2, 3, 11)}, ["y", "indices"], output_types=[FLOAT, INT64],
               kernel_shape=[3], strides=[2], pads=[1, 1])
    for order in (0, 1):
        yield case(f"MaxPool/3d-order{order}", "MaxPool", {"x": images(2, 2, 5, 6, 7)}, ["y", "indices"],
                   output_types=[FLOAT, INT64], kernel_shape=[2, 3, 2], strides=[2, 1, 3], storage_order=order)


def average_pool():
    x = {"x": images(2, 3, 9, 8)}
    for include, (name, window) in itertools.product((None, 0, 1), WINDOWS.items()):
        yield case(f"AveragePool/{name}-include{include}", "AveragePool", x, count_include_pad=include, **window)
    for include, (name, window) in itertools.product((0, 1), {**CEIL_WINDOWS, **DILATED_WINDOWS}.items()):
        yield case(f"AveragePool/{name}-include{include}", "AveragePool", x, opset=19, count_include_pad=include,
                   **window)
    yield case("AveragePool/opset7", "AveragePool", x, opset=7, kernel_shape=[3, 3], pads=[1, 1, 1, 1],
               count_include_pad=1)
    yield case("AveragePool/1d", "AveragePool", {"x": images(2, 3, 11)}, kernel_shape=[4], strides=[3], pads=[2, 1])
    for include in (0, 1):
        yield case(f"AveragePool/3d-include{include}", "AveragePool", {"x": images(1, 2, 5, 6, 7)},
                   kernel_shape=[2, 3, 2], strides=[1, 2, 2], pads=[1, 1, 0, 0, 1, 1], count_include_pad=include)


def lp_pool():
    x = {"x": images(2, 3, 9, 8)}
    for p, (name, window) in itertools.product((None, 1, 2, 3), WINDOWS.items()):
        yield case(f"LpPool/{name}-p{p}", "LpPool", x, p=p, **window)
    for name, window in {**CEIL_WINDOWS, **DILATED_WINDOWS}.items():
        yield case(f"LpPool/{name}", "LpPool", x, opset=18, **window)
    yield case("LpPool/1d", "LpPool", {"x": images(2, 3, 11)}, kernel_shape=[4], strides=[3], p=3)


def global_pools():
    for shape in ((2, 3, 7), (2, 3, 5, 4), (1, 2, 3, 4, 5)):
        x = {"x": images(*shape)}
        yield case(f"GlobalAveragePool/{len(shape)}", "GlobalAveragePool", x)
        yield case(f"GlobalMaxPool/{len(shape)}", "GlobalMaxPool", x)
        for p in (None, 1, 2):
            yield case(f"GlobalLpPool/{len(shape)}-p{p}", "GlobalLpPool", x, p=p)


def random_windows(count: int):
    """Attribute values drawn together; the same ones for every operator that has them."""
    generator = np.random.default_rng(SEED)
    for number in range(count):
        rank = int(generator.integers(1, 4))
        kernel = generator.integers(1, 4, rank)
        window = dict(
            kernel_shape=kernel.tolist(),
            strides=generator.integers(1, 4, rank).tolist(),
            pads=[int(generator.integers(0, size)) for size in [*kernel, *kernel]],
            ceil_mode=int(generator.integers(0, 2)),
        )
        x = {"x": images(2, 2, *generator.integers(5, 9, rank).tolist())}
        yield case(f"MaxPool/random{number}", "MaxPool", x, ["y", "indices"], output_types=[FLOAT, INT64], **window)
        include = int(generator.integers(0, 2))
        yield case(f"AveragePool/random{number}", "AveragePool", x, opset=19, count_include_pad=include, **window)
        yield case(f"LpPool/random{number}", "LpPool", x, opset=18, p=int(generator.integers(1, 4)), **window)


def cases():
    yield from max_pool()
    yield from average_pool()
    yield from lp_pool()
    yield from global_pools()
    yield from random_windows(12)
