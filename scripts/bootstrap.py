"""Sets up what a make target needs, then runs a command: `bootstrap.py TARGET [-- COMMAND ...]`.

Run by a bare `python3` with the standard library alone. This file is kept so simple that an
old Python can read it and say what is wrong; the work is in the files beside it.
"""

import os
import shutil
import subprocess
import sys

OLDEST = (3, 11)
NEWER = ("python3.13", "python3.12", "python3.11", "python3.14")


def works(python: str) -> bool:
    return subprocess.call([python, "-c", "import venv"], stderr=subprocess.DEVNULL) == 0


def main() -> None:
    if sys.version_info[:2] < OLDEST:
        for name in NEWER:
            found = shutil.which(name)
            if found and works(found):
                os.execv(found, [found] + sys.argv)  # noqa: RUF005 - an old Python reads this
        sys.exit(
            "setup: Python 3.11 or newer is needed, this is %d.%d: install one, then "  # noqa: UP031
            "make PYTHON=/path/to/python3" % sys.version_info[:2]
        )
    from preparation import prepare  # noqa: PLC0415 - an old Python cannot read it

    sys.exit(prepare(sys.argv[1:]))


main()
