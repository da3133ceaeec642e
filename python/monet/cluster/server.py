"""The end of the pipe: messages of the program to the engine, outcomes back."""

from __future__ import annotations

import queue
import threading
import time
import traceback
from typing import Any, TextIO

from monet.cluster.protocol import PROTOCOL, ClusterError, Hello, Writer, parse

POLL_S = 1  # between looks at the number of workers


class Server:
    def __init__(self, lines_in: TextIO, lines_out: TextIO) -> None:
        self._in = lines_in
        self._writer = Writer(lines_out)
        # Lines of the program, None at their end; and tasks that the engine has done.
        self._events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._workers = -1
        self._looked = 0.0

    def run(self) -> int:
        try:
            self._converse()
        except ClusterError as error:
            self._writer.error(error)
            return 1
        except BrokenPipeError:
            raise
        except Exception as error:
            traceback.print_exc()
            self._writer.error(ClusterError(f"a defect of monet.cluster: {error!r}"))
            return 1
        return 0

    def _converse(self) -> None:
        line = self._in.readline()
        if not line:
            return
        hello = Hello.of(parse(line))
        engine = start_engine(hello, self._events)
        try:
            engine.check_workers()
            self._workers = engine.workers()
            self._writer.send("ready", protocol=PROTOCOL, fingerprint=hello.fingerprint, workers=self._workers)
            threading.Thread(target=self._read_all, daemon=True).start()
            while self._step(engine):
                pass
        finally:
            engine.close()

    def _read_all(self) -> None:
        for line in self._in:
            self._events.put(line)
        self._events.put(None)

    def _step(self, engine) -> bool:
        try:
            event = self._events.get(timeout=POLL_S)
        except queue.Empty:
            event = ""
        if time.monotonic() - self._looked >= POLL_S:
            self._tell_workers(engine)
        if event is None:
            return False
        if isinstance(event, str):
            return not event or self._obey(engine, parse(event))
        answer = engine.answer(event)
        if answer is not None:
            self._writer.send(
                "outcomes",
                batch=answer.batch,
                outcomes=answer.outcomes,
                failed=answer.failed,
                seconds=answer.seconds,
            )
        return True

    def _obey(self, engine, message: dict[str, Any]) -> bool:
        """False: the conversation is over."""
        kind = message.get("type")
        if kind == "close":
            return False
        if kind == "batch":
            engine.submit(int(message["batch"]), [int(design) for design in message["designs"]])
        elif kind == "cancel":
            engine.cancel(int(batch) for batch in message["batches"])
        else:
            raise ClusterError(f"an unknown message: '{kind}'")
        return True

    def _tell_workers(self, engine) -> None:
        self._looked = time.monotonic()
        workers = engine.workers()
        if workers != self._workers:
            self._workers = workers
            self._writer.send("workers", workers=workers)


def start_engine(hello: Hello, events: queue.SimpleQueue):
    try:
        from monet.cluster.engine import Engine, engine_log_level
    except ImportError as error:
        raise ClusterError(
            f"the Python package '{error.name}' is not installed", "pip install 'dask' 'distributed', or monet-train[cluster]"
        ) from None
    engine_log_level()
    return Engine(hello, events)
