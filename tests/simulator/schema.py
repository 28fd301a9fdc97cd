"""An instance of a JSON schema, made of the words of the prompt.

A property's name decides what a string or number says: a query asks with the question's
words, a finding quotes the evidence and names its source. All else is the smallest value.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from tests.simulator.prompt import CJK, Quote, evidence, question, whole, words

Schema = dict[str, Any]

ASKING = frozenset({"query", "queries", "search_queries", "title", "intent", "topic", "goal"})
QUOTING = frozenset({"text", "claim", "finding", "statement", "summary", "quote", "answer"})
SOURCES = frozenset({"source", "sources", "source_ids", "citations", "ids", "s"})
CLARIFYING = frozenset({"clarify", "clarification", "clarifying_question", "needs_clarification"})
OPEN = frozenset({"open_questions", "open_question", "gaps", "missing"})
FINDINGS = frozenset({"findings", "claims"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the instance a value stands: the property, and its item in the nearest list."""

    name: str = ""
    item: int = 0


class Instance:
    """Builds values for one request."""

    def __init__(self, root: Schema, body: dict[str, Any], faults: Collection[str] = ()) -> None:
        self._root = root
        self._faults = faults
        self._quotes: list[Quote] = evidence(whole(body))
        self._words = words(question(body)) or ["open", "models"]

    def build(self) -> Any:
        return self._value(self._root, Place())

    def _value(self, schema: Schema, place: Place) -> Any:
        if "$ref" in schema:
            target: Any = self._root
            for part in schema["$ref"].lstrip("#/").split("/"):
                target = target[part]
            return self._value(target, place)
        for key in ("anyOf", "oneOf", "allOf"):
            if key in schema:
                return self._value(self._choose(schema[key], place), place)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]
        kind = self._kind(schema, place)
        if kind == "object":
            properties: dict[str, Schema] = schema.get("properties", {})
            return {k: self._value(v, Place(k, place.item)) for k, v in properties.items()}
        if kind == "array":
            return self._list(schema, place)
        if kind == "boolean":
            return place.name in CLARIFYING and "clarify" in self._faults
        if kind in {"integer", "number"}:
            return self._number(schema, place)
        return None if kind == "null" else self._string(schema, place)

    def _choose(self, options: list[Schema], place: Place) -> Schema:
        nullable = any(option.get("type") == "null" for option in options)
        if nullable and self._silent(place):
            return {"type": "null"}
        return next((o for o in options if o.get("type") != "null"), options[0])

    def _kind(self, schema: Schema, place: Place) -> str:
        kind = schema.get("type", "object" if "properties" in schema else "string")
        if isinstance(kind, list):
            kinds = [str(k) for k in kind]
            if "null" in kinds and self._silent(place):
                return "null"
            return next((k for k in kinds if k != "null"), "null")
        return str(kind)

    def _silent(self, place: Place) -> bool:
        """No clarifying question and no open one, unless the script wants it."""
        wanted = (place.name in CLARIFYING and "clarify" in self._faults) or (
            place.name in OPEN and "open" in self._faults
        )
        return place.name in CLARIFYING | OPEN and not wanted

    def _list(self, schema: Schema, place: Place) -> list[Any]:
        items: Schema = schema.get("items", {})
        least = int(schema.get("minItems", 0))
        most = int(schema.get("maxItems", 2))
        if place.name in FINDINGS and not self._quotes:
            return [self._value(items, Place(place.name, i)) for i in range(least)]
        if self._silent(place):
            most = 0
        elif place.name in SOURCES | OPEN:
            most = min(1, most)
        count = max(least, min(2, most))
        if place.name in SOURCES:
            return [self._value(items, Place(place.name, place.item + i)) for i in range(count)]
        return [self._value(items, Place(place.name, i)) for i in range(count)]

    def _number(self, schema: Schema, place: Place) -> float:
        if place.name in SOURCES and self._quotes:
            return self._quote(place).n
        return schema.get("minimum", 1)

    def _string(self, schema: Schema, place: Place) -> str:
        if place.name in CLARIFYING and self._silent(place):
            return ""
        if place.name in SOURCES and self._quotes:
            return f"S{self._quote(place).n}"
        if place.name in QUOTING and self._quotes:
            text = self._quote(place).sentence
        elif place.name in ASKING:
            text = self._asking(place)
        else:
            text = f"{place.name or 'text'} about {self._asking(place)}"
        return text[: schema.get("maxLength", 300)]

    def _quote(self, place: Place) -> Quote:
        return self._quotes[place.item % len(self._quotes)]

    def _asking(self, place: Place) -> str:
        """First with most words of the question, then with fewer, from its end."""
        first, last = " ".join(self._words[:6]), " ".join(self._words[-3:])
        if place.item % 2 == 0:
            return first
        return last if last != first else f"{first} {'细节' if CJK.search(first) else 'details'}"
