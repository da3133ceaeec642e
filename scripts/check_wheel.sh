#!/usr/bin/env bash
# Builds the Python package as `pip install .` does and uses it from an environment of its own.
#
#   scripts/check_wheel.sh [FLAGS OF CMAKE]
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CXX=${CXX:-c++} CMAKE_ARGS="$*" CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)} .venv/bin/python -m pip wheel --quiet \
  --disable-pip-version-check --no-build-isolation --no-deps --no-index --wheel-dir "$work" .
.venv/bin/python -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-index "$work"/monet_train-*.whl
cd "$work"
venv/bin/python - <<'PYTHON'
import monet

result = monet.evaluate("mlp-robotics", hardware="edge_tpu")
print(f"wheel: {monet.__file__.split('/')[-3]}/monet {monet.__version__}, a step takes {result.latency_s:.3g} s")
PYTHON
