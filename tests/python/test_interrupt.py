"""Does Ctrl-C end long calls, and is progress told?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest

monet = pytest.importorskip("monet", reason="the Python package is not installed; run `make python`")

# Each would go on for hours.
LONG = {
    "optimize": "monet.optimize('resnet18-cifar', 'edge_tpu', evaluations=10**7, population=10**5, progress=begun)",
    "checkpoint": "monet.checkpoint('resnet18-cifar', 'edge_tpu', evaluations=10**7, progress=begun)",
    "nsga2": "monet.checkpoint('mlp-robotics', 'edge_tpu', method='nsga2', population=10**5, generations=10**5, "
    "progress=begun)",
    "fuse": "monet.fuse('resnet18-cifar', 'edge_tpu', effort=1e6, progress=begun)",
    "explore": "monet.explore('edge_tpu', method='all', jobs=1, progress=begun)",
}  # fmt: skip


@pytest.mark.parametrize("name", LONG)
def test_an_interrupt_ends_the_call(name: str) -> None:
    program = textwrap.dedent(f"""
        import monet, signal
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that runs it in the background has it ignored
        def begun(what, done, all):
            print("begun", flush=True)
        try:
            {LONG[name]}
            print("finished", flush=True)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """)
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begun\n"
    child.send_signal(signal.SIGINT)
    lines = child.communicate()[0].split()
    assert lines[-1] == "interrupted" and "finished" not in lines and child.returncode == 0


def test_evaluate_can_be_interrupted() -> None:
    """A signal that comes from within: the first progress sends it."""
    program = textwrap.dedent("""
        import monet, os, signal
        signal.signal(signal.SIGINT, signal.default_int_handler)
        def begun(what, done, all):
            os.kill(os.getpid(), signal.SIGINT)
        try:
            monet.evaluate("resnet18", "edge_tpu", batch=64, progress=begun)
            print("finished")
        except KeyboardInterrupt:
            print("interrupted")
    """)
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert child.stdout == "interrupted\n"


@pytest.mark.parametrize(
    "call", ["monet.validate('counts')", "monet.validate('h200')", "monet.load('resnet50').train(batch=8)"]
)
def test_an_interrupt_without_progress(call: str) -> None:
    program = textwrap.dedent(f"""
        import monet, os, signal, threading, time
        threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        try:
            while True:
                {call}
        except KeyboardInterrupt:
            print(time.monotonic() - began)
    """)
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert float(child.stdout) < 60


def test_an_interrupt_in_an_integer_program(tmp_path) -> None:
    """Of 121 nodes, at which the solver itself would not look up for minutes."""
    layers = 60
    links = {(i - 1, i) for i in range(1, 2 * layers + 1)} | {(i, 2 * layers - i) for i in range(layers)}
    graph = {
        "nodes": [{"id": i, "cost_cpu": 1, "cost_ram": 1} for i in range(2 * layers + 1)],
        "links": [{"source": a, "target": b} for a, b in sorted(links)],
    }
    (tmp_path / "chain.json").write_text(json.dumps(graph))
    program = textwrap.dedent("""
        import monet, os, signal, threading, time
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Timer(2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        try:
            monet.remat("chain.json", 9, method="milp", time_limit=3600)
        except KeyboardInterrupt:
            print(time.monotonic() - began)
    """)
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert float(child.stdout) < 30


def test_what_was_evaluated_is_in_the_store(tmp_path) -> None:
    def once(what: str, done: int, all_: int) -> None:
        raise KeyboardInterrupt

    store = tmp_path / "store.sqlite"
    with pytest.raises(KeyboardInterrupt):
        monet.explore("edge_tpu", method="all", jobs=1, store=store, progress=once)
    kept = monet.read_result(store)
    assert 0 < kept.evaluated < 10000
    more = monet.explore("edge_tpu", samples=5, store=store, resume=True)
    assert more.evaluated >= kept.evaluated


def test_progress_is_told(capsys) -> None:
    told = []
    monet.optimize("mlp-robotics", "edge_tpu", evaluations=15, progress=lambda *moment: told.append(moment))
    assert told and all(isinstance(what, str) and 0 <= done for what, done, _ in told)
    monet.optimize("mlp-robotics", "edge_tpu", evaluations=15, progress=True)
    captured = capsys.readouterr()
    assert "\r" in captured.err and " of " in captured.err and not captured.out
    assert captured.err.endswith("\r"), "the line is gone at the end"


@pytest.mark.parametrize("stream", ["full", "closed", "unread"])
def test_progress_that_nobody_reads_ends_nothing(stream: str) -> None:
    call = "import monet; monet.optimize('mlp-robotics', 'edge_tpu', evaluations=15, progress=True); print('finished')"
    read, write = os.pipe()
    os.close(read)
    with open("/dev/full", "w") as full, os.fdopen(write, "w") as unread:
        messages = {"full": full, "closed": None, "unread": unread}[stream]
        close = (lambda: os.close(2)) if stream == "closed" else None
        child = subprocess.run([sys.executable, "-c", call], stdout=subprocess.PIPE, stderr=messages, text=True, preexec_fn=close)
    assert child.stdout == "finished\n"


def test_what_progress_raises_is_raised() -> None:
    class Enough(Exception):
        pass

    def progress(what: str, done: int, all_: int) -> None:
        raise Enough

    with pytest.raises(Enough):
        monet.optimize("resnet18-cifar", "edge_tpu", evaluations=10**7, progress=progress)
