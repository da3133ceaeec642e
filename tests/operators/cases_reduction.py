"""Reductions, in all the ways ONNX has given their axes."""

import numpy as np
from case import FLOAT, INT64, case

SEED = 20241
REDUCTIONS = ["ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
              "ReduceProd", "ReduceSum", "ReduceSumSquare"]
AXES = {"first": [0], "last": [-1], "middle": [1], "two": [0, 2], "unordered": [-1, 0], "every": [0, 1, 2]}


def values(*shape: int) -> np.ndarray:
    """Positive, so that every reduction is defined."""
    return np.random.default_rng(SEED + sum(shape)).uniform(0.2, 2.0, size=shape).astype(np.float32)


def integers(*shape: int, kind=np.int64) -> np.ndarray:
    return np.random.default_rng(SEED + sum(shape)).integers(1, 9, size=shape).astype(kind)


def listed(axes: list[int]) -> dict[str, np.ndarray]:
    return {"axes": np.array(axes, np.int64)}


def reductions():
    x = {"x": values(3, 4, 5)}
    for op in REDUCTIONS:
        input_since = 13 if op == "ReduceSum" else 18
        for name, axes in AXES.items():
            for keepdims in (None, 0, 1):
                yield case(f"{op}/{name}-keep{keepdims}", op, x, opset=input_since, initializers=listed(axes),
                           keepdims=keepdims)
            yield case(f"{op}/{name}-attribute", op, x, opset=12 if op == "ReduceSum" else 17, axes=axes, keepdims=0)
        for keepdims in (0, 1):
            yield case(f"{op}/none-keep{keepdims}", op, x, opset=17, keepdims=keepdims)
            yield case(f"{op}/none-since18-keep{keepdims}", op, x, opset=18, keepdims=keepdims)
            yield case(f"{op}/opset11-keep{keepdims}", op, x, opset=11, axes=[1], keepdims=keepdims)
        yield case(f"{op}/empty-axes", op, x, opset=18, initializers=listed([]), noop_with_empty_axes=0)
        yield case(f"{op}/no-op", op, x, opset=18, noop_with_empty_axes=1)
        yield case(f"{op}/no-op-listed", op, x, opset=18, initializers=listed([]), noop_with_empty_axes=1)
        yield case(f"{op}/scalar", op, {"x": np.array(1.5, np.float32)}, opset=18, keepdims=0)
        yield case(f"{op}/vector", op, {"x": values(6)}, opset=18, initializers=listed([0]), keepdims=0)
        if op not in ("ReduceLogSum", "ReduceLogSumExp"):
            yield case(f"{op}/int32", op, {"x": integers(3, 4, kind=np.int32)}, opset=18, initializers=listed([1]))
    for op in ("ReduceMax", "ReduceMin"):
        for kind in (np.int8, np.uint8, np.int64):
            yield case(f"{op}/{kind.__name__}", op, {"x": integers(3, 4, kind=kind)}, opset=18,
                       initializers=listed([0]))
    large = {"x": (values(3, 4) * 200).astype(np.float32)}
    yield case("ReduceLogSumExp/large", "ReduceLogSumExp", large, opset=18, initializers=listed([1]))


def args():
    x = {"x": values(3, 4, 5)}
    ties = {"x": np.array([[1, 3, 3, 0, 0], [2, 2, 2, 2, 2]], np.float32)}
    for op in ("ArgMax", "ArgMin"):
        for axis in (None, 0, 1, 2, -1, -3):
            for keepdims in (None, 0, 1):
                yield case(f"{op}/axis{axis}-keep{keepdims}", op, x, output_types=[INT64], axis=axis,
                           keepdims=keepdims)
        for last in (0, 1):
            yield case(f"{op}/ties-last{last}", op, ties, output_types=[INT64], axis=1, select_last_index=last)
        yield case(f"{op}/opset11", op, x, output_types=[INT64], opset=11, axis=1)
        yield case(f"{op}/int32", op, {"x": integers(3, 4, kind=np.int32)}, output_types=[INT64], axis=1)


def cumulative_sums():
    for axis in (0, 1, 2, -1):
        for exclusive in (None, 0, 1):
            for reverse in (None, 0, 1):
                yield case(f"CumSum/axis{axis}-exclusive{exclusive}-reverse{reverse}", "CumSum",
                           {"x": values(3, 4, 5)}, initializers={"axis": np.array(axis, np.int64)},
                           exclusive=exclusive, reverse=reverse)
    yield case("CumSum/axis-vector", "CumSum", {"x": values(7)}, initializers={"axis": np.array([0], np.int32)})
    yield case("CumSum/int64", "CumSum", {"x": integers(3, 4)}, initializers={"axis": np.array(1, np.int64)})


def top_k():
    x = {"x": values(3, 4, 5)}
    outputs = dict(outputs=["values", "indices"], output_types=[FLOAT, INT64])
    for axis in (None, 0, 1, -1):
        for largest in (None, 0, 1):
            yield case(f"TopK/axis{axis}-largest{largest}", "TopK", x, initializers={"k": np.array([3], np.int64)},
                       axis=axis, largest=largest, **outputs)
    for k in (0, 1, 5):
        yield case(f"TopK/k{k}", "TopK", x, initializers={"k": np.array([k], np.int64)}, **outputs)
    yield case("TopK/opset1", "TopK", x, opset=9, k=2, axis=1, **outputs)
    yield case("TopK/opset10", "TopK", x, opset=10, initializers={"k": np.array([2], np.int64)}, **outputs)
    yield case("TopK/ties", "TopK", {"x": np.array([[1, 3, 3, 0, 3]], np.float32)},
               initializers={"k": np.array([4], np.int64)}, **outputs)
    yield case("TopK/sorted", "TopK", x, initializers={"k": np.array([2], np.int64)}, sorted=1, **outputs)


def hardmax():
    x = {"x": values(3, 4, 5)}
    for axis in (None, 0, 1, 2, -1, -2):
        yield case(f"Hardmax/axis{axis}", "Hardmax", x, opset=13, axis=axis)
        yield case(f"Hardmax/matrix-axis{axis}", "Hardmax", x, opset=12, axis=axis)
    yield case("Hardmax/ties", "Hardmax", {"x": np.array([[1, 3, 3, 0]], np.float32)}, opset=13)


def random_reductions(count: int):
    generator = np.random.default_rng(SEED)
    for number in range(count):
        op = REDUCTIONS[int(generator.integers(len(REDUCTIONS)))]
        rank = int(generator.integers(1, 6))
        axes = generator.permutation(rank)[: int(generator.integers(1, rank + 1))]
        signed = [int(axis) - rank * int(generator.integers(0, 2)) for axis in axes]
        x = {"x": values(*generator.integers(1, 5, rank).tolist())}
        yield case(f"{op}/random{number}", op, x, opset=18, initializers=listed(signed),
                   keepdims=int(generator.integers(0, 2)))


def cases():
    yield from reductions()
    yield from args()
    yield from cumulative_sums()
    yield from top_k()
    yield from hardmax()
    yield from random_reductions(30)
