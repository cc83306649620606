#!/usr/bin/env bash
# What the tests of sessions in PostgreSQL need beside Python: a server's programs. What is there is
# taken; else they come from Debian for root. No server is set up or started: the tests start their
# own, in a scratch folder. Fails, and says what is missing, where there are none.
set -euo pipefail
. "$(dirname "$0")/bounded.sh"
python=$1

found() {
    "$python" "$(dirname "$0")/../tests/helpers/postgres.py"
}

without_cluster() { # Debian's package would make one and start it; nobody asked for that
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    mkdir -p /etc/postgresql-common
    [ -e /etc/postgresql-common/createcluster.conf ] ||
        echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
}

found || { without_cluster && debian postgresql; } || {
    printf 'askmeans: no PostgreSQL, so the tests of that store are skipped (failures where CI=true).\n' >&2
    printf '    Install it (Debian: sudo apt-get install postgresql), then run make again.\n' >&2
    exit 1
}
