#!/usr/bin/env bash
# Runs every fuzz target of a build for an equal share of the time, starting from small models.
#
#   scripts/fuzz.sh BUILD SECONDS
#
# The corpus stays in BUILD/corpus, so that a later run goes on where this one ended; an input that breaks a target is
# left in BUILD/crashes, and the other targets go on.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$1
seconds=$2

mapfile -t targets < <(find "$build" -maxdepth 1 -name 'fuzz_*' -type f -perm -u+x | sort)
if [ ${#targets[@]} -eq 0 ]; then
  echo "fuzz: no target in $build" >&2
  exit 1
fi
share=$((seconds / ${#targets[@]}))
[ "$share" -gt 0 ] || share=1

seeds=$build/seeds
rm -rf "$seeds"
mkdir -p "$seeds" "$build/crashes" "$build/dictionaries"
find data/models -name '*.onnx' -size -64k -exec cp -t "$seeds" {} +
# The models of the operator tests: every operator, every attribute.
[ ! -x .venv/bin/python ] || .venv/bin/python tests/operators/write_models.py "$seeds"

failed=()
for target in "${targets[@]}"; do
  name=$(basename "$target")
  corpus=$build/corpus/$name
  mkdir -p "$corpus"
  own=tests/fuzz/corpus/${name#fuzz_}
  folders=("$corpus")
  case $name in fuzz_read_onnx | fuzz_train) folders+=("$seeds") ;; esac
  [ ! -d "$own" ] || folders+=("$own")
  words=$build/dictionaries/$name.dict
  python3 scripts/fuzz_words.py "${name#fuzz_}" >"$words"
  options=()
  [ ! -s "$words" ] || options+=("-dict=$words")
  echo "fuzz: $name for $share s"
  log=$build/$name.log
  if ! "$target" -max_total_time="$share" -max_len=65536 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$build/crashes/$name-" "${options[@]}" "${folders[@]}" >"$log" 2>&1; then
    tail -n 60 "$log"
    echo "fuzz: $name failed; the input is in $build/crashes" >&2
    failed+=("$name")
  fi
  grep -E 'number_of_executed_units|peak_rss_mb' "$log" || true
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "fuzz: ${#failed[@]} of ${#targets[@]} targets failed: ${failed[*]}" >&2
  exit 1
fi
echo "fuzz: ${#targets[@]} targets, nothing found"
