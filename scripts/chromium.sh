# shellcheck shell=bash
# Sourced by ./scripts/test.

# need_chromium: there is a Chromium for the tests of rendering. It is installed where that may be
# done without a question (Debian, as root or by sudo); else CHROMIUM_MISSING says why it is not, and
# the tests that need it say so.
need_chromium() {
    local name as_root=()
    for name in chromium chromium-browser google-chrome google-chrome-stable chrome; do
        command -v "$name" >/dev/null 2>&1 && return
    done
    export CHROMIUM_MISSING
    if ! command -v apt-get >/dev/null 2>&1; then
        CHROMIUM_MISSING="no Chromium, and no apt-get to install it with"
    elif [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then
        CHROMIUM_MISSING="no Chromium, and no right to install it: apt-get install chromium"
    else
        [ "$(id -u)" = 0 ] || as_root=(sudo -n)
        echo "Installing Chromium for the tests of rendering (once, about a minute) ..." >&2
        if "${as_root[@]}" apt-get update -qq >/dev/null 2>&1 &&
            "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
                apt-get install -y -qq chromium >/dev/null 2>&1; then
            unset CHROMIUM_MISSING
            return
        fi
        CHROMIUM_MISSING="no Chromium, and apt-get could not install it"
    fi
    echo "test: $CHROMIUM_MISSING; the tests of rendering are skipped" >&2
}
