"""The services that other tests stand on are real ones."""

import os
import subprocess

import psycopg
import redis

from tests.services import chromium, databases, redis_server


def fill(url: str) -> None:
    with psycopg.connect(url, connect_timeout=10) as connection:
        connection.execute("CREATE TABLE things (name text)")
        connection.execute("INSERT INTO things VALUES ('from the template')")


def names(url: str) -> list[str]:
    with psycopg.connect(url, connect_timeout=10) as connection:
        return [str(row[0]) for row in connection.execute("SELECT name FROM things ORDER BY name")]


def test_each_fresh_database_is_a_copy_of_the_template() -> None:
    one, two = databases().fresh(fill), databases().fresh(fill)
    with psycopg.connect(one, connect_timeout=10) as connection:
        connection.execute("INSERT INTO things VALUES ('a second one')")
    assert names(one) == ["a second one", "from the template"]
    assert names(two) == ["from the template"]
    databases().drop(one)
    databases().drop(two)


def test_redis_has_streams() -> None:
    with redis.Redis.from_url(redis_server().url, socket_timeout=10) as client:
        client.xadd("house", {"n": "1"})
        assert client.xlen("house") == 1
        client.delete("house")


def test_chromium_runs() -> None:
    browser = chromium()
    done = subprocess.run(
        [browser.path, "--version"],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **browser.env},
        timeout=60,
    )
    assert "Chrom" in done.stdout, done.stderr
