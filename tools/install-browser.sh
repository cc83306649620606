#!/usr/bin/env bash
# What the tests of the page need beside Python: a chromium, and axe-core in the folder $1.
set -euo pipefail
folder=$1
axe_core=4.14.0

fail() {
    printf 'askmeans: %s\n' "$*" >&2
    exit 1
}

install() { # from the system's own packages, where that is allowed
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        fail "the tests of the page need $1, and found none. Install it" \
            "(Debian: sudo apt-get install $1), then run make again."
    fi
    echo "== installing $1 (a minute, once)"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null ||
        fail "apt-get could not install $1 (see above)."
}

found=""
for name in "${CHROMIUM:-chromium}" chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then
        found=$name
        break
    fi
done
[ -n "$found" ] || install chromium fonts-dejavu-core # without a font, pages have no text
if [ ! -f "$folder/node_modules/axe-core/axe.min.js" ]; then
    command -v npm >/dev/null || install npm
    mkdir -p "$folder"
    (cd "$folder" && npm install --silent --no-save --no-package-lock --no-audit --no-fund "axe-core@$axe_core") ||
        fail "npm could not install axe-core (see above). Is the package registry within reach?"
fi
