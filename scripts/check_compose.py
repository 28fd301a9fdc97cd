"""Fails where docker-compose.yml lacks a part, or gives a worker too little time to drain."""

import sys
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).resolve().parent.parent
SERVICES = ("postgres", "redis", "migrate", "worker")
HEALTHY = ("postgres", "redis", "worker")


def complaints(compose: dict[str, Any]) -> list[str]:
    services: dict[str, dict[str, Any]] = compose.get("services", {})
    found = [f"no service {name}" for name in SERVICES if name not in services]
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
    print("\n".join(found) or "compose: docker-compose.yml has all its parts")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
