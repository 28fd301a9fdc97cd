"""Sources for the citation tests, with the snapshots their offsets point into."""

from collections.abc import Sequence

from graph.ports import Ref
from graph.reasoner import Evidence
from graph.state import Citation

BEFORE = "Text before the passage 🙂. "  # so that offsets into the snapshot are not zero

CANCEL = (
    "A cancel is first a durable intent on the row, then `task.cancel()` if the run is here. "
    "The owner also sees the intent when it renews its lease, so a lost hint costs seconds. "
    "Cancelling is repeated until the task is done."
)
LEASE = (
    "The lease lasts 30 seconds. It is renewed every 10 seconds by a thread of its own. "
    "In May 2024 the loop was measured at 1,200 renewals a second, 12.5% faster than before."
)
CHINESE = "取消首先是数据行上的持久意图。如果运行在本机，则调用任务取消。租约的期限为三十秒。"
REAPER = "When a worker dies, its lease runs out and the reaper requeues the run."


def source(n: int, text: str, key: str | None = None, title: str = "Notes") -> Evidence:
    start = len(BEFORE)
    return Evidence(n, Ref(key or f"key-{n}-{len(text)}", start, start + len(text)), text, title)


ALL: tuple[Evidence, ...] = (
    source(1, CANCEL),
    source(2, LEASE),
    source(3, CHINESE),
    source(1, REAPER),
)


def assert_exact(citations: Sequence[Citation], evidence: Sequence[Evidence]) -> None:
    """Every quote is the snapshot's text at its offsets, for a passage of its source."""
    for c in citations:
        homes = [
            e
            for e in evidence
            if e.n == c["n"] and e.ref.start <= c["start"] <= c["end"] <= e.ref.end
        ]
        snapshots = [BEFORE + e.text for e in homes]
        assert any(s[c["start"] : c["end"]] == c["quote"] for s in snapshots), c
        assert c["quote"].strip(), c
