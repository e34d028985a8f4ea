#!/bin/bash
# Provide what the end-to-end tests need: a Docker engine with compose v2 and buildx, a base image, and Harbor.
#
# Usage: tests/e2e/engine.sh        (again and again: what is there is used, only what is missing is made)
#
# Uses the engine that answers, else installs the distribution's and starts it (needs root and apt). Pulls the
# base image from the registry, else builds one of this machine's own distribution from its package mirror.
# Writes .cache/e2e/env (shell and Makefile syntax): BASE_IMAGE, HARBOR, HARBOR_PYTHON, HARBOR_NEWEST.
#
# Environment: E2E_BASE_IMAGE (default ubuntu:24.04), HARBOR_VERSION (default 0.24.0),
# HARBOR_NEWEST_VERSION (default 0.26.0; tests of two versions run on both).
# Exit codes: 0 ready, 3 no engine can be had here (one line says why), 1 anything else.
set -euo pipefail

cd "$(dirname "$0")/../.."
cache="$PWD/.cache/e2e"
wanted_image="${E2E_BASE_IMAGE:-ubuntu:24.04}"
harbor_version="${HARBOR_VERSION:-0.24.0}"
newest_version="${HARBOR_NEWEST_VERSION:-0.26.0}"
export DEBIAN_FRONTEND=noninteractive
mkdir -p "$cache"

say() { printf 'engine: %s\n' "$*"; }
die() { printf 'engine: %s\n' "$*" >&2; exit 1; }
no_engine() { printf 'engine: no Docker engine: %s\n' "$*" >&2; exit 3; }

# quietly NAME COMMAND...: run it with its output in .cache/e2e/NAME.log; on failure show the end of that log.
quietly() {
  local log="$cache/$1.log"
  shift
  "$@" >"$log" 2>&1 || { tail -n 5 "$log" >&2; return 1; }
}

apt_updated=
apt_install() {
  [ -n "$apt_updated" ] || quietly apt-update apt-get -qq update || return 1
  apt_updated=yes
  quietly apt-install apt-get -qq install -y --no-install-recommends "$@"
}

# The address of the mirror this machine takes its own packages from, whatever it is.
mirror() {
  apt-get indextargets --format '$(SITE) $(CODENAME)' 'Created-By: Packages' |
    awk -v codename="$VERSION_CODENAME" '$2 == codename { print $1; exit }'
}

start_engine() {
  docker info >/dev/null 2>&1 && return
  [ "$(id -u)" = 0 ] || no_engine "none answers and only root can start one (or add this user to the docker group)"
  if ! command -v dockerd >/dev/null; then
    command -v apt-get >/dev/null || no_engine "none is installed and this machine has no apt-get to install one"
    say "installing the distribution's engine"
    apt_install docker.io ca-certificates || no_engine "apt-get could not install docker.io (see $cache/apt-install.log)"
    # Newer Debians have the command in a package of its own.
    command -v docker >/dev/null || apt_install docker-cli || no_engine "apt-get could not install docker-cli"
  fi
  say "starting dockerd"
  if [ -d /run/systemd/system ]; then
    systemctl start docker || no_engine "systemctl start docker failed"
  else
    if [ ! -e /sys/fs/cgroup/cgroup.controllers ] && [ ! -d /sys/fs/cgroup/memory ]; then
      apt_install cgroupfs-mount && cgroupfs-mount || no_engine "/sys/fs/cgroup cannot be mounted"
    fi
    # What a killed engine left behind can spoil the first start: its number may be another process's by now, or its
    # own zombie's, and it waits in vain for the containerd that died with it.
    for _ in 1 2 3; do
      rm -f /var/run/docker.pid /var/run/docker/containerd/containerd.pid
      # A session of its own: the engine outlives this script and the terminal, and holds no lock of theirs.
      setsid nohup dockerd >"$cache/dockerd.log" 2>&1 </dev/null 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
      for _ in $(seq 40); do
        docker info >/dev/null 2>&1 && return
        sleep 0.5
        kill -0 $! 2>/dev/null || break
      done
      kill $! 2>/dev/null || true
    done
  fi
  for _ in $(seq 20); do
    docker info >/dev/null 2>&1 && return
    sleep 0.5
  done
  no_engine "dockerd did not answer: $(grep -i -E 'level=(error|fatal)|failed' "$cache/dockerd.log" 2>/dev/null | tail -n 1)"
}

has_plugins() { docker compose version >/dev/null 2>&1 && docker buildx version >/dev/null 2>&1; }

