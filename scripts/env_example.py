"""Prints .env.example: `python scripts/env_example.py > .env.example`.

A test holds that the file in the repository is what this prints.
"""

from __future__ import annotations

import sys
from typing import Literal, get_args, get_origin

from pipeline.settings import PREFIX, Settings

HEAD = """\
# Settings of Lastro. Copy this file to .env, set what stands under "needed", and take the "#" from
# a line to change a setting. An unknown LASTRO_ variable is refused at start.
"""

COMPOSE = """\
# Needed by compose.yaml. The first two go into URLs: letters and digits only, for instance from
# `openssl rand -hex 24`.
POSTGRES_PASSWORD=
REDIS_PASSWORD=
# The login of the queue dashboard, name:password.
LASTRO_FLOWER_LOGIN=

# Needed by compose.gpu.yaml: the key that the workers show to the model server.
#VLLM_API_KEY=

# Where compose.yaml finds the content pack, and where API and dashboard can be reached.
#CONTENT=./content
#API_ADDRESS=127.0.0.1
#API_PORT=8000
#FLOWER_PORT=5555
# Share of the card's memory that the model server takes.
#VLLM_GPU_SHARE=0.80
"""

SET_ABOVE = {"flower_login"}


def render() -> str:
    """The file's text: every setting with its description and its default, switched off."""
    parts = [HEAD, COMPOSE]
    for name, field in Settings.model_fields.items():
        if name in SET_ABOVE:
            continue
        about = field.description or ""
        if get_origin(field.annotation) is Literal:
            about += f" One of: {', '.join(get_args(field.annotation))}."
        default = "" if field.default is None else _as_text(field.default)
        parts.append(f"# {about}\n#{PREFIX}{name.upper()}={default}\n")
    return "\n".join(parts)


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


if __name__ == "__main__":
    sys.stdout.write(render())
