"""What the figures share: calling the program, its networks, tables of results, fronts, pictures.

Set MONET to use another program than build/monet, and JOBS for another number of threads than there are processors.
"""

import csv
import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "results"  # tables and pictures
WORK = HERE / "work"  # plans and points, not kept
MONET = os.environ.get("MONET", str(ROOT / "build" / "monet"))
REFERENCE = Path(os.environ.get("MONET_REFERENCE", ROOT.parent / "shared" / "reference"))

MACHINE = ["--hardware", "monet_2x2"]


class Failed(Exception):
    """A command that ended with another status than 0."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status
        self.message = message


def shown(arguments):
    """A command line as a user would type it in the root of the repository."""
    words = [str(a) for a in arguments]
    for folder, short in ((str(ROOT) + "/", ""), (str(REFERENCE) + "/", "../shared/reference/")):
        words = [w.replace(folder, short) for w in words]
    return " ".join(["build/monet"] + [shlex.quote(w) for w in words])


def monet(*arguments):
    """The JSON that the program answers with. The command and its time are printed."""
    command = [str(a) for a in arguments] + ["--json", "-q"]
    if os.environ.get("JOBS") and arguments[0] in ("evaluate", "fuse", "checkpoint", "explore"):
        command += ["--jobs", os.environ["JOBS"]]
    start = time.monotonic()
    done = subprocess.run([MONET] + command, capture_output=True, text=True)
    print(f"  {time.monotonic() - start:7.1f} s  {shown(arguments)}", flush=True)
    if done.returncode != 0:
        raise Failed(done.returncode, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "")
    return json.loads(done.stdout)


def has_command(name):
    return subprocess.run([MONET, name, "--help"], capture_output=True).returncode == 0


def published_step():
    """The published training step of ResNet-18, and what to call it; else its equal among the built-in networks."""
    file = REFERENCE / "monet" / "resnet18_full_training.onnx"
    if file.exists():
        return [str(file)], "published graph"
    print(f"{file} is absent: its equal among the built-in networks is used")
    return (["resnet18-cifar-folded", "--optimizer-form", "elementwise", "--conv-gradient", "im2col"],
            "resnet18-cifar-folded, elementwise, im2col")


def percent(value, base):
    return 100.0 * (value / base - 1.0)


def write_csv(name, rows):
    """A table in results/, from dictionaries with the same keys."""
    RESULTS.mkdir(exist_ok=True)
    with open(RESULTS / name, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"  {(RESULTS / name).relative_to(ROOT)}: {len(rows)} rows")


def print_table(rows, columns=None):
    columns = columns or list(rows[0])
    cells = [columns] + [[_cell(row[c]) for c in columns] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    for line in cells:
        print("  " + "  ".join(text.rjust(width) for text, width in zip(line, widths)))


def _cell(value):
    if isinstance(value, float):
        return f"{value:.5g}" if abs(value) < 1e5 else f"{value:.4e}"
    return str(value)


def work_folder(name):
    folder = WORK / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def picture(name, columns=1, size=(6.4, 4.4)):
    """A figure and its axes, or None where matplotlib is absent; the tables are written all the same."""
    try:
        import matplotlib
    except ImportError:
        print(f"  no picture {name}: matplotlib is absent (experiments/requirements.txt)")
        return None
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "monet"  # the same file for the same numbers
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, columns, figsize=(size[0] * columns, size[1]), squeeze=False)
    return figure, list(axes[0])


def save_picture(name, drawn):
    figure, _ = drawn
    figure.tight_layout()
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / name, metadata={"Date": None})
    print(f"  {(RESULTS / name).relative_to(ROOT)}")


def timed(main):
    """Runs a figure and prints how long it took."""
    start = time.monotonic()
    name = Path(sys.argv[0]).stem.replace("_", "-")
    print(f"{name}: {MONET}", flush=True)
    status = main()
    print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)
    sys.exit(status or 0)
