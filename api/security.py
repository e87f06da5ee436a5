"""Who may do what: ``X-API-Key``, its scopes and its workspace."""

from __future__ import annotations

from starlette.requests import Request

from api.problems import Problem
from api.record import look
from pipeline.db import keys
from pipeline.db.keys import ApiKey

HEADER = "X-API-Key"


async def authorise(request: Request, scope: str) -> ApiKey:
    """The key that came with the request.

    It is looked up by its hash and the hashes are compared in constant time (``keys.find``), so
    that how long a refusal takes says nothing of the key. Raises Problem: 401 without a valid
    key, 403 when it lacks ``scope``.
    """
    sent = request.headers.getlist(HEADER)
    if not sent:
        raise _unknown(f"Send your key in the header {HEADER}.")
    if len(sent) > 1:
        raise _unknown(f"Send the header {HEADER} once.")
    key = await look(lambda conn: keys.find(conn, sent[0]))
    if key is None:
        raise _unknown("This key is not known, or it was revoked.")
    if scope not in key.scopes:
        detail = f"This key does not have the scope `{scope}`. Use another, or have one made."
        raise Problem(403, "forbidden", detail)
    return key


def _unknown(detail: str) -> Problem:
    return Problem(401, "unauthorised", detail, headers={"WWW-Authenticate": HEADER})
