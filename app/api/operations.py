"""Is it up, can it work, what is it doing: for probes, dashboards and the admin page."""

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from app.api.inputs import Admin, Calling, Wired
from app.api.json_response import Json, ProblemResponse
from app.api.metrics import Gauge, render
from app.api.problems import not_ready
from app.api.wiring import Wiring

router = APIRouter(tags=["operations"])


def loops_of(wired: Wiring) -> list[dict[str, Any]]:
    return [loop.as_dict() for loop in wired.service.watchdog.loops]


@router.get("/healthz")
async def healthz() -> Response:
    """The process is up."""
    return Json({"status": "ok"})


@router.get("/readyz")
async def readyz(wired: Wired) -> Response:
    """Able to take work; 503 with the reason while it is not."""
    reason = await wired.service.ready()
    stale = [loop["name"] for loop in loops_of(wired) if not loop["alive"]]
    if reason is None and stale:
        reason = f"these loops stand still: {', '.join(stale)}"
    if reason is not None:
        return ProblemResponse(not_ready(reason, draining=wired.service.worker.draining))
    return Json({"status": "ready"})


@router.get("/api/runtime")
async def runtime(wired: Wired, caller: Calling) -> Response:
    """The whole process for an admin key; the indexing that concerns everyone for others."""
    service = wired.service
    seen: dict[str, Any] = {
        "caller": {"name": caller.name, "admin": caller.admin, "priority": caller.priority},
        "reasoner": service.reasoner,
        "documents": service.indexer.progress(),
    }
    if caller.admin:
        counts = await service.worker.store.counts()
        seen["workers"] = [
            {
                "worker_id": service.worker.worker_id,
                "draining": service.worker.draining,
                "slots": {"total": service.worker.options.slots, "used": len(service.worker.tasks)},
                "streams": wired.streams.open,
                "loops": loops_of(wired),
            }
        ]
        seen["queue"] = {"pending": counts.get("pending", 0), "running": counts.get("running", 0)}
    return Json(seen)


@router.get("/metrics", response_class=Response)
async def metrics(wired: Wired, caller: Admin) -> Response:
    """Prometheus text; needs an admin key once keys are set."""
    del caller
    service = wired.service
    counts = await service.worker.store.counts()
    pool = service.database.pool.get_stats()
    gauges = [
        Gauge("research_runs", "Runs that have not ended, by status.", "status", counts),
        Gauge("research_slots", "Slots of this worker.", "", {"": service.worker.options.slots}),
        Gauge(
            "research_slots_used", "Runs that execute here.", "", {"": len(service.worker.tasks)}
        ),
        Gauge(
            "research_streams", "Event streams that are open here.", "", {"": wired.streams.open}
        ),
        Gauge(
            "research_draining", "1 while shutting down.", "", {"": int(service.worker.draining)}
        ),
        Gauge(
            "research_loop_age_seconds",
            "Seconds since each loop's last completed pass.",
            "loop",
            {loop["name"]: loop["age_seconds"] or 0 for loop in loops_of(wired)},
        ),
        Gauge(
            "research_loop_restarts",
            "How often the watchdog has started each loop again.",
            "loop",
            {loop["name"]: loop["restarts"] for loop in loops_of(wired)},
        ),
        Gauge(
            "research_pool",
            "The database pool's own figures.",
            "figure",
            {
                name: pool.get(name, 0)
                for name in ("pool_size", "pool_available", "requests_waiting")
            },
        ),
    ]
    return Response(render(gauges), media_type="text/plain; version=0.0.4; charset=utf-8")
