"""analyse: what the evidence of each step says, and what it leaves open.

All steps at once, in one node: a model that is down for all of them fails the node, so a
resume tries again; one that fails for some leaves named gaps.
"""

import asyncio
from collections.abc import Sequence

from graph.context import Context
from graph.errors import analysis_failed
from graph.evidence import ask_of, load, step_plan
from graph.nodes.node import Update
from graph.ports import ModelFailed
from graph.reasoner import Analysis, Claim, Evidence
from graph.state import Finding, Mark, State, Step, StepFailure
from graph.text.clean import clean, one_line

_FINDING: int = 1_000
_OPEN: int = 12  # questions that a thread carries along


async def analyse(state: State, ctx: Context) -> Update:
    due = [step for step in state["plan"] if step["status"] == "read"]
    done: dict[str, tuple[Analysis, list[Evidence]] | str] = {}

    async def one(step: Step) -> None:
        evidence = await load(state, ctx.library, [step["id"]])
        if not evidence:  # excluded meanwhile, or its snapshots are gone
            done[step["id"]] = (Analysis(), [])
            return
        try:
            result = await ctx.reasoner.analyse(ask_of(state), step_plan(step), evidence)
        except ModelFailed as failure:
            done[step["id"]] = one_line(clean(str(failure)), 300)
        else:
            done[step["id"]] = (result, evidence)

    async with asyncio.TaskGroup() as group:
        for step in due:
            group.create_task(one(step))
    failures = [
        StepFailure(step=step_id, reason=result)
        for step_id, result in done.items()
        if isinstance(result, str)
    ]
    if due and len(failures) == len(due):
        raise analysis_failed(failures[-1]["reason"])
    findings: list[Finding] = []
    questions = list(state.get("open_questions", ()))
    steps: list[Step] = []
    for step in state["plan"]:
        result = done.get(step["id"])
        if result is None:
            steps.append(step)
            continue
        made = [] if isinstance(result, str) else _findings(step, *result)
        findings += made
        if not isinstance(result, str):
            questions += _new(questions, result[0].open_questions)
        steps.append({**step, "status": "analysed" if made else "gap"})
    for finding in findings:
        ctx.sink.emit("finding", finding)
    ctx.sink.emit("plan", {"steps": steps})
    tried = {step["id"] for step in due}
    earlier = [f for f in state.get("step_failures", ()) if f["step"] not in tried]
    return {
        "findings": findings,
        "step_failures": earlier + failures,
        "open_questions": questions[-_OPEN:],
        "plan": steps,
    }


def _findings(step: Step, analysis: Analysis, evidence: Sequence[Evidence]) -> list[Finding]:
    """Claims with their places; a claim that names no evidence of the step is dropped."""
    out: list[Finding] = []
    for claim in analysis.findings:
        text = one_line(clean(claim.text), _FINDING)
        marks = [m for n in dict.fromkeys(claim.sources) if (m := _mark(claim, n, evidence))]
        if text and marks:
            out.append(Finding(step=step["id"], text=text, citations=marks))
    return out


def _mark(claim: Claim, n: int, evidence: Sequence[Evidence]) -> Mark | None:
    """Where source `n` says it: the words themselves where they stand there, else a passage."""
    mine = [piece for piece in evidence if piece.n == n]
    for piece in mine:
        at = piece.text.find(claim.text)
        if at >= 0:
            start = piece.ref.start + at
            return Mark(n=n, start=start, end=start + len(claim.text))
    return Mark(n=n, start=mine[0].ref.start, end=mine[0].ref.end) if mine else None


def _new(known: Sequence[str], questions: Sequence[str]) -> list[str]:
    lines = (one_line(clean(question)) for question in questions)
    return [line for line in dict.fromkeys(lines) if line and line not in known]
