"""Whole training steps on a graphics processor, each captured in a graph and replayed: what `monet validate` compares with.

    scripts/measure_steps.py FOLDER --set unseen

writes FOLDER/steps.csv (columns as data/groundtruth/h200_training.csv) and FOLDER/models.tar.gz, the networks as ONNX without weights.
Needs PyTorch with CUDA, torchvision and onnx. Mean cross entropy, dropout off, no in-place activations, random weights and data.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import csv
import ctypes
import io
import os
import sys
import tarfile
import time
import traceback

import torch
from torch import nn
from torch.nn import functional as f

COLUMNS = ["network", "batch", "precision", "optimizer", "checkpoint", "parameters", "params_bytes", "static_bytes", "after_forward_bytes",
           "after_backward_bytes", "peak_forward_bytes", "peak_backward_bytes", "peak_optimizer_bytes", "graph_step_ms", "energy_per_step_mj",
           "power_w", "fwd_flops", "bwd_flops", "clock_mhz", "throttle"]  # fmt: skip


class Residual(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return x + self.inner(x)


def conv_mixer(width=384, depth=8, kernel=9, patch=7):
    block = lambda: nn.Sequential(  # noqa: E731
        Residual(nn.Sequential(nn.Conv2d(width, width, kernel, groups=width, padding=kernel // 2), nn.GELU(), nn.BatchNorm2d(width))),
        nn.Conv2d(width, width, 1), nn.GELU(), nn.BatchNorm2d(width))  # fmt: skip
    return nn.Sequential(nn.Conv2d(3, width, patch, patch), nn.GELU(), nn.BatchNorm2d(width), *[block() for _ in range(depth)],
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 1000))  # fmt: skip


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        b, s, w = x.shape
        q, k, v = (t.reshape(b, s, self.heads, w // self.heads).transpose(1, 2) for t in self.qkv(x).split(w, 2))
        scores = (q @ k.transpose(2, 3)) * (w // self.heads) ** -0.5
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, s, w))


def attention_block(width, heads, inner):
    return nn.Sequential(Residual(nn.Sequential(nn.LayerNorm(width), Attention(width, heads))),
                         Residual(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, inner), nn.SiLU(), nn.Linear(inner, width))))  # fmt: skip


class TextClassifier(nn.Module):
    """Width 512, 8 heads, 6 blocks, 200 tokens of 16,000; a class for each token."""

    def __init__(self, vocabulary=16000, width=512, heads=8, depth=6, tokens=200):
        super().__init__()
        self.embed, self.place = nn.Embedding(vocabulary, width), nn.Parameter(torch.randn(1, tokens, width))
        self.blocks = nn.Sequential(*[attention_block(width, heads, 1408) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.embed(x) + self.place)))


class SpeechNet(nn.Module):
    """Convolutions along time: 80 features, 800 frames, dilation none, gates by sigmoids."""

    def __init__(self, width=256, depth=10):
        super().__init__()
        self.first = nn.Sequential(nn.Conv1d(80, width, 5, stride=2, padding=2), nn.BatchNorm1d(width), nn.ReLU())
        self.convs = nn.ModuleList(nn.Conv1d(width, 2 * width, 3, padding=1) for _ in range(depth))
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in range(depth))
        self.head = nn.Linear(width, 500)

    def forward(self, x):
        x = self.first(x)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            a, b = conv(x).chunk(2, 1)
            x = x + norm(a * torch.sigmoid(b))
        return self.head(x.transpose(1, 2))


def tabular(width=1536, depth=5):
    layers = [nn.Linear(300, width), nn.BatchNorm1d(width), nn.ReLU()]
    for _ in range(depth):
        layers += [nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, 40))


class Segmenter(nn.Module):
    """An encoder of strided convolutions and a decoder of transposed ones, widths 48 to 384; 160 x 160 pixels, 12 classes."""

    def __init__(self):
        super().__init__()
        widths = [48, 96, 192, 384]
        block = lambda i, o: nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.LeakyReLU(0.1),  # noqa: E731
                                           nn.Conv2d(o, o, 3, padding=1), nn.BatchNorm2d(o), nn.LeakyReLU(0.1))  # fmt: skip
        self.down = nn.ModuleList(block(i, o) for i, o in zip([3, *widths[:-1]], widths, strict=True))
        self.shrink = nn.ModuleList(nn.Conv2d(w, w, 2, 2) for w in widths[:-1])
        self.grow = nn.ModuleList(nn.ConvTranspose2d(o, i, 2, 2) for i, o in zip(widths[:-1], widths[1:], strict=True))
        self.up = nn.ModuleList(block(2 * w, w) for w in widths[:-1])
        self.head = nn.Conv2d(widths[0], 12, 1)

    def forward(self, x):
        kept = []
        for i, block in enumerate(self.down):
            x = block(x)
            if i < 3:
                kept.append(x)
                x = self.shrink[i](x)
        for i in (2, 1, 0):
            x = self.up[i](torch.cat((self.grow[i](x), kept[i]), 1))
        return self.head(x).permute(0, 2, 3, 1)


def vision(name, **how):
    def make():
        import torchvision

        return getattr(torchvision.models, name)(weights=None, **how)

    return make


IMAGE = (3, 224, 224)
USUAL = [(8, "fp32"), (64, "fp32"), (8, "bf16"), (64, "bf16"), (32, "tf32"), (32, "amp")]
# What makes it, what one sample is (integers: tokens below that), steps.
KNOWN = {
    "alexnet": (vision("alexnet"), IMAGE, USUAL),
    "squeezenet1_1": (vision("squeezenet1_1"), IMAGE, USUAL),
    "regnet_y_400mf": (vision("regnet_y_400mf"), IMAGE, USUAL),
    "resnext50": (vision("resnext50_32x4d"), IMAGE, USUAL),
    "convnext_tiny": (vision("convnext_tiny"), IMAGE, USUAL),
    "shufflenet_v2": (vision("shufflenet_v2_x1_0"), IMAGE, USUAL),
}
UNSEEN = {
    "googlenet": (vision("googlenet", aux_logits=False, init_weights=False), IMAGE, USUAL),
    "resnet34": (vision("resnet34"), IMAGE, [(16, "fp32"), (128, "fp32"), (4, "bf16"), (128, "bf16"), (64, "tf32"), (32, "amp")]),
    "wide_resnet50_2": (vision("wide_resnet50_2"), IMAGE, [(4, "fp32"), (32, "fp32"), (16, "bf16"), (128, "bf16"), (16, "tf32"), (64, "amp")]),
    "efficientnet_v2_s": (vision("efficientnet_v2_s"), IMAGE, USUAL),
    "mobilenet_v3_large": (vision("mobilenet_v3_large"), IMAGE, [(16, "fp32"), (128, "fp32"), (16, "bf16"), (128, "bf16"), (64, "tf32"), (64, "amp")]),
    "densenet169": (vision("densenet169"), IMAGE, [(4, "fp32"), (32, "fp32"), (16, "bf16"), (64, "bf16"), (16, "tf32"), (16, "amp")]),
    "vit_b_32": (vision("vit_b_32"), IMAGE, USUAL),
    "swin_t": (vision("swin_t"), IMAGE, USUAL),
    "conv_mixer": (conv_mixer, IMAGE, USUAL),
    "text_classifier": (TextClassifier, (200, 16000), [(4, "fp32"), (32, "fp32"), (4, "bf16"), (64, "bf16"), (16, "tf32"), (16, "amp")]),
    "speech_net": (SpeechNet, (80, 800), USUAL),
    "tabular": (tabular, (300,), [(256, "fp32"), (4096, "fp32"), (256, "bf16"), (8192, "bf16"), (1024, "tf32"), (1024, "amp")]),
    "segmenter": (Segmenter, (3, 160, 160), [(2, "fp32"), (16, "fp32"), (4, "bf16"), (32, "bf16"), (8, "tf32"), (8, "amp")]),
}
SHORT = [(16, "fp32"), (128, "bf16"), (32, "tf32"), (48, "amp")]
# Measured after everything else, once.
LATER = {
    "efficientnet_b0": (vision("efficientnet_b0"), IMAGE, SHORT),
    "regnet_x_800mf": (vision("regnet_x_800mf"), IMAGE, SHORT),
    "vgg13_bn": (vision("vgg13_bn"), IMAGE, SHORT),
    "mnasnet1_0": (vision("mnasnet1_0"), IMAGE, SHORT),
    "inception_v3": (vision("inception_v3", aux_logits=False, init_weights=False), (3, 299, 299), SHORT),
}
SETS = {"known": KNOWN, "unseen": UNSEEN, "later": LATER}
OPTIMIZERS = ("adam", "adamw", "momentum")
TOKENS = ("text_classifier",)


def made(entry):
    torch.manual_seed(0)
    network = entry[0]().train()
    for module in network.modules():
        if getattr(module, "inplace", False):
            module.inplace = False
        if isinstance(module, (nn.Dropout, nn.Dropout1d, nn.Dropout2d)):
            module.p = 0.0
        if type(module).__name__ == "StochasticDepth":
            module.p = 0.0
        if isinstance(module, nn.MultiheadAttention):
            module.dropout = 0.0
        if isinstance(getattr(module, "dropout", None), float):
            module.dropout = 0.0
        if isinstance(getattr(module, "attention_dropout", None), float):
            module.attention_dropout = 0.0
    return network


def batch_of(name, entry, batch, dtype, device):
    shape = entry[1]
    if name in TOKENS:
        return torch.randint(0, shape[1], (batch, shape[0]), device=device)
    return torch.randn(batch, *shape, dtype=dtype, device=device)


def exported(job):
    """The network as ONNX without weights, as bytes; or what went wrong."""
    name, which = job
    torch.set_num_threads(2)
    try:
        import onnx

        entry = SETS[which][name]
        network, file = made(entry), io.BytesIO()
        torch.onnx.export(network, (batch_of(name, entry, 2, torch.float32, "cpu"),), file, training=torch.onnx.TrainingMode.TRAINING,
                          do_constant_folding=False, opset_version=17, dynamo=False, input_names=["input"], output_names=["output"],
                          dynamic_axes={"input": {0: "batch"}})  # fmt: skip
        model = onnx.load_from_string(file.getvalue())
        for tensor in model.graph.initializer:
            elements = 1
            for size in tensor.dims:
                elements *= size
            if elements > 64:
                tensor.ClearField("raw_data")
                tensor.data_location = onnx.TensorProto.EXTERNAL
                del tensor.external_data[:]
                entry = tensor.external_data.add()
                entry.key, entry.value = "location", f"{name}.weights"
        return name, model.SerializeToString(), ""
    except Exception:  # noqa: BLE001
        return name, b"", traceback.format_exc()[-600:]


class Board:
    """The board's own counters."""

    def __init__(self):
        self.library = ctypes.CDLL("libnvidia-ml.so.1")
        self.library.nvmlInit_v2()
        self.device = ctypes.c_void_p()
        self.library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device))

    def _read(self, function, value, *arguments):
        getattr(self.library, function)(self.device, *arguments, ctypes.byref(value))
        return value.value

    def millijoules(self):
        return self._read("nvmlDeviceGetTotalEnergyConsumption", ctypes.c_ulonglong())

    def clock(self):
        return self._read("nvmlDeviceGetClockInfo", ctypes.c_uint(), 1)

    def throttle(self):
        return self._read("nvmlDeviceGetCurrentClocksThrottleReasons", ctypes.c_ulonglong())


