"""Operators that move data: every one, its attributes, types and opsets."""

import numpy as np

from case import FLOAT, INT64, case
from cases_view import integers, values


def pads(rng):
    choices = [(0, 0, 0, 0), (1, 2, 0, 1), (2, 0, 1, 3), (0, -1, 0, -1), (-1, 2, 1, -2)]
    for mode in (None, "constant", "reflect", "edge"):
        for pad in choices:
            label = f"{mode}_" + "_".join(map(str, pad))
            x = values(rng, 4, 5)
            yield case(f"Pad_7_{label}", "Pad", {"x": x}, opset=7, mode=mode, pads=pad, value=0.5)
            for opset in (11, 13, 18, 21):
                given = {"pads": integers(*pad)}
                if mode is None:
                    given["value"] = np.float32(1.5)
                yield case(f"Pad_{opset}_{label}", "Pad", {"x": x}, opset=opset, mode=mode, initializers=given)
    for pad in choices[:3]:
        label = "_".join(map(str, pad))
        yield case(f"Pad_19_wrap_{label}", "Pad", {"x": values(rng, 4, 5)}, opset=19, mode="wrap",
                   initializers={"pads": integers(*pad)})
    for axes in ([1], [0, 2], [-1], [2, 0]):
        label = "_".join(map(str, axes))
        for mode in ("constant", "edge", "reflect"):
            yield case(f"Pad_18_{mode}_axes_{label}", "Pad", {"x": values(rng, 2, 3, 4), "pads": None, "value": None}, opset=18,
                       mode=mode, initializers={"pads": rng.integers(0, 2, 2 * len(axes)), "axes": integers(*axes)})
    yield case("Pad_data_value", "Pad", {"x": values(rng, 3, 2), "pads": None, "value": values(rng)},
               initializers={"pads": integers(1, 0, 0, 2)})
    yield case("Pad_int64", "Pad", {"x": np.arange(6).reshape(2, 3)},
               initializers={"pads": integers(1, 1, 1, 1), "value": np.int64(7)})
    for sizes in ((4, 3), (2, 7), (5, 5), (3, 4)):
        label = "_".join(map(str, sizes))
        yield case(f"CenterCropPad_{label}", "CenterCropPad", {"x": values(rng, 3, 5)}, opset=18,
                   initializers={"shape": integers(*sizes)})
        yield case(f"CenterCropPad_axes_{label}", "CenterCropPad", {"x": values(rng, 3, 2, 5)}, opset=18,
                   axes=[0, -1], initializers={"shape": integers(*sizes)})


def tiles(rng):
    for repeats in ((1, 1, 1), (2, 1, 3), (1, 4, 1), (3, 2, 2), (0, 1, 1)):
        label = "_".join(map(str, repeats))
        for opset in (7, 13):
            yield case(f"Tile_{opset}_{label}", "Tile", {"x": values(rng, 2, 1, 3)}, opset=opset,
                       initializers={"repeats": integers(*repeats)})


def gathers(rng):
    x = values(rng, 4, 5, 3)
    for axis in (None, 0, 1, 2, -1, -2):
        size = x.shape[axis or 0]
        for shape in ((), (2,), (2, 3)):
            index = rng.integers(0 if axis is None else -size, size, shape)
            rank = len(shape)
            yield case(f"Gather_{axis}_{rank}", "Gather", {"x": x, "i": index}, opset=13, axis=axis)
        yield case(f"Gather_constant_{axis}", "Gather", {"x": x}, axis=axis,
                   initializers={"i": integers(1, 0)})
        shape = list(x.shape)
        shape[axis or 0] = 6
        yield case(f"GatherElements_{axis}", "GatherElements", {"x": x, "i": rng.integers(-size, size, shape)},
                   axis=axis, opset=13)
        yield case(f"GatherElements_smaller_{axis}", "GatherElements", {"x": x, "i": rng.integers(0, size, (2, 2, 2))},
                   axis=axis, opset=11)
    yield case("Gather_7", "Gather", {"x": x, "i": np.array([1, 3], np.int32)}, opset=7)
    for length in (1, 2, 3):
        index = np.stack([rng.integers(-x.shape[k], x.shape[k], (2, 6)) for k in range(length)], -1)
        yield case(f"GatherND_{length}", "GatherND", {"x": x, "i": index}, opset=13)
        yield case(f"GatherND_11_{length}", "GatherND", {"x": x, "i": index[0]}, opset=11)
    for batch, length in ((1, 1), (1, 2), (2, 1)):
        x4 = values(rng, 2, 3, 4, 5)
        lead = x4.shape[:batch]
        index = np.stack([rng.integers(0, x4.shape[batch + k], lead + (4,)) for k in range(length)], -1)
        yield case(f"GatherND_batch_{batch}_{length}", "GatherND", {"x": x4, "i": index}, opset=12, batch_dims=batch)


