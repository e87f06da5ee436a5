"""Refuses a broker that may throw messages away."""

from __future__ import annotations

from redis.exceptions import RedisError

from pipeline.errors import SettingsError
from pipeline.worker.messages import client


def refuse_evicting_broker() -> None:
    """Raise SettingsError when Redis evicts keys under memory pressure: queues are keys.

    A server that doesn't let us ask (managed ones hide CONFIG) is taken as it is.
    """
    try:
        policy = client().config_get("maxmemory-policy").get("maxmemory-policy") or ""
    except RedisError:
        return
    if policy.startswith("allkeys"):
        raise SettingsError(
            f"Redis has maxmemory-policy {policy}, which deletes queued messages. "
            "Set it to noeviction."
        )
