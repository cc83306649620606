#!/usr/bin/env bash
# What the tests of sessions in PostgreSQL need beside Python: a server's programs. What is there is
# taken; else they come from Debian for root. No server is set up or started: the tests start their
# own, in a scratch folder. Fails, and says what is missing, where there are none.
set -euo pipefail
python=$1

found() {
    "$python" "$(dirname "$0")/../tests/helpers/postgres.py"
}

debian() { # from the system's own packages, where that is allowed
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    echo "== installing postgresql (a minute, once)"
    # Debian's package would make a cluster of its own and start it; nobody asked for one.
    mkdir -p /etc/postgresql-common
    [ -e /etc/postgresql-common/createcluster.conf ] ||
        echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
    apt-get update -qq &&
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql >/dev/null
}

found || debian || {
    printf 'askmeans: no PostgreSQL, so the tests of that store are skipped (failures where CI=true).\n' >&2
    printf '    Install it (Debian: sudo apt-get install postgresql), then run make again.\n' >&2
    exit 1
}
