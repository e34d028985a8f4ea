#!/bin/bash
# Writes the reward: test.sh [ROOT]. Harbor calls it without ROOT, as root; with ROOT it scores ROOT/app/solution.md
# on any machine. No -e: whatever happens, a reward is written, and it is 0 until the verifier has spoken.
root=${1:-}
out=$root/logs/verifier
unset "${!LD_@}" "${!PYTHON@}" BASH_ENV ENV IFS
PATH=/usr/sbin:/usr/bin:/sbin:/bin

mkdir -p "$out"
rm -rf "$out"/reward.* "$out"/metrics.*
printf '{"reward": 0.0}\n' > "$out/reward.json"

python=/usr/bin/python3
if [ -z "$root" ]; then
    # The agent was root in here. Its own interpreter or loader library would let it write its own reward.
    real=$(readlink -f "$python")
    case $real in /usr/bin/python3.[0-9]*) ;; *) echo "$python is not the distribution's: no reward"; exit 0 ;; esac
    version=${real##*/}
    while IFS= read -r line; do
        case $line in
            ??5*" c /"*) ;;  # a configuration file; the interpreter below reads none
            ??5*) echo "altered: $line: no reward"; exit 0 ;;
        esac
    done < <(dpkg --verify "$version-minimal" "lib$version-minimal" "lib$version-stdlib" 2>/dev/null)
    rm -f /etc/ld.so.preload /usr/bin/pyvenv.cfg /usr/pyvenv.cfg
elif [ ! -x "$python" ]; then
    python=$(PATH=$PATH:/usr/local/bin:/opt/homebrew/bin command -v python3)
fi

# -I and -S: no PYTHON* variable, no working folder, no site package. Compiled files beside the library are not read.
cd /
"$python" -I -S -B -X pycache_prefix="$out/no-cache" "$root/tests/verify.py" "$root"
exit 0
