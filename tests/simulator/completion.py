"""One chat completion: the whole answer, made before its first byte is sent."""

import json
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from tests.simulator.prompt import whole
from tests.simulator.schema import Instance
from tests.simulator.script import Script
from tests.simulator.tokens import tokens

Body = dict[str, Any]


def error(code: str) -> Body:
    return {"error": {"message": "scripted", "type": code, "code": code}}


@dataclass(frozen=True, slots=True)
class Completion:
    """`parts` of the text, or one tool `call`; `usage` as the endpoint would count it."""

    base: Body
    parts: list[str]
    call: Body | None
    finish: str
    usage: Body
    faults: Collection[str]
    usage_wanted: bool

    @classmethod
    def of(cls, body: Body, number: int, script: Script, faults: Collection[str]) -> "Completion":
        finish = "stop"
        if "length" in faults:
            finish = "length"
        elif "filter" in faults:
            finish = "content_filter"
        wanted = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
        tools: list[Body] = body.get("tools") or []
        call: Body | None = None
        parts: list[str] = []
        if wanted is not None:
            text = _json(wanted, body, faults)
            parts = [f"Here it is:\n```json\n{text}\n```\n" if "textjson" in faults else text]
        elif tools and body.get("tool_choice") not in (None, "none", "auto"):
            function = tools[0]["function"]
            arguments = _json(function.get("parameters", {}), body, faults)
            call = {"name": function["name"], "arguments": arguments}
            finish = "tool_calls"
        else:
            cap = body.get("max_tokens") or body.get("max_completion_tokens") or script.count
            parts = tokens(whole(body), min(script.count, cap), faults)
        if "empty" in faults:
            parts, call = [], None
        prompt_tokens = len(json.dumps(body.get("messages", ""))) // 4
        completion_tokens = max(1, len(parts))
        return cls(
            base={
                "id": f"sim-{number}",
                "object": "chat.completion.chunk",
                "created": int(time.time()),
                "model": body.get("model", ""),
            },
            parts=parts,
            call=call,
            finish=finish,
            usage={
                "prompt_tokens": prompt_tokens,
                "completion_tokens": completion_tokens,
                "total_tokens": prompt_tokens + completion_tokens,
            },
            faults=faults,
            usage_wanted=bool((body.get("stream_options") or {}).get("include_usage")),
        )

    def _tool_calls(self) -> list[Body] | None:
        if self.call is None:
            return None
        return [
            {"index": 0, "id": f"call_{self.base['id']}", "type": "function", "function": self.call}
        ]

    def whole(self) -> Body:
        """The body of an answer that is not streamed."""
        message: Body = {
            "role": "assistant",
            "content": None if self.call else "".join(self.parts),
        }
        if self.call:
            message["tool_calls"] = self._tool_calls()
        choice = {"index": 0, "message": message, "finish_reason": self.finish}
        return {
            **self.base,
            "object": "chat.completion",
            "usage": None if "nousage" in self.faults else self.usage,
            "choices": [] if "empty" in self.faults else [choice],
        }

    def frames(self) -> list[bytes]:
        """The events of a stream, each a whole `data:` line, `[DONE]` included."""
        frames = [self._frame({"role": "assistant", "content": ""})]
        if self.call:
            frames.append(self._frame({"tool_calls": self._tool_calls()}))
        for i, part in enumerate(self.parts):
            running: Body = {}
            if "usageall" in self.faults:
                running = {"usage": {**self.usage, "completion_tokens": i + 1}}
            frames.append(self._frame({"content": part}, more=running))
        if "error" in self.faults:
            frames = [*frames[:11], _data(error("scripted"))]
        elif "nofinish" not in self.faults:
            frames.append(self._frame({}, self.finish))
        if self.usage_wanted and "nousage" not in self.faults:
            frames.append(_data({**self.base, "choices": [], "usage": self.usage}))
        return [*frames, b"data: [DONE]\n\n"]

    def _frame(self, delta: Body, reason: str | None = None, *, more: Body | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return _data({**self.base, "choices": [choice], **(more or {})})


def _data(body: Body) -> bytes:
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def _json(schema: Body, body: Body, faults: Collection[str]) -> str:
    text = json.dumps(Instance(schema, body, faults).build(), ensure_ascii=False)
    return text[: len(text) // 2] if "badjson" in faults else text
