"""python3 -m monet.cluster: started by `monet explore --cluster`; docs/cluster.md."""

from __future__ import annotations

import logging
import signal
import sys

from monet.cluster.evaluator import private_streams
from monet.cluster.server import Server


def main() -> int:
    logging.basicConfig(stream=sys.stderr, format="%(name)s: %(message)s")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    lines_in, lines_out = private_streams()
    try:
        return Server(lines_in, lines_out).run()
    except BrokenPipeError:  # the program is gone
        return 1


if __name__ == "__main__":
    sys.exit(main())
