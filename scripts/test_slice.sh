#!/usr/bin/env bash
# Runs one of SLICES equal parts of the unit tests of a build, in JOBS processes. Which one follows from the commit, so that
# changes that come one after another see all parts; `make nightly` runs them all.
#
#   scripts/test_slice.sh BUILD SLICES [JOBS]
set -euo pipefail
cd "$(dirname "$0")/.."

build=$1
slices=$2
jobs=${3:-$(nproc)}
commit=$(git rev-parse HEAD 2>/dev/null || echo 0)
slice=$((16#${commit:0:4} % slices))

logs=()
processes=()
for ((i = 0; i < jobs; i++)); do
  log=$build/slice_$i.log
  GTEST_TOTAL_SHARDS=$((slices * jobs)) GTEST_SHARD_INDEX=$((slice * jobs + i)) "$build/monet_tests" >"$log" 2>&1 &
  processes+=($!)
  logs+=("$log")
done
status=0
for ((i = 0; i < jobs; i++)); do
  if ! wait "${processes[$i]}"; then
    status=1
    grep -vE '^\[ +(OK|RUN) +\]' "${logs[$i]}" | tail -n 80
  fi
done
passed=$(cat "${logs[@]}" | grep -cE '^\[ +OK +\]' || true)
echo "slice $((slice + 1)) of $slices of the unit tests: $passed passed"
exit $status
