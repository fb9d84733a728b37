"""The process: ``albert-calc`` and ``python -m albert_calc`` start and end here.

The garbage collector and Python's own clearing up would take a good part of the time of a
short run, which needs neither: it makes few objects, and every file is closed by then.
"""

import gc
import os
import sys

_INTERRUPTED = 130
_MANY_OBJECTS = 100_000
"""More than a short run makes before it ends."""


def run() -> None:
    """Run the command line of this process and end it with the status."""
    gc.set_threshold(_MANY_OBJECTS)
    try:
        from albert_calc.cli import main

        main()
    except SystemExit as done:
        status = done.code
    except KeyboardInterrupt:
        status = _INTERRUPTED
    except RuntimeError as error:
        # So Python 3.11 wraps an interrupt that comes while a class is made.
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        status = _INTERRUPTED
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            try:
                stream.flush()
            except OSError:
                # Nobody reads it any more, and the status has been decided.
                continue
    os._exit(status if isinstance(status, int) else int(status is not None))


if __name__ == "__main__":
    run()
