"""Keys: who calls, and what they may ask for."""

import pytest
from starlette.datastructures import Headers

from app.api.access import LOCAL, Keys
from app.settings import Key

KEYS = Keys([Key("ann:s3cret:low"), Key("bob:other:admin"), Key("zoé:schlüssel")])


def _with(*values: str) -> Headers:
    return Headers(raw=[(b"authorization", value.encode("latin-1")) for value in values])


def test_without_keys_everyone_is_the_local_admin() -> None:
    keys = Keys([])
    assert keys.open
    assert keys.caller(_with()) == LOCAL


@pytest.mark.parametrize("header", ["Bearer s3cret", "bearer s3cret", "BEARER  s3cret "])
def test_a_key_names_its_caller(header: str) -> None:
    caller = KEYS.caller(_with(header))
    assert caller is not None
    assert (caller.name, caller.admin, caller.priority) == ("ann", False, "low")


@pytest.mark.parametrize(
    "headers",
    [
        (),
        ("",),
        ("Bearer",),
        ("Bearer ",),
        ("Bearer s3cre",),
        ("Bearer s3cret2",),
        ("Basic s3cret",),
        ("s3cret",),
        ("Bearer ann:s3cret:low",),
        ("Bearer s3cret", "Bearer s3cret"),
    ],
)
def test_anything_else_is_nobody(headers: tuple[str, ...]) -> None:
    assert KEYS.caller(_with(*headers)) is None


def test_a_priority_is_capped_by_the_key() -> None:
    ann = KEYS.caller(_with("Bearer s3cret"))
    bob = KEYS.caller(_with("Bearer other"))
    assert ann is not None
    assert bob is not None
    assert [ann.cap(p) for p in ("high", "default", "low")] == ["low", "low", "low"]
    assert [bob.cap(p) for p in ("high", "default", "low")] == ["high", "default", "low"]
