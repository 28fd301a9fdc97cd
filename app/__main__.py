"""`python -m app`. The work is in `app/command.py`, whose imports take a second or two: a
Ctrl-C in the middle of them ends the process without a word, not with a traceback."""

import signal
import sys

signal.signal(signal.SIGINT, signal.SIG_DFL)

from app.command import main  # noqa: E402 - after the line above

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main())
