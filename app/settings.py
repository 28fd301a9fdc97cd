"""Settings: one frozen object, read from the environment or `.env`, made at the edge."""

import os
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from registry.errors import StartRefused

PROJECT = Path(__file__).resolve().parent.parent
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class Key:
    """One entry of `API_KEYS`: `name:secret[:priority][:admin]`."""

    __slots__ = ("admin", "name", "priority", "secret")

    def __init__(self, text: str) -> None:
        parts = text.split(":")
        if len(parts) < 2 or not all(parts[:2]):
            raise ValueError("each key is name:secret[:priority][:admin]")
        extras = parts[2:]
        self.name, self.secret = parts[0], parts[1]
        self.admin = "admin" in extras
        rest = [e for e in extras if e != "admin"]
        self.priority = rest[0] if rest else "high"
        if len(rest) > 1 or self.priority not in ("high", "default", "low"):
            raise ValueError(f"key {self.name!r}: priority is high, default or low")


class Settings(BaseSettings):
    """Every name here is a variable of the same name in capitals."""

    model_config = SettingsConfigDict(
        env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True
    )

    host: str = "127.0.0.1"
    port: int = Field(8000, ge=0, le=65535)
    workers: int = Field(2, ge=1, le=64)  # of a fleet
    data_dir: Path = PROJECT / ".data"
    database_url: str | None = None
    redis_url: str | None = None
    redis_prefix: str = "research:"
    openai_api_key: SecretStr | None = None
    openai_base_url: str | None = None
    model: str | None = None
    search_provider: Literal["tavily", "searxng", "duckduckgo", "brave", "none"] = "none"
    documents_dir: Path | None = None
    api_keys: str = ""
    allow_anonymous: bool = False
    heartbeat_seconds: float = Field(15, gt=0)
    lease_seconds: float = Field(30, gt=0)
    orphan_scan_seconds: float = Field(30, gt=0)
    max_attempts: int = Field(3, ge=1)
    recover: Literal["resume", "prompt"] = "resume"
    max_runs: int = Field(64, ge=1)
    drain_seconds: float = Field(20, gt=0)
    stream_max_seconds: float = Field(900, gt=0)
    send_timeout_seconds: float = Field(30, gt=0)
    model_idle_seconds: float = Field(60, gt=0)
    pg_pooler: bool = False
    pool_size: int = Field(10, ge=4)
    event_retention_seconds: float = Field(3600, ge=0)
    event_buffer_bytes: int = Field(8 * 1024 * 1024, ge=1024)
    price_input: float = Field(0, ge=0)
    price_output: float = Field(0, ge=0)
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @model_validator(mode="after")
    def _cross_check(self) -> "Settings":
        if not self.keys and self.host not in LOOPBACK and not self.allow_anonymous:
            raise ValueError(
                f"HOST is {self.host} but API_KEYS is empty: set API_KEYS, or ALLOW_ANONYMOUS=1"
            )
        if (self.openai_api_key or self.openai_base_url) and not self.model:
            raise ValueError("MODEL is missing: name the model that OPENAI_BASE_URL serves")
        if self.model and not (self.openai_api_key or self.openai_base_url):
            raise ValueError("MODEL is set: set OPENAI_API_KEY, OPENAI_BASE_URL or both")
        if self.pg_pooler and not self.redis_url:
            raise ValueError(
                "PG_POOLER: a worker without REDIS_URL holds a lock in a database session, which "
                "a transaction pooler does not keep: set REDIS_URL, or connect directly"
            )
        names = [key.name for key in self.keys]
        if len(set(names)) != len(names):
            raise ValueError("API_KEYS: two keys have the same name")
        return self

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        return tuple(Key(part) for part in self.api_keys.split(",") if part.strip())


def load_settings() -> Settings:
    """Reads the settings; a wrong one raises `StartRefused` with one line that names it."""
    try:
        return Settings(_env_file=os.environ.get("ENV_FILE", ".env"))  # type: ignore[call-arg]
    except ValidationError as error:
        first = error.errors()[0]
        name = "_".join(str(part) for part in first["loc"]).upper()
        reason = first["msg"].removeprefix("Value error, ")
        raise StartRefused(f"{name}: {reason}" if name else reason) from None