def measured(board, name, entry, batch, precision, optimizer_name, base):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    network = made(entry).cuda().to(dtype)
    x = batch_of(name, entry, batch, dtype, "cuda")

    def forward():
        with torch.autocast("cuda", torch.bfloat16, enabled=precision == "amp"):
            y = network(x)
        return f.cross_entropy(y.reshape(-1, y.shape[-1]).float(), target)

    with torch.no_grad():
        y = network(x)
        target = torch.randint(0, y.shape[-1], (y.numel() // y.shape[-1],), device="cuda")
        del y
    parameters = list(network.parameters())
    make = {"adam": lambda: torch.optim.Adam(parameters, 1e-4, fused=True, capturable=True),
            "adamw": lambda: torch.optim.AdamW(parameters, 1e-4, fused=True, capturable=True),
            "momentum": lambda: torch.optim.SGD(parameters, 1e-4, 0.9, fused=True)}  # fmt: skip
    optimizer = make[optimizer_name]()

    def step():
        optimizer.zero_grad(set_to_none=True)
        forward().backward()
        optimizer.step()

    row = {"network": name, "batch": batch, "precision": precision, "optimizer": optimizer_name, "checkpoint": "no",
           "parameters": sum(p.numel() for p in parameters), "params_bytes": sum(p.numel() * p.element_size() for p in parameters),
           "fwd_flops": 0, "bwd_flops": 0}  # fmt: skip
    step()
    optimizer.zero_grad(set_to_none=True)
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    now, peak = (lambda: torch.cuda.memory_allocated() - base), (lambda: torch.cuda.max_memory_allocated() - base)
    row["static_bytes"] = now()
    torch.cuda.reset_peak_memory_stats()
    loss = forward()
    row["after_forward_bytes"], row["peak_forward_bytes"] = now(), peak()
    torch.cuda.reset_peak_memory_stats()
    loss.backward()
    del loss
    row["after_backward_bytes"], row["peak_backward_bytes"] = now(), peak()
    torch.cuda.reset_peak_memory_stats()
    optimizer.step()
    row["peak_optimizer_bytes"] = peak()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(2):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph, stream=stream):
        step()

    def replayed(seconds, about):
        times = max(3, int(seconds * 1000 / about))
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        before = board.millijoules()
        begin.record()
        for _ in range(times):
            graph.replay()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / times, (board.millijoules() - before) / times

    about, _ = replayed(0.001, 1)
    replayed(0.4, about)
    ms, mj = replayed(1.0, about)
    row.update(graph_step_ms=round(ms, 4), energy_per_step_mj=round(mj, 2), power_w=round(mj / ms, 2), clock_mhz=board.clock(), throttle=board.throttle())
    return row


def profiled(name, entry, batch, precision, writer):
    """Device time by operator and shapes, as data/groundtruth/h200_operators.csv has it."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    network = made(entry).cuda().to(dtype)
    x = batch_of(name, entry, batch, dtype, "cuda")

    def step():
        with torch.autocast("cuda", torch.bfloat16, enabled=precision == "amp"):
            y = network(x)
        f.cross_entropy(y.reshape(-1, y.shape[-1]).float(), torch.zeros(y.numel() // y.shape[-1], dtype=torch.long, device="cuda")).backward()

    for _ in range(2):
        step()
    torch.cuda.synchronize()
    kinds = torch.profiler.ProfilerActivity
    with torch.profiler.profile(activities=[kinds.CPU, kinds.CUDA], record_shapes=True) as profile:
        step()
        torch.cuda.synchronize()
    for event in profile.key_averages(group_by_input_shape=True):
        if event.self_device_time_total > 0:
            writer.writerow([name, batch, precision, event.key, event.input_shapes, event.count, round(event.self_device_time_total, 1)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--set", choices=sorted(SETS), action="append", required=True)
    parser.add_argument("--profile", action="store_true", help="device time by operator too, of the sets that are known")
    parser.add_argument("--seconds", type=float, default=500)
    given = parser.parse_args()
    until = time.monotonic() + given.seconds
    jobs = [(name, which) for which in given.set for name in SETS[which]]
    pool = concurrent.futures.ProcessPoolExecutor(7)
    exports = [pool.submit(exported, job) for job in jobs]
    board = Board()
    torch.ones(64, 64, device="cuda") @ torch.ones(64, 64, device="cuda")
    for kind in (torch.float32, torch.bfloat16):  # workspaces of libraries stay
        a = torch.ones(256, 256, device="cuda", dtype=kind)
        f.linear(a, a, a[0])
    del a
    torch.cuda.synchronize()
    base = torch.cuda.memory_allocated()
    with open(os.path.join(given.folder, "steps.csv"), "w", newline="") as file, open(os.path.join(given.folder, "operators.csv"), "w", newline="") as other:
        table, operators = csv.DictWriter(file, COLUMNS), csv.writer(other)
        table.writeheader()
        operators.writerow(["network", "batch", "precision", "operator", "input_shapes", "calls", "device_us"])
        number = 0
        for name, which in jobs:
            for batch, precision in SETS[which][name][2]:
                if time.monotonic() > until:
                    print("time is up before", name, batch, precision, file=sys.stderr)
                    break
                try:
                    table.writerow(measured(board, name, SETS[which][name], batch, precision, OPTIMIZERS[number % 3], base))
                    if given.profile and which == "known":
                        profiled(name, SETS[which][name], batch, precision, operators)
                except Exception as problem:  # noqa: BLE001
                    print("left out", name, batch, precision, str(problem)[:300], file=sys.stderr)
                number += 1
                file.flush()
                torch.cuda.synchronize()
                torch.cuda.empty_cache()
    with tarfile.open(os.path.join(given.folder, "models.tar.gz"), "w:gz") as archive:
        for future in exports:
            name, content, problem = future.result()
            if problem:
                print("not exported", name, problem, file=sys.stderr)
                continue
            entry = tarfile.TarInfo(name + ".onnx")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


if __name__ == "__main__":
    main()