# Compose v2 and buildx. Ubuntu and newer Debians have them as packages; Debian 12 does not, but the binaries of
# the next Debian run on it unchanged, so they are unpacked for this user without installing the packages.
install_plugins() {
  has_plugins && return
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null ||
    die "docker compose v2 or buildx is missing: install the plugins docker-compose-plugin and docker-buildx-plugin"
  say "installing compose v2 and buildx"
  case "$ID" in
    ubuntu) apt_install docker-compose-v2 docker-buildx || true ;;
    debian) [ "$VERSION_CODENAME" = bookworm ] || apt_install docker-compose docker-buildx || true ;;
  esac
  has_plugins && return
  local site apt="$cache/trixie"
  site="$(mirror)"
  [ -n "$site" ] || die "apt's configuration names no mirror of $VERSION_CODENAME to take compose v2 from"
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/unpacked" ~/.docker/cli-plugins
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $site trixie main" >"$apt/sources.list"
  local options=(-o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::Lists=$apt/lists"
    -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
  quietly trixie-update apt-get -qq "${options[@]}" update || die "the mirror serves no Debian trixie, which compose v2 is taken from"
  (cd "$apt" && quietly trixie-download apt-get -qq "${options[@]}" download docker-compose docker-buildx) ||
    die "docker-compose and docker-buildx of Debian trixie could not be downloaded"
  for package in "$apt"/*.deb; do dpkg-deb -x "$package" "$apt/unpacked"; done
  install -m 755 "$apt"/unpacked/usr/libexec/docker/cli-plugins/* ~/.docker/cli-plugins/
  rm -rf "$apt"
  has_plugins || die "docker compose v2 and buildx do not run after their installation"
}

has_image() { docker image inspect "$1" >/dev/null 2>&1; }

# A minimal file system of this machine's own distribution, under the name it has in the registry.
import_image() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || die "$wanted_image cannot be pulled, and only root can build a base image"
  local site root="$cache/rootfs" components=main
  site="$(mirror)"
  [ -n "$site" ] || die "$wanted_image cannot be pulled, and apt's configuration names no mirror of $VERSION_CODENAME"
  command -v debootstrap >/dev/null || apt_install debootstrap || die "apt-get could not install debootstrap"
  # Ubuntu keeps most toolchains in universe.
  [ "$ID" != ubuntu ] || components=main,universe
  say "no registry has answered: making $1 from this machine's package mirror"
  rm -rf "$root"
  quietly debootstrap debootstrap --variant=minbase --components="$components" "$VERSION_CODENAME" "$root" "$site" || die "debootstrap failed (see $cache/debootstrap.log)"
  rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/archives/*.deb "$root"/var/log/bootstrap.log
  # What the registry's images are set up with: no sync after each file (an image that dies half-built is thrown away),
  # no translations, no package archives kept, no documentation.
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/no-sync"
  printf 'path-exclude=/usr/share/%s/*\n' doc info man locale >"$root/etc/dpkg/dpkg.cfg.d/slim"
  printf '%s\n' 'Acquire::Languages "none";' 'APT::Keep-Downloaded-Packages "false";' \
    'Binary::apt::APT::Keep-Downloaded-Packages "false";' >"$root/etc/apt/apt.conf.d/slim"
  # The folders stay: Java's installation puts links into those of the manual.
  find "$root"/usr/share/{doc,info,man,locale} ! -type d -delete
  # Authorities that only this machine trusts (a proxy's, say): they take effect once an image installs ca-certificates.
  mkdir -p "$root/usr/local/share/ca-certificates"
  find /usr/local/share/ca-certificates -name '*.crt' -exec cp {} "$root/usr/local/share/ca-certificates/" \; 2>/dev/null || true
  tar -C "$root" -c . | docker import -c 'CMD ["bash"]' - "$1" >/dev/null
  rm -rf "$root"
}

provide_image() {
  local own
  case "$ID" in
    debian) own="debian:$VERSION_CODENAME-slim" ;;
    *) own="$ID:$VERSION_ID" ;;
  esac
  for image in "$wanted_image" "$own"; do
    if has_image "$image"; then base_image="$image"; return; fi
  done
  if quietly pull docker pull -q "$wanted_image" 2>/dev/null; then
    base_image="$wanted_image"
  else
    import_image "$own"
    base_image="$own"
  fi
}

# The first Python on PATH or under pyenv that Harbor supports.
find_python() {
  local root
  root="$(pyenv root 2>/dev/null || true)"
  for python in python3.12 python3.13 python3.14 python3 ${root:+"$root"/versions/*/bin/python3}; do
    if "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1; then
      echo "$python"
      return
    fi
  done
  return 1
}

# install_harbor VERSION: set `harbor` to the command of this version, and install it where it is missing.
install_harbor() {
  local python venv="$cache/harbor-$1"
  harbor="$venv/bin/harbor"
  [ -x "$harbor" ] && return
  python="$(find_python)" || die "Harbor needs Python >= 3.12 and none is on PATH or under pyenv"
  say "installing Harbor $1 with $python"
  rm -rf "$venv" "$venv.new"
  "$python" -m venv "$venv"
  # The command is what says "installed": it goes last, so that a killed installation is done again.
  quietly harbor-install "$venv/bin/python" -m pip install -q "harbor==$1" || { rm -rf "$venv"; die "pip could not install harbor"; }
}

if [ -r /etc/os-release ]; then . /etc/os-release; fi
ID="${ID:-unknown}" VERSION_ID="${VERSION_ID:-}" VERSION_CODENAME="${VERSION_CODENAME:-}"
start_engine
install_plugins
provide_image
install_harbor "$newest_version"
newest="$harbor"
install_harbor "$harbor_version"
cat >"$cache/env.new" <<END
BASE_IMAGE=$base_image
HARBOR=$harbor
HARBOR_PYTHON=${harbor%/*}/python
HARBOR_NEWEST=$newest
END
mv "$cache/env.new" "$cache/env"
say "ready: engine $(docker version --format '{{.Server.Version}}'), compose $(docker compose version --short), base image $base_image, Harbor $harbor_version and $newest_version"
