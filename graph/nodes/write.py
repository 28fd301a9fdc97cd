"""write: one section per superstep, so that a crash or a stop costs one section at most.

A drain never cuts a section: the graph stops between supersteps by itself.
"""

import asyncio
from collections.abc import AsyncIterator

from graph.citations import Numbering, cite
from graph.context import Context
from graph.evidence import ask_of, claims, findings_of, load
from graph.nodes.honesty import honesty
from graph.nodes.node import Update
from graph.outline import in_order, next_index, outline, usable
from graph.reasoner import Brief, Evidence
from graph.state import Heading, Section, State
from graph.text.clean import scrub
from graph.text.phrases import phrase
from graph.values import printed

_SUMMARY_EVIDENCE: int = 24  # passages the opening section may lean on


def written_step(state: State) -> str | None:
    """The step of the section that comes next."""
    index = next_index(state)
    return None if index is None else outline(state)[index]["step"]


async def write(state: State, ctx: Context) -> Update:
    index, headings = next_index(state), outline(state)
    if index is None:
        return {"outline": headings}
    heading = headings[index]
    version = state["version"]
    ctx.sink.emit(
        "section.started",
        {"version": version, "index": index, "title": heading["title"], "total": len(headings)},
    )
    evidence = await section_evidence(state, ctx, heading, limit=_SUMMARY_EVIDENCE)
    raw = ""
    async for piece in _pieces(state, ctx, heading, evidence, index):
        text = scrub(piece)
        if text:
            raw += text
            ctx.sink.emit("token", {"section": index, "text": text})
    section = await asyncio.to_thread(_section, state, heading, index, raw, evidence)
    ctx.sink.emit("section", {"version": version, **printed(section)})
    return {"outline": headings, "sections": {str(index): section}, "verified": False}


async def section_evidence(
    state: State, ctx: Context, heading: Heading, *, limit: int | None = None
) -> list[Evidence]:
    """What a section may cite: its step's evidence, or that of all steps for the summary."""
    if heading["kind"] == "honesty":
        return []
    if heading["kind"] == "summary":
        return await load(state, ctx.library, list(state.get("evidence", {})), limit=limit)
    return await load(state, ctx.library, [str(heading["step"])])


def empty_text(state: State, raw: str, evidence: list[Evidence]) -> str:
    """What stands where nothing was written, or where the gate let nothing through."""
    told = bool(evidence) and not raw.strip()
    return phrase(state["language"], "told_above" if told else "empty_section")


def _section(
    state: State, heading: Heading, index: int, raw: str, evidence: list[Evidence]
) -> Section:
    """With provisional numbers, by first use so far; verify gives the final ones."""
    section = Section(
        index=index,
        kind=heading["kind"],
        step=heading["step"],
        title=heading["title"],
        raw=raw,
        markdown=raw.strip(),
        citations=[],
        sentences=[],
        checked=False,
    )
    if heading["kind"] == "honesty":
        return section
    if not raw.strip():
        return {**section, "markdown": empty_text(state, raw, evidence)}
    given = {c["n"]: c["number"] for s in in_order(state) for c in s["citations"]}
    done = cite(raw, evidence, Numbering(sorted(given, key=lambda n: given[n])))
    return {**section, "markdown": done.markdown.strip(), "citations": done.citations}


async def _pieces(
    state: State, ctx: Context, heading: Heading, evidence: list[Evidence], index: int
) -> AsyncIterator[str]:
    if heading["kind"] == "honesty":
        for place, line in enumerate(honesty(state)):
            yield f"\n- {line}" if place else f"- {line}"
        return
    if not evidence:
        return
    async for piece in ctx.reasoner.write(ask_of(state), _brief(state, heading, evidence, index)):
        yield piece


def _brief(state: State, heading: Heading, evidence: list[Evidence], index: int) -> Brief:
    summary = heading["kind"] == "summary"
    steps = [s for s in state["plan"] if summary or s["id"] == heading["step"]]
    findings = findings_of(state, [s["id"] for s in steps if summary or usable(state, s["id"])])
    before = [s["raw"] for s in in_order(state) if s["index"] < index and s["kind"] != "honesty"]
    return Brief(
        title=heading["title"],
        intent=state["question"] if summary else steps[0]["intent"],
        evidence=tuple(evidence),
        findings=claims(findings),
        before=tuple(before),
        others=tuple(h["title"] for h in outline(state)[index + 1 : -1]),
        summary=summary,
    )
