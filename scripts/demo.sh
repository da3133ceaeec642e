#!/usr/bin/env bash
# What `make demo` says and runs around the build.
#
#   scripts/demo.sh announce JOBS    what will be done, and about how long it takes
#   scripts/demo.sh run              two commands of the program that is built, and where their report lies
set -euo pipefail
cd "$(dirname "$0")/.."

# CPU seconds of `make build` with an empty compiler cache; docs/development.md has the measurement.
build_cpu_s=477

announce() {
  local minutes=$(((build_cpu_s / $1 + 59) / 60))
  echo "demo: 1. install what is missing (Debian packages; npm packages for the report page)"
  if [ -x build/monet ]; then
    echo "      2. bring the program build/monet up to date"
  else
    echo "      2. compile the program: about $minutes minutes on $1 cores the first time"
  fi
  echo "      3. train ResNet-18 on a machine of 16 cores, on paper: about a second; and write its report"
  echo
}

show() {
  echo
  echo "\$ $*"
  "$@"
}

run() {
  show build/monet train resnet18 --batch 8
  echo
  echo "That is the training step of ResNet-18, one of the built-in networks, with Adam: nodes, multiply-accumulates and"
  echo "other operations of the forward part, the backward part and the optimizer, and the memory that the step needs."
  show build/monet evaluate resnet18-cifar --batch 4 --hardware edge_tpu --set arithmetic=bf16 -o out/demo
  echo
  echo "And that is a step of a small ResNet-18 on a machine of 16 cores, in time, in bf16. out/demo has all of it, also as tables and"
  echo "as a trace. Next: build/monet hardware list, build/monet evaluate --help, build/monet validate,"
  echo "build/monet train YOUR_MODEL.onnx -o step.onnx; the manual is docs/manual.md."
  echo
  echo "Open this in a browser:"
  echo
  echo "  $PWD/out/demo/report.html"
}

case "${1:-}" in
  announce) announce "$2" ;;
  run) run ;;
  *)
    echo "usage: scripts/demo.sh announce JOBS | run" >&2
    exit 1
    ;;
esac
