#!/usr/bin/env bash
# The long checks: the whole suite under both pairs of sanitizers, every file compiled by itself,
# clang-tidy on everything, an hour of fuzzing, an hour of random questions.
#
#   scripts/nightly.sh [JOBS] [PART ...]    parts: asan tsan dev tidy fuzz campaign; default all
#
# Goes on after a part that fails; its log is build-nightly/PART.log. FUZZ_SECONDS: of all targets together (3600).
set -uo pipefail
cd "$(dirname "$0")/.."

jobs=${1:-$(nproc)}
shift $(($# < 1 ? $# : 1))
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(asan tsan dev tidy fuzz campaign)
logs=build-nightly
mkdir -p "$logs"

failed=0
for part in "${parts[@]}"; do
  echo "nightly: $part"
  start=$SECONDS
  if make --no-print-directory "$part" JOBS="$jobs" FUZZ_SECONDS="${FUZZ_SECONDS:-3600}" >"$logs/$part.log" 2>&1; then
    verdict=passed
  else
    verdict=FAILED
    failed=1
  fi
  grep -E 'tests passed|tests failed|number_of_executed_units|cases$|slower with more' "$logs/$part.log" | sed 's/^/  /'
  echo "nightly: $part $verdict after $((SECONDS - start)) s; $logs/$part.log"
  [ $verdict = passed ] || tail -n 20 "$logs/$part.log"
done
exit $failed
