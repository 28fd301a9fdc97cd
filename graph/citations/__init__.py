"""Citations: from a writer's `[S3]` marks to numbers, exact quotes and verdicts.

    numbers = Numbering()                                   # one per version of the report
    for section in sections:                                # in the order they are printed
        done = check(section.raw, evidence, numbers, language="en", earlier=before)
    sources = [by_n[n] for n in numbers.order]              # printed as 1, 2, 3, ...

`cite` is the part of it that only turns marks into numbers.
"""

from graph.citations.cited import Cited, cite
from graph.citations.gate import Checked, check
from graph.citations.numbering import Numbering

__all__ = ["Checked", "Cited", "Numbering", "check", "cite"]
