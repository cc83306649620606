#!/usr/bin/env bash
# What the tests of the page need beside Python: a chromium, and axe-core in the folder $1, which is
# in the environment. What is there is taken ($CHROMIUM names one; root gets the one without windows
# beside another); else it comes from Debian for root, and for anybody else from playwright, for that
# user alone. Fails, and says what is missing, where neither works.
set -euo pipefail
. "$(dirname "$0")/bounded.sh"
folder=$1
python=$(dirname "$folder")/bin/python
axe_core=4.14.0
missing=""

lack() {
    printf 'askmeans: no %s, so the tests of the page that need it are skipped (failures where CI=true).\n' "$1" >&2
    printf '    %s\n' "$2" >&2
    missing=yes
}

browser() { # with "shell": one that cannot open windows, which takes half the processor time
    "$python" "$(dirname "$0")/../tests/helpers/browsers.py" "$@"
}

playwright() { # for this user alone, into ~/.cache
    echo "== fetching chromium for this user alone (a minute, once)"
    local said="$folder.playwright"
    # It tries five times; one of its reasons will do.
    if ! PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT=4000 \
        bounded 900 "$python" -m playwright install chromium >"$said" 2>&1; then
        [[ $(<"$said") =~ Error:[^$'\n']* ]] && printf 'playwright: %s\n' "${BASH_REMATCH[0]}" >&2
        return 1
    fi
    browser
}

# Without a font, pages have no text.
browser shell || debian chromium chromium-headless-shell fonts-dejavu-core ||
    browser || debian chromium fonts-dejavu-core || playwright ||
    lack chromium "Install it (Debian: sudo apt-get install chromium), or let $python -m playwright install chromium fetch one, then run make again."

if [ ! -f "$folder/node_modules/axe-core/axe.min.js" ]; then
    mkdir -p "$folder"
    if ! command -v npm >/dev/null && ! debian npm; then
        lack axe-core "It comes by npm. Install that (Debian: sudo apt-get install npm; without root: an archive of Node.js in your home), then run make again."
    elif ! (cd "$folder" && bounded 120 npm install --silent --no-save --no-package-lock --no-audit --no-fund \
        --fetch-timeout=10000 --fetch-retries=1 --fetch-retry-mintimeout=1000 "axe-core@$axe_core"); then
        lack axe-core "npm could not install it (see above). Is the package registry within reach?"
    fi
fi
[ -z "$missing" ]
