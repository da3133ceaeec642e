"""The cluster: takes batches of designs to its workers and brings outcomes back.

What a design can do to a process is dealt with on the worker (monet.cluster.worker). Here it is about workers: Dask
gives the tasks of one that died to others, and says so when that happens again and again. Then the batch is halved. A
design that is alone is set aside when it was under way on workers that died, for Dask also names tasks that only waited
there: such a task tells when it begins.
"""

from __future__ import annotations

import hashlib
import logging
import os
import queue
import re
import types
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask
import distributed
from distributed.scheduler import KilledWorker
from distributed.security import Security

from monet.cluster import courier
from monet.cluster.protocol import ClusterError, Hello
from monet.cluster.security import keys_for_this_run, keys_of_the_user

log = logging.getLogger("monet.cluster")

LOCAL = re.compile(r"local:([1-9][0-9]{0,3})")
CONNECT_S = float(os.environ.get("MONET_CLUSTER_CONNECT_S", "30"))  # for a scheduler to answer
CHECK_S = 60  # for workers to open the space before the first batch; the others are checked by it
MOST_FILE_BYTES = 1 << 30


def by_value(function: Callable) -> Callable:
    """A copy that is sent to workers as code, not as a name that they would have to import."""
    copy = types.FunctionType(function.__code__, {"__builtins__": __builtins__}, argdefs=function.__defaults__)
    copy.__module__ = "__main__"
    return copy


keep, evaluate, release = map(by_value, (courier.keep, courier.evaluate, courier.release))


@dataclass
class Task:
    """Designs of one batch that run on one worker."""

    batch: int
    designs: list[int]
    topic: str = ""  # where it tells when it begins
    future: distributed.Future | None = None


@dataclass
class Answer:
    batch: int
    outcomes: list[str]
    failed: list[dict[str, Any]]
    seconds: float


def content_of(files: Iterable[str]) -> dict[str, bytes]:
    contents = {}
    for name in files:
        try:
            contents[name] = Path(name).read_bytes()
        except OSError as error:
            raise ClusterError(f"{name}: cannot be read: {error.strerror}") from None
    if sum(map(len, contents.values())) > MOST_FILE_BYTES:
        raise ClusterError(
            "the files of the space are too large to be sent to workers: more than 1 GiB",
            "put them where all workers see them, and name them in the space by absolute paths",
        )
    return contents


def setup_of(hello: Hello) -> dict[str, Any]:
    files = content_of(hello.files)
    digest = hashlib.sha256(repr((hello.fingerprint, hello.space_path, hello.opener)).encode())
    for name, content in sorted(files.items()):
        digest.update(name.encode() + b"\0" + content)
    return {
        "key": f"{digest.hexdigest()[:16]}-{uuid.uuid4().hex[:8]}",
        "version": hello.version,
        "fingerprint": hello.fingerprint,
        "path": hello.space_path,
        "text": hello.space_text,
        "files": files,
        "opener": hello.opener,
        "limit_s": hello.limit_s,
        "tries": hello.tries,
    }


