"""The few words an export adds to a report, in the report's language."""

from dataclasses import dataclass
from typing import Final

RIGHT_TO_LEFT: Final = frozenset({"ar", "fa", "he", "ur", "yi"})


@dataclass(frozen=True, slots=True)
class Words:
    sources: str
    partial: str
    document: str


_ENGLISH: Final = Words(
    "Sources", "This report is partial: some of the research failed.", "document"
)
_WORDS: Final = {
    "zh": Words("来源", "本报告不完整：部分研究未能完成。", "文档"),
    "de": Words("Quellen", "Dieser Bericht ist unvollständig.", "Dokument"),
    "fr": Words("Sources", "Ce rapport est incomplet.", "document"),
    "es": Words("Fuentes", "Este informe está incompleto.", "documento"),
    "ja": Words("出典", "このレポートは不完全です。", "文書"),
}


def words(language: str) -> Words:
    """English where the language has none of its own here."""
    return _WORDS.get(language.partition("-")[0].lower(), _ENGLISH)


def direction(language: str) -> str:
    return "rtl" if language.partition("-")[0].lower() in RIGHT_TO_LEFT else "ltr"
