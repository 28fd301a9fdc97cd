"""JSON schemas of the typed answers. Limits clip what comes; they are not sent to a model."""

from collections.abc import Mapping
from typing import Any, Final

Schema = Mapping[str, Any]


def _text(most: int, least: int = 0) -> Schema:
    return {"type": "string", "minLength": least, "maxLength": most}


def _list(items: Schema, most: int, least: int = 0) -> Schema:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def _object(required: tuple[str, ...], **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required)}


_STEP: Final = _object(
    ("title",),
    title=_text(160, 1),
    intent=_text(600),
    queries=_list(_text(200, 1), 4),
)

INTENT: Final = _object(
    ("title",),
    title=_text(120, 1),
    clarify={"type": "boolean"},
    question=_text(400),
    options=_list(_text(120, 1), 4),
)
PLAN: Final = _object(("steps",), steps=_list(_STEP, 6, 1))
FURTHER: Final = _object(("steps",), steps=_list(_STEP, 3))
ANALYSIS: Final = _object(
    ("findings",),
    findings=_list(_object(("text",), text=_text(800, 1), sources=_list(_text(40, 1), 8)), 12),
    open_questions=_list(_text(300, 1), 3),
)
