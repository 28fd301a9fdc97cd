"""Prompts: the files in `graph/prompts`, and the reader's and the sources' words in fences.

All that does not come from us stands between tags and cannot close them. The model sees short
ids, titles and text: never an address.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from graph.ports import Passage
from graph.reasoner import Ask, Claim, Evidence, StepPlan
from graph.text.clean import one_line, scrub
from graph.text.sentences import spans

_FOLDER: Final = Path(__file__).resolve().parent.parent / "prompts"
_TAG_NAMES: Final = (
    "question clarification wishes first_look plan feedback step section findings "
    "already_written evidence open_questions steps_done"
)
_TAGS: Final = re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(_TAG_NAMES.split())})\b)", re.IGNORECASE)
_MARK: Final = re.compile(r"\s*\[[Ss]\d+(?:\s*,\s*[Ss]?\d+)*\]")
_BLOCK: Final = re.compile(r"\s*(?:[-*+•>|#]|\d{1,3}[.)]\s|```|~~~)|\s{4}")
_CLOSED: Final = re.compile(r"\s*(?:[|#]|```|~~~)|\s{4}")
_WIDE: Final = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
_TITLE: Final = 160
_LOOK: Final = 240  # code points of each passage of the first look
_LOOKS: Final = 12
_LANGUAGES: Final = {
    "en": "English", "zh": "Simplified Chinese", "ja": "Japanese", "ko": "Korean", "de": "German",
    "fr": "French", "es": "Spanish", "pt": "Portuguese", "it": "Italian", "nl": "Dutch",
    "ru": "Russian", "uk": "Ukrainian", "pl": "Polish", "tr": "Turkish", "ar": "Arabic",
    "hi": "Hindi", "th": "Thai", "vi": "Vietnamese", "sv": "Swedish", "cs": "Czech",
}  # fmt: skip


def prompt(name: str, language: str, **values: str) -> str:
    """A system prompt by its file's name. The language is set by code, never by the model."""
    spoken = _LANGUAGES.get(language, f"the language with the code {language}")
    out = _file(name)
    for key, value in {"language": spoken, **values}.items():
        out = out.replace("{" + key + "}", value)
    return out


def fenced(tag: str, text: str) -> str:
    """Text between tags that it cannot close; nothing where there is no text."""
    body = _TAGS.sub("‹", scrub(text)).strip()
    return f"<{tag}>\n{body}\n</{tag}>\n" if body else ""


def asked(ask: Ask) -> str:
    """The question with all that the reader added."""
    return (
        fenced("question", ask.question)
        + fenced("clarification", ask.clarification or "")
        + fenced("wishes", bullets(ask.requirements))
    )


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {one_line(line, 1_000)}" for line in lines if line.strip())


def steps_text(steps: Sequence[StepPlan]) -> str:
    return "\n".join(
        f"{i}. {one_line(s.title, _TITLE)}: {one_line(s.intent)}"
        f" (queries: {'; '.join(one_line(q, _TITLE) for q in s.queries)})"
        for i, s in enumerate(steps, 1)
    )


def first_look(scope: Sequence[Passage]) -> str:
    return bullets(
        f"{one_line(p.title, _TITLE)}: {one_line(p.text, _LOOK)}" for p in scope[:_LOOKS]
    )


def claims_text(claims: Sequence[Claim]) -> str:
    """Findings with their ids in front, as the evidence has them."""
    return "\n".join(
        f"{''.join(f'[S{n}]' for n in claim.sources)} {one_line(claim.text, 1_000)}"
        for claim in claims
    )


def without_marks(texts: Iterable[str], budget: int) -> str:
    """Sections already written, the latest last, cut from the front to the budget."""
    joined = "\n\n".join(_MARK.sub("", text).strip() for text in texts)
    return joined[-budget:]


def evidence_text(evidence: Sequence[Evidence], budget: int) -> str:
    """Passages under their ids, in order, as many code points as the budget allows.

    The passage that crosses it is cut after a sentence. The first one is always there.
    """
    out: list[str] = []
    left = budget
    for item in evidence:
        text = unwrapped(item.text)
        if len(text) > left:
            text = _cut(text, left)
            if not text and out:
                break
            text = text or unwrapped(item.text)[:budget]
        out.append(f"[S{item.n}] from “{one_line(item.title, _TITLE)}”\n{text}")
        left -= len(text)
        if left <= 0:
            break
    return "\n\n".join(out)


def unwrapped(text: str) -> str:
    """Lines that were broken to fit a width, made whole; lists, tables and code stay."""
    out: list[str] = []
    code = False
    for line in text.strip().split("\n"):
        fence = line.lstrip().startswith(("```", "~~~"))
        last = out[-1] if out else ""
        goes_on = last.strip() and line.strip() and not code and not fence
        if goes_on and not _BLOCK.match(line) and not _CLOSED.match(last):
            wide = _WIDE.match(last[-1]) and _WIDE.match(line.lstrip()[0])
            out[-1] = f"{last.rstrip()}{'' if wide else ' '}{line.strip()}"
        else:
            out.append(line.rstrip())
        code = code != fence
    return "\n".join(out)


def _cut(text: str, limit: int) -> str:
    end = 0
    for _, stop in spans(text, 0, len(text)):
        if stop > limit:
            break
        end = stop
    return text[:end]


@cache
def _file(name: str) -> str:
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8")
