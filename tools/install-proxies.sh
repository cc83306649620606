#!/usr/bin/env bash
# What the tests of the documented proxies need: nginx and caddy. What is there is taken; else they
# come from Debian for root. Neither is set up or started: the tests start their own.
set -euo pipefail
. "$(dirname "$0")/bounded.sh"
PATH=$PATH:/usr/sbin

missing=()
command -v nginx >/dev/null || missing+=(nginx-light)
command -v caddy >/dev/null || missing+=(caddy)
[ ${#missing[@]} = 0 ] && exit 0
# Their packages would start servers of their own; nobody asked for them.
RUNLEVEL=1 debian "${missing[@]}" && exit 0
printf 'askmeans: no %s, so the tests of the documented proxies are skipped.\n' "${missing[*]}" >&2
printf '    Install it (Debian: sudo apt-get install %s), then run make again.\n' "${missing[*]}" >&2
exit 1
