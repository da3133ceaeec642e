"""The pages in a real browser: reports of made-up data of every kind and of the program, and the page of `monet serve` from a
dropped file to a saved plan.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

WEB = Path(__file__).resolve().parents[2] / "web"
ONNX = WEB.parent / "data" / "models" / "mlp_robotics.onnx"
CHROMIUM = os.environ.get("MONET_CHROMIUM", "/usr/bin/chromium")


@pytest.fixture(scope="module")
def npm() -> str:
    """The command npm, with the page's packages in place."""
    command = shutil.which("npm")
    if command is None:
        pytest.skip("npm is absent; scripts/setup.sh test installs it")
    lock = WEB / "package-lock.json"
    installed = WEB / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
        subprocess.run([command, "ci", "--no-audit", "--no-fund"], cwd=WEB, check=True)
    return command


def run_tests(npm: str, kind: str, **environment: str) -> None:
    done = subprocess.run(
        [npm, "test", "--", kind], cwd=WEB, env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)


def test_units_decoding_and_detail(npm: str) -> None:
    run_tests(npm, "unit")


@pytest.mark.long
def test_in_a_browser(npm: str, monet: Path, tmp_path: Path) -> None:
    if not Path(CHROMIUM).exists():
        pytest.skip(f"{CHROMIUM} is absent; scripts/setup.sh test installs it")
    run_tests(npm, "browser", MONET_PAGES=str(pages_of(monet, tmp_path)))


@pytest.mark.long
def test_from_a_file_to_a_plan(npm: str, monet: Path, tmp_path: Path) -> None:
    if not Path(CHROMIUM).exists():
        pytest.skip(f"{CHROMIUM} is absent; scripts/setup.sh test installs it")
    command = [monet, "serve", "--port", "0", "--folder", tmp_path / "runs"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = server.stdout.readline().strip()
            run_tests(npm, "serve", MONET_URL=url, MONET_ONNX=str(ONNX))
        finally:
            server.terminate()
            assert server.wait(timeout=30) == 0


def pages_of(monet: Path, folder: Path) -> Path:
    """Pages that the program writes, for the same checks."""
    pages = folder / "pages"
    pages.mkdir()

    def made(name: str, *arguments: str) -> Path:
        out = folder / name
        subprocess.run([monet, *arguments, "-q", "-o", out], check=True, capture_output=True, cwd=folder)
        shutil.copy(out / "report.html", pages / f"{name}.html")
        return out

    network = ["resnet18-cifar", "--hardware", "edge_tpu"]
    small = made("evaluate", "evaluate", *network, "--batch", "1")
    large = made("evaluate_4", "evaluate", *network, "--batch", "4")
    made("inference", "evaluate", *network, "--inference")
    made("optimize", "optimize", "mlp-robotics:hidden=32,layers=2", "--hardware", "monet_2x2")
    made("explore", "explore", "edge_tpu", "--samples", "12", "--store", str(folder / "store.sqlite"))
    recipes = ["--recipes", "fp32,bf16,mxfp8,mxfp4", "--steps", "60", "--learning-rate", "0.01"]
    made("recipes", "precision", "compare", "mlp-robotics:hidden=32,layers=2", "--hardware", "tpu_v4", *recipes)
    compared = pages / "compared.html"
    subprocess.run([monet, "report", small, large, "-o", compared], check=True, capture_output=True)
    return pages
