"""UUID version 7 (RFC 9562): 48 bits of Unix milliseconds, then random bits."""

import os
import time
from uuid import UUID


def uuid7() -> UUID:
    """A new id; ids made in different milliseconds sort by time."""
    value = int.from_bytes(os.urandom(16), "big")
    value &= (1 << 80) - 1
    value |= (time.time_ns() // 1_000_000) << 80
    value = (value & ~(0xF << 76)) | (0x7 << 76)
    value = (value & ~(0x3 << 62)) | (0x2 << 62)
    return UUID(int=value)
