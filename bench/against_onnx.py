"""CPU time to open a network, beside the ONNX project's own loader and shape inference, in the same run.

    python bench/against_onnx.py build/monet_bench

Ours reads the file, folds shape computations, infers all shapes, recognizes idioms and roles, and checks the graph with
all loop nests and operation counts. Theirs is `onnx.load` and `onnx.shape_inference.infer_shapes`, which stops at
shapes. A ratio above 1 means that ours is quicker.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import onnx

REPEATS = 15
MODELS = Path(__file__).resolve().parent.parent / "data" / "models"


def ours(program: str) -> dict[str, float]:
    """Milliseconds by name of the benchmark."""
    options = ["--benchmark_filter=read_model/", "--benchmark_format=json", "--benchmark_min_time=0.2"]
    report = json.loads(subprocess.run([program, *options], check=True, capture_output=True, text=True).stdout)
    return {row["name"].split("/")[1]: row["cpu_time"] for row in report["benchmarks"]}


def theirs(path: Path) -> float:
    """Milliseconds, the least of several runs: other work on the machine only ever adds."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        onnx.shape_inference.infer_shapes(onnx.load(path, load_external_data=False), data_prop=True)
        times.append(time.process_time() - start)
    return min(times) * 1e3


def main(program: str) -> None:
    print(f"{'model':20} {'monet':>10} {'onnx':>10} {'ratio':>7}")
    for name, milliseconds in ours(program).items():
        file = name.removesuffix("_dynamo") + (".dynamo.onnx" if name.endswith("_dynamo") else ".onnx")
        peer = theirs(MODELS / file)
        print(f"{name:20} {milliseconds:7.2f} ms {peer:7.2f} ms {peer / milliseconds:6.2f}x")


if __name__ == "__main__":
    main(sys.argv[1])
