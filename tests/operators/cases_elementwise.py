"""Element-wise operators: every one, its attributes, types and opsets."""

import numpy as np
from onnx import TensorProto

from case import BOOL, FLOAT, INT8, INT32, INT64, UINT8, case, tensor_type

PLAIN = {  # operator: range of inputs it is defined on
    "Abs": (-3, 3), "Acos": (-0.95, 0.95), "Acosh": (1.1, 5), "Asin": (-0.95, 0.95), "Asinh": (-4, 4),
    "Atan": (-4, 4), "Atanh": (-0.9, 0.9), "Ceil": (-3, 3), "Cos": (-4, 4), "Cosh": (-3, 3), "Elu": (-3, 3),
    "Erf": (-2, 2), "Exp": (-3, 3), "Floor": (-3, 3), "HardSigmoid": (-4, 4), "HardSwish": (-5, 5),
    "LeakyRelu": (-3, 3), "Log": (0.1, 5), "Neg": (-3, 3), "Reciprocal": (0.5, 4), "Relu": (-3, 3),
    "Selu": (-3, 3), "Sigmoid": (-6, 6), "Sign": (-3, 3), "Sin": (-4, 4), "Sinh": (-3, 3), "Softplus": (-6, 6),
    "Softsign": (-4, 4), "Sqrt": (0, 5), "Tan": (-1.2, 1.2), "Tanh": (-3, 3), "ThresholdedRelu": (-3, 3),
    "Celu": (-3, 3), "Shrink": (-2, 2),
}

ATTRIBUTES = {  # operator: values to try for each attribute
    "Celu": {"alpha": [0.5, 2.0]},
    "Elu": {"alpha": [0.3, 2.0]},
    "HardSigmoid": {"alpha": [0.1, 0.5], "beta": [0.3, 0.6]},
    "LeakyRelu": {"alpha": [0.0, 0.2, 1.5]},
    "Selu": {"alpha": [0.5, 2.0], "gamma": [0.7, 1.5]},
    "Shrink": {"bias": [0.0, 0.5, -0.25], "lambd": [0.2, 1.0]},
    "ThresholdedRelu": {"alpha": [0.0, 0.5, 2.0]},
}

BROADCASTS = [((2, 3, 4), (2, 3, 4)), ((2, 3, 4), (4,)), ((2, 1, 4), (3, 1)), ((1,), (2, 3)), ((2, 3), ())]


def uniform(rng, shape, low=-3.0, high=3.0, dtype=np.float32):
    return np.asarray(rng.uniform(low, high, shape)).astype(dtype)


