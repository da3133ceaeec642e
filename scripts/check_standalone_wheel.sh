#!/usr/bin/env bash
# Installs dist/*.whl into systems that have Python and nothing else, and has it make a page of an ONNX file; the program
# alone runs in a folder that has no other file.
#
#   scripts/check_standalone_wheel.sh [ROOT OF A SYSTEM ...]
#
# Without arguments systems are made by debootstrap: Debian 11 (Python 3.9, glibc 2.31) and Debian 13 (Python 3.13).
set -euo pipefail
cd "$(dirname "$0")/.."

wheels=(dist/*.whl)
[ ${#wheels[@]} -eq 1 ] && [ -e "${wheels[0]}" ] || { echo "check-wheel: dist/ must have one wheel (make wheel)" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

roots=("$@")
if [ ${#roots[@]} -eq 0 ]; then
  for suite in bullseye trixie; do
    echo "check-wheel: making $suite"
    debootstrap --variant=minbase --include=python3,python3-venv "$suite" "$work/$suite" http://deb.debian.org/debian >"$work/$suite.log"
    roots+=("$work/$suite")
  done
fi

for root in "${roots[@]}"; do
  there=$root/tmp/check-wheel
  rm -rf "$there"
  mkdir -p "$there"
  cp "${wheels[0]}" data/models/mlp_robotics.onnx "$there"
  seconds=$SECONDS
  chroot "$root" /bin/sh -euc '
    cd /tmp/check-wheel
    python3 -m venv venv
    venv/bin/python -m pip install --quiet --no-index --no-deps ./*.whl 2>/dev/null || venv/bin/python -m pip install --no-index --no-deps ./*.whl
    venv/bin/monet evaluate mlp_robotics.onnx --batch 32 --hardware edge_tpu -o page | grep -q diagnosis
    grep -q "<!doctype html>" page/report.html
    venv/bin/python -m monet --version
    venv/bin/python -c "
import monet
result = monet.evaluate(\"mlp_robotics.onnx\", hardware=\"edge_tpu\")
plan = monet.checkpoint(\"lenet5\", \"edge_tpu\", method=\"milp\").best
try:
    monet.evaluate(\"nothing\", hardware=\"edge_tpu\")
except monet.Error as error:
    print(\"told:\", str(error)[:60])
import sys, os
print(\"check-wheel: Python\", sys.version.split()[0], \"glibc\", os.confstr(\"CS_GNU_LIBC_VERSION\"), f\"a step takes {result.latency_s:.3g} s\")
"'
  echo "check-wheel: $(basename "$root") took $((SECONDS - seconds)) s from an empty folder to a page"
  rm -rf "$there"
done

mkdir -p "$work/bare/tmp"
cp build/standalone/monet "$work/bare/"
chroot "$work/bare" /monet evaluate lenet5 --hardware edge_tpu --batch 4 -o /tmp/out | head -1
test -s "$work/bare/tmp/out/report.html"
echo "check-wheel: the program runs where there is no other file"
