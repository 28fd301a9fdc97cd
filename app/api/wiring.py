"""What the routes work with: one object on the application, typed."""

from dataclasses import dataclass

from app.api.access import Keys
from app.root import Service
from app.stream.streams import Streams


@dataclass(frozen=True, slots=True)
class Wiring:
    service: Service
    keys: Keys
    streams: Streams
