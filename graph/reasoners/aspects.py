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
_GENERIC: Final = frozenset(_GENERIC_NAMES.split())
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
    return [part for part in found if len(set(query_terms(part))) >= 2]


def phrases(question: str, language: str) -> list[str]:
    """Runs of words that say something, in order: the things a question is about."""
    if is_unspaced(language) or _HAN.search(question):
        found = _unspaced(question)
    else:
        found = _spaced(question)
    out: list[str] = []
    for phrase in found:
        if query_terms(phrase) and phrase.casefold() not in (p.casefold() for p in out):
            out.append(phrase)
    return out


def keywords(text: str) -> str:
    """A text as a query: only the words that say something, each once, as they are written."""
    if _HAN.search(text):
        return " ".join(dict.fromkeys(_unspaced(text))) or text
    words = [w.strip("?!.,;:()[]\"'`*_") for w in text.split()]
    return " ".join(dict.fromkeys(w for w in words if query_terms(w))) or text


def headings(question: str, scope: Sequence[Passage]) -> list[str]:
    """Headings and titles of what a first look found, those nearest to the question first;
    only those that the question's words, or the words right under them, speak for."""
    asked = set(query_terms(question))
    rated: dict[str, float] = {}
    for rank, passage in enumerate(scope):
        below = len(asked & set(terms(passage.text))) / (len(asked) or 1)
        for text in [*_headings(passage.text), passage.title]:
            label = _NUMBERING.sub("", one_line(text.strip("#*_` "), 90)).strip(" :：*_`")
            words = set(terms(label))
            if not 1 <= len(words) <= 12 or label.casefold() in _GENERIC or "…" in label:
                continue
            shared = len(asked & words) / len(words)
            score = (below + shared) / (1 + 0.1 * rank) * (0.6 if text is passage.title else 1)
            rated[label] = max(rated.get(label, 0.0), score)
    best = sorted(rated, key=lambda label: -rated[label])
    return [label for label in best if rated[label] >= 0.25 and not set(terms(label)) >= asked]


def _headings(text: str) -> list[str]:
    return [text[b.start : b.end] for b in blocks(text) if b.kind == "heading"]


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
    run = ""
    for word, tag in [*rjieba.tag(text), ("", "x")]:
        if word and tag.startswith(_CONTENT) and query_terms(word) and not _LEAD.match(word):
            run += (" " if run and run[-1].isascii() and word[0].isascii() else "") + word
        elif run and word == " ":
            continue
        elif run:
            out.append(run)
            run = ""
    return out
