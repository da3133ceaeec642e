"""Time to open a network, beside the ONNX project's own loader and shape inference, in the same run.

    python bench/against_onnx.py build/monet

Ours is the whole program: process start, reading, folding, all shapes and loop nests, all totals. Theirs is
`onnx.load` and `onnx.shape_inference.infer_shapes` inside a process that already runs; it counts no operations.
The least of several runs of each: other work on the machine only ever adds.
"""

import subprocess
import sys
import time
from pathlib import Path

import onnx

REPEATS = 7
MODELS = Path(__file__).resolve().parent.parent / "data" / "models"


def least(work) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def theirs(path: Path) -> None:
    onnx.shape_inference.infer_shapes(onnx.load(path, load_external_data=False), data_prop=True)


def main(program: str) -> None:
    print(f"{'model':28} {'monet':>10} {'onnx':>10} {'ratio':>7}")
    for name in ["mlp_robotics", "resnet18", "resnet50", "resnet50.dynamo", "bert_base", "gpt2_small", "gpt2_small_flash"]:
        path = MODELS / f"{name}.onnx"
        ours = least(lambda: subprocess.run([program, "inspect", path, "--json", "-q"], check=True, stdout=subprocess.DEVNULL))
        peer = least(lambda: theirs(path))
        print(f"{name:28} {ours * 1e3:7.1f} ms {peer * 1e3:7.1f} ms {peer / ours:6.2f}x")


if __name__ == "__main__":
    main(sys.argv[1])
