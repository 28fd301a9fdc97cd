"""intent: a title for the thread, and a question back where one would change the plan."""

from graph.context import Context
from graph.evidence import ask_of
from graph.nodes.node import Update
from graph.state import State
from graph.text.clean import clean, one_line

_TITLE: int = 120


async def intent(state: State, ctx: Context) -> Update:
    found = await ctx.reasoner.intent(ask_of(state))
    title = one_line(clean(found.title), _TITLE) or one_line(state["question"], _TITLE)
    update: Update = {"title": title}
    if found.clarify is not None and state["request"]["clarify"]:
        update["clarification"] = {
            "question": one_line(clean(found.clarify.question)),
            "options": [one_line(clean(option)) for option in found.clarify.options],
            "answer": None,
        }
    return update
