"""Does monet.cluster keep its contract: every design once, whatever happens to workers? With real workers of Dask."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from fake_spaces import fingerprint_of, line_of

pytest.importorskip("distributed", reason="dask is not installed: pip install 'monet-train[cluster]'")
monet = pytest.importorskip("monet", reason="the Python package is not installed; run `make python`")

HERE = Path(__file__).resolve().parent


class Peer:
    """`python3 -m monet.cluster`, spoken to as the program does."""

    def __init__(self) -> None:
        path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "monet.cluster"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": path}, start_new_session=True,
        )

    def send(self, **message: object) -> None:
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict:
        """The next message that is not about the number of workers."""
        while True:
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            message = json.loads(line)
            if message["type"] != "workers":
                return message

    def hello(self, address: str, opener: str = "open_fake", files: tuple = (), path: str = "space.yaml",
              fingerprint: str = "", limit_s: float = 600, version: str = monet.__version__,
              **settings: object) -> dict:
        text = json.dumps(settings)
        self.send(
            type="hello", protocol=1, version=version, address=address, fingerprint=fingerprint or fingerprint_of(text),
            space={"path": path, "text": text}, files=list(files),
            options={"limit_s": limit_s, "tries": 2, "opener": f"fake_spaces:{opener}"},
        )
        return self.receive()

    def run(self, batches: list[list[int]]) -> tuple[dict[int, str], dict[int, str]]:
        """Lines and failures by design."""
        for i, designs in enumerate(batches):
            self.send(type="batch", batch=i, designs=designs)
        return self.collect(batches)

    def collect(self, batches: list[list[int]]) -> tuple[dict[int, str], dict[int, str]]:
        lines: dict[int, str] = {}
        failures: dict[int, str] = {}
        while len(lines) + len(failures) < sum(map(len, batches)):
            message = self.receive()
            assert message["type"] == "outcomes", message
            found = {json.loads(line)["design"]: line for line in message["outcomes"]}
            failed = {entry["design"]: entry["failure"] for entry in message["failed"]}
            assert not (found.keys() | failed.keys()) & (lines.keys() | failures.keys()), "a design came twice"
            assert found.keys() | failed.keys() <= set(batches[message["batch"]])
            lines |= found
            failures |= failed
        return lines, failures


@contextmanager
def cluster_peer() -> Iterator[Peer]:
    peer = Peer()
    try:
        yield peer
    finally:
        peer.process.stdin.close()
        peer.process.wait(timeout=120)
        peer.process.stdout.close()
        peer.process.stderr.close()


@pytest.fixture
def peer() -> Iterator[Peer]:
    with cluster_peer() as peer:
        yield peer


def expect_all(lines: dict[int, str], designs: range | list[int]) -> None:
    assert lines == {design: line_of(design) for design in designs}


def test_a_worker_that_is_killed_changes_nothing(peer: Peer, tmp_path: Path) -> None:
    ready = peer.hello("local:3", seconds=0.05, pids=str(tmp_path))
    assert ready["type"] == "ready" and ready["workers"] == 3, ready
    batches = [list(range(i, i + 10)) for i in range(0, 240, 10)]
    for i, designs in enumerate(batches):
        peer.send(type="batch", batch=i, designs=designs)
    first = peer.receive()
    workers = [int(file.name) for file in tmp_path.iterdir()]
    assert len(workers) == 3
    os.kill(workers[0], signal.SIGKILL)
    lines, failures = peer.collect(batches[: first["batch"]] + [[]] + batches[first["batch"] + 1 :])
    lines |= {json.loads(line)["design"]: line for line in first["outcomes"]}
    assert not failures
    expect_all(lines, range(240))
    assert len(list(tmp_path.iterdir())) == 4, "no worker took its place"


def test_a_result_that_is_lost_with_its_worker_is_made_again(monkeypatch) -> None:
    """Dask says "lost" of a batch that was done when its worker died, before anybody had asked for the result."""
    engine_module = pytest.importorskip("monet.cluster.engine")
    engine = object.__new__(engine_module.Engine)
    lost = engine_module.Task(4, [40, 41], future=SimpleNamespace(status="lost"))
    engine._tasks = {4: [lost]}
    again = []
    monkeypatch.setattr(engine, "submit", lambda *task: again.append(task), raising=False)
    assert engine.answer(lost) is None
    assert again == [(4, [40, 41], "")]


def test_a_poisoned_design_is_set_aside(peer: Peer) -> None:
    assert peer.hello("local:2", poison=[13, 20])["type"] == "ready"
    lines, failures = peer.run([list(range(10)), list(range(10, 30))])
    expect_all(lines, [design for design in range(30) if design not in (13, 20)])
    assert failures == dict.fromkeys((13, 20), "it ended the worker that evaluated it (2 tries): exit status 7")


def test_a_design_that_ends_the_worker_itself_is_set_aside(peer: Peer) -> None:
    assert peer.hello("local:2", kills_worker=2)["type"] == "ready"
    lines, failures = peer.run([[0, 1, 2, 3], [4, 5, 6, 7]])
    expect_all(lines, [0, 1, 3, 4, 5, 6, 7])
    assert failures.keys() == {2} and failures[2].startswith("it ended the worker that evaluated it (")


def test_a_design_that_hangs_once_is_repeated(peer: Peer, tmp_path: Path) -> None:
    assert peer.hello("local:1", limit_s=5, hangs=3, folder=str(tmp_path))["type"] == "ready"
    lines, failures = peer.run([list(range(6))])
    assert not failures
    expect_all(lines, range(6))
    assert (tmp_path / "hung-3").exists()


def test_a_design_that_fails_says_why(peer: Peer) -> None:
    assert peer.hello("local:1", broken=[1])["type"] == "ready"
    lines, failures = peer.run([[0, 1, 2]])
    expect_all(lines, [0, 2])
    assert failures == {1: "1 is broken"}


def test_files_of_the_space_reach_workers(peer: Peer, tmp_path: Path) -> None:
    beside = tmp_path / "beside.txt"
    beside.write_text("content")
    fingerprint = fingerprint_of(json.dumps({"beside": True}) + "content")
    ready = peer.hello("local:1", files=(str(beside),), path=str(tmp_path / "space.yaml"), fingerprint=fingerprint,
                       beside=True)
    assert ready["type"] == "ready", ready
    beside.unlink()
    expect_all(peer.run([[1]])[0], [1])


def test_cancelled_batches_do_not_answer(peer: Peer) -> None:
    assert peer.hello("local:1", seconds=0.2)["type"] == "ready"
    peer.send(type="batch", batch=0, designs=[0])
    peer.send(type="batch", batch=1, designs=list(range(1, 1000)))
    peer.send(type="cancel", batches=[1])
    peer.send(type="batch", batch=2, designs=[1000])
    assert peer.receive()["batch"] == 0
    assert peer.receive()["batch"] == 2


def test_the_library_on_three_workers_one_of_which_is_killed(peer: Peer) -> None:
    """The outcomes of one process, to the last bit."""
    explorer = monet.Explorer("edge_tpu")
    peer.send(type="hello", protocol=1, version=monet.__version__, address="local:3", fingerprint=explorer.fingerprint,
              space={"path": explorer.path, "text": explorer.text}, options={"opener": "fake_spaces:open_killing"})
    ready = peer.receive()
    assert ready["type"] == "ready" and ready["workers"] == 3, ready
    designs = list(range(0, 10000, 833))
    lines, failures = peer.run([designs[i : i + 2] for i in range(0, len(designs), 2)])
    mark = Path(tempfile.gettempdir(), f"monet-killed-{peer.process.pid}")
    assert mark.exists(), "no worker was killed"
    mark.unlink()
    assert not failures
    assert lines == {design: explorer.line(design) for design in designs}


def refused(message: dict, *words: str) -> None:
    assert message["type"] == "error", message
    for word in words:
        assert word in message["message"] + message["advice"], message


def test_another_version_is_refused(peer: Peer) -> None:
    refused(peer.hello("local:1", version="0.0.9"), "worker tls://", f"has monet {monet.__version__}",
            "the program is 0.0.9")


def test_another_fingerprint_is_refused(peer: Peer) -> None:
    refused(peer.hello("local:1", fingerprint="abc"), "with the fingerprint", "the program with abc")


def test_a_space_that_does_not_open_is_refused(peer: Peer) -> None:
    refused(peer.hello("local:1", opener="open_never"), "cannot open the space: the space is empty")


def test_a_file_that_is_absent(peer: Peer) -> None:
    refused(peer.hello("local:1", files=("/absent/net.onnx",)), "/absent/net.onnx: cannot be read")


def test_no_scheduler(monkeypatch) -> None:
    monkeypatch.setenv("MONET_CLUSTER_CONNECT_S", "1")
    with cluster_peer() as peer:
        refused(peer.hello("tcp://127.0.0.1:9"), "no scheduler answers at 'tcp://127.0.0.1:9'", "local:N")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("hello", "is no JSON object"),
        ('{"type": "batch"}', "is 'batch', not hello"),
        ('{"type": "hello", "protocol": 99}', "the program speaks protocol 99, the Python package 1"),
        ('{"type": "hello", "protocol": 1}', "hello lacks a field"),
    ],
)
def test_a_bad_beginning(peer: Peer, line: str, words: str) -> None:
    peer.process.stdin.write(line + "\n")
    peer.process.stdin.flush()
    refused(peer.receive(), words)
    assert peer.process.wait(timeout=60) == 1


def test_an_unknown_message(peer: Peer) -> None:
    assert peer.hello("local:1")["type"] == "ready"
    peer.send(type="dance")
    refused(peer.receive(), "unknown message: 'dance'")


def test_a_missing_dask_is_named(peer: Peer, tmp_path: Path) -> None:
    (tmp_path / "distributed.py").write_text("raise ModuleNotFoundError('gone', name='distributed')")
    result = subprocess.run(
        [sys.executable, "-m", "monet.cluster"], capture_output=True, text=True, timeout=120,
        input=json.dumps({"type": "hello", "protocol": 1, "version": "", "address": "local:1", "fingerprint": "",
                          "space": {"path": "", "text": ""}}) + "\n",
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])},
    )
    assert result.returncode == 1
    refused(json.loads(result.stdout), "the Python package 'distributed' is not installed", "monet-train[cluster]")


STRANGER = """
import asyncio, os, sys
from distributed.comm import connect
from distributed.security import Security

