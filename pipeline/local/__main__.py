"""The supervisor without a terminal: what ``lastro up --detach`` leaves running."""

from __future__ import annotations

import sys

from pipeline import logs
from pipeline.errors import PipelineError
from pipeline.local.programs import programs
from pipeline.local.supervisor import Supervisor
from pipeline.settings import settings


def main() -> int:
    """Run until stopped; 1 with the reason on stderr when the instance can't start."""
    logs.configure()
    try:
        Supervisor(settings(), programs=programs).run()
    except PipelineError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
