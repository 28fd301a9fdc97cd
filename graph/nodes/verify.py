"""verify: the citation gate over all sections of the version, in order, with one numbering."""

import asyncio

from graph.citations import Numbering, check
from graph.context import Context
from graph.nodes.honesty import honesty
from graph.nodes.kept import renumbered
from graph.nodes.node import Update
from graph.nodes.write import empty_text, section_evidence
from graph.outline import in_order, outline
from graph.reasoner import Evidence
from graph.state import Rejected, Section, SentenceVerdict, State
from graph.values import printed


async def verify(state: State, ctx: Context) -> Update:
    numbers = Numbering()
    headings = outline(state)
    done: list[Section] = []
    survived = total = 0
    for section in in_order(state)[: len(headings)]:
        if section["kind"] == "honesty":
            continue
        if section["checked"]:
            done.append(renumbered(section, section["index"], numbers))
        else:
            evidence = await section_evidence(state, ctx, headings[section["index"]])
            earlier = [s["markdown"] for s in done]
            done.append(
                await asyncio.to_thread(_checked, state, section, evidence, numbers, earlier)
            )
        verdicts = [s["verdict"] for s in done[-1]["sentences"]]
        # What only repeats has its source; it stands elsewhere.
        told = sum(_repeats(sentence) for sentence in done[-1]["sentences"])
        total += len(verdicts) - told
        survived += len(verdicts) - verdicts.count("removed")
        ctx.sink.emit(
            "verdict",
            {
                "version": state["version"],
                "section": section["index"],
                "kept": verdicts.count("kept"),
                "repaired": verdicts.count("repaired"),
                "removed": verdicts.count("removed"),
            },
        )
    done += _limits(state, done)
    old = state.get("sections", {})
    for section in done:
        if printed(section) != printed(old[str(section["index"])]):
            ctx.sink.emit("section", {"version": state["version"], **printed(section)})
    rejected = None
    if 2 * survived < total:
        rejected = Rejected(run_id=ctx.run_id, survived=survived, total=total)
    return {
        "sections": {str(section["index"]): section for section in done},
        "verified": True,
        "rejected": rejected,
    }


def _checked(
    state: State,
    section: Section,
    evidence: list[Evidence],
    numbers: Numbering,
    earlier: list[str],
) -> Section:
    """The section as the gate leaves it; where nothing is left, it says so."""
    raw, language = section["raw"], state["language"]
    result = check(raw, evidence, numbers, language=language, earlier=earlier)
    if not result.markdown and any(_repeats(sentence) for sentence in result.sentences):
        result = check(raw, evidence, numbers, language=language)  # better twice than empty
    nothing = empty_text(state, section["raw"], evidence)
    return {
        **section,
        "markdown": result.markdown.strip() or nothing,
        "citations": result.citations,
        "sentences": result.sentences,
        "checked": True,
    }


def _repeats(sentence: SentenceVerdict) -> bool:
    return sentence.get("reason", "").startswith("repeats")


def _limits(state: State, done: list[Section]) -> list[Section]:
    """The section on limits, written anew: what the gate removed belongs there too."""
    sections = {str(section["index"]): section for section in done}
    out: list[Section] = []
    for section in in_order(state):
        if section["kind"] == "honesty":
            known: State = {**state, "sections": {**sections, str(section["index"]): section}}
            text = "\n".join(f"- {line}" for line in honesty(known))
            out.append({**section, "raw": text, "markdown": text})
    return out