async def main(protocol, *ports):
    security = Security.temporary() if protocol == "tls" else Security()
    for port in ports:
        try:
            await connect(f"{protocol}://127.0.0.1:{port}", timeout=2, **security.get_connection_args("client"))
            print("let in", port)
        except OSError as error:
            print("refused", port)

asyncio.run(main(*sys.argv[1:]))
"""


def listening_ports(session: int) -> set[int]:
    """Of all processes of a session, by the system's tables."""
    inodes = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(process.name)) != session:
                continue
            links = [os.readlink(link) for link in (process / "fd").iterdir()]
        except OSError:
            continue
        inodes |= {link[8:-1] for link in links if link.startswith("socket:[")}
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {int(row[1].split(":")[1], 16) for row in rows if row[3] == "0A" and row[9] in inodes}


def test_strangers_are_refused_by_a_local_cluster(peer: Peer) -> None:
    """Another user of the machine can reach every port, and has not the keys of this run."""
    assert peer.hello("local:2", seconds=0.05)["type"] == "ready"
    batches = [list(range(i, i + 10)) for i in range(0, 100, 10)]
    for i, designs in enumerate(batches):
        peer.send(type="batch", batch=i, designs=designs)
    ports = {port: plain_answer(port) for port in listening_ports(peer.process.pid)}
    for answer in ports.values():
        assert not answer.startswith(b"HTTP") or b" 404 " in answer.splitlines()[0], answer
    dasks = [str(port) for port, answer in ports.items() if not answer.startswith(b"HTTP")]
    assert len(dasks) >= 5, "a scheduler, two nannies and two workers"
    strangers = [subprocess.Popen([sys.executable, "-c", STRANGER, protocol, *dasks], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True) for protocol in ("tcp", "tls")]
    for stranger in strangers:
        assert stranger.communicate(timeout=300)[0].splitlines() == [f"refused {port}" for port in dasks]
    lines, failures = peer.collect(batches)
    assert not failures
    expect_all(lines, range(100))


