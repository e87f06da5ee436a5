"""The door of operators' commands to the database and broker of the instance."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pipeline.errors import InstanceError

if TYPE_CHECKING:
    from pipeline.settings import Settings


@contextmanager
def connected() -> Iterator[Settings]:
    """Settings that reach the servers, in use for this process.

    Raises InstanceError when no instance runs, or its database goes away meanwhile.
    """
    from sqlalchemy.exc import OperationalError

    from pipeline.local.instance import connect
    from pipeline.settings import settings, use

    chosen = connect(settings())
    use(chosen)
    try:
        yield chosen
    except OperationalError as error:
        raise InstanceError(f"The database does not answer: {error.orig}") from error
