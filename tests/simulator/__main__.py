"""`python -m tests.simulator --port 9100`: serves until interrupted.

  POST /v1/chat/completions   streamed or not; tools and json_schema get an instance that fits
  GET  /v1/models             one model
  GET  /stats                 {"open", "started", "finished", "aborted", "aborts": [unix time],
                              "requests": [the last 200 bodies]}
  POST /reset                 zeroes the counters

The model's name is the script: `sim-50x400` streams 400 tokens at 50 a second, `sim-0x400`
as fast as it goes. Suffixes add faults to every call, or to the k-th call of that name alone
(`-stall@1`, counted since the start or the last reset):

  -429 (Retry-After: 2; 429w: 600)  -quota (429 insufficient_quota)  -500  -400
  -stall (silent after ten tokens)  -comments (then keep-alive comments only)
  -cut (socket closed after ten)    -error (an error object inside the stream after ten)
  -length, -filter (finish_reason)  -nofinish (ends without one)  -empty (no text at all)
  -nousage (no usage chunk)         -usageall (running usage on every chunk)
  -noschema (400 on response_format and tools)  -badjson (half a JSON)
  -textjson (JSON in a fence)       -think (a <think> block first)
  -close (Connection: close)        -zh (Chinese filler)
  -nul (NUL, U+2028, a lone surrogate, a bare CR in the text)
  -invent (every third sentence cites an id or a figure that is not there)
  -clarify (asks a clarifying question where the schema has room for one)
  -open (names an open question where the schema has room for one)

Where the prompt carries ids (S1, S2, ...), the text quotes a sentence that follows an id and
cites it as [S1]; where it carries none, filler words are streamed. JSON strings are made of
the words of the question and of the evidence in the prompt.
"""

import argparse
import asyncio
import contextlib

from tests.simulator.server import serve


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=9100, help="0: any free one")
    parser.add_argument(
        "--while-stdin", action="store_true", help="end when standard input is closed"
    )
    args = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(args.port, while_stdin=args.while_stdin))


main()
