"""Times of single kernels on a graphics processor of one's own, as `monet calibrate` reads them.

    python -m monet.measure_gpu -o kernels.csv
    python -m monet.measure_gpu --cases cases.csv --seconds 540 -o kernels.csv

The second form measures the kernels of a table (`python -m monet.network_kernels` draws one). Needs PyTorch with CUDA and takes less than ten minutes. Each kernel is captured in a graph of many calls, which is
replayed: `us` is the time of one call without gaps between launches. A kernel that fails (too little memory, an older
PyTorch) is left out, with a line that says so.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

COLUMNS = ["kind", "part", "op", "precision", "b", "c", "o", "h", "kernel", "stride", "groups", "channels_last", "cold",
           "us", "workspace", "m", "n", "k", "s", "d", "rows", "cols", "elements", "heads", "vocabulary", "causal", "tensors",
           "power_w", "mj", "clock_mhz", "data"]  # fmt: skip

Case = dict[str, Any]


def _linears() -> Iterator[Case]:
    sizes = [(64, 64, 64), (8, 512, 4096), (128, 128, 128), (256, 1024, 256), (1024, 768, 768), (1024, 3072, 768),
             (4096, 768, 3072), (4096, 2304, 768), (512, 512, 512), (2048, 2048, 2048), (8192, 320, 1280), (32, 4096, 4096),
             (4096, 4096, 4096), (196, 256, 2304), (12544, 64, 147), (784, 1152, 128), (16384, 256, 64), (200, 1000, 2048),
             (1024, 50257, 768), (333, 1001, 515)]  # fmt: skip
    for (m, n, k), part in itertools.product(sizes, ("forward", "input_gradient", "weight_gradient")):
        yield {"kind": "linear", "part": part, "m": m, "n": n, "k": k}
    for (b, s, d), part in itertools.product([(12, 128, 64), (96, 512, 64), (192, 64, 128), (48, 1024, 64)], ("qk", "pv", "ptv")):
        yield {"kind": "bmm", "part": part, "b": b, "s": s, "d": d}


def _convolutions() -> Iterator[Case]:
    dense = [(8, 64, 64, 56, 3, 1), (64, 64, 64, 56, 3, 1), (8, 256, 256, 14, 3, 1), (64, 512, 512, 7, 3, 1), (32, 128, 256, 28, 3, 2),
             (8, 3, 64, 224, 7, 2), (1, 128, 128, 28, 3, 1), (16, 32, 32, 112, 3, 1), (64, 256, 64, 56, 1, 1), (8, 1024, 256, 14, 1, 1),
             (32, 256, 512, 28, 1, 2), (16, 192, 192, 16, 3, 1)]  # fmt: skip
    depthwise = [(16, 96, 112, 3, 2), (64, 144, 56, 3, 1), (16, 384, 14, 3, 1), (32, 240, 28, 5, 1), (8, 960, 7, 5, 1)]
    shapes = [(b, c, o, h, k, s, 1) for b, c, o, h, k, s in dense] + [(b, c, c, h, k, s, c) for b, c, h, k, s in depthwise]
    for (b, c, o, h, k, s, g), part, last in itertools.product(shapes, ("forward", "input_gradient", "weight_gradient"), (0, 1)):
        yield {"kind": "conv", "part": part, "b": b, "c": c, "o": o, "h": h, "kernel": k, "stride": s, "groups": g, "channels_last": last}


def _norms() -> Iterator[Case]:
    shapes = [(8, 64, 32), (64, 64, 112), (64, 256, 56), (16, 512, 14), (8, 1024, 7), (32, 128, 28), (2, 32, 64)]
    for (b, c, h), part, last in itertools.product(shapes, ("forward", "backward"), (0, 1)):
        yield {"kind": "batch_norm", "part": part, "b": b, "c": c, "h": h, "channels_last": last}
    rows = [(64, 768), (1024, 768), (8192, 768), (4096, 256), (16384, 1024), (512, 4096)]
    scores = [(128, 128), (12288, 1024), (98304, 128), (16384, 512), (256, 1000), (2048, 50257)]
    for kind, sizes in (("layer_norm", rows), ("softmax", scores), ("log_softmax", scores)):
        for (n, width), part in itertools.product(sizes, ("forward", "backward")):
            yield {"kind": kind, "part": part, "rows": n, "cols": width}


def _elements() -> Iterator[Case]:
    counts = [4**i for i in range(6, 14)]
    ops = ("add", "add_inplace", "mul_scalar", "cast", "copy", "fill", "relu", "relu_backward", "gelu", "gelu_backward",
           "sigmoid", "silu", "silu_backward")  # fmt: skip
    for op, elements in itertools.product(ops, counts):
        yield {"kind": "elementwise", "op": op, "elements": elements}
    images = [(1, 64, 56), (8, 64, 112), (64, 512, 14), (64, 64, 56), (16, 256, 28)]
    for op, (b, c, h) in itertools.product(SHAPED_IMAGES, images):
        yield {"kind": "shaped", "op": op, "b": b, "c": c, "h": h, "elements": b * c * h * h}
    texts = [(1, 128, 12, 64), (8, 512, 12, 64), (64, 128, 12, 64), (16, 1024, 16, 64)]
    for op, (b, s, heads, d) in itertools.product(SHAPED_TEXTS, texts):
        yield {"kind": "shaped", "op": op, "b": b, "s": s, "heads": heads, "d": d, "elements": b * s * heads * d}


def _others() -> Iterator[Case]:
    for (b, s), causal, part in itertools.product([(1, 128), (8, 512), (16, 1024), (4, 2048)], (0, 1), ("forward", "forward_backward")):
        yield {"kind": "attention", "part": part, "b": b, "heads": 12, "s": s, "d": 64, "causal": causal}
    for op, (tensors, elements) in itertools.product(
        ("sgd", "momentum", "adam", "adamw"), [(1, 1 << 24), (10, 1 << 20), (200, 1 << 16), (400, 1024), (1, 1024)]
    ):
        yield {"kind": "optimizer", "op": op, "tensors": tensors, "elements": elements}


SHAPED_IMAGES = ("bias_nchw_inplace", "scale_nc11", "expand_23_div", "nchw_to_nhwc", "nhwc_to_nchw", "cat_channels", "sum_023",
                 "mean_23", "max_pool_2", "max_pool_2_backward", "max_pool_3s2", "max_pool_3s2_backward", "avg_pool_2")  # fmt: skip
MORE_POOLS = ("max_pool_3s1", "max_pool_3s1_backward", "avg_pool_3s1", "avg_pool_3s1_backward", "avg_pool_2_backward")
SHAPED_TEXTS = ("row_bias", "bshd_to_bhsd", "bhds_to_bhsd", "qkv_slice_to_bhsd", "cat_qkv", "sum_rows")


def plan() -> list[Case]:
    """All kernels, in the order in which they are measured; columns as in the table."""
    cases = []
    for case in itertools.chain(_linears(), _convolutions(), _norms(), _elements(), _others()):
        dense = case["kind"] in ("linear", "bmm") or (case["kind"] == "conv" and case["groups"] == 1)
        cases += [{**case, "precision": precision} for precision in (("fp32", "tf32", "bf16") if dense else ("fp32", "bf16"))]
    return cases


def _made(torch: Any, precision: str) -> Callable[..., Any]:
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    return lambda *shape: torch.randn(*shape, device="cuda", dtype=dtype)


def _product(torch: Any, case: Case, new: Callable[..., Any]) -> Callable[[], Any]:
    if case["kind"] == "bmm":
        b, s, d = case["b"], case["s"], case["d"]
        scores, values = new(b, s, s), new(b, s, d)
        other = new(b, s, d)
        return {"qk": lambda: other @ values.transpose(1, 2), "pv": lambda: scores @ values,
                "ptv": lambda: scores.transpose(1, 2) @ values}[case["part"]]  # fmt: skip
    m, n, k = case["m"], case["n"], case["k"]
    x, w, g, bias = new(m, k), new(n, k), new(m, n), new(n)
    return {"forward": lambda: torch.nn.functional.linear(x, w, bias), "input_gradient": lambda: g @ w,
            "weight_gradient": lambda: g.t() @ x}[case["part"]]  # fmt: skip


def _convolution(torch: Any, case: Case, new: Callable[..., Any]) -> Callable[[], Any]:
    layout = torch.channels_last if case["channels_last"] else torch.contiguous_format
    k, s, groups = case["kernel"], case["stride"], case["groups"]
    x = new(case["b"], case["c"], case["h"], case["h"]).to(memory_format=layout)
    w = new(case["o"], case["c"] // groups, k, k)
    if groups == 1 or groups < case["c"]:
        w = w.to(memory_format=layout)
    padding = [k // 2, k // 2]
    y = torch.nn.functional.conv2d(x, w, None, s, padding, 1, groups)
    if case["part"] == "forward":
        return lambda: torch.nn.functional.conv2d(x, w, None, s, padding, 1, groups)
    mask = [case["part"] == "input_gradient", case["part"] == "weight_gradient", False]
    return lambda: torch.ops.aten.convolution_backward(y, x, w, None, [s, s], padding, [1, 1], False, [0, 0], groups, mask)


def _norm(torch: Any, case: Case, new: Callable[..., Any]) -> Callable[[], Any]:
    aten, forward = torch.ops.aten, case["part"] == "forward"
    if case["kind"] == "batch_norm":
        layout = torch.channels_last if case["channels_last"] else torch.contiguous_format
        x = new(case["b"], case["c"], case["h"], case["h"]).to(memory_format=layout)
        weight, bias, mean, var = (new(case["c"]).abs() for _ in range(4))
        run = lambda: aten._batch_norm_impl_index(x, weight, bias, mean, var, True, 0.1, 1e-5, True)  # noqa: E731
        if forward:
            return run
        y, saved_mean, saved_var, reserve, index = run()
        return lambda: aten._batch_norm_impl_index_backward(
            index, x, y, weight, mean, var, saved_mean, saved_var, True, 1e-5, [True] * 3, reserve)  # fmt: skip
    x = new(case["rows"], case["cols"])
    if case["kind"] == "layer_norm":
        weight, bias = new(case["cols"]), new(case["cols"])
        y, mean, rstd = aten.native_layer_norm(x, [case["cols"]], weight, bias, 1e-5)
        if forward:
            return lambda: aten.native_layer_norm(x, [case["cols"]], weight, bias, 1e-5)
        return lambda: aten.native_layer_norm_backward(y, x, [case["cols"]], mean, rstd, weight, bias, [True] * 3)
    name = "_" + case["kind"]
    y = getattr(aten, name)(x, -1, False)
    if forward:
        return lambda: getattr(aten, name)(x, -1, False)
    return lambda: getattr(aten, name + "_backward_data")(x, y, -1, y.dtype)


def _elementwise(torch: Any, case: Case, new: Callable[..., Any]) -> Callable[[], Any]:
    aten, n = torch.ops.aten, case["elements"]
    x, y = new(n), new(n)
    other = torch.float32 if x.dtype == torch.bfloat16 else torch.bfloat16
    return {
        "add": lambda: x + y, "add_inplace": lambda: x.add_(y), "mul_scalar": lambda: x * 0.5, "cast": lambda: x.to(other),
        "copy": lambda: x.clone(), "fill": lambda: x.fill_(0.5), "relu": lambda: torch.relu(x),
        "relu_backward": lambda: aten.threshold_backward(x, y, 0), "gelu": lambda: aten.gelu(x),
        "gelu_backward": lambda: aten.gelu_backward(x, y), "sigmoid": lambda: torch.sigmoid(x), "silu": lambda: aten.silu(x),
        "silu_backward": lambda: aten.silu_backward(x, y),
    }[case["op"]]  # fmt: skip


def _image(torch: Any, case: Case, new: Callable[..., Any]) -> Callable[[], Any]:
    aten, f = torch.ops.aten, torch.nn.functional
    b, c, h = case["b"], case["c"], case["h"]
    x = new(b, c, h, h)
    last = x.to(memory_format=torch.channels_last)
    bias, scale = new(1, c, 1, 1), new(b, c, 1, 1)
    pooled = next(sizes for name, sizes in {"3s2": (3, 2, 1), "3s1": (3, 1, 1), "": (2, 2, 0)}.items() if name in case["op"])
    size, stride, padding = ([v, v] for v in pooled)
    if "pool" in case["op"]:
        y, indices = f.max_pool2d(x, *pooled, return_indices=True)
    largest = lambda: f.max_pool2d(x, *pooled)  # noqa: E731
    mean = lambda: f.avg_pool2d(x, *pooled)  # noqa: E731
    largest_back = lambda: aten.max_pool2d_with_indices_backward(y, x, size, stride, padding, [1, 1], False, indices)  # noqa: E731
    mean_back = lambda: aten.avg_pool2d_backward(y, x, size, stride, padding, False, True, None)  # noqa: E731
    return {
        "bias_nchw_inplace": lambda: x.add_(bias), "scale_nc11": lambda: x * scale,
        "expand_23_div": lambda: scale.expand(b, c, h, h) / (h * h),
        "nchw_to_nhwc": lambda: x.contiguous(memory_format=torch.channels_last), "nhwc_to_nchw": lambda: last.contiguous(),
        "cat_channels": lambda: torch.cat((x, x), 1), "sum_023": lambda: x.sum((0, 2, 3)), "mean_23": lambda: x.mean((2, 3)),
        **dict.fromkeys(("max_pool_2", "max_pool_3s2", "max_pool_3s1"), largest),
        **dict.fromkeys(("max_pool_2_backward", "max_pool_3s2_backward", "max_pool_3s1_backward"), largest_back),
        **dict.fromkeys(("avg_pool_2", "avg_pool_3s1"), mean),
        **dict.fromkeys(("avg_pool_2_backward", "avg_pool_3s1_backward"), mean_back),
    }[case["op"]]  # fmt: skip


def _text(torch: Any, case: Case, new: Callable[..., Any]) -> Callable[[], Any]:
    b, s, heads, d = case["b"], case["s"], case["heads"], case["d"]
    x, qkv, bias = new(b, s, heads, d), new(b, s, 3 * heads * d), new(heads * d)
    flat = x.view(b * s, heads * d)
    return {
        "row_bias": lambda: flat + bias, "bshd_to_bhsd": lambda: x.transpose(1, 2).contiguous(),
        "bhds_to_bhsd": lambda: x.view(b, heads, d, s).transpose(2, 3).contiguous(),
        "qkv_slice_to_bhsd": lambda: qkv[..., : heads * d].view(b, s, heads, d).transpose(1, 2).contiguous(),
        "cat_qkv": lambda: torch.cat((flat, flat, flat), 1), "sum_rows": lambda: flat.sum(0),
    }[case["op"]]  # fmt: skip


def _attention(torch: Any, case: Case, new: Callable[..., Any]) -> Callable[[], Any]:
    q, k, v = (new(case["b"], case["heads"], case["s"], case["d"]).requires_grad_() for _ in range(3))
    run = lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=bool(case["causal"]))  # noqa: E731
    if case["part"] == "forward":
        return torch.no_grad()(run)
    gradient = torch.randn_like(q)
    return lambda: torch.autograd.grad(run(), (q, k, v), gradient)


def _optimizer(torch: Any, case: Case, new: Callable[..., Any]) -> Callable[[], Any]:
    tensors = [new(case["elements"]).requires_grad_() for _ in range(case["tensors"])]
    for tensor in tensors:
        tensor.grad = torch.randn_like(tensor)
    make = {"sgd": lambda: torch.optim.SGD(tensors, 1e-3, foreach=False), "momentum": lambda: torch.optim.SGD(tensors, 1e-3, 0.9, fused=True),
            "adam": lambda: torch.optim.Adam(tensors, fused=True, capturable=True),
            "adamw": lambda: torch.optim.AdamW(tensors, fused=True, capturable=True)}  # fmt: skip
    return make[case["op"]]().step


def call_of(torch: Any, case: Case) -> Callable[[], Any]:
    """What is measured, with its operands on the device."""
    new = _made(torch, case["precision"])
    kind = case["kind"]
    if kind == "shaped":
        return (_image if case["op"] in SHAPED_IMAGES + MORE_POOLS else _text)(torch, case, new)
    return {"linear": _product, "bmm": _product, "conv": _convolution, "batch_norm": _norm, "layer_norm": _norm, "softmax": _norm,
            "log_softmax": _norm, "elementwise": _elementwise, "attention": _attention, "optimizer": _optimizer}[kind](torch, case, new)  # fmt: skip


CALLS = 20  # in a graph, where they are short
EVICTED = 1 << 26  # bytes that are copied so that operands leave the cache


class Captured:
    """A graph of some calls, with what comes between them where operands are to be cold."""

    def __init__(self, torch: Any, call: Callable[[], Any], calls: int, between: Callable[[], Any] | None) -> None:
        stream = torch.cuda.Stream()
        self.calls = calls
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=stream):
            for _ in range(calls):
                if between is not None:
                    between()
                call()

    def replay(self) -> None:
        self.graph.replay()


def elapsed(torch: Any, run: Callable[[], Any], times: int) -> float:
    """Microseconds of one run."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(times):
        run()
    end.record()
    torch.cuda.synchronize()
    return 1000 * begin.elapsed_time(end) / times