def plain_answer(port: int) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        try:
            connection.sendall(b"GET /info/main/workers.html HTTP/1.0\r\n\r\n")
            return connection.recv(1000)
        except OSError:
            return b""


@pytest.fixture
def certificates(tmp_path: Path, monkeypatch) -> Path:
    """A user's own, in Dask's configuration by variables of the environment."""
    security = pytest.importorskip("distributed.security").Security.temporary()
    (tmp_path / "ca.pem").write_text(security.tls_ca_file)
    (tmp_path / "key.pem").write_text(security.tls_client_key)
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TLS__CA_FILE", str(tmp_path / "ca.pem"))
    for role in ("CLIENT", "SCHEDULER", "WORKER"):
        monkeypatch.setenv(f"DASK_DISTRIBUTED__COMM__TLS__{role}__CERT", str(tmp_path / "ca.pem"))
        monkeypatch.setenv(f"DASK_DISTRIBUTED__COMM__TLS__{role}__KEY", str(tmp_path / "key.pem"))
    return tmp_path


def test_a_scheduler_with_certificates_of_dasks_configuration(certificates: Path, tmp_path: Path) -> None:
    with running_scheduler(tmp_path, "tls") as (address, worker), cluster_peer() as peer:
        assert address.startswith("tls://")
        worker()
        assert peer.hello(address)["type"] == "ready"
        lines, failures = peer.run([list(range(10))])
        assert not failures
        expect_all(lines, range(10))