class Engine:
    """Finished tasks go to `finished`; `answers` makes of each what the program should hear."""

    def __init__(self, hello: Hello, finished: queue.SimpleQueue) -> None:
        self._hello = hello
        self._finished = finished
        self._tasks: dict[int, list[Task]] = {}  # by batch, those that run
        self._refused: set[str] = set()
        self._cluster: distributed.LocalCluster | None = None
        self._setup = setup_of(hello)
        self._client = self._connect()
        self._setup_future = self._client.submit(keep, self._setup, key=f"monet-space-{self._setup['key']}")

    def _connect(self) -> distributed.Client:
        address = self._hello.address
        local = LOCAL.fullmatch(address)
        security = keys_for_this_run() if local else keys_of_the_user(address)
        try:
            if local:
                self._cluster = self._start_local(int(local[1]), security)
                address = self._cluster.scheduler_address
            return distributed.Client(address, timeout=CONNECT_S, security=security)
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(
                f"no scheduler answers at '{address}': {error}",
                "give the address that `dask scheduler` prints, as in tls://10.0.0.1:8786, or local:N",
            ) from None

    def _start_local(self, workers: int, security: Security) -> distributed.LocalCluster:
        """Of this machine's other users none can speak to it, or read of it over HTTP."""
        # For good: workers that are started again take it too.
        dask.config.set(
            {
                "distributed.scheduler.allowed-failures": self._hello.tries - 1,
                "distributed.scheduler.http.routes": [],
                "distributed.worker.http.routes": [],
            }
        )
        return distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=None,
            memory_limit=0,
            host="127.0.0.1",
            protocol="tls://",
            security=security,
        )

    def check_workers(self) -> None:
        """Every worker that is there opens the space; fails with what the first says that must not be used."""
        tasks = {
            address: self._client.submit(
                evaluate, self._setup_future, [], workers=[address], allow_other_workers=False, pure=False
            )
            for address in self._workers()
        }
        if tasks:
            try:
                distributed.wait(list(tasks.values()), timeout=CHECK_S)
            except TimeoutError:
                log.warning("some workers have not opened the space after %s s; they are checked later", CHECK_S)
        for address, future in tasks.items():
            if future.status == "finished" and "refused" in (result := future.result()):
                raise self._refusal(address, result["refused"])
            if future.status == "error":
                raise ClusterError(f"worker {address}: {future.exception()!r}")
        self._client.cancel([future for future in tasks.values() if not future.done()])

    def _refusal(self, address: str, why: str) -> ClusterError:
        return ClusterError(
            f"worker {address} {why}",
            "workers need the Python package of the program's version, and see the files that the space names by "
            "absolute paths; docs/cluster.md",
        )

    def _workers(self) -> dict[str, int]:
        """Batches that each worker can run at once."""
        return {address: n for address, n in self._client.nthreads().items() if address not in self._refused}

    def workers(self) -> int:
        return sum(self._workers().values())

    def submit(self, batch: int, designs: list[int], topic: str = "") -> None:
        task = Task(batch, designs, topic)
        workers = None
        if self._refused:
            workers = list(self._workers())
            if not workers:
                raise ClusterError("no worker of the cluster can be used", "the log says why each was refused")
        task.future = self._client.submit(
            evaluate,
            self._setup_future,
            designs,
            topic,
            key=f"monet-batch-{uuid.uuid4().hex}",
            workers=workers,
        )
        self._tasks.setdefault(batch, []).append(task)
        task.future.add_done_callback(lambda _: self._finished.put(task))

    def cancel(self, batches: Iterable[int]) -> None:
        futures = [task.future for batch in batches for task in self._tasks.pop(batch, [])]
        self._client.cancel(futures)

    def answer(self, task: Task) -> Answer | None:
        """What became of a task that is done; nothing where it has to be repeated or nobody waits for it."""
        running = self._tasks.get(task.batch, [])
        if task not in running:
            return None
        running.remove(task)
        if not running:
            del self._tasks[task.batch]
        future = task.future
        if future.status == "finished":
            result = future.result()
            if "refused" not in result:
                return Answer(task.batch, result["outcomes"], result["failed"], result["seconds"])
            self._refuse(future, result["refused"])
            self.submit(task.batch, task.designs, task.topic)
            return None
        if future.status == "error":
            error = future.exception()
            if isinstance(error, KilledWorker):
                return self._after_death(task, error)
            raise ClusterError(f"a batch failed on its worker: {error!r}")
        if future.status != "cancelled":
            # Its worker died between the end of the batch and this answer, and with it the result.
            self.submit(task.batch, task.designs, task.topic)
            return None
        raise ClusterError("the scheduler is gone, and the batches that it had", "what is stored stays: use --resume")

    def _refuse(self, future: distributed.Future, why: str) -> None:
        for address in self._client.who_has([future]).get(future.key, ()):
            log.warning("worker %s is not used: it %s", address, why)
            self._refused.add(address)

    def _after_death(self, task: Task, error: KilledWorker) -> Answer | None:
        log.warning("%d workers died with a batch of %d designs", error.allowed_failures + 1, len(task.designs))
        if len(task.designs) > 1:
            half = len(task.designs) // 2
            self._repeat(task, task.designs[:half])
            self._repeat(task, task.designs[half:])
            return None
        begun = len(self._client.get_events(task.topic)) if task.topic else 0
        if begun < self._hello.tries:
            self._repeat(task, task.designs)
            return None
        failure = f"it ended the worker that evaluated it ({begun} tries)"
        return Answer(task.batch, [], [{"design": task.designs[0], "failure": failure}], 0)

    def _repeat(self, task: Task, designs: list[int]) -> None:
        alone = f"monet-{self._setup['key']}-{designs[0]}" if len(designs) == 1 else ""
        self.submit(task.batch, designs, alone)

    def close(self) -> None:
        try:
            self.cancel(list(self._tasks))
            if self._cluster is None:
                self._client.run(release, self._setup["key"], on_error="ignore")
        except Exception as error:  # a cluster that is gone already
            log.warning("the cluster was not left in order: %r", error)
        self._client.close(timeout=5)
        if self._cluster is not None:
            self._cluster.close(timeout=5)


def engine_log_level() -> None:
    """Workers that die are our business; the engine need not tell it at length."""
    for name in ("distributed", "distributed.nanny", "distributed.scheduler"):
        logging.getLogger(name).setLevel(os.environ.get("MONET_CLUSTER_LOG", "ERROR"))