def unary(rng):
    for op, (low, high) in PLAIN.items():
        yield case(f"{op}", op, {"x": uniform(rng, (2, 3, 5), low, high)})
        yield case(f"{op}_scalar", op, {"x": uniform(rng, (), low, high)})
    for op, options in ATTRIBUTES.items():
        low, high = PLAIN[op]
        for key, values in options.items():
            for value in values:
                yield case(f"{op}_{key}_{value}", op, {"x": uniform(rng, (3, 7), low, high)}, **{key: value})
        for i in range(3):
            chosen = {key: float(rng.choice(values)) for key, values in options.items()}
            yield case(f"{op}_random_{i}", op, {"x": uniform(rng, (3, 7), low, high)}, **chosen)
    x = uniform(rng, (4, 9), -4, 4)
    yield case("Mish", "Mish", {"x": x}, opset=18)
    yield case("Mish_22", "Mish", {"x": x}, opset=22)
    yield case("HardSwish_22", "HardSwish", {"x": x}, opset=22)
    for form in (None, "none", "tanh"):
        yield case(f"Gelu_{form}", "Gelu", {"x": x}, opset=20, approximate=form)
    yield case("Gelu_microsoft", "Gelu", {"x": x}, domain="com.microsoft")
    yield case("FastGelu", "FastGelu", {"x": x}, domain="com.microsoft")
    for alpha in (1.0, 1.702):
        yield case(f"QuickGelu_{alpha}", "QuickGelu", {"x": x}, domain="com.microsoft", alpha=alpha)
    yield case("Swish", "Swish", {"x": x}, opset=24)
    yield case("Swish_alpha", "Swish", {"x": x}, opset=24, alpha=0.5)
    halves = np.array([-2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5, 0.4, 0.6, -0.6], np.float32)
    yield case("Round", "Round", {"x": halves})
    for dtype in (np.int32, np.int64, np.int8):
        yield case(f"Abs_{dtype.__name__}", "Abs", {"x": np.arange(-4, 5).astype(dtype)})
        yield case(f"Neg_{dtype.__name__}", "Neg", {"x": np.arange(-4, 5).astype(dtype)})
        yield case(f"Sign_{dtype.__name__}", "Sign", {"x": np.arange(-4, 5).astype(dtype)})
    special = np.array([np.inf, -np.inf, np.nan, 0, 1], np.float32)
    yield case("IsNaN", "IsNaN", {"x": special}, output_types=[BOOL], opset=20)
    for negative in (0, 1):
        for positive in (0, 1):
            yield case(f"IsInf_{negative}{positive}", "IsInf", {"x": special}, output_types=[BOOL], opset=20,
                       detect_negative=negative, detect_positive=positive)
    yield case("Not", "Not", {"x": np.array([True, False, True])})
    for dtype in (np.uint8, np.int32, np.int64):
        yield case(f"BitwiseNot_{dtype.__name__}", "BitwiseNot", {"x": np.arange(7).astype(dtype)}, opset=18)


def clips(rng):
    x = uniform(rng, (3, 8), -3, 3)
    low, high = np.float32(-1), np.float32(1.5)
    for opset in (7, 10):
        yield case(f"Clip_{opset}", "Clip", {"x": x}, opset=opset, min=-1.0, max=1.5)
        yield case(f"Clip_{opset}_min", "Clip", {"x": x}, opset=opset, min=0.5)
        yield case(f"Clip_{opset}_max", "Clip", {"x": x}, opset=opset, max=0.5)
    for opset in (11, 12, 13):
        yield case(f"Clip_{opset}", "Clip", {"x": x}, opset=opset,
                   initializers={"low": np.array(low), "high": np.array(high)})
        yield case(f"Clip_{opset}_low", "Clip", {"x": x}, opset=opset, initializers={"low": np.array(low)})
        yield case(f"Clip_{opset}_high", "Clip", {"x": x, "none": None}, opset=opset,
                   initializers={"high": np.array(high)})
        yield case(f"Clip_{opset}_none", "Clip", {"x": x}, opset=opset)
    yield case("Clip_data", "Clip", {"x": x, "low": np.array(low), "high": np.array(high)})
    yield case("Clip_data_low", "Clip", {"x": x, "low": np.array(low)})
    yield case("Clip_data_high", "Clip", {"x": x, "none": None, "high": np.array(high)})
    yield case("Clip_int", "Clip", {"x": np.arange(-5, 6, dtype=np.int32)},
               initializers={"low": np.array(-2, np.int32), "high": np.array(3, np.int32)})


def binary(rng):
    for i, (a, b) in enumerate(BROADCASTS):
        for op in ("Add", "Sub", "Mul", "Max", "Min"):
            yield case(f"{op}_{i}", op, {"a": uniform(rng, a), "b": uniform(rng, b)}, opset=14)
        yield case(f"Div_{i}", "Div", {"a": uniform(rng, a), "b": uniform(rng, b, 0.5, 3)})
        yield case(f"Pow_{i}", "Pow", {"a": uniform(rng, a, 0.2, 3), "b": uniform(rng, b, -2, 2)})
        for op in ("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal"):
            values = [rng.integers(-2, 3, shape).astype(np.float32) for shape in (a, b)]
            yield case(f"{op}_{i}", op, {"a": np.asarray(values[0]), "b": np.asarray(values[1])}, output_types=[BOOL])
        for op in ("And", "Or", "Xor"):
            values = [np.asarray(rng.integers(0, 2, shape)).astype(bool) for shape in (a, b)]
            yield case(f"{op}_{i}", op, {"a": values[0], "b": values[1]})
    for opset in (7, 13):
        yield case(f"Add_opset_{opset}", "Add", {"a": uniform(rng, (2, 3)), "b": uniform(rng, (3,))}, opset=opset)
        yield case(f"Max_opset_{8 if opset == 7 else opset}", "Max",
                   {"a": uniform(rng, (2, 3)), "b": uniform(rng, (3,))}, opset=max(opset, 8))
    for slope in ((3, 4), (4,), (1,), (2, 1, 1)):
        yield case(f"PRelu_{len(slope)}_{slope[0]}", "PRelu",
                   {"x": uniform(rng, (2, 3, 4)), "slope": uniform(rng, slope, 0, 1)})


