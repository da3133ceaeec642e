#!/usr/bin/env bash
# Runs clang-tidy over the library and the program.
#
#   scripts/check_tidy.sh BUILD [JOBS] [FOLDER ...]    BUILD holds compile_commands.json; folders of src/, default all
set -euo pipefail
cd "$(dirname "$0")/.."

build=$1
jobs=${2:-$(nproc)}
shift $(($# < 2 ? $# : 2))
folders=(src)
if [ $# -gt 0 ]; then folders=("${@/#/src/}"); fi

# The Python module is built by pip alone: no compile_commands.json has it.
find "${folders[@]}" -path src/python -prune -o -name '*.cpp' -print0 | sort -z |
  xargs -0 -r -n 1 -P "$jobs" clang-tidy-19 -p "$build" --quiet --warnings-as-errors='*' 2> >(grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -' >&2)
