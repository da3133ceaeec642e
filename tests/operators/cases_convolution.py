"""Conv and ConvTranspose in one to three dimensions."""

import numpy as np

from case import INT32, case


def normal(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def conv_inputs(rng, sizes, kernel, channels=4, outputs=6, group=1, batch=2, bias=True):
    inputs = {"x": normal(rng, batch, channels, *sizes), "w": normal(rng, outputs, channels // group, *kernel)}
    if bias:
        inputs["b"] = normal(rng, outputs)
    return inputs


def transpose_inputs(rng, sizes, kernel, channels=4, outputs=6, group=1, batch=2, bias=True):
    inputs = {"x": normal(rng, batch, channels, *sizes), "w": normal(rng, channels, outputs // group, *kernel)}
    if bias:
        inputs["b"] = normal(rng, outputs)
    return inputs


SIZES = {1: (9,), 2: (7, 8), 3: (5, 8, 4)}
KERNELS = {1: (3,), 2: (3, 2), 3: (2, 3, 1)}


def common(rng, op, make):
    for rank, sizes in SIZES.items():
        kernel = KERNELS[rank]
        name = f"{op}_{rank}d"
        yield case(name, op, make(rng, sizes, kernel), opset=11)
        yield case(f"{name}_without_bias", op, make(rng, sizes, kernel, bias=False))
        yield case(f"{name}_kernel_shape", op, make(rng, sizes, kernel), kernel_shape=kernel)
        yield case(f"{name}_strides", op, make(rng, sizes, kernel), strides=[2, 1, 3][:rank])
        yield case(f"{name}_dilations", op, make(rng, sizes, kernel), dilations=[2, 3, 1][:rank])
        yield case(f"{name}_pads", op, make(rng, sizes, kernel), pads=[1] * (2 * rank))
        yield case(f"{name}_uneven_pads", op, make(rng, sizes, kernel), pads=[1, 0, 2][:rank] + [0, 1, 1][:rank])
        yield case(f"{name}_valid", op, make(rng, sizes, kernel), auto_pad="VALID")
        yield case(f"{name}_group", op, make(rng, sizes, kernel, group=2), group=2)
        yield case(f"{name}_depthwise", op, make(rng, sizes, kernel, outputs=4, group=4), group=4)
        yield case(f"{name}_pointwise", op, make(rng, sizes, (1,) * rank))
    for opset in (7, 11, 22):
        yield case(f"{op}_opset_{opset}", op, make(rng, (7, 8), (3, 3)), opset=opset, pads=[1, 1, 1, 1])
    zero_bias = make(rng, (7, 8), (3, 3), bias=False)
    yield case(f"{op}_zero_bias", op, zero_bias, initializers={"b": np.zeros(6, np.float32)})
    yield case(f"{op}_known_bias", op, zero_bias, initializers={"b": np.arange(6, dtype=np.float32)})


def conv(rng):
    yield from common(rng, "Conv", conv_inputs)
    for rule in ("SAME_UPPER", "SAME_LOWER"):
        for rank, sizes in SIZES.items():
            for stride in (1, 2, 3):
                yield case(f"Conv_{rule}_{rank}d_{stride}", "Conv", conv_inputs(rng, sizes, KERNELS[rank]),
                           auto_pad=rule, strides=[stride] * rank)
        yield case(f"Conv_{rule}_even", "Conv", conv_inputs(rng, (7, 8), (4, 4)), auto_pad=rule)
    yield case("Conv_multiplier", "Conv", conv_inputs(rng, (6, 6), (3, 3), outputs=8, group=4), group=4)
    yield case("Conv_whole_input", "Conv", conv_inputs(rng, (5, 5), (5, 5)))
    for i in range(40):
        rank = int(rng.integers(1, 4))
        group = int(rng.choice([1, 2, 4]))
        options = {"strides": [int(v) for v in rng.integers(1, 4, rank)],
                   "dilations": [int(v) for v in rng.integers(1, 3, rank)],
                   "pads": [int(v) for v in rng.integers(0, 3, 2 * rank)]}
        kernel = [int(v) for v in rng.integers(1, 4, rank)]
        sizes = [int(v) for v in rng.integers(5, 9, rank)]
        inputs = conv_inputs(rng, sizes, kernel, channels=4, outputs=8, group=group, bias=bool(rng.integers(2)))
        yield case(f"Conv_random_{i}", "Conv", inputs, group=group, **options)


def conv_integer(rng):
    x = rng.integers(0, 200, (1, 2, 5, 5)).astype(np.uint8)
    w = rng.integers(0, 100, (3, 2, 3, 3)).astype(np.uint8)
    yield case("ConvInteger", "ConvInteger", {"x": x, "w": w}, output_types=[INT32])
    yield case("ConvInteger_zero", "ConvInteger", {"x": x, "w": w, "xz": np.array(7, np.uint8)}, output_types=[INT32],
               pads=[1, 1, 1, 1])
    yield case("ConvInteger_both_zero", "ConvInteger",
               {"x": x, "w": w, "xz": np.array(7, np.uint8), "wz": np.array(9, np.uint8)}, output_types=[INT32],
               strides=[2, 2])


def conv_transpose(rng):
    yield from common(rng, "ConvTranspose", transpose_inputs)
    for rank in (1, 2):
        sizes, kernel = SIZES[rank], KERNELS[rank]
        name = f"ConvTranspose_{rank}d"
        yield case(f"{name}_output_padding", "ConvTranspose", transpose_inputs(rng, sizes, kernel),
                   strides=[3] * rank, output_padding=[1, 2][:rank])
        for rule in ("SAME_UPPER", "SAME_LOWER"):
            for stride in (1, 2):  # onnxruntime leaves the rule where a stride is larger than its kernel
                yield case(f"{name}_{rule}_{stride}", "ConvTranspose", transpose_inputs(rng, sizes, kernel),
                           auto_pad=rule, strides=[stride] * rank)
    for i, shape in enumerate([(14, 16), (13, 15), (15, 16)]):
        for rule in (None, "SAME_UPPER", "SAME_LOWER"):
            yield case(f"ConvTranspose_output_shape_{i}_{rule}", "ConvTranspose",
                       transpose_inputs(rng, (7, 8), (3, 3)), strides=[2, 2], output_shape=shape, auto_pad=rule)
    for i in range(40):
        rank = int(rng.integers(1, 3))
        group = int(rng.choice([1, 2, 4]))
        strides = [int(v) for v in rng.integers(1, 4, rank)]
        options = {"strides": strides, "dilations": [int(v) for v in rng.integers(1, 3, rank)],
                   "pads": [int(v) for v in rng.integers(0, 2, 2 * rank)],
                   "output_padding": [int(rng.integers(0, stride)) for stride in strides]}
        kernel = [int(v) for v in rng.integers(1, 4, rank)]
        sizes = [int(v) for v in rng.integers(3, 7, rank)]
        inputs = transpose_inputs(rng, sizes, kernel, channels=4, outputs=8, group=group, bias=bool(rng.integers(2)))
        yield case(f"ConvTranspose_random_{i}", "ConvTranspose", inputs, group=group, **options)


def cases():
    rng = np.random.default_rng(13)
    for part in (conv, conv_integer, conv_transpose):
        yield from part(rng)