def integers(rng):
    for dtype in (np.int32, np.int64, np.uint8):
        low = 0 if dtype is np.uint8 else -20
        a = rng.integers(low, 20, (4, 5)).astype(dtype)
        b = rng.integers(1, 7, (4, 5)).astype(dtype)
        if low < 0:
            b *= rng.choice(np.array([-1, 1], dtype), b.shape)
        name = dtype.__name__
        for op in ("Add", "Sub", "Mul", "Div"):
            yield case(f"{op}_{name}", op, {"a": a, "b": b}, opset=14)
        for fmod in (0, 1):
            yield case(f"Mod_{name}_{fmod}", "Mod", {"a": a, "b": b}, fmod=fmod)
        yield case(f"Max_{name}", "Max", {"a": a, "b": b})
        yield case(f"Equal_{name}", "Equal", {"a": a, "b": b}, output_types=[BOOL])
        yield case(f"Less_{name}", "Less", {"a": a, "b": b}, output_types=[BOOL])
        for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
            yield case(f"{op}_{name}", op, {"a": a, "b": b}, opset=18)
    yield case("Mod_float", "Mod", {"a": uniform(rng, (3, 4), -9, 9), "b": uniform(rng, (4,), 1, 3)}, fmod=1)
    yield case("Mod_float_negative", "Mod", {"a": uniform(rng, (3, 4), -9, 9), "b": uniform(rng, (4,), -3, -1)},
               fmod=1)
    for dtype in (np.int32, np.int64):
        yield case(f"Pow_{dtype.__name__}", "Pow", {"a": np.arange(-3, 4).astype(dtype),
                                                   "b": np.full(7, 3, dtype)}, opset=15)
    yield case("Pow_mixed", "Pow", {"a": uniform(rng, (5,), 0.5, 3), "b": np.arange(5)}, opset=15)
    for direction in ("LEFT", "RIGHT"):
        for dtype in (np.uint8, np.uint32, np.uint64):
            yield case(f"BitShift_{direction}_{dtype.__name__}", "BitShift",
                       {"a": np.array([1, 7, 200, 255], dtype), "b": np.array([0, 1, 3, 7], dtype)},
                       direction=direction)


def variadic(rng):
    for op in ("Max", "Min", "Sum", "Mean"):
        for shapes in ([(2, 3)], [(2, 3), (3,), (1,)], [(2, 3)] * 5, [(4, 1), (1, 5), (5,)]):
            inputs = {f"x{i}": uniform(rng, shape) for i, shape in enumerate(shapes)}
            yield case(f"{op}_of_{len(shapes)}_{shapes[0][0]}", op, inputs)
    for shapes in (((2, 3), (2, 3), (2, 3)), ((3,), (2, 1), (1,)), ((2, 1, 3), (4, 1), ())):
        condition = np.asarray(rng.integers(0, 2, shapes[0])).astype(bool)
        yield case(f"Where_{len(shapes[0])}_{len(shapes[2])}", "Where",
                   {"c": condition, "x": uniform(rng, shapes[1]), "y": uniform(rng, shapes[2])}, ["z"],
                   output_types=[FLOAT])
    yield case("Where_int", "Where", {"c": np.array([True, False]), "x": np.array([1, 2]), "y": np.array([3, 4])},
               ["z"], output_types=[INT64])


