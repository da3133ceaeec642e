#!/usr/bin/env bash
# Checks that every C++ file is laid out as .clang-format says; with --fix, lays them out.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(--dry-run -Werror)
[ "${1:-}" != --fix ] || mode=(-i)

cpp_files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.h'
  else
    find include src tests bench \( -name '*.cpp' -o -name '*.h' \) -print0
  fi
}

# A tracked file that was just deleted is still listed.
cpp_files | while IFS= read -r -d '' file; do [ ! -f "$file" ] || printf '%s\0' "$file"; done |
  xargs -0 -r clang-format-19 "${mode[@]}"
