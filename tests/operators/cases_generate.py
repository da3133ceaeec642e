"""Operators that make values. Random ones cannot be compared; what they are in inference can."""

import numpy as np
from onnx import TensorProto

from case import BOOL, FLOAT, INT64, case
from cases_view import values


def cases():
    rng = np.random.default_rng(11)
    for k in (None, 0, 1, -2, 7):
        yield case(f"EyeLike_{k}", "EyeLike", {"x": values(rng, 3, 5)}, opset=9, k=k)
    for dtype in (FLOAT, INT64, TensorProto.DOUBLE):
        yield case(f"EyeLike_type_{dtype}", "EyeLike", {"x": values(rng, 4, 3)}, opset=9, dtype=dtype,
                   output_types=[dtype])
    for start, limit, delta in ((0, 70000, 1), (5, -140000, -2), (3, 200001, 3)):
        numbers = {"start": np.int64(start), "limit": np.int64(limit), "delta": np.int64(delta)}
        yield case(f"Range_large_{start}_{delta}", "Range", {}, opset=11, initializers=numbers, output_types=[INT64])
    yield case("Range_float", "Range", {}, opset=11,
               initializers={"start": np.float32(0.5), "limit": np.float32(40000), "delta": np.float32(0.5)})
    for opset in (7, 10):
        yield case(f"Dropout_{opset}", "Dropout", {"x": values(rng, 3, 4)}, opset=opset, ratio=0.3)
    yield case("Dropout_10_mask@reference", "Dropout", {"x": values(rng, 3, 4)}, ["y", "mask"], opset=10, ratio=0.3,
               output_types=[FLOAT, BOOL])
    for opset in (12, 13):
        ratio, training = np.float32(0.4), np.bool_(False)
        yield case(f"Dropout_{opset}", "Dropout", {"x": values(rng, 3, 4)}, opset=opset)
        yield case(f"Dropout_{opset}_seed", "Dropout", {"x": values(rng, 3, 4)}, opset=opset, seed=3)
        yield case(f"Dropout_{opset}_ratio", "Dropout", {"x": values(rng, 3, 4)}, opset=opset,
                   initializers={"ratio": ratio})
        yield case(f"Dropout_{opset}_inference", "Dropout", {"x": values(rng, 3, 4)}, ["y", "mask"], opset=opset,
                   initializers={"ratio": ratio, "training": training}, output_types=[FLOAT, BOOL])
        yield case(f"Dropout_{opset}_ratio_0", "Dropout", {"x": values(rng, 3, 4)}, ["y", "mask"], opset=opset,
                   initializers={"ratio": np.float32(0), "training": np.bool_(True)}, output_types=[FLOAT, BOOL])
    yield case("Bernoulli_certain@reference", "Bernoulli", {"x": np.array([0, 1, 1, 0], np.float32)}, opset=15)
    yield case("Bernoulli_type@reference", "Bernoulli", {"x": np.array([0, 1, 1, 0], np.float32)}, opset=15, dtype=INT64,
               output_types=[INT64])
    yield case("RandomUniform_narrow", "RandomUniformLike", {"x": values(rng, 2, 3)}, low=1.0, high=1.0 + 1e-6)
    yield case("RandomNormal_narrow", "RandomNormalLike", {"x": values(rng, 2, 3)}, mean=2.0, scale=1e-7)
