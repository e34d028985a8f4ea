#!/usr/bin/env bash
# Installs the claude CLI into .cache/e2e/claude from npm: the Agent SDK's platform package carries the binary.
set -euo pipefail
version="${CLAUDE_SDK_VERSION:-0.3.330}"
root="$(cd "$(dirname "$0")/../.." && pwd)"
target="$root/.cache/e2e"
if [[ -x "$target/claude" && "$(cat "$target/claude.version" 2>/dev/null)" == "$version" ]]; then
  exit 0
fi
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) platform=linux-x64 ;;
  Linux-aarch64) platform=linux-arm64 ;;
  Darwin-x86_64) platform=darwin-x64 ;;
  Darwin-arm64) platform=darwin-arm64 ;;
  *) echo "no claude binary for $(uname -s) $(uname -m)" >&2; exit 2 ;;
esac
package="@anthropic-ai/claude-agent-sdk-$platform"
mkdir -p "$target"
npm install --no-audit --no-fund --no-save --prefix "$target/npm" "$package@$version"
ln -sfn "npm/node_modules/$package/claude" "$target/claude"
"$target/claude" --version
echo "$version" > "$target/claude.version"