def distinct(rng, size, shape, axis):
    """Indices along `axis` without repetition, so that the order of updates does not matter."""
    order = np.argsort(rng.random(shape[:axis] + (size,) + shape[axis + 1:]), axis)
    return np.take(order, np.arange(shape[axis]), axis)


def scatters(rng):
    x = values(rng, 4, 5, 3)
    for axis in (None, 0, 1, -1):
        at = (axis or 0) % 3
        shape = tuple(2 if k == at else x.shape[k] for k in range(3))
        index = distinct(rng, x.shape[at], shape, at)
        yield case(f"Scatter_9_{axis}", "Scatter", {"x": x, "i": index, "u": values(rng, *shape)}, opset=9, axis=axis)
        yield case(f"ScatterElements_11_{axis}", "ScatterElements", {"x": x, "i": index, "u": values(rng, *shape)},
                   opset=11, axis=axis)
        for reduction in ("none", "add", "mul", "max", "min"):
            chosen = index if reduction == "none" else rng.integers(-x.shape[at], x.shape[at], shape)
            yield case(f"ScatterElements_{reduction}_{axis}", "ScatterElements",
                       {"x": x, "i": chosen, "u": values(rng, *shape)}, opset=18, axis=axis, reduction=reduction)
    yield case("ScatterElements_smaller", "ScatterElements",
               {"x": x, "i": integers(0, 2).reshape(1, 2, 1), "u": values(rng, 1, 2, 1)}, opset=13, axis=1)
    for length in (1, 2, 3):
        rows = rng.permutation(4)[:3]
        index = np.stack([rows] + [rng.integers(0, x.shape[k], 3) for k in range(1, length)], -1)
        updates = values(rng, 3, *x.shape[length:])
        yield case(f"ScatterND_11_{length}", "ScatterND", {"x": x, "i": index, "u": updates}, opset=11)
        for reduction in ("none", "add", "mul", "max", "min"):
            chosen = index if reduction == "none" else index[[0, 0, 1]]
            yield case(f"ScatterND_{reduction}_{length}", "ScatterND", {"x": x, "i": chosen, "u": updates}, opset=18,
                       reduction=reduction)


def triangles(rng):
    for upper in (None, 0, 1):
        for k in (None, 0, 1, -1, 3, -4, 9, -9):
            yield case(f"Trilu_{upper}_{k}", "Trilu", {"x": values(rng, 2, 4, 5)}, opset=14, upper=upper,
                       initializers=None if k is None else {"k": np.int64(k)})


