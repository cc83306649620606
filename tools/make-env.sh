#!/usr/bin/env bash
# Create the virtual environment in $1 and install askmeans in it, with the tested versions.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1

fail() {
    printf 'askmeans: %s\n' "$*" >&2
    exit 1
}

usable() { # new enough, and able to make environments
    command -v "$1" >/dev/null &&
        "$1" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

python=""
if [ -n "${PYTHON:-}" ]; then
    usable "$PYTHON" || fail "PYTHON=$PYTHON is not Python 3.11 or newer with its venv module."
    python=$PYTHON
else
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        if usable "$name"; then
            python=$name
            break
        fi
    done
fi
[ -n "$python" ] || fail "needs Python 3.11 or newer with its venv module, and found none." \
    "Install it (Debian: apt-get install python3 python3-venv), or say where it is:" \
    "make env PYTHON=/path/to/python3"

echo "== environment: $("$python" --version) in $venv, with .[all,dev] (1 to 3 minutes, once)"
"$python" -m venv --clear "$venv" || fail "could not create $venv; remove it and try again."
# An index that is out of reach is given up after half a minute, and nobody is asked for a password.
export PIP_RETRIES=${PIP_RETRIES:-2} PIP_TIMEOUT=${PIP_TIMEOUT:-9} PIP_NO_INPUT=1
"$venv/bin/python" -m pip install -qq --disable-pip-version-check \
    --constraint constraints.txt --editable '.[all,dev]' </dev/null ||
    fail "pip could not install the packages (see above). Is the package index within reach?"