def casts(rng):
    x = np.array([-2.75, -1.0, -0.5, 0.0, 0.5, 1.0, 2.75, 100.0], np.float32)
    for kind in (TensorProto.INT64, TensorProto.INT32, TensorProto.INT16, TensorProto.INT8, TensorProto.BOOL,
                 TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.FLOAT):
        yield case(f"Cast_to_{kind}", "Cast", {"x": x}, output_types=[kind], to=kind)
        yield case(f"Cast_int_to_{kind}", "Cast", {"x": np.arange(-3, 4)}, output_types=[kind], to=kind)
        yield case(f"Cast_bool_to_{kind}", "Cast", {"x": np.array([True, False])}, output_types=[kind], to=kind)
    wide = np.array([-300, -129, -1, 127, 128, 255, 256, 1000])
    for kind in (UINT8, INT8, INT32):
        yield case(f"Cast_wrap_{kind}", "Cast", {"x": wide}, output_types=[kind], to=kind)
    for opset in (9, 13, 19):
        yield case(f"Cast_opset_{opset}", "Cast", {"x": x}, output_types=[INT32], to=INT32, opset=opset)
    yield case("CastLike", "CastLike", {"x": x, "like": np.array([1])}, output_types=[INT64])
    yield case("CastLike_same", "CastLike", {"x": x, "like": x}, output_types=[FLOAT])


def quantization(rng):
    x = np.concatenate([uniform(rng, (2, 3, 4), -8, 8).ravel(), np.array([0.05, 0.15, 0.25, 500, -500], np.float32),
                        np.zeros(1, np.float32)])[:30].reshape(2, 3, 5)
    for dtype in (np.uint8, np.int8):
        zero = np.array(3, dtype)
        for opset in (10, 13, 19, 21):
            name = f"{dtype.__name__}_{opset}"
            yield case(f"Quantize_{name}", "QuantizeLinear", {"x": x, "s": np.array(0.1, np.float32), "z": zero},
                       opset=opset, output_types=[tensor_type(zero)])
            q = rng.integers(0, 100, (2, 3, 4)).astype(dtype)
            yield case(f"Dequantize_{name}", "DequantizeLinear", {"x": q, "s": np.array(0.1, np.float32), "z": zero},
                       opset=opset, output_types=[FLOAT])
        for axis in (0, 1, 2, -1):
            scales = uniform(rng, (x.shape[axis],), 0.05, 0.2)
            zeros = rng.integers(0, 9, x.shape[axis]).astype(dtype)
            yield case(f"Quantize_{dtype.__name__}_axis_{axis}", "QuantizeLinear", {"x": x, "s": scales, "z": zeros},
                       output_types=[tensor_type(zeros)], axis=axis)
            q = rng.integers(0, 100, x.shape).astype(dtype)
            yield case(f"Dequantize_{dtype.__name__}_axis_{axis}", "DequantizeLinear",
                       {"x": q, "s": scales, "z": zeros}, output_types=[FLOAT], axis=axis)
    yield case("Quantize_without_zero", "QuantizeLinear", {"x": x, "s": np.array(0.1, np.float32)},
               output_types=[UINT8])
    yield case("Quantize_output_type", "QuantizeLinear", {"x": x, "s": np.array(0.1, np.float32)}, opset=21,
               output_types=[INT8], output_dtype=INT8)
    yield case("Dequantize_without_zero", "DequantizeLinear",
               {"x": rng.integers(0, 99, (3, 4)).astype(np.uint8), "s": np.array(0.1, np.float32)},
               output_types=[FLOAT])
    yield case("Dequantize_int32", "DequantizeLinear",
               {"x": rng.integers(-999, 999, (3, 4)).astype(np.int32), "s": np.array(0.01, np.float32)},
               output_types=[FLOAT])


def cases():
    rng = np.random.default_rng(11)
    for part in (unary, clips, binary, integers, variadic, casts, quantization):
        yield from part(rng)
