"""The research workflow: what `app/` calls.

    workflow = compile_workflow()
    graph = workflow.copy(update={"checkpointer": saver})
    graph.astream(start_input(...), config, context=Context(...), control=RunControl(),
                  durability="sync")

An interrupt's value is {"kind": "clarify" | "review_plan", "payload": {...}}.
"""

from graph.answers import validate_answer
from graph.context import Context
from graph.errors import AnswerInvalid, StateTooNew, WorkflowFailed
from graph.outline import has_evidence
from graph.requirements import AMEND, finish_update, requirement_update, unapplied
from graph.start import start_input
from graph.values import report, values
from graph.workflow import compile_workflow

__all__ = [
    "AMEND",
    "AnswerInvalid",
    "Context",
    "StateTooNew",
    "WorkflowFailed",
    "compile_workflow",
    "finish_update",
    "has_evidence",
    "report",
    "requirement_update",
    "start_input",
    "unapplied",
    "validate_answer",
    "values",
]
