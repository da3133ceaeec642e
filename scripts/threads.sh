#!/usr/bin/env bash
# Commands that use threads, and threads that use the Python package, in a build with the thread sanitizer: a report of it
# is a failure.
#
#   scripts/threads.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/.."

monet=$(realpath "$1")/monet
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export TSAN_OPTIONS="exitcode=66 halt_on_error=1${TSAN_OPTIONS:+ $TSAN_OPTIONS}"

cat >"$folder/space.yaml" <<'SPACE'
space: 1
name: threads
hardware: edge_tpu
parameters:
  x: [1, 2]
  y: [1, 2]
  lanes: {powers_of_two: 1..4}
workloads:
  - {name: training, network: mlp-robotics, batch: 8, step: training}
  - {name: inference, network: mlp-robotics, batch: 8, step: inference}
objectives: [latency@training, energy@training]
SPACE

count=0
run() {
  echo "threads: monet $*"
  "$monet" "$@" -q >/dev/null
  count=$((count + 1))
}

step=(mlp-robotics --hardware edge_tpu --jobs 4)
run evaluate "${step[@]}" -o "$folder/results" --cache "$folder/mappings"
run evaluate "${step[@]}" --cache "$folder/mappings"
run evaluate lenet5 --batch 2 --hardware monet_2x2 --jobs 4
run map "${step[@]}" --training
run fuse "${step[@]}" --effort 0.1
run checkpoint "${step[@]}" --pareto
run optimize "${step[@]}" --generations 2 --population 4
run explore "$folder/space.yaml" --all --jobs 4 --store "$folder/all.sqlite" -o "$folder/pages"
run explore "$folder/space.yaml" --method nsga2 --samples 8 --population 4 --jobs 4 --store "$folder/some.sqlite"
# Two processes with threads on one store.
"$monet" explore "$folder/space.yaml" --all --jobs 2 --store "$folder/both.sqlite" --resume -q >/dev/null &
other=$!
run explore "$folder/space.yaml" --all --jobs 2 --store "$folder/both.sqlite" --resume
wait "$other"
echo "threads: $count commands without a report of the thread sanitizer"

# Python itself is built without the sanitizer: its runtime is loaded first, and only what the module does is watched.
build=$(realpath "$1")
module=$(find "$build/src/python" -name '_core*.so' -print -quit 2>/dev/null)
if [ -z "$module" ]; then
  echo "threads: no Python module in $1; threads of Python were not tried" >&2
  exit 1
fi
mkdir "$folder/package"
cp -r python/monet "$folder/package/"
cp "$module" "$folder/package/monet/"
runtime=$(clang++-19 -print-file-name=libclang_rt.tsan-"$(uname -m)".so)
LD_PRELOAD=$runtime PYTHONPATH=$folder/package PYTHONDONTWRITEBYTECODE=1 .venv/bin/python -P tests/threads/python_threads.py