def test_certificates_that_are_missing(peer: Peer) -> None:
    refused(peer.hello("tls://127.0.0.1:9"), "needs certificates", "DASK_DISTRIBUTED__COMM__TLS__CA_FILE")


def test_certificates_that_cannot_be_read(certificates: Path) -> None:
    (certificates / "key.pem").write_text("no key")
    with cluster_peer() as peer:
        refused(peer.hello("tls://127.0.0.1:9"), "the certificates for 'tls://127.0.0.1:9' cannot be used")


def test_encryption_that_is_demanded(monkeypatch) -> None:
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION", "True")
    with cluster_peer() as peer:
        refused(peer.hello("tcp://127.0.0.1:9"), "is not encrypted", "require-encryption")


def test_a_missing_cryptography_is_named(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "cryptography.py").write_text("raise ModuleNotFoundError('gone', name='cryptography')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with cluster_peer() as peer:
        refused(peer.hello("local:1"), "the Python package 'cryptography' is not installed", "monet-train[cluster]")


@contextmanager
def running_scheduler(folder: Path, protocol: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """A scheduler of its own: its address, and what starts a worker."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])}

    def dask(*arguments: str) -> subprocess.Popen:
        return subprocess.Popen([sys.executable, "-m", "dask", *arguments], env=environment, cwd=folder,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    file = folder / "scheduler.json"
    processes = [dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--protocol", protocol,
                      "--scheduler-file", str(file))]
    try:
        while not file.exists() or not file.read_text():
            assert processes[0].poll() is None
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]

        def worker() -> None:
            processes.append(dask("worker", address, "--nthreads", "2", "--no-nanny", "--no-dashboard"))

        yield address, worker
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(timeout=60)


def test_workers_of_a_running_scheduler(peer: Peer, tmp_path: Path) -> None:
    """As on a cluster: a scheduler and workers of their own, one of which comes late; nothing stays after the end."""
    with running_scheduler(tmp_path, "tcp") as (address, worker):
        ready = peer.hello(address, seconds=0.02)
        assert ready["type"] == "ready" and ready["workers"] == 0
        worker()
        worker()
        lines, failures = peer.run([list(range(i, i + 10)) for i in range(0, 100, 10)])
        assert not failures
        expect_all(lines, range(100))
        peer.send(type="close")
        assert peer.process.wait(timeout=120) == 0
