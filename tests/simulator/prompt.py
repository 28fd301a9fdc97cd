"""What a prompt says: its question and its evidence, found as a reader would find them."""

import re
from typing import Any, NamedTuple

_STOP_TEXT = (
    "a about all also an and any are as at be been but by can could did do does for from give had "
    "has have how i if in into is it its me more most my not of on or our please say should so "
    "some such tell than that the their them then there these they this those to us was we were "
    "what when where which who why will with would you your"
)
_STOP = frozenset(_STOP_TEXT.split())
_STOP_ZH = re.compile(
    r"请问|什么|怎么|怎样|如何|为何|为什么|哪些|哪个|是否|以及|还有|[的了是在和与或吗呢吧把被对从到中有会能要用就也都这那它其]"
)
CJK = re.compile(r"[\u3400-\u9fff]")
_HEADING = re.compile(r"\A\s*from [“\"].*")  # the title that may follow an id on its line
_LABELLED = (
    re.compile(r"<question>\s*(.+?)\s*</question>", re.IGNORECASE | re.DOTALL),
    re.compile(
        r"^\W*(?:the )?(?:reader'?s )?question\W*?[:：][ \t]*(\S.*)$",
        re.IGNORECASE | re.MULTILINE,
    ),
    re.compile(r"^#+ *(?:the )?question *\n+ *(\S.*)$", re.IGNORECASE | re.MULTILINE),
    re.compile(r"^\W*问题\W*?[:：]\s*(\S.*)$", re.MULTILINE),
)


class Quote(NamedTuple):
    """A sentence of the evidence and the source id before it, such as 3 for S3."""

    n: int
    sentence: str


def text_of(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(str(part.get("text", "")) for part in content)


def whole(body: dict[str, Any]) -> str:
    return "\n".join(text_of(message) for message in body.get("messages", []))


def evidence(prompt: str) -> list[Quote]:
    """The sentences that follow an id in the prompt, each once, in their order."""
    parts = re.split(r"\[?\bS(\d+)\b\]?", prompt)
    quotes: list[Quote] = []
    for number, text in zip(parts[1::2], parts[2::2], strict=True):
        for sentence in re.findall(
            r"(?:[^.!?。！？\n]|\.(?=\d)){6,300}[.!?。！？]", _HEADING.sub("", text, count=1)
        ):
            clean = sentence.strip(" :：-\t\"'>|*#")
            if len(clean) > 20 or len(CJK.findall(clean)) >= 6:
                quotes.append(Quote(int(number), clean))
    return list(dict.fromkeys(quotes))


def question(body: dict[str, Any]) -> str:
    """The question by its label, else the line with a question mark, else the last message."""
    texts = [text_of(m) for m in body.get("messages", []) if m.get("role") == "user"]
    last = texts[-1] if texts else ""
    for text in (last, whole(body)):
        for pattern in _LABELLED:
            found = pattern.search(text)
            if found:
                return found[1].strip().strip('"“”')
    lines = [line.strip() for line in last.splitlines() if line.strip()]
    asking = [line for line in lines if line.endswith(("?", "？"))]
    return (asking or lines or [""])[0]


def words(text: str) -> list[str]:
    """The words of a question that a search would look for, each once."""
    found: list[str] = []
    for run in re.findall(r"[\u3400-\u9fff]+|[^\W\d_][\w.-]*", text):
        if CJK.match(run):
            found += [part for part in _STOP_ZH.split(run) if len(part) >= 2]
        elif len(run) > 1 and run.lower() not in _STOP:
            found.append(run.rstrip(".-"))
    return list(dict.fromkeys(found))
