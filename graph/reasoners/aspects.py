"""Aspects of a question: its parts, its phrases, and the headings that a first look found."""

import re
from collections.abc import Sequence
from typing import Final

import rjieba

from graph.ports import Passage
from graph.text.clean import one_line
from graph.text.language import is_unspaced
from graph.text.sentences import blocks
from graph.text.words import query_terms, terms

_PART: Final = re.compile(
    r"(?<=[?？。！!;；])\s*|\s*[,，]?\s+(?:and|or|und|et|y)\s+(?=(?:how|why|what|when|where|who|which|is"
    r"|are|does|do|can|should)\b)|[，,]\s*(?=(?:如何|怎么|怎样|为什么|为何|是否|有哪些|哪些))",
    re.IGNORECASE,
)
_POLITE: Final = re.compile(
    r"^(?:please|kindly|hi|hello|hey|can you|could you|would you|will you|tell me|explain|describe"
    r"|i (?:want|need|would like) to know|give me|write|research|find out|about"
    r"|请问|请|麻烦|帮我|告诉我|介绍一下)(?:[\s,:，：]+|(?<=[\u4e00-\u9fff]))",
    re.IGNORECASE,
)
_BREAK: Final = re.compile(r"[^\w\s'’.+#/:-]|[.:](?=\s|$)")
_NUMBERING: Final = re.compile(
    r"^(?:\d+(?:\.\d+)*[.)]?|[IVX]+\.|第?[一二三四五六七八九十]+[章节、.])\s+"
)
_GENERIC_NAMES: Final = """
    introduction overview contents summary references notes see also abstract conclusion
    conclusions readme index table appendix background 目录 摘要 引言 参考文献 结论 附录 概述
"""
_ACT_WORDS: Final = """
    compare compared comparing compares differ difference differences work works working affect
    affects happen happens mean means need needs use used uses using another other best better
    good put get make take main way ways kind kinds type types many new reach
    reaches every show shows
"""
_ACTS: Final = frozenset(_ACT_WORDS.split())
VAGUE: Final = frozenset(terms(_ACT_WORDS))  # say how something is asked, hardly what
_GENERIC: Final = frozenset(_GENERIC_NAMES.split())
_SPEAKS: Final = 0.3
_ANSWERS: Final = 0.7
_CONTENT: Final = ("n", "v", "a", "eng", "j", "l", "i", "z")
_LEAD: Final = re.compile(r"^[是有会能要可应将被在为让使做到去来]$")
_HAN: Final = re.compile("[\u3400-\u9fff]")


def subject(question: str, limit: int = 120) -> str:
    """The question as a title: without politeness and closing mark, first letter large."""
    text = one_line(question, 10_000)
    while (shorter := _POLITE.sub("", text, count=1)) != text and shorter:
        text = shorter
    text = text.rstrip(" ?？.。!！") or one_line(question, 10_000)
    if len(text) > limit:
        cut = text[: limit - 1]
        text = (cut.rsplit(" ", 1)[0] if " " in cut[limit // 2 :] else cut).rstrip(" ,，") + "…"
    return text[:1].upper() + text[1:]


def parts(question: str) -> list[str]:
    """The questions that a question is made of; one where it is simple."""
    found = [part.strip() for part in _PART.split(one_line(question, 10_000)) if part]
    return [part for part in found if query_terms(part)]


def phrases(question: str, language: str) -> list[str]:
    """Runs of words that say something, in order: the things a question is about."""
    if is_unspaced(language) or _HAN.search(question):
        found = _unspaced(question)
    else:
        found = _spaced(question)
    out: list[str] = []
    for phrase in found:
        words = phrase.split()
        while words and words[-1].casefold() in _ACTS:
            words.pop()
        while words and words[0].casefold() in _ACTS:
            words.pop(0)
        bare = " ".join(words)
        if query_terms(bare) and bare.casefold() not in (p.casefold() for p in out):
            out.append(bare)
    return out


def keywords(text: str) -> str:
    """A text as a query: only the words that say something, each once, as they are written."""
    if _HAN.search(text):
        return " ".join(dict.fromkeys(_unspaced(text))) or text
    words = [w.strip("?!.,;:()[]\"'`*_") for w in text.split()]
    return " ".join(dict.fromkeys(w for w in words if query_terms(w))) or text


def headings(question: str, scope: Sequence[Passage]) -> list[str]:
    """Headings and titles of what a first look found, those first whose own words and text
    speak most of the question. The one that speaks of nearly all of it is the answer itself
    and no aspect of it; those that speak of none of it are none either."""
    asked = set(query_terms(question))
    rated: dict[str, float] = {}
    for rank, passage in enumerate(scope):
        for text, below in _headed(passage):
            label = _NUMBERING.sub("", one_line(text.strip("#*_` "), 90)).strip(" :：*_`")
            words = set(terms(label))
            if not 1 <= len(words) <= 12 or label.casefold() in _GENERIC or "…" in label:
                continue
            shared = len(asked & words) / len(words)
            spoken = len(asked & set(terms(below))) / (len(asked) or 1)
            if label == passage.title and not shared:
                continue  # names the document, nothing of the question
            score = (spoken + 0.5 * shared) / (1 + 0.05 * rank)
            rated[label] = max(rated.get(label, 0.0), score)
    best = sorted(rated, key=lambda label: -rated[label])
    if best and rated[best[0]] >= _ANSWERS:
        best = best[1:]
    return [label for label in best if rated[label] >= _SPEAKS and not set(terms(label)) >= asked]


def _headed(passage: Passage) -> list[tuple[str, str]]:
    """(heading, the text under it) of a passage; its title stands for what has none."""
    out: list[tuple[str, str]] = []
    label, start = passage.heading or passage.title, 0
    for block in blocks(passage.text):
        if block.kind == "heading":
            out.append((label, passage.text[start : block.start]))
            label, start = passage.text[block.start : block.end], block.end
    out.append((label, passage.text[start:]))
    return [(label, below) for label, below in out if below.strip("# \n")]


def _spaced(question: str) -> list[str]:
    out: list[str] = []
    for clause in _BREAK.split(question):
        run: list[str] = []
        for word in [*clause.split(), ""]:
            if word and query_terms(word):
                run.append(word)
            elif run:
                out.append(" ".join(run))
                run = []
    return out


def _unspaced(text: str) -> list[str]:
    out: list[str] = []
    run = gap = ""
    for word, tag in [*rjieba.tag(text), ("", "x")]:
        if word == " ":
            gap = word
            continue
        content = bool(tag.startswith(_CONTENT) and query_terms(word) and not _LEAD.match(word))
        if run and (not content or (gap and not (run[-1].isascii() and word[0].isascii()))):
            out.append(run)
            run = ""
        if content:
            run += (gap if run else "") + word
        gap = ""
    return out
