#!/usr/bin/env bash
# The long checks: the whole suite under both pairs of sanitizers, commands that use threads under the thread sanitizer,
# every file compiled by itself, clang-tidy on everything, an hour of fuzzing for each reader, an hour each of random
# questions and of kills.
#
#   scripts/nightly.sh [JOBS] [PART ...]    parts: asan tsan threads dev tidy fuzz campaign; default all
#
# Goes on after a part that fails; its log is build-nightly/PART.log. FUZZ_TARGET_SECONDS: of each target (3600); what
# was found stays in build-fuzz/corpus, and the next night goes on from there.
set -uo pipefail
cd "$(dirname "$0")/.."

jobs=${1:-$(nproc)}
shift $(($# < 1 ? $# : 1))
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(asan tsan threads dev tidy fuzz campaign)
logs=build-nightly
mkdir -p "$logs"
targets=$(find tests/fuzz -maxdepth 1 -name '*.cpp' ! -name '*_mutator.cpp' | wc -l)
fuzz_seconds=${FUZZ_SECONDS:-$((${FUZZ_TARGET_SECONDS:-3600} * targets))}

failed=0
for part in "${parts[@]}"; do
  echo "nightly: $part"
  start=$SECONDS
  if make --no-print-directory "$part" JOBS="$jobs" FUZZ_SECONDS="$fuzz_seconds" >"$logs/$part.log" 2>&1; then
    verdict=passed
  else
    verdict=FAILED
    failed=1
  fi
  grep -E 'tests passed|tests failed|^fuzz: |number_of_executed_units|cases$|slower with more|^threads: ' "$logs/$part.log" | sed 's/^/  /'
  echo "nightly: $part $verdict after $((SECONDS - start)) s; $logs/$part.log"
  [ $verdict = passed ] || tail -n 20 "$logs/$part.log"
done
exit $failed
