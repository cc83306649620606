# What the scripts that install parts of the system share: nothing here waits for a password, a question,
# or a network that is not there.
# shellcheck shell=bash

stalled=20 # seconds without a byte after which a download ends; apt-get tries once
updated="" # "no" once the package lists could not be fetched

bounded() { # SECONDS COMMAND...: nobody is asked, and the command ends after so many seconds
    local seconds=$1
    shift
    if command -v timeout >/dev/null; then # Ctrl-C reaches the command, too
        set -- timeout --foreground -k 5 "$seconds" "$@"
    fi
    "$@" </dev/null
}

debian() { # from the system's own packages, where that is allowed and within reach
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && [ "$updated" != no ] || return 1
    local options=(-o Acquire::Retries=0 -o "Acquire::http::Timeout=$stalled"
        -o "Acquire::https::Timeout=$stalled" -o "DPkg::Lock::Timeout=$stalled" -o Dpkg::Options::=--force-confold)
    export DEBIAN_FRONTEND=noninteractive
    echo "== installing $* (a minute, once)"
    if [ -z "$updated" ]; then
        updated=yes
        if ! bounded 30 apt-get update -qq "${options[@]}"; then
            updated=no
            echo "apt-get: no package lists within 30 seconds. Is the network there?" >&2
            return 1
        fi
    fi
    bounded 900 apt-get install -y -qq --no-install-recommends "$@" "${options[@]}" >/dev/null
}