def grids(rng):
    for mode in (None, "bilinear", "nearest", "bicubic"):
        for padding in (None, "zeros", "border", "reflection"):
            for align in (None, 0, 1):
                x = values(rng, 2, 3, 4, 5)
                grid = rng.uniform(-1.6, 1.6, (2, 3, 4, 2)).astype(np.float32)
                yield case(f"GridSample_16_{mode}_{padding}_{align}", "GridSample", {"x": x, "g": grid}, opset=16,
                           mode=mode, padding_mode=padding, align_corners=align)
    for mode in (None, "linear", "nearest", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            x = values(rng, 1, 2, 4, 5)
            grid = rng.uniform(-1.4, 1.4, (1, 3, 3, 2)).astype(np.float32)
            yield case(f"GridSample_20_{mode}_{padding}", "GridSample", {"x": x, "g": grid}, opset=20, mode=mode,
                       padding_mode=padding)
            if mode != "cubic":
                x = values(rng, 1, 2, 3, 4, 5)
                grid = rng.uniform(-1.4, 1.4, (1, 2, 3, 2, 3)).astype(np.float32)
                for align in (0, 1):
                    yield case(f"GridSample_20_{mode}_{padding}_3d_{align}", "GridSample", {"x": x, "g": grid},
                               opset=20, mode=mode, padding_mode=padding, align_corners=align)


def one_hots(rng):
    pair = np.array([-1, 2], np.float32)
    for axis in (None, 0, 1, 2, -1, -2):
        for opset in (9, 11):
            yield case(f"OneHot_{opset}_{axis}", "OneHot", {"i": rng.integers(-5, 5, (2, 3))}, opset=opset, axis=axis,
                       initializers={"depth": np.int64(5), "v": pair}, output_types=[FLOAT])
    yield case("OneHot_outside", "OneHot", {"i": integers(0, 7, -6, 4)}, output_types=[FLOAT],
               initializers={"depth": integers(5), "v": pair})
    yield case("OneHot_data_values", "OneHot", {"i": integers(0, 2), "depth": None, "v": values(rng, 2)},
               initializers={"depth": np.int64(3)}, output_types=[FLOAT])
    yield case("OneHot_float_depth@reference", "OneHot", {"i": integers(0, 2)}, output_types=[INT64],
               initializers={"depth": np.float32(3), "v": integers(0, 1)})
    yield case("OneHot_float_indices@reference", "OneHot", {"i": np.array([0, 2, 1], np.float32)}, output_types=[FLOAT],
               initializers={"depth": np.int64(3), "v": pair})


def sequences(rng):
    yield case("ReverseSequence", "ReverseSequence", {"x": values(rng, 4, 3), "n": integers(1, 4, 2)})
    yield case("ReverseSequence_batch_first", "ReverseSequence", {"x": values(rng, 3, 4, 2), "n": integers(1, 4, 3)},
               batch_axis=0, time_axis=1)
    yield case("ReverseSequence_time_first", "ReverseSequence", {"x": values(rng, 4, 3, 2), "n": integers(2, 4, 3)},
               batch_axis=1, time_axis=0)


def pool_indices(rng, shape, window):
    """Values and flat indices as MaxPool with kernel and stride `window` gives them."""
    n, c, h, w = shape
    x = values(rng, *shape)
    position = np.arange(x.size).reshape(shape)
    split = (n, c, h // window, window, w // window, window)
    tiles = [a.reshape(split).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h // window, w // window, -1)
             for a in (x, position)]
    best = tiles[0].argmax(-1, keepdims=True)
    return [np.take_along_axis(a, best, -1)[..., 0] for a in tiles]


def unpools(rng):
    top, index = pool_indices(rng, (2, 3, 4, 6), 2)
    yield case("MaxUnpool", "MaxUnpool", {"x": top, "i": index}, opset=11, kernel_shape=[2, 2], strides=[2, 2])
    yield case("MaxUnpool_9", "MaxUnpool", {"x": top, "i": index}, opset=9, kernel_shape=[2, 2], strides=[2, 2])
    yield case("MaxUnpool_shape", "MaxUnpool", {"x": top[:1, :1], "i": index[:1, :1]}, opset=11, kernel_shape=[2, 2],
               strides=[2, 2], initializers={"shape": integers(1, 1, 5, 7)})
    yield case("MaxUnpool_pads", "MaxUnpool", {"x": top[:1, :1], "i": np.arange(6).reshape(1, 1, 2, 3)}, opset=11,
               kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 0, 1])
    yield case("MaxUnpool_1d", "MaxUnpool", {"x": values(rng, 1, 1, 3), "i": integers(1, 2, 5).reshape(1, 1, 3)},
               opset=11, kernel_shape=[2], strides=[2])


def cases():
    rng = np.random.default_rng(5)
    for family in (pads, tiles, gathers, scatters, triangles, grids, one_hots, sequences, unpools):
        yield from family(rng)
