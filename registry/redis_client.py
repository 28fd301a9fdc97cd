"""The client to Redis. Every call is bounded; none is repeated here: loops do that."""

from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from registry.errors import StartRefused

TIMEOUT = 2.0  # seconds for a connection, and for each answer
# What a call on a Redis in trouble raises. The last is uvloop's: a connection that is closed in
# the moment of a write.
FAILURES = (RedisError, OSError, TimeoutError, RuntimeError)

Client = Redis


def make_client(url: str) -> Client:
    """Connects at first use. Raises `StartRefused` for an address that cannot be one."""
    try:
        made: Any = Redis.from_url(
            url,
            protocol=2,
            socket_timeout=TIMEOUT,
            socket_connect_timeout=TIMEOUT,
            socket_keepalive=True,
            retry=Retry(NoBackoff(), 0),
        )
    except ValueError as error:
        raise StartRefused(f"REDIS_URL: {error}") from None
    return made


def reason_of(error: BaseException) -> str:
    """One line."""
    return " ".join(str(error).split())[:200] or type(error).__name__
