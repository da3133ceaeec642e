"""Single kernels of the sizes that networks have, drawn at random: what `measure_gpu --cases` takes.

    python -m monet.network_kernels -o cases.csv

Sizes follow what networks have in common and no network: channels grow as images shrink, batches are powers of two.
The same seed gives the same table, in an order in which every first part is a fair sample.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

Case = dict[str, Any]

DIRECTIONS = ("forward", "input_gradient", "weight_gradient")
DENSE = ("fp32", "tf32", "bf16")
HEIGHTS = (7, 7, 8, 14, 14, 16, 28, 28, 32, 56, 56, 64, 112, 128, 224)
ODD_HEIGHTS = (9, 10, 11, 13, 13, 15, 17, 19, 20, 27, 27, 35, 36, 55, 55, 73, 111)
BATCHES = (1, 2, 4, 8, 8, 16, 32, 32, 64, 64, 128, 256)
MOST_ELEMENTS = 1 << 28  # of one tensor
MOST_MACS = 1.5e11  # some 8 ms in fp32


class Draw:
    def __init__(self, seed: int, heights: tuple[int, ...] = HEIGHTS) -> None:
        self.random = random.Random(seed)
        self.heights = heights

    def one(self, values: Any) -> Any:
        return self.random.choice(values)

    def channels(self, height: int, least: int = 8) -> int:
        """Some 64 at 56 x 56, twice as many at half of that, within a factor of eight, a multiple of 8, 16 or 32."""
        wanted = 64 * 56 / height * 2 ** self.random.uniform(-2.5, 2)
        step = self.one((8, 16, 32) if wanted > 64 else (4, 8, 8, 16))
        return max(least, min(2048, step * round(wanted / step)))

    def convolution(self, kernel: int, stride: int, groups: Callable[[int], int] | None = None) -> Case:
        for _ in itertools.count():
            h, b = self.one(self.heights), self.one(BATCHES)
            c = self.channels(h)
            o = c if self.random.random() < 0.4 else self.channels(max(4, h // stride))
            g = 1
            if groups is not None:
                g = groups(c)
                o = c if self.random.random() < 0.7 else 2 * c
            macs = b * (h / stride) ** 2 * kernel**2 * c * o / g
            fits = b * h * h * max(c, o / stride**2) < MOST_ELEMENTS and macs < MOST_MACS and c % g == 0 and o % g == 0
            if fits and h >= stride * 2:
                return {"kind": "conv", "b": b, "c": c, "o": o, "h": h, "kernel": kernel, "stride": stride, "groups": g, "channels_last": 0}
        raise AssertionError

    def first_layer(self) -> Case:
        kernel, stride = self.one(((3, 1), (3, 2), (5, 1), (5, 2), (7, 2), (7, 1), (11, 4), (4, 4), (8, 8), (14, 14), (16, 16)))
        b, h = self.one(BATCHES), self.one((28, 32, 64, 224, 224, 224, 224, 256))
        o = self.one((16, 24, 32, 32, 48, 64, 64, 64, 96)) if stride < 8 else self.one((192, 384, 768, 1024))
        return {"kind": "conv", "b": b, "c": self.one((3, 3, 3, 1, 4)), "o": o, "h": h, "kernel": kernel, "stride": stride,
                "groups": 1, "channels_last": 0}  # fmt: skip


def _group_counts(draw: Draw) -> Callable[[int], int]:
    def count(channels: int) -> int:
        if draw.random.random() < 0.6:  # so many channels a group
            return max(2, channels // draw.one((4, 8, 8, 16, 24, 32, 64)))
        return int(draw.one((2, 3, 4, 8, 16, 32, 32)))

    return count


def _each(shapes: Iterator[Case], precisions: tuple[str, ...] = DENSE, parts: tuple[str, ...] = DIRECTIONS) -> Iterator[Case]:
    for shape, precision, part in itertools.product(list(shapes), precisions, parts):
        yield {**shape, "precision": precision, "part": part}


def _convolutions(draw: Draw) -> Iterator[Case]:
    last = {"channels_last": 1}
    yield from _each(draw.convolution(3, draw.one((1, 1, 1, 1, 2))) for _ in range(150))
    yield from _each(draw.convolution(draw.one((5, 5, 7)), draw.one((1, 1, 2))) for _ in range(20))
    yield from _each((draw.first_layer() for _ in range(40)), DENSE, ("forward", "weight_gradient"))
    yield from _each(draw.convolution(1, 1) for _ in range(110))
    yield from _each(draw.convolution(1, 2) for _ in range(15))
    yield from _each(draw.convolution(draw.one((2, 4)), draw.one((2, 2, 4))) for _ in range(10))
    yield from _each((draw.convolution(3, draw.one((1, 1, 2)), _group_counts(draw)) for _ in range(65)))
    yield from _each((draw.convolution(1, 1, _group_counts(draw)) for _ in range(10)))
    yield from _each(({**draw.convolution(draw.one((1, 1, 3)), draw.one((1, 1, 2))), **last} for _ in range(30)))
    yield from _each(({**draw.convolution(2, 2), **last} for _ in range(8)))
    depthwise = lambda: draw.convolution(draw.one((3, 3, 3, 5, 5, 7, 9)), draw.one((1, 1, 2)), lambda c: c)  # noqa: E731
    yield from _each(({**shape, "o": shape["c"]} for shape in (depthwise() for _ in range(50))), ("fp32", "bf16"))
    yield from _each(({**shape, "o": shape["c"], **last} for shape in (depthwise() for _ in range(40))))
    yield from _each(({**shape, "o": shape["c"]} for shape in (depthwise() for _ in range(8))), ("tf32",))


def _products(draw: Draw) -> Iterator[Case]:
    widths = (64, 128, 256, 384, 512, 768, 1000, 1024, 1280, 1536, 2048, 3072, 4096, 8192)
    for _ in range(40):  # classifiers and the like: few rows
        m, n, k = draw.one(BATCHES), draw.one((*widths, 10, 100, 1000, 1000)), draw.one((*widths, 9216, 25088))
        for precision, part in itertools.product(DENSE, DIRECTIONS):
            yield {"kind": "linear", "part": part, "m": m, "n": n, "k": k, "precision": precision}
    for _ in range(40):
        m, n, k = draw.one(BATCHES) * draw.one((49, 64, 128, 196, 197, 256, 512)), draw.one(widths), draw.one(widths)
        for precision, part in itertools.product(DENSE, DIRECTIONS):
            if m * n * k < MOST_MACS and max(m * n, m * k) < MOST_ELEMENTS:
                yield {"kind": "linear", "part": part, "m": m, "n": n, "k": k, "precision": precision}


def _norms(draw: Draw) -> Iterator[Case]:
    def image() -> Case:
        while True:
            h, b = draw.one((*HEIGHTS, 1, 4)), draw.one(BATCHES)
            c = draw.channels(max(h, 4))
            if b * h * h > 1 and b * c * h * h < MOST_ELEMENTS:
                return {"b": b, "c": c, "h": h}

    for number in range(100):
        shape = {**image(), "kind": "batch_norm", "channels_last": int(number % 4 == 3)}
        for precision, part in itertools.product(("fp32", "bf16"), ("forward", "backward")):
            yield {**shape, "precision": precision, "part": part}
    widths = {"layer_norm": (64, 96, 128, 192, 256, 384, 512, 768, 768, 1024, 1536, 2048), "softmax": (49, 64, 128, 196, 197, 256, 512, 1024, 2048),
              "log_softmax": (10, 100, 1000, 8192, 16384, 32000)}  # fmt: skip
    for kind, columns in widths.items():
        for number in range(50 if kind == "layer_norm" else 20):
            rows = draw.one(BATCHES) * draw.one((1, 16, 49, 128, 196, 512, 784, 1024, 3136))
            shape = {"kind": kind, "rows": rows, "cols": draw.one(columns), "cold": number % 2}
            for precision, part in itertools.product(("fp32", "bf16"), ("forward", "backward")):
                if rows * shape["cols"] < MOST_ELEMENTS:
                    yield {**shape, "precision": precision, "part": part}
    pools = ("max_pool_2", "max_pool_3s2", "max_pool_3s1", "avg_pool_2", "avg_pool_3s1")
    backward = tuple(name + "_backward" for name in pools)
    for op in (*pools, *backward, "sum_023", "mean_23", "cat_channels", "scale_nc11"):
        for number in range(14):
            shape = image()
            if shape["h"] < 4:
                continue
            elements = shape["b"] * shape["c"] * shape["h"] ** 2
            yield {"kind": "shaped", "op": op, **shape, "elements": elements, "precision": ("fp32", "bf16")[number % 2]}
    for _ in range(20):
        columns, rows = draw.one(widths["layer_norm"]), draw.one(BATCHES) * draw.one((1, 16, 49, 196, 784))
        for op, precision in itertools.product(("sum_rows", "row_bias"), ("fp32", "bf16")):
            yield {"kind": "shaped", "op": op, "precision": precision, "b": rows, "s": 1, "heads": 1, "d": columns, "elements": rows * columns}


def _cold(cases: list[Case], draw: Draw) -> Iterator[Case]:
    """Some of them again, with operands that have left the cache: of a size that the cache would hold."""
    kinds = {"conv": 90, "linear": 45, "batch_norm": 60}
    for kind, count in kinds.items():
        near = [case for case in cases if case["kind"] == kind and _bytes(case) < 60e6]
        for case in draw.random.sample(near, min(count, len(near))):
            yield {**case, "cold": 1}


def _bytes(case: Case) -> float:
    if case["kind"] == "linear":
        return 4 * (case["m"] * case["k"] + case["n"] * case["k"] + case["m"] * case["n"])
    return 8 * case["b"] * case["c"] * case["h"] ** 2


def cases(seed: int) -> list[Case]:
    draw = Draw(seed)
    drawn = [*_convolutions(draw), *_products(draw), *_norms(draw)]
    drawn += list(_cold(drawn, draw))
    draw.random.shuffle(drawn)
    return drawn


def odd_cases(seed: int) -> list[Case]:
    """Images whose rows are no multiple of a vector, pools with stride 1 and gradients of means, sums of all shapes."""
    draw = Draw(seed, ODD_HEIGHTS)
    drawn = [*_each(draw.convolution(3, draw.one((1, 1, 1, 2))) for _ in range(60)), *_each(draw.convolution(1, 1) for _ in range(40)),
             *_each(draw.convolution(draw.one((5, 7)), 1) for _ in range(8))]  # fmt: skip
    for number in range(240):
        h, b = draw.one((*HEIGHTS, *ODD_HEIGHTS)), draw.one(BATCHES)
        c = draw.channels(h)
        op = ("max_pool_3s1", "avg_pool_3s1", "max_pool_3s1_backward", "avg_pool_3s1_backward", "avg_pool_2_backward", "sum_023", "sum_023",
              "sum_023", "max_pool_3s2", "max_pool_3s2_backward", "bias_nchw_inplace", "mean_23")[number % 12]  # fmt: skip
        if b * c * h * h < MOST_ELEMENTS:
            for precision in ("fp32", "bf16"):
                drawn.append({"kind": "shaped", "op": op, "b": b, "c": c, "h": h, "elements": b * c * h * h, "precision": precision})
    for _ in range(40):
        columns, rows = draw.one((10, 64, 96, 128, 192, 384, 512, 768, 1000, 1536, 3072, 4096)), draw.one(BATCHES) * draw.one((1, 49, 196, 784))
        for precision in ("fp32", "bf16"):
            drawn.append({"kind": "shaped", "op": "sum_rows", "precision": precision, "b": rows, "s": 1, "heads": 1, "d": columns, "elements": rows * columns})
    draw.random.shuffle(drawn)
    return drawn


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m monet.network_kernels", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", required=True, metavar="FILE.csv", help="the table")
    parser.add_argument("--odd", action="store_true", help="images of odd sizes, sums and more pools instead")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    given = parser.parse_args(arguments)
    drawn = (odd_cases if given.odd else cases)(given.seed)
    columns = sorted({key for case in drawn for key in case}, key=lambda key: (key not in ("kind", "part", "op", "precision"), key))
    with open(given.output, "w", newline="") as file:
        table = csv.DictWriter(file, columns)
        table.writeheader()
        table.writerows(drawn)
    return 0


if __name__ == "__main__":
    sys.exit(main())
