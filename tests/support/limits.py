"""Runs the program where it can do no harm, and says how it behaved."""

from __future__ import annotations

import resource
import subprocess
from pathlib import Path

MEMORY = 1 << 30
HANG_S = 20  # far above what any file should take, so that a busy machine fails nothing


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def survives(monet: Path, file: Path, *options: str) -> subprocess.CompletedProcess:
    """Inspects a file that may be anything: an answer, or a message and status 1, in bounded memory and time."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        result = subprocess.run([monet, "inspect", file, *options], capture_output=True, timeout=HANG_S,
                                preexec_fn=limit_memory)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"hangs: monet inspect {file} {' '.join(options)}") from None
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    result.cpu_s = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    message = result.stderr.decode(errors="replace")
    assert result.returncode in (0, 1), f"status {result.returncode}: {message[:1000]}"
    if result.returncode == 1:
        assert message.startswith("monet: ") and not result.stdout, message[:1000]
    # The program catches the failure of an allocation; without the limit it would have taken the memory.
    assert "not enough memory" not in message and "bad_alloc" not in message, message[:1000]
    return result
