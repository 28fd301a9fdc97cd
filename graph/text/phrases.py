"""The few sentences that code itself puts into a report, per language; English where we have
no other. Placeholders are `str.format` names."""

from typing import Final

_EN: Final = {
    "summary": "Summary",
    "honesty": "Limits of this report",
    "nothing_found": "Nothing matched the question, so there is no report to write.",
    "all_well": "Every step found evidence, and no search and no page failed.",
    "empty_section": "Nothing of this section could be backed by a source.",
    "told_above": "What was found on this stands in the sections above.",
    "no_evidence": "No evidence was found for: {titles}.",
    "not_researched": "Not researched, because the report was asked for early: {titles}.",
    "step_failed": "The analysis of “{title}” failed: {reason}",
    "open_questions": "Questions left open: {questions}",
    "no_provider": "The web was not searched, because no search provider is set up.",
    "search_failed": "A search failed ({provider}: {reason}), so its results are missing:"
    " “{query}”.",
    "searches_failed": "{count} more searches failed.",
    "page_failed": "A page could not be read ({reason}), so what it says is missing: {url}",
    "pages_failed": "{count} more pages could not be read.",
    "pending": "{pending} of {total} documents were not yet indexed when they were searched, so"
    " this report may miss what they say.",
    "unreadable": "{failed} of {total} documents could not be read.",
    "no_documents": "There were no documents to search.",
    "excluded": "Left out at the reader's wish: {titles}.",
    "removed": "{count} sentences were removed, because no source backs them.",
    "aspects": "What the sources say about {topic}",
    "gather": "Find the passages that speak of {topic}.",
    "overview": "Find the passages that answer the question itself.",
    "which": "What exactly should be found out about “{topic}”?",
    "option_what": "What {topic} is and how it works",
    "option_why": "Why {topic} is the way it is, and its limits",
    "option_use": "How {topic} is used in practice",
}
_ZH: Final = {
    "summary": "摘要",
    "honesty": "本报告的局限",
    "nothing_found": "没有找到与问题相符的内容，因此没有可写的报告。",
    "all_well": "每个步骤都找到了依据，没有检索或网页失败。",
    "empty_section": "本节内容都没有来源支持。",
    "told_above": "与此有关的内容已在上文各节中给出。",
    "no_evidence": "以下内容没有找到依据：{titles}。",
    "not_researched": "由于提前要求写报告，以下内容没有研究：{titles}。",
    "step_failed": "对“{title}”的分析失败：{reason}",
    "open_questions": "尚未解答的问题：{questions}",
    "no_provider": "没有检索网络，因为没有设置检索服务。",
    "search_failed": "一次检索失败（{provider}：{reason}），因此缺少其结果：“{query}”。",
    "searches_failed": "另有 {count} 次检索失败。",
    "page_failed": "一个网页无法读取（{reason}），因此缺少其内容：{url}",
    "pages_failed": "另有 {count} 个网页无法读取。",
    "pending": "检索时 {total} 份文档中有 {pending} 份尚未编入索引，本报告可能缺少其中的内容。",
    "unreadable": "{total} 份文档中有 {failed} 份无法读取。",
    "no_documents": "没有可供检索的文档。",
    "excluded": "按读者的要求未采用：{titles}。",
    "removed": "有 {count} 个句子因为没有来源支持而被删除。",
    "aspects": "关于{topic}的资料",
    "gather": "查找谈到{topic}的段落。",
    "overview": "查找直接回答问题的段落。",
    "which": "关于“{topic}”，具体想了解什么？",
    "option_what": "{topic}是什么，如何运作",
    "option_why": "{topic}为何如此，有哪些局限",
    "option_use": "{topic}在实际中如何使用",
}
_TABLES: Final = {"en": _EN, "zh": _ZH}
_SEPARATOR: Final = {"zh": "；"}


def phrase(language: str, name: str, **values: object) -> str:
    """The phrase `name` in `language`, filled in."""
    return _TABLES.get(language, _EN)[name].format(**values)


def listed(language: str, items: list[str]) -> str:
    """Items as one enumeration, in the punctuation of the language."""
    return _SEPARATOR.get(language, "; ").join(items)
