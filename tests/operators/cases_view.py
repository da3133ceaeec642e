"""Views: every operator, its attributes, and both forms where an attribute became an input."""

import numpy as np

from case import BOOL, INT64, case

BIG = np.iinfo(np.int64).max
SMALL = np.iinfo(np.int64).min


def values(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def integers(*numbers):
    return np.array(numbers, np.int64)


def reshape(rng):
    targets = [(6, 4), (-1,), (0, -1), (2, 0, 4), (1, -1, 1, 8), (24,), (0, 0, 0), (4, 3, 2), (2, 2, -1, 2)]
    for target in targets:
        label = "x".join(map(str, target))
        for opset in (7, 13, 14, 19):
            yield case(f"Reshape_{opset}_{label}", "Reshape", {"x": values(rng, 2, 3, 4)}, opset=opset,
                       initializers={"shape": integers(*target)})
    yield case("Reshape_scalar", "Reshape", {"x": values(rng, 1, 1)}, initializers={"shape": integers()})
    yield case("Reshape_allowzero", "Reshape", {"x": values(rng, 2, 3)}, allowzero=1,
               initializers={"shape": integers(3, -1)})
    yield case("Reshape_int64", "Reshape", {"x": np.arange(6)}, initializers={"shape": integers(2, 3)})
    yield case("Reshape_bool", "Reshape", {"x": np.arange(6) % 2 == 0}, initializers={"shape": integers(2, 3)})


def ranks(rng):
    for axis in (None, 0, 1, 2, 3):
        yield case(f"Flatten_9_{axis}", "Flatten", {"x": values(rng, 2, 3, 4)}, opset=9, axis=axis)
    for axis in (-1, -3, 2):
        yield case(f"Flatten_13_{axis}", "Flatten", {"x": values(rng, 2, 3, 4)}, opset=13, axis=axis)
    for axes in (None, [0], [2], [0, 2]):
        label = "all" if axes is None else "_".join(map(str, axes))
        yield case(f"Squeeze_11_{label}", "Squeeze", {"x": values(rng, 1, 3, 1, 2)}, opset=11, axes=axes)
        yield case(f"Squeeze_13_{label}", "Squeeze", {"x": values(rng, 1, 3, 1, 2)}, opset=13,
                   initializers=None if axes is None else {"axes": integers(*axes)})
    yield case("Squeeze_11_negative", "Squeeze", {"x": values(rng, 1, 3, 1, 2)}, opset=11, axes=[-2])
    yield case("Squeeze_21_negative", "Squeeze", {"x": values(rng, 1, 3, 1)}, opset=21,
               initializers={"axes": integers(-1, 0)})
    for axes in ([0], [2], [0, 3], [1, 0], [3, 1, 0]):
        label = "_".join(map(str, axes))
        yield case(f"Unsqueeze_9_{label}", "Unsqueeze", {"x": values(rng, 3, 2)}, opset=9, axes=sorted(axes))
        yield case(f"Unsqueeze_13_{label}", "Unsqueeze", {"x": values(rng, 3, 2)}, opset=13,
                   initializers={"axes": integers(*axes)})
    yield case("Unsqueeze_11_negative", "Unsqueeze", {"x": values(rng, 3, 2)}, opset=11, axes=[-1, 0])
    yield case("Unsqueeze_13_negative", "Unsqueeze", {"x": values(rng, 3, 2)}, initializers={"axes": integers(-1, -3)})
    yield case("Identity", "Identity", {"x": values(rng, 2, 3)})
    yield case("Identity_scalar_7", "Identity", {"x": values(rng)}, opset=7)


def transpose(rng):
    yield case("Transpose_default", "Transpose", {"x": values(rng, 2, 3, 4)})
    yield case("Transpose_vector", "Transpose", {"x": values(rng, 4)})
    for perm in ([1, 0, 2], [2, 0, 1], [0, 2, 1], [2, 1, 0], [0, 1, 2]):
        label = "".join(map(str, perm))
        yield case(f"Transpose_{label}", "Transpose", {"x": values(rng, 2, 3, 4)}, perm=perm)
    for i in range(4):
        perm = rng.permutation(5).tolist()
        yield case(f"Transpose_random_{i}", "Transpose", {"x": values(rng, 2, 3, 1, 4, 2)}, perm=perm, opset=7)


SLICES = [  # starts, ends, axes, steps
    ([0], [2], None, None), ([1, 1], [3, 3], None, None), ([1], [3], [1], None), ([-3], [-1], [2], None),
    ([0], [BIG], [1], None), ([SMALL], [BIG], [0], None), ([2], [1], [0], None), ([9], [12], [0], None),
    ([0, 1], [4, 5], [2, 0], None), ([0], [5], [1], [2]), ([1], [BIG], [2], [3]), ([-1], [SMALL], [0], [-1]),
    ([4], [0], [1], [-2]), ([BIG], [SMALL], [2], [-3]), ([3], [1], [1], [-1]), ([0], [BIG], [1], [BIG]),
    ([-1], [SMALL], [1], [SMALL + 1]), ([1, -1], [4, -5], [-1, -2], [1, -2]),
]


def slices(rng):
    for i, (starts, ends, axes, steps) in enumerate(SLICES):
        x = values(rng, 4, 5, 6)
        given = {"starts": integers(*starts), "ends": integers(*ends)}
        if axes is not None:
            given["axes"] = integers(*axes)
        if steps is not None:
            given["steps"] = integers(*steps)
        for opset in (10, 13):
            yield case(f"Slice_{opset}_{i}", "Slice", {"x": x}, opset=opset, initializers=given)
        if steps is None and (axes is None or min(axes) >= 0):
            yield case(f"Slice_9_{i}", "Slice", {"x": x}, opset=9, starts=starts, ends=ends, axes=axes)
    for i in range(12):
        axes = rng.permutation(3)[: rng.integers(1, 4)]
        yield case(f"Slice_random_{i}", "Slice", {"x": values(rng, 4, 5, 6)}, initializers={
            "starts": rng.integers(-8, 8, len(axes)), "ends": rng.integers(-8, 8, len(axes)), "axes": axes,
            "steps": rng.choice([-3, -2, -1, 1, 2, 3], len(axes))})
    yield case("Slice_int32_bounds", "Slice", {"x": values(rng, 4, 5)}, initializers={
        "starts": np.array([1], np.int32), "ends": np.array([3], np.int32)})


def parts(rng):
    names = ["a", "b", "c"]
    for opset in (7, 11):
        yield case(f"Split_{opset}_equal", "Split", {"x": values(rng, 6, 4)}, names, opset=opset)
        yield case(f"Split_{opset}_sizes", "Split", {"x": values(rng, 2, 6)}, names, opset=opset, axis=1,
                   split=[1, 3, 2])
    for axis in (0, 1, -1, -2):
        yield case(f"Split_13_axis_{axis}", "Split", {"x": values(rng, 6, 6)}, names, opset=13, axis=axis)
        yield case(f"Split_13_sizes_{axis}", "Split", {"x": values(rng, 6, 6)}, names, opset=13, axis=axis,
                   initializers={"split": integers(4, 0, 2)})
    for size in (6, 7, 8):
        yield case(f"Split_18_{size}", "Split", {"x": values(rng, size, 2)}, names, opset=18, num_outputs=3)
    yield case("Split_18_sizes", "Split", {"x": values(rng, 2, 5)}, ["a", "b"], opset=18, axis=1,
               initializers={"split": integers(1, 4)})
    yield case("Split_single", "Split", {"x": values(rng, 3)}, ["a"], opset=13)
    for axis in (0, 1, 2, -1, -3):
        shapes = [[2, 3, 4] for _ in range(3)]
        shapes[1][axis] = 1
        shapes[2][axis] = 5
        yield case(f"Concat_{axis}", "Concat", {f"x{i}": values(rng, *shape) for i, shape in enumerate(shapes)},
                   axis=axis, opset=11)
    yield case("Concat_7", "Concat", {"a": values(rng, 2, 3), "b": values(rng, 2, 1)}, axis=1, opset=7)
    yield case("Concat_single", "Concat", {"a": values(rng, 2, 3)}, axis=0)


def broadcasts(rng):
    for i, (shape, target) in enumerate([((3, 1), (3, 4)), ((3, 1), (2, 1, 6)), ((1,), (2, 2)), ((), (3,)),
                                         ((2, 3), (1, 1)), ((2, 3), (3,)), ((1, 3, 1), (2, 1, 3, 4))]):
        for opset in (8, 13):
            yield case(f"Expand_{opset}_{i}", "Expand", {"x": values(rng, *shape)}, opset=opset,
                       initializers={"shape": integers(*target)})


def blocks(rng):
    for block in (1, 2, 3):
        yield case(f"DepthToSpace_7_{block}", "DepthToSpace", {"x": values(rng, 2, 2 * block**2, 3, 4)}, opset=7,
                   blocksize=block)
        for mode in (None, "DCR", "CRD"):
            yield case(f"DepthToSpace_{mode}_{block}", "DepthToSpace", {"x": values(rng, 2, 2 * block**2, 3, 4)},
                       blocksize=block, mode=mode)
        for opset in (7, 13):
            yield case(f"SpaceToDepth_{opset}_{block}", "SpaceToDepth", {"x": values(rng, 2, 3, 2 * block, 4 * block)},
                       opset=opset, blocksize=block)


def cases():
    rng = np.random.default_rng(3)
    for family in (reshape, ranks, transpose, slices, parts, broadcasts, blocks):
        yield from family(rng)
    yield case("Transpose_int64", "Transpose", {"x": np.arange(6).reshape(2, 3)}, output_types=[INT64])
    yield case("Concat_bool", "Concat", {"a": np.array([True, False]), "b": np.array([True])}, axis=0,
               output_types=[BOOL])
