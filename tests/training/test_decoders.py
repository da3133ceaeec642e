"""Steps of small decoders of the families whose published sizes are too large to run: the exported file in onnxruntime,
float32, against the float64 executor; tests/networks compares that with central differences."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import step_differences
from executor_step import executor_step
from onnx_step import onnx_steps
from step_cases import StepCase
from step_files import make_files

SIZES = "batch=2,width=32,vocabulary=50,tokens=8"
CASES = [
    StepCase("gpt", f"gpt:layers=2,heads=4,{SIZES}", optimizer="adamw"),
    StepCase("gpt-flash", f"gpt:layers=2,heads=4,flash=1,{SIZES}"),
    StepCase("llama", f"llama:layers=2,heads=4,kv_heads=2,ffn=48,{SIZES}", options={"clip": 0.5}),
    StepCase("moe", f"moe:layers=2,heads=4,kv_heads=2,experts=4,top_k=2,expert_ffn=24,{SIZES}"),
    StepCase("moe-shared", f"moe:layers=1,heads=4,kv_heads=1,experts=5,top_k=3,capacity=70,shared=2,expert_ffn=24,{SIZES}"),
    StepCase("deepseek", "deepseek-v3:layers=2,heads=4,head_width=8,rotary_width=4,query_rank=12,kv_rank=10,experts=6,"
                         f"top_k=2,expert_ffn=16,dense=1,ffn=40,{SIZES}"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_exported_steps_compute_the_same(case: StepCase, monet: Path, oracle: Path, tmp_path: Path) -> None:
    files = make_files(case, monet, oracle, tmp_path)
    (tmp_path / "run").mkdir()
    ran = onnx_steps(files)[0]
    expected = executor_step(files, oracle, tmp_path / "run")
    problems = step_differences.problems(files.sturdy(ran.results), files.sturdy(expected), ran.kept)
    assert len(ran.results) > 20 and not problems, "\n".join(problems[:40])


# Parameters as published, MACs of the step: tests/networks. The limits are several times what it takes.
@pytest.mark.parametrize("name, billions", [("llama3-405b", 405.85), ("deepseek-v3", 671.03), ("gpt-1t", 1008.04)])
def test_the_largest_are_quick_and_small(name: str, billions: float, monet: Path) -> None:
    if "MONET_BUILD" in os.environ:
        pytest.skip("another build, which may be slow on purpose")
    # A child begins with the peak of the process that starts it: a small one in between.
    between = ("import json, resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, check=True);"
               "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
               "print(json.dumps([json.loads(done.stdout), used.ru_utime, used.ru_maxrss]))")
    command = [sys.executable, "-c", between, monet, "train", name, "--precision", "mixed", "--json", "-q"]
    found, user_s, peak_kib = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    assert found["parameters"] / 1e9 == pytest.approx(billions, abs=0.01)
    assert user_s < 2 and peak_kib < 200 << 10, f"{user_s} s, {peak_kib} KiB"
