"""`Climb`: one typed answer, by the best way that the endpoint takes.

The rungs: a native JSON schema, a forced tool call, JSON asked for in words. A rung that the
endpoint refuses is remembered once it takes a lower one, and never asked for again. What
comes back is read with patience (`graph/reasoners/json_text.py`); no rung: None.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from openai.types.chat import ChatCompletion

from app.providers.chunks import text_of
from app.providers.endpoint import RUNGS, Endpoint, Message
from app.providers.faults import Fault
from graph.reasoners.json_text import instance_of

_NAME: Final = "answer"
_LIMITS: Final = frozenset({"minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum"})
_IN_WORDS: Final = (
    "Answer with one JSON object and nothing else: no prose, no fence. It has to fit this JSON"
    " schema:\n"
)


class Climb:
    """`rung` is the one to try next, None when the climb is over."""

    def __init__(
        self, endpoint: Endpoint, messages: list[Message], schema: Mapping[str, Any]
    ) -> None:
        self._endpoint = endpoint
        self._messages = messages
        self._schema = schema
        self._refused = False
        self.rung: int | None = endpoint.rung
        self.asked = "".join(message["content"] for message in messages)

    def request(self, rung: int) -> dict[str, Any]:
        """The arguments of `Endpoint.complete` for a rung."""
        wire = strict(self._schema)
        name = RUNGS[rung]
        if name == "schema":
            wanted = {"name": _NAME, "schema": wire, "strict": True}
            return {
                "messages": self._messages,
                "response_format": {"type": "json_schema", "json_schema": wanted},
            }
        if name == "tool":
            function = {
                "name": _NAME,
                "description": "Gives the answer.",
                "parameters": wire,
            }
            return {
                "messages": self._messages,
                "tools": [{"type": "function", "function": function}],
                "tool_choice": {"type": "function", "function": {"name": _NAME}},
            }
        system, *rest = self._messages
        words = f"{system['content']}\n\n{_IN_WORDS}{json.dumps(wire, ensure_ascii=False)}"
        return {"messages": [{"role": "system", "content": words}, *rest]}

    def refused(self, fault: Fault) -> bool:
        """Takes a refusal of the request's shape: goes one rung down. False on the last one."""
        if not fault.refused or self.rung is None or self.rung + 1 >= len(RUNGS):
            return False
        self._refused = True
        self.rung += 1
        return True

    @staticmethod
    def said(answer: ChatCompletion) -> str:
        """The text or the tool's arguments of an answer, raw."""
        for choice in answer.choices or []:
            for call in choice.message.tool_calls or []:
                if call.type == "function":
                    return call.function.arguments
            return text_of(choice.message.content)
        return ""

    def take(self, answer: ChatCompletion, said: str) -> dict[str, Any] | None:
        """The instance in an answer. None: try the next rung, if there is one.

        An answer that was cut, withheld or left empty would be so again: the climb ends.
        """
        if self._refused and self.rung is not None:
            self._endpoint.rung = self.rung
        value = instance_of(said, self._schema)
        finish = answer.choices[0].finish_reason if answer.choices else None
        if value is not None and finish != "content_filter":
            return value
        last = len(RUNGS) - 1
        over = not said.strip() or finish in ("length", "content_filter") or self.rung == last
        self.rung = None if over else last
        return None


def strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as strict endpoints take it: all properties required, no others, no limits."""
    out: dict[str, Any] = {k: v for k, v in schema.items() if k not in _LIMITS}
    if "properties" in out:
        out["properties"] = {name: strict(part) for name, part in out["properties"].items()}
        out["required"] = list(out["properties"])
        out["additionalProperties"] = False
    if "items" in out:
        out["items"] = strict(out["items"])
    return out
