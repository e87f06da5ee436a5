"""Free ports on the loopback interface."""

from __future__ import annotations

import random
import socket

from pipeline.errors import InstanceError

# Below every system's range for outgoing connections, one of which could take the port of a server
# in the moment between its crash and its restart.
_RANGE = range(20_000, 30_000)


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on. Raises InstanceError when there is none."""
    for port in random.SystemRandom().sample(_RANGE, 200):
        if is_free("127.0.0.1", port):
            return port
    raise InstanceError("No free port between 20000 and 30000 on 127.0.0.1.")


def is_free(host: str, port: int) -> bool:
    """Whether a server can listen on ``port`` of ``host``."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
