#!/bin/bash
# The oracle: hands in the reference answer. ROOT stands before /app when this runs outside a container.
set -euo pipefail
root=${1:-}
mkdir -p "$root/app"
cp "$(dirname "$0")/solution.md" "$root/app/solution.md"