def captured(torch: Any, call: Callable[[], Any], between: Callable[[], Any] | None = None) -> Captured:
    for _ in range(2):
        call()
    torch.cuda.synchronize()
    about = elapsed(torch, call, 1)
    return Captured(torch, call, max(2, min(CALLS, math.ceil(5000 / about))), between)


def workspace_of(torch: Any, call: Callable[[], Any]) -> int:
    """Bytes that a call holds beside its results."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    results = call()
    held = int(torch.cuda.max_memory_allocated() - torch.cuda.memory_allocated())
    del results
    return held


def microseconds(torch: Any, graph: Captured, warm_us: float = 20000, repeats: int = 5, least_us: float = 2000) -> float:
    """Time of one call: the middle of some measurements of at least 2 ms each, after 20 ms that bring the clock up."""

    def replayed(times: int) -> float:
        return elapsed(torch, graph.replay, times) / graph.calls

    replayed(1)
    about = max(replayed(1), 0.1)
    replayed(1 + int(warm_us / (about * graph.calls)))
    return sorted(replayed(1 + int(least_us / (about * graph.calls))) for _ in range(repeats))[repeats // 2]


def watts_and_clock(torch: Any, graph: Any, us: float, seconds: float = 0.6) -> tuple[float, int]:
    """Mean power while the graph is replayed without a pause, and the clock of the multiprocessors in MHz at the end."""
    until, samples, clock = time.monotonic() + seconds, [], 0
    while time.monotonic() < until:
        for _ in range(1 + int(20000 / (us * graph.calls))):
            graph.replay()
        samples.append(torch.cuda.power_draw() / 1000)
        clock = torch.cuda.clock_rate()
        torch.cuda.synchronize()
    return sum(samples[len(samples) // 2 :]) / len(samples[len(samples) // 2 :]), clock


# Kernels whose power is measured too, as the kind `energy`: long enough for the board's own counter.
POWERED = {"linear": ("m", "n", "k"), "elementwise": ("elements",), "batch_norm": ("b", "c", "h"), "conv": ("b", "c", "o", "h", "kernel", "groups")}
NAMES = {"linear": "gemm"}


def has_power(case: Case) -> bool:
    if case["kind"] not in POWERED or case.get("part", "forward") != "forward" or case.get("channels_last"):
        return False
    if case["kind"] == "elementwise":
        return case["op"] in ("add", "relu", "gelu") and case["elements"] >= 1 << 20
    return case["kind"] != "conv" or case["stride"] == 1


def energy_row(case: Case, us: float, power: float, clock: int) -> Case:
    """The line of the kind `energy` for a case whose power was measured."""
    row = {key: case[key] for key in POWERED[case["kind"]]}
    op = case["op"] if case["kind"] == "elementwise" else NAMES.get(case["kind"], case["kind"])
    return {**row, "kind": "energy", "op": op, "precision": case["precision"], "us": us, "power_w": power, "mj": power * us / 1000, "clock_mhz": clock}


QUICK = (5000, 3, 1500)  # the clock is up, since one kernel is measured right after the other


def measure(torch: Any, case: Case, with_power: bool, quick: bool = False) -> list[Case]:
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = case["precision"] == "tf32"
    call, settings = call_of(torch, case), QUICK if quick else ()
    if case.get("cold"):
        return [{**case, "us": round(cold_microseconds(torch, call, settings), 4)}]
    graph = captured(torch, call)
    us = microseconds(torch, graph, *settings)
    row = {**case, "us": round(us, 4), "cold": 0}
    if case["kind"] == "conv":
        row["workspace"] = workspace_of(torch, call)
    rows = [row]
    if with_power and has_power(case):
        power, clock = watts_and_clock(torch, graph, us)
        rows.append(energy_row(case, rows[0]["us"], round(power, 2), clock))
    return rows


def tiny_row(torch: Any) -> Case:
    """What the board draws while kernels run that do next to nothing."""
    one = torch.zeros(1, device="cuda")
    graph = captured(torch, lambda: one.add_(1))
    power, clock = watts_and_clock(torch, graph, microseconds(torch, graph))
    return {"kind": "energy", "op": "tiny_kernels", "power_w": round(power, 2), "clock_mhz": clock}


def cold_microseconds(torch: Any, call: Callable[[], Any], settings: tuple[float, ...]) -> float:
    """With as much copied between two calls as a cache holds; less what the copies take by themselves."""
    source = torch.empty(EVICTED, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    evict = lambda: target.copy_(source)  # noqa: E731
    both = microseconds(torch, captured(torch, call, evict), *settings)
    return both - microseconds(torch, captured(torch, evict), *settings)


def cases_of(path: str) -> list[Case]:
    """Kernels of a table, without their times."""
    numbers = set(COLUMNS) - {"kind", "part", "op", "precision", "data"}
    with open(path, newline="") as file:
        rows = [{key: value for key, value in row.items() if value not in ("", None)} for row in csv.DictReader(file)]
    return [{key: int(value) if key in numbers else value for key, value in row.items() if key in COLUMNS} for row in rows]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m monet.measure_gpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", required=True, metavar="FILE.csv", help="the table")
    parser.add_argument("--only", metavar="KIND", help="one kind of kernels: linear, conv, elementwise …")
    parser.add_argument("--no-energy", action="store_true", help="times only")
    parser.add_argument("--cases", metavar="FILE.csv", help="the kernels of this table and no others, more quickly each")
    parser.add_argument("--seconds", type=float, metavar="N", help="end after so long, with what has been measured")
    parser.add_argument("--list", action="store_true", help="say what would be measured, and measure nothing")
    given = parser.parse_args(arguments)
    planned = cases_of(given.cases) if given.cases else plan()
    cases = [case for case in planned if given.only in (None, case["kind"])]
    if not cases:
        parser.error(f"there is no kind '{given.only}': {', '.join(sorted({case['kind'] for case in planned}))}")
    torch = None
    if not given.list:
        import torch

        if not torch.cuda.is_available():
            print("measure_gpu: PyTorch finds no CUDA device here", file=sys.stderr)
            return 1
    with open(given.output, "w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        until = time.monotonic() + (given.seconds or math.inf)
        if torch is not None and not given.no_energy:
            table.writerow(tiny_row(torch))
        for number, case in enumerate(cases, 1):
            if time.monotonic() > until:
                print(f"measure_gpu: time is up after {number - 1} of {len(cases)}", file=sys.stderr)
                break
            if torch is None:
                table.writerow(case)
                continue
            try:
                table.writerows(measure(torch, case, not given.no_energy, given.cases is not None))
            except Exception as problem:  # noqa: BLE001: one kernel that this device or PyTorch cannot run leaves the others
                print(f"measure_gpu: left out {case}: {problem}", file=sys.stderr)
            if number % 20 == 0:
                torch.cuda.empty_cache()
            if number % 200 == 0:
                print(f"measure_gpu: {number} of {len(cases)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
