#!/usr/bin/env bash
# Installs what is missing to build, test or check MONET on Debian 12; does nothing, quickly, when nothing is missing.
#
#   scripts/setup.sh build    compiler, CMake, libraries, npm
#   scripts/setup.sh test     the same, libraries of the tests, the Python environment in .venv, and a browser
#   scripts/setup.sh fuzz     the same but for the environment, and the clang tools
#   scripts/setup.sh ci       everything
set -euo pipefail
cd "$(dirname "$0")/.."

build_packages=(g++ cmake ninja-build ccache libfmt-dev nlohmann-json3-dev libcli11-dev libprotozero-dev libyaml-cpp-dev libxxhash-dev libsqlite3-dev libcpp-httplib-dev coinor-libcbc-dev zlib1g-dev pkg-config)
# The report page is built with npm; any will do.
command -v npm >/dev/null || build_packages+=(nodejs npm)
test_packages=(libgtest-dev libgmock-dev libbenchmark-dev librapidcheck-dev python3 python3-dev python3-venv chromium)
clang_packages=(clang-19 clang-tidy-19 clang-format-19 llvm-19 lld-19 libclang-rt-19-dev)

missing_packages() {
  local installed
  installed=$(dpkg-query -W -f='${binary:Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)
  local package
  for package in "$@"; do
    grep -qE "^${package//+/\\+}(:[a-z0-9]+)? installed$" <<<"$installed" || echo "$package"
  done
}

install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    echo "setup: not a Debian system; these packages, or what they hold, are needed: $*" >&2
    return 0
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0

  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "setup: these packages are missing, and installing them needs root: ${missing[*]}" >&2
      echo "setup: ask for: apt-get install --no-install-recommends ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  echo "setup: installing ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 \
    install -y --no-install-recommends "${missing[@]}" >/dev/null
}

# The stamp is a copy of the requirements that were installed.
make_environment() {
  local stamp=.venv/requirements.stamp
  if [ -x .venv/bin/python ] && cmp -s tests/requirements.txt "$stamp"; then return 0; fi
  local python=/usr/bin/python3
  [ -x "$python" ] || python=python3
  echo "setup: installing the Python packages of the tests into .venv"
  rm -rf .venv
  "$python" -m venv .venv
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --retries 5 -r tests/requirements.txt
  cp tests/requirements.txt "$stamp"
}

case "${1:-}" in
  build) install_packages "${build_packages[@]}" ;;
  test)
    install_packages "${build_packages[@]}" "${test_packages[@]}"
    make_environment
    ;;
  fuzz) install_packages "${build_packages[@]}" "${test_packages[@]}" "${clang_packages[@]}" ;;
  ci)
    install_packages "${build_packages[@]}" "${test_packages[@]}" "${clang_packages[@]}"
    make_environment
    ;;
  *)
    echo "usage: scripts/setup.sh build|test|fuzz|ci" >&2
    exit 1
    ;;
esac
