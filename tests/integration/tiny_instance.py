"""A supervisor with real servers and two small children in place of the product's processes.

``python -m tests.integration.tiny_instance [broken]``: the worker then dies at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pipeline import logs
from pipeline.errors import PipelineError
from pipeline.local.processes import Program
from pipeline.local.supervisor import Supervisor
from pipeline.settings import Settings, settings

API = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"status": "%s"}' % sys.argv[2].encode())
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
# Like a worker with a pool: a child of its own that would outlive it.
WORKER = """
import subprocess, sys
subprocess.run([sys.executable, "-c", "import time; time.sleep(3600)"])
"""
BROKEN = "import sys; sys.exit('no such model: nonsense')"


def programs(chosen: Settings, environment: Mapping[str, str]) -> list[Program]:
    worker, health = (BROKEN, "degraded") if "broken" in sys.argv else (WORKER, "ok")
    return [
        Program(
            name="worker",
            command=[sys.executable, "-c", worker],
            environment=environment,
            folder=Path.cwd(),
            rank=1,
        ),
        Program(
            name="api",
            command=[sys.executable, "-c", API, str(chosen.port), health],
            environment=environment,
            folder=Path.cwd(),
            rank=2,
        ),
    ]


if __name__ == "__main__":
    logs.configure()
    try:
        Supervisor(settings(), programs=programs).run(lambda _: print(os.getpid(), flush=True))
    except PipelineError as error:
        sys.exit(f"error: {error}")
