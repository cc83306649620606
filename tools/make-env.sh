#!/usr/bin/env bash
# Create the virtual environment in $1 and install askmeans in it, with the tested versions.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1

fail() {
    printf 'askmeans: %s\n' "$*" >&2
    exit 1
}

python=""
for name in "${PYTHON:-python3}" python3.13 python3.12 python3.11; do
    if command -v "$name" >/dev/null &&
        "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$name
        break
    fi
done
[ -n "$python" ] || fail "needs Python 3.11 or newer, and found none. Install it" \
    "(Debian: apt-get install python3 python3-venv), or say where it is: make PYTHON=/path/to/python3"
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    fail "$("$python" --version) has no venv module. Install it (Debian: apt-get install python3-venv)."

echo "== environment: $("$python" --version) in $venv, with .[all,dev] (1 to 3 minutes, once)"
"$python" -m venv "$venv" || fail "could not create $venv; remove it and try again."
"$venv/bin/python" -m pip install -qq --disable-pip-version-check \
    --constraint constraints.txt --editable '.[all,dev]' ||
    fail "pip could not install the packages (see above). Is the package index within reach?"
