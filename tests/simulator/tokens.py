"""The text that the simulated model streams, cut into tokens."""

import itertools
import re
from collections.abc import Collection

from tests.simulator.prompt import evidence

_TEXT = (
    "open models are improving quickly and teams adopt them because cost control and "
    "privacy matter while tooling licences and evaluation remain the hard parts of work"
)
_TEXT_ZH = "开放 模型 正在 快速 进步 成本 控制 和 隐私 让 团队 愿意 采用 它们"
WORDS, WORDS_ZH = _TEXT.split(), _TEXT_ZH.split()
SENTENCE_WORDS = 14


def tokens(prompt: str, count: int, faults: Collection[str]) -> list[str]:
    """About `count` tokens: quotes of the prompt's evidence with their ids, else filler."""
    out: list[str] = ["<think>", "private ", "thought", "</think>"] if "think" in faults else []
    if "nul" in faults:
        out.append("a\u0000b\u2028c\ud800d\re ")
    quotes = evidence(prompt)
    if not quotes:
        return out + _filler(count, chinese="zh" in faults)
    made = 0
    for n, (number, sentence) in enumerate(itertools.cycle(quotes)):
        if made >= count or n >= 3 * len(quotes):
            break
        text, source = sentence, number
        if "invent" in faults and n % 3 == 2:
            if n % 2:
                source = 97
            else:
                text = f"Exactly 4711 of 9999 cases confirm that {sentence}"
        stop = "。" if re.search(r"[\u4e00-\u9fff]", text) else "."
        gap = "\n\n" if n % 4 == 3 else ""
        pieces = re.findall(r"\S+\s*|\s+", f"{text.rstrip('.!?。！？')} [S{source}]{stop} {gap}")
        out += pieces
        made += len(pieces)
    return out


def _filler(count: int, *, chinese: bool) -> list[str]:
    words, gap, stop = (WORDS_ZH, "", "。") if chinese else (WORDS, " ", ". ")
    return [
        words[i % len(words)] + (stop if (i + 1) % SENTENCE_WORDS == 0 else gap)
        for i in range(count)
    ]
