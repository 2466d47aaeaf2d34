# shellcheck shell=bash
# Sourced by ./scripts/test.

# may_install: whether packages can be installed without a question (Debian, as root or by sudo);
# else it says why not.
may_install() {
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "no apt-get to install it with"
    elif [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then
        echo "no right to install it: apt-get install $1"
    else
        return 0
    fi
    return 1
}

# install_package NAME: by apt-get. In the runlevel of one user no service is started.
install_package() {
    local as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo -n)
    "${as_root[@]}" apt-get update -qq >/dev/null 2>&1 &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
            apt-get install -y -qq --no-install-recommends "$1" >/dev/null 2>&1
}

# need PACKAGE WHAT PROGRAM…: one of the programs is there, for the tests of WHAT. If not, and it
# can't be installed, PACKAGE_MISSING (in capitals) says why, and the tests that need it say so.
need() {
    local package=$1 what=$2 name why missing=${1^^}_MISSING
    shift 2
    for name in "$@"; do
        command -v "$name" >/dev/null 2>&1 && return
    done
    if why=$(may_install "$package"); then
        echo "Installing $package for the tests of $what (once, about a minute) ..." >&2
        install_package "$package" && return
        why="apt-get could not install it"
    fi
    export "$missing=no $package, and $why"
    echo "test: ${!missing}; the tests of $what are skipped" >&2
}

need_programs() {
    need chromium "rendering and of the live page" \
        chromium chromium-browser google-chrome google-chrome-stable chrome
    need prometheus "alerts" promtool
}

# holds_files FOLDER: whether it has room for all that tests write, and may hold programs.
holds_files() {
    local room probe status=1
    room=$(df -Pk "$1" 2>/dev/null | awk 'NR == 2 { print $4 }')
    [ "${room:-0}" -gt 4000000 ] && probe=$(mktemp "$1/probe.XXXXXX" 2>/dev/null) || return 1
    printf '#!/bin/sh\n' >"$probe" && chmod +x "$probe" && "$probe" 2>/dev/null && status=0
    rm -f "$probe"
    return "$status"
}
