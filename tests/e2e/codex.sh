#!/usr/bin/env bash
# Installs the codex CLI into .cache/e2e/codex from npm; its platform package carries the binary.
set -euo pipefail
version="${CODEX_VERSION:-0.171.0}"
target="$(cd "$(dirname "$0")/../.." && pwd)/.cache/e2e"
if [[ -x "$target/codex" && "$(cat "$target/codex.version" 2>/dev/null)" == "$version" ]]; then
  exit 0
fi
mkdir -p "$target"
npm install --no-audit --no-fund --no-save --prefix "$target/codex-npm" "@openai/codex@$version"
ln -sfn codex-npm/node_modules/.bin/codex "$target/codex"
"$target/codex" --version
echo "$version" > "$target/codex.version"
