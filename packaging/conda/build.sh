#!/usr/bin/env bash
set -euo pipefail
cmake -S . -B build-conda -G Ninja $CMAKE_ARGS -DMONET_TESTS=OFF
cmake --build build-conda --target monet
cmake --install build-conda --component program --prefix "$PREFIX"
"$PYTHON" -m pip install . --no-deps --no-build-isolation -vv
