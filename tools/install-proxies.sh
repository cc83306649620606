#!/usr/bin/env bash
# What the tests of the documented proxies need: nginx and caddy. What is there is taken; else they
# come from Debian for root. Neither is set up or started: the tests start their own.
set -euo pipefail
PATH=$PATH:/usr/sbin

missing=()
command -v nginx >/dev/null || missing+=(nginx-light)
command -v caddy >/dev/null || missing+=(caddy)
[ ${#missing[@]} = 0 ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "== installing ${missing[*]} (a minute, once)"
    # Their packages would start servers of their own; nobody asked for them.
    apt-get update -qq &&
        RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
            "${missing[@]}" >/dev/null && exit 0
fi
printf 'askmeans: no %s, so the tests of the documented proxies are skipped.\n' "${missing[*]}" >&2
exit 1
