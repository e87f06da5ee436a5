"""A child that is started again when it dies, after a pause that doubles.

Before the instance has ever been ready it is given up instead: a wrong setting should be read, not
retried.
"""

from __future__ import annotations

import time

import structlog

from pipeline.errors import InstanceError
from pipeline.local.child_logs import tail
from pipeline.local.processes import Child

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 5
HEALTHY_AFTER_S = 10
"""After a life of this length the pauses begin anew."""
DEATHS_AT_START = 3

log = structlog.get_logger(__name__)


class Watched:
    """A child with what the supervisor remembers of it."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.restarts = 0
        self._pause_s = 0.0
        self._start_at: float | None = None  # set while it waits for its next start

    @property
    def name(self) -> str:
        """The program's name."""
        return self.child.program.name

    def look(self, *, at_start: bool) -> bool:
        """Note a death, start again when it is time; whether it was started.

        Raises InstanceError with its last words when it dies too often ``at_start``.
        """
        if self._start_at is None:
            status = self.child.exit_status()
            if status is not None:
                how = f"signal {-status}" if status < 0 else f"exit status {status}"
                self._note_death(how, at_start=at_start)
        if self._start_at is None or self._start_at > time.monotonic():
            return False
        self._start_at = None
        self.restarts += 1
        try:
            self.child.start()
        except OSError as error:  # no memory, or an installation that is just being replaced
            self._note_death(str(error), at_start=at_start)
            return False
        log.info("child_restarted", child=self.name, pid=self.child.pid)
        return True

    def _note_death(self, how: str, *, at_start: bool) -> None:
        if at_start:
            self._give_up_in_time(how)
        if time.monotonic() - self.child.started_at >= HEALTHY_AFTER_S:
            self._pause_s = 0
        self._pause_s = min(max(FIRST_PAUSE_S, self._pause_s * 2), LONGEST_PAUSE_S)
        self._start_at = time.monotonic() + self._pause_s
        log.warning("child_died", child=self.name, how=how, restart_in_s=self._pause_s)

    def _give_up_in_time(self, how: str) -> None:
        deaths = self.restarts + 1
        last_resort = self.child.program.last_resort
        if deaths == DEATHS_AT_START - 1 and last_resort is not None:
            last_resort()
        if deaths >= DEATHS_AT_START:
            raise InstanceError(
                f"{self.name} ended {deaths} times, the last with {how}:\n{tail(self.child.log)}"
            )
