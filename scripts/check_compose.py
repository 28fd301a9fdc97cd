"""Fails where docker-compose.yml is not one, lacks a part, or gives a worker too little time to
drain, and where nginx would hold back, cut or repeat what it passes on."""

import re
import sys
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).resolve().parent.parent
SERVICES = ("postgres", "redis", "migrate", "worker", "nginx")
HEALTHY = ("postgres", "redis", "worker")
NGINX = PROJECT / "deploy" / "nginx.conf"

# What each key of a service may hold; a key that is not here is a typing error.
SHAPES: dict[str, tuple[type, ...]] = {
    "image": (str,),
    "build": (str, dict),
    "command": (str, list),
    "environment": (dict, list),
    "volumes": (list,),
    "ports": (list,),
    "healthcheck": (dict,),
    "depends_on": (dict, list),
    "deploy": (dict,),
    "restart": (str,),
    "stop_grace_period": (str,),
}
CONDITIONS = ("service_started", "service_healthy", "service_completed_successfully")
HEALTH = ("test", "interval", "timeout", "retries", "start_period")

# Directives that streams need, with the values they need.
DIRECTIVES = {
    "proxy_buffering": "off",
    "proxy_http_version": "1.1",
    "proxy_cache": "off",
    "gzip": "off",
    "client_max_body_size": "32m",
    "proxy_next_upstream": "error timeout",  # not non_idempotent: a POST is never repeated
}
HEARTBEAT = 15


def misshapen(compose: dict[str, Any]) -> list[str]:
    """What is not of the shape that the compose specification gives."""
    found = [f"{key}: no such part" for key in compose if _unknown_part(key)]
    for name, service in compose.get("services", {}).items():
        for key, value in service.items():
            if key not in SHAPES:
                found.append(f"{name}: no such key {key}")
            elif not isinstance(value, SHAPES[key]):
                found.append(f"{name}: {key} has the wrong shape")
        waits = service.get("depends_on", {})
        for other, how in waits.items() if isinstance(waits, dict) else []:
            if how.get("condition") not in CONDITIONS:
                found.append(f"{name}: waits for {other} with no condition that there is")
        found += [
            f"{name}: healthcheck has no {k}"
            for k in service.get("healthcheck", {})
            if k not in HEALTH
        ]
        found += [
            f"{name}: port {port!r} is open to all addresses"
            for port in service.get("ports", [])
            if not str(port).startswith("127.0.0.1:")
        ]
    return found


def _unknown_part(key: str) -> bool:
    return key not in ("services", "volumes", "networks", "name") and not key.startswith("x-")


def nginx_complaints(text: str) -> list[str]:
    """What in the configuration would hold back, cut or repeat a stream."""
    plain = re.sub(r"#.*", "", text)
    found: list[str] = []
    for name, wanted in DIRECTIVES.items():
        values = re.findall(rf"^\s*{name}\s+([^;]*);", plain, re.MULTILINE)
        if values != [wanted]:
            found.append(f"{name} must be {wanted!r}, once")
    for name in ("proxy_read_timeout", "proxy_send_timeout"):
        seconds = re.findall(rf"^\s*{name}\s+(\d+)s;", plain, re.MULTILINE)
        if not seconds or int(seconds[0]) < 3 * HEARTBEAT:
            found.append(f"{name} must be at least three heartbeats, {3 * HEARTBEAT}s")
    if "$request " in plain or "$args" in plain or "$request_uri" in plain:
        found.append("the access log must not hold query strings")
    return found


def complaints(compose: dict[str, Any]) -> list[str]:
    services: dict[str, dict[str, Any]] = compose.get("services", {})
    found = [f"no service {name}" for name in SERVICES if name not in services]
    found += misshapen(compose)
    if found:
        return found
    found += [f"{name}: no healthcheck" for name in HEALTHY if "healthcheck" not in services[name]]
    found += [
        f"{name}: neither image nor build"
        for name, service in services.items()
        if "image" not in service and "build" not in service
    ]
    found += [
        f"{name}: waits for {other}, which is not there"
        for name, service in services.items()
        for other in service.get("depends_on", {})
        if other not in services
    ]
    worker = services["worker"]
    drain = float(worker.get("environment", {}).get("DRAIN_SECONDS", 0))
    grace = str(worker.get("stop_grace_period", "0s"))
    if not grace.endswith("s") or float(grace[:-1]) <= drain or not drain:
        found.append(f"worker: stop_grace_period {grace} must exceed DRAIN_SECONDS {drain:g}")
    if "ports" in worker:
        found.append("worker: a host port allows one worker only; nginx has it")
    if worker.get("depends_on", {}).get("migrate", {}).get("condition") != CONDITIONS[2]:
        found.append("worker: must wait until migrate has ended well")
    if "readyz" not in str(worker.get("healthcheck", {}).get("test")):
        found.append("worker: the healthcheck must ask /readyz")
    return found


def main() -> int:
    text = (PROJECT / "docker-compose.yml").read_text("utf-8")
    try:
        compose = yaml.safe_load(text)
    except yaml.YAMLError as error:
        print(f"docker-compose.yml: {error}")
        return 1
    found = [f"docker-compose.yml: {c}" for c in complaints(compose)]
    found += [f"deploy/nginx.conf: {c}" for c in nginx_complaints(NGINX.read_text("utf-8"))]
    print("\n".join(found) or "compose: docker-compose.yml has all its parts")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
