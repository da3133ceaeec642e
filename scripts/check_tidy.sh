#!/usr/bin/env bash
# Runs clang-tidy over the library and the program, group by group: headers are read once for all files of a group.
#
#   scripts/check_tidy.sh BUILD [JOBS] [ROOM ...]    BUILD: configured, with groups; rooms: folders of src/, default all
set -euo pipefail
cd "$(dirname "$0")/.."

build=$1
jobs=${2:-$(nproc)}
shift $(($# < 2 ? $# : 2))
rooms=("$@")
[ $# -gt 0 ] || rooms=('*')

groups=()
for room in "${rooms[@]}"; do
  # The Python module is built where its environment is: no compile_commands.json here has it.
  for group in "$build"/groups/monet_*/${room}_*.cpp; do [ ! -f "$group" ] || groups+=("$group"); done
done
if [ ${#groups[@]} -eq 0 ]; then
  echo "tidy: $build has no group of ${rooms[*]}" >&2
  exit 1
fi

# A group includes .cpp files, on purpose; what is found in them counts as what is found in headers.
printf '%s\0' "${groups[@]}" |
  xargs -0 -n 1 -P "$jobs" clang-tidy-19 -p "$build" --quiet --warnings-as-errors='*' --checks=-bugprone-suspicious-include,-bugprone-forward-declaration-namespace \
    --header-filter='(include/monet|src)/.*\.(h|cpp)$' \
    2> >(grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -' >&2)
echo "tidy: ${#groups[@]} groups in order"
