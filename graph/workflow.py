"""The graph: nodes, and one routing function behind each of them."""

from typing import Any

from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from graph import routing
from graph.context import Context
from graph.nodes.amend import amend
from graph.nodes.analyse import analyse
from graph.nodes.clarify import clarify
from graph.nodes.finish import finish
from graph.nodes.intent import intent
from graph.nodes.node import Work, branch_node, node
from graph.nodes.plan import plan
from graph.nodes.read import read
from graph.nodes.reflect import reflect
from graph.nodes.retrieve import retrieve
from graph.nodes.review import review
from graph.nodes.scope import scope
from graph.nodes.verify import verify
from graph.nodes.write import write, written_step
from graph.requirements import AMEND
from graph.state import State
from graph.text.language import detect
from graph.text.words import query_terms

_WORK: dict[str, Work] = {
    routing.INTENT: intent,
    routing.CLARIFY: clarify,
    routing.SCOPE: scope,
    routing.PLAN: plan,
    routing.REVIEW: review,
    AMEND: amend,
    routing.READ: read,
    routing.ANALYSE: analyse,
    routing.REFLECT: reflect,
    routing.VERIFY: verify,
    routing.FINISH: finish,
}


def compile_workflow() -> CompiledStateGraph[State, Context, State, State]:
    """The workflow without a checkpointer: `copy(update={"checkpointer": saver})` per run.

    Run it with `astream(input, config, context=Context(...), control=RunControl(),
    durability="sync")`. Input: `start_input(...)`, None to go on, `Command(resume={id: value})`
    with a value from `validate_answer`, `Command(update=requirement_update(...))`, on a
    finished thread with `goto=AMEND`.

    Takes about half a second: the small language models are loaded here, so that no start and
    no search waits for them on the event loop.
    """
    detect("Is this English?")
    query_terms("这是中文吗")
    graph: Any = StateGraph(State, context_schema=Context)
    for name, work in _WORK.items():
        graph.add_node(name, node(name, work))
    graph.add_node(routing.WRITE, node(routing.WRITE, write, written_step))
    graph.add_node(routing.RETRIEVE, branch_node(routing.RETRIEVE, retrieve))
    graph.add_edge(START, routing.INTENT)
    for name, after in routing.NEXT.items():
        graph.add_conditional_edges(name, routing.onward, after)
    return graph.compile()
