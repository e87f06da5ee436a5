"""API keys: made once, stored as a hash, found by it."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, RowMapping, func, insert, select, update

from pipeline.db.tables import api_keys
from pipeline.errors import ConflictError

SCOPES = ("chat", "search", "ingest", "reports")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key that opens something: its workspace and what it may do there."""

    id: int
    workspace: str
    name: str
    scopes: frozenset[str]


def _hash(key: str) -> str:
    # The key is 256 random bits, so a plain hash can't be guessed back and needs no salt.
    return hashlib.sha256(key.encode()).hexdigest()


def create(conn: Connection, *, workspace: str, name: str, scopes: Sequence[str] = SCOPES) -> str:
    """Make a key and return it; it can't be read again. Raises ConflictError for a name in use."""
    unknown = set(scopes) - set(SCOPES)
    if unknown:
        raise ConflictError(f"Unknown scope {sorted(unknown)[0]!r}. Scopes: {', '.join(SCOPES)}.")
    taken = conn.execute(
        select(api_keys.c.id).where(
            api_keys.c.workspace == workspace,
            api_keys.c.name == name,
            api_keys.c.revoked_at.is_(None),
        )
    ).first()
    if taken:
        raise ConflictError(f"Workspace {workspace!r} has a key named {name!r}: revoke it first.")
    key = f"lastro_{secrets.token_urlsafe(32)}"
    conn.execute(
        insert(api_keys).values(
            workspace=workspace, name=name, key_hash=_hash(key), scopes=sorted(set(scopes))
        )
    )
    return key


def find(conn: Connection, key: str) -> ApiKey | None:
    """The live key that ``key`` is, or None."""
    digest = _hash(key)
    row = conn.execute(
        select(api_keys).where(api_keys.c.key_hash == digest, api_keys.c.revoked_at.is_(None))
    ).one_or_none()
    if row is None or not hmac.compare_digest(row.key_hash.encode(), digest.encode()):
        return None
    return ApiKey(row.id, row.workspace, row.name, frozenset(row.scopes))


def list_all(conn: Connection, workspace: str) -> list[RowMapping]:
    """Name, scopes and times of the workspace's keys, newest first; never the hash."""
    columns = [column for column in api_keys.c if column.name != "key_hash"]
    return list(
        conn.execute(
            select(*columns).where(api_keys.c.workspace == workspace).order_by(api_keys.c.id.desc())
        ).mappings()
    )


def revoke(conn: Connection, workspace: str, name: str) -> bool:
    """End the key of this name; False when there is none."""
    result = conn.execute(
        update(api_keys)
        .where(
            api_keys.c.workspace == workspace,
            api_keys.c.name == name,
            api_keys.c.revoked_at.is_(None),
        )
        .values(revoked_at=func.now())
    )
    return result.rowcount > 0
