"""A process that sets databases up when told to: one URL a line in, one line of JSON out."""

import asyncio
import json
import sys
import time

from app.logs import configure_logs
from app.schema import prepare_schema
from registry.errors import StartRefused


def main() -> None:
    configure_logs("info")
    print("ready", flush=True)
    for line in sys.stdin:
        began = time.monotonic()
        try:
            applied = asyncio.run(prepare_schema(line.strip()))
            answer = {"applied": applied, "refused": None}
        except StartRefused as error:
            answer = {"applied": [], "refused": error.reason}
        print(json.dumps({**answer, "seconds": time.monotonic() - began}), flush=True)


if __name__ == "__main__":
    main()
