#!/usr/bin/env bash
# Runs train.py as a job of `hf jobs run` (README.md), in an image with Node and curl. The packed package is in /job; outputs
# go to /out. The same command resumes an interrupted job.
set -euo pipefail

work=$(mktemp -d)
npm install --prefix "$work" --loglevel=error /job/rhythm-vec-*.tgz
command -v uv >/dev/null || curl -LsSf https://astral.sh/uv/install.sh | env UV_INSTALL_DIR=/usr/local/bin sh

cd "$work"
exec uv run --no-project node_modules/rhythm-vec/python/recipe/train.py all --output /out --resume \
  --rhythm-vec "$work/node_modules/.bin/rhythm-vec" "$@"
