#!/bin/bash
# Writes the reward: test.sh [ROOT [PROGRAM]]. Harbor calls it without ROOT, as root; with ROOT it scores
# ROOT/app/solution.md on any machine. PROGRAM: a file of tests/; if none is given judge.py, where a task has one, else
# verify.py. No -e: whatever happens, a reward is written, and it is 0 until the verifier has spoken. Not so beside a
# judge: without its grade there is no reward, and Harbor counts the trial as not graded.
root=${1:-}
program=${2:-}
if [ -z "$program" ]; then
    program=verify.py
    [ ! -e "$root/tests/judge.py" ] || program=judge.py
fi
out=$root/logs/verifier
unset "${!LD_@}" "${!PYTHON@}" BASH_ENV ENV IFS
PATH=/usr/sbin:/usr/bin:/sbin:/bin

mkdir -p "$out"
rm -rf "$out"/reward.* "$out"/metrics.*
[ "$program" = judge.py ] || printf '{"reward": 0.0}\n' > "$out/reward.json"

python=/usr/bin/python3
if [ -z "$root" ]; then
    # In a shared container the agent was root. Its own interpreter or library would let it write its own reward.
    refuse() { echo "$1: no reward"; exit 0; }
    # Before the places that ldconfig was told of.
    export LD_LIBRARY_PATH=/lib/$HOSTTYPE-linux-gnu:/usr/lib/$HOSTTYPE-linux-gnu
    real=$(readlink -f "$python")
    case $real in /usr/bin/python3.[0-9]*) ;; *) refuse "$python is not the distribution's" ;; esac
    version=${real##*/}
    lines=$(dpkg --admindir=/var/lib/dpkg --verify "$version-minimal" "lib$version-minimal" "lib$version-stdlib") \
        || refuse "dpkg cannot answer for $version"
    # What it may name besides is documentation that the image leaves out, and configuration that -I does not read.
    case $lines in *" /usr/bin/"* | *" /usr/lib/"*) refuse "altered: $lines" ;; esac
    # A folder or a compiled module is imported before the .py file beside it.
    shopt -s globstar nullglob
    for entry in "/usr/lib/$version"/**/ "/usr/lib/$version"/**/*.so; do
        entry=${entry%/} name=${entry##*/}
        [ ! -e "${entry%/*}/${name%%.*}.py" ] || refuse "shadowed: $entry"
    done
    rm -rf /etc/ld.so.preload /usr/bin/lib /usr/bin/pybuilddir.txt /usr/lib/python3*.zip {/usr/bin,/usr}/pyvenv.cfg
elif [ ! -x "$python" ]; then
    python=$(PATH=$PATH:/usr/local/bin:/opt/homebrew/bin command -v python3)
fi

# -I and -S: no PYTHON* variable, no working folder, no site package. Compiled files beside the library are not read.
cd /
"$python" -I -S -B -X pycache_prefix="$out/no-cache" "$root/tests/$program" "$root"
exit 0
