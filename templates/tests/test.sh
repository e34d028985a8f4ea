#!/bin/bash
# Writes the reward: test.sh [ROOT]. Harbor calls it without ROOT, as root; with ROOT it scores ROOT/app/solution.md on
# any machine. No -e: whatever happens, a reward is written, and it is 0 until the verifier has spoken.
root=${1:-}
out=$root/logs/verifier
unset "${!LD_@}" "${!PYTHON@}" BASH_ENV ENV IFS
PATH=/usr/sbin:/usr/bin:/sbin:/bin

mkdir -p "$out"
rm -rf "$out"/reward.* "$out"/metrics.*
printf '{"reward": 0.0}\n' > "$out/reward.json"

python=/usr/bin/python3
[ -z "$root" ] || [ -x "$python" ] || python=$(PATH=$PATH:/usr/local/bin:/opt/homebrew/bin command -v python3)

# -I and -S: no PYTHON* variable, no working folder, no site package. Compiled files beside the library are not read.
cd /
"$python" -I -S -B -X pycache_prefix="$out/no-cache" "$root/tests/verify.py" "$root"
exit 0
