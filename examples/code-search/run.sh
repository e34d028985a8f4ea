#!/usr/bin/env bash
# The whole of docs/WITH_AND_WITHOUT.md: tasks, the server, one job without it and one with it, the comparison.
#
#   examples/code-search/run.sh [OPTION...]     options of run_adapter.py, e.g. --base_image debian:12 or --limit 2
#
# Writes below demo/search/, in place of what an earlier run left there. `python` and `harbor` must be on PATH. Without
# an interface docker0, HOST names the address at which containers reach this machine. Whatever happens, the server ends
# with this script, and so does a job of Harbor's.
set -euo pipefail
# Each job is a process group, which can be stopped whole.
set -m
cd "$(dirname "$0")/../.."

stop() {
    trap '' INT TERM
    for job in $(jobs -p); do
        kill -INT -- "-$job" 2>/dev/null || true
    done
    wait
}
trap stop EXIT
trap 'echo "run.sh: stopping; Harbor takes its containers away first" >&2; exit 130' INT TERM

# In the background: a signal ends `wait` at once, and a command in the foreground only when that is done.
run() {
    "$@" &
    wait $!
}

for program in python harbor docker; do
    command -v "$program" >/dev/null || { echo "run.sh: $program is not on PATH (docs/WITH_AND_WITHOUT.md)" >&2; exit 2; }
done
# Says which library is missing, before anything is made.
python examples/code-search/server.py --help > /dev/null || exit 2
gateway=${HOST:-$(ip -4 -o address show docker0 | sed 's/.*inet \([0-9.]*\).*/\1/')} || true
if [ -z "$gateway" ]; then
    echo "run.sh: docker0 has no address; name the one at which containers reach this machine: HOST=ADDRESS $0" >&2
    exit 2
fi

rm -rf demo/search
mkdir -p demo/search
: > demo/search/server.log  # read below, perhaps before the server has opened it
run python extract_dataset.py --data_dir data/sample --output demo/search/dataset.jsonl
run python select_tasks.py --dataset_path demo/search/dataset.jsonl --output demo/search/selected.json \
    --min_context_length 5000 --top_n 8
run python run_adapter.py --data_dir data/sample --dataset_path demo/search/dataset.jsonl \
    --selected_tasks demo/search/selected.json --output_dir demo/search/tasks --mirror_repos demo/search/repos "$@"
# Harbor would print a hook that found no container, and the reason into a file.
for image in $(sed -n 's/^FROM \(.*\) AS language$/\1/p' demo/search/tasks/*/environment/Dockerfile | sort -u); do
    docker image inspect "$image" >/dev/null 2>&1 || run docker pull --quiet "$image" || {
        echo "run.sh: $image cannot be pulled; name another with --base_image" >&2
        exit 2
    }
done

python examples/code-search/server.py demo/search/repos --host "$gateway" > demo/search/server.log &
server=$!
until grep -q http: demo/search/server.log; do
    kill -0 "$server" 2>/dev/null || { wait "$server"; exit; }
    sleep 0.2
done
cat demo/search/server.log

export PYTHONPATH=examples/code-search
# The agent has no model, so no prices need to be fetched.
export LITELLM_LOCAL_MODEL_COST_MAP=True
run harbor run -p demo/search/tasks -a scripted_agent:ScriptedAgent -n 4 -y -q -o demo/search/jobs --job-name no-search \
    --extra-docker-compose examples/code-search/host.yaml
run harbor run -p demo/search/tasks -a scripted_agent:ScriptedAgent -n 4 -y -q -o demo/search/jobs --job-name search \
    --extra-docker-compose examples/code-search/host.yaml --mcp-config examples/code-search/mcp.json
unset PYTHONPATH
run python -m harness compare demo/search/jobs/no-search demo/search/jobs/search \
    --html demo/search/report.html --markdown demo/search/report.md
