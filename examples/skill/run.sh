#!/usr/bin/env bash
# Checks the tasks, runs each with both configurations, and compares them. Options go to `matrix`, such as -r 5. Results
# are in runs.json and runs.html, or in those of OUT.
set -euo pipefail
cd "$(dirname "$0")"
out=${OUT:-runs}
python -m harness validate -t 'tasks/*.task.yaml' -c 'configs/*.yaml'
python -m harness matrix -t 'tasks/*.task.yaml' -c 'configs/*.yaml' -o "$out.json" "$@"
python -m harness compare "$out.json" --config-a no-skill --config-b skill --html "$out.html"
