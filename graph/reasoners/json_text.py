"""A JSON answer out of a model's text: found, repaired, and fitted to its schema.

Only what the schemas of this package use is understood: object, array, string, integer and
boolean, with required, maxItems and maxLength. Fitting is generous: numbers in strings count,
too long lists and texts are clipped, unknown members go. What cannot be fitted is left out,
or makes its parent unfit where it is required.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

import json_repair

from graph.text.clean import scrub

_FENCE: Final = re.compile(r"```[\w-]*\s*\n(.*?)(?:```|\Z)", re.DOTALL)
_THOUGHT: Final = re.compile(r"(?is)\A(?:\s*<think(?:ing)?>.*?|[^{]*?)</think(?:ing)?>")
_INTEGER: Final = re.compile(r"\s*\[?\s*[Ss]?\s*(\d{1,9})\s*\]?\s*")
_LONGEST: Final = 400_000  # code points looked at


class Unfit(Exception):
    """The value cannot be read as the schema asks."""


def instance_of(text: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The first object in the text that fits the schema, or None."""
    for candidate in _candidates(scrub(_THOUGHT.sub("", text[:_LONGEST], count=1))):
        try:
            value = fitted(candidate, schema)
        except Unfit:
            continue
        if isinstance(value, dict):
            return cast("dict[str, Any]", value)
    return None


def fitted(value: Any, schema: Mapping[str, Any]) -> Any:
    """The value in the shape of the schema. Raises `Unfit`."""
    kind = schema.get("type")
    if kind == "object":
        return _object(value, schema)
    if kind == "array":
        items = cast("list[Any]", value) if isinstance(value, list) else [value]
        return _array(items, schema)
    if kind == "string":
        return _string(value, schema)
    if kind == "boolean" and isinstance(value, bool):
        return value
    if kind == "integer":
        return _integer(value)
    raise Unfit(str(kind))


def _candidates(text: str) -> Iterator[Any]:
    """Values in the text, the most trustworthy reading first."""
    bodies = [text, *(match[1] for match in _FENCE.finditer(text))]
    first = text.find("{")
    if first >= 0:
        bodies.append(text[first : text.rfind("}") + 1] or text[first:])
    for body in bodies:
        try:
            yield json.loads(body)
        except (ValueError, RecursionError):
            continue
    for body in [*bodies[1:], *([text[first:]] if first >= 0 else [])]:
        try:
            yield json_repair.loads(body)
        except (ValueError, RecursionError):
            continue


def _object(value: Any, schema: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Unfit("object")
    given = cast("dict[str, Any]", value)
    required: Sequence[str] = schema.get("required", ())
    out: dict[str, Any] = {}
    for name, part in cast("Mapping[str, Any]", schema["properties"]).items():
        try:
            if name in given:
                out[name] = fitted(given[name], part)
        except Unfit:
            pass
        if name in required and name not in out:
            raise Unfit(name)
    return out


def _array(items: list[Any], schema: Mapping[str, Any]) -> list[Any]:
    out: list[Any] = []
    for item in items:
        try:
            out.append(fitted(item, schema["items"]))
        except Unfit:
            continue
    if len(out) < schema.get("minItems", 0):
        raise Unfit("too few")
    return out[: schema.get("maxItems", len(out))]


def _string(value: Any, schema: Mapping[str, Any]) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Unfit("string")
    text = scrub(str(value)).strip()
    if len(text) < schema.get("minLength", 0):
        raise Unfit("too short")
    return text[: schema.get("maxLength", len(text))]


def _integer(value: Any) -> int:
    if isinstance(value, bool):
        raise Unfit("integer")
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    match = _INTEGER.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise Unfit("integer")
    return int(match[1])
