"""Which Host and Origin headers are foreign."""

import pytest
from starlette.datastructures import Headers

from app.api.origin import foreign, split_authority


def _headers(host: str | None, origin: str | None = None) -> Headers:
    raw: list[tuple[bytes, bytes]] = []
    if host is not None:
        raw.append((b"host", host.encode()))
    if origin is not None:
        raw.append((b"origin", origin.encode()))
    return Headers(raw=raw)


@pytest.mark.parametrize(
    "host",
    ["localhost:8000", "127.0.0.1:8000", "127.0.0.1", "[::1]:8000", "LOCALHOST", "127.9.9.9"],
)
def test_a_loopback_service_takes_loopback_names(host: str) -> None:
    assert foreign(_headers(host), "127.0.0.1") is None


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8000", "localhost.evil.example", "10.0.0.1", "0.0.0.0"),
        *("", "[::1", "localhost:80a", "127.0.0.1@evil", "127.0.0.1 evil", None),
    ],
)
def test_a_loopback_service_refuses_every_other_name(host: str | None) -> None:
    problem = foreign(_headers(host), "127.0.0.1")
    assert problem is not None
    assert problem.status == 403


def test_two_hosts_are_refused() -> None:
    twice = Headers(raw=[(b"host", b"localhost"), (b"host", b"localhost")])
    assert foreign(twice, "127.0.0.1") is not None


def test_elsewhere_any_name_may_be_asked() -> None:
    assert foreign(_headers("research.example"), "0.0.0.0") is None


@pytest.mark.parametrize(
    ("host", "origin", "bound"),
    [
        ("127.0.0.1:8000", "http://127.0.0.1:8000", "127.0.0.1"),
        ("127.0.0.1:8000", "http://localhost:8000", "127.0.0.1"),
        ("localhost:5173", "http://localhost:5173", "127.0.0.1"),
        ("research.example", "https://research.example", "0.0.0.0"),
        ("research.example", "http://research.example:80", "0.0.0.0"),
        ("Research.Example:8443", "https://research.example:8443", "0.0.0.0"),
    ],
)
def test_the_same_origin_is_ours(host: str, origin: str, bound: str) -> None:
    assert foreign(_headers(host, origin), bound) is None


@pytest.mark.parametrize(
    ("host", "origin", "bound"),
    [
        ("127.0.0.1:8000", "http://evil.example", "127.0.0.1"),
        ("127.0.0.1:8000", "http://127.0.0.1:3000", "127.0.0.1"),
        ("127.0.0.1:8000", "null", "127.0.0.1"),
        ("127.0.0.1:8000", "", "127.0.0.1"),
        ("127.0.0.1:8000", "file://", "127.0.0.1"),
        ("research.example", "https://evil.example", "0.0.0.0"),
        ("research.example", "https://research.example.evil", "0.0.0.0"),
        ("research.example", "https://research.example:444", "0.0.0.0"),
    ],
)
def test_another_origin_is_refused(host: str, origin: str, bound: str) -> None:
    problem = foreign(_headers(host, origin), bound)
    assert problem is not None
    assert problem.status == 403


def test_authorities_are_read_strictly() -> None:
    assert split_authority("[::1]:80") == ("::1", 80)
    assert split_authority("a.b") == ("a.b", None)
    for bad in ("", ":80", "a:b", "[::1]x", "a/b", "a b"):
        assert split_authority(bad) is None
