# shellcheck shell=bash
# Makes .venv and installs a requirements file into it, once. Sourced by the other scripts.
# Sets: project (this project's folder), python (the one of .venv), constraints (the versions of
# all packages, see ./scripts/constraints).

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$project/.venv
python=$venv/bin/python
constraints=$project/constraints.txt

# The project is found from any directory.
export PYTHONPATH=$project${PYTHONPATH:+:$PYTHONPATH}
export SCRAPY_SETTINGS_MODULE=crawlproject.settings

die() {
    echo "${0##*/}: $*" >&2
    exit 1
}

find_python() {
    local candidate
    for candidate in "${PYTHON:-}" python3.11 python3.12 python3.13 python3 python; do
        if [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 &&
            "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    return 1
}

# install FILE: what the file asks for is in .venv, and is not installed twice.
install() {
    local file=$project/$1 stamp new
    stamp=$venv/.installed-${1%.txt}
    new=$(cat "$project"/requirements*.txt "$constraints")
    [ -x "$python" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$new" ] && return
    # Two scripts started at once must not install into one another.
    exec 9>"$project/.venv.lock"
    command -v flock >/dev/null 2>&1 && flock 9
    if [ ! -x "$python" ] || [ "$(cat "$stamp" 2>/dev/null)" != "$new" ]; then
        echo "Setting up .venv for $1 (once, about a minute) ..." >&2
        local base
        base=$(find_python) || die "needs Python 3.11 or newer: install it, or name it in PYTHON="
        [ -x "$python" ] || "$base" -m venv "$venv" >&2 ||
            die "can't make $venv: the venv module is missing (on Debian: python3-venv)"
        "$python" -m pip install -q --disable-pip-version-check \
            -c "$constraints" -r "$file" >&2 ||
            die "can't install $1: is there a network, or a package index, to install from?"
        printf '%s\n' "$new" >"$stamp"
        # What the tests need includes all the others.
        [ "$1" != requirements-dev.txt ] ||
            for file in "$project"/requirements*.txt; do
                file=${file##*/}
                printf '%s\n' "$new" >"$venv/.installed-${file%.txt}"
            done
    fi
    exec 9>&-
}
