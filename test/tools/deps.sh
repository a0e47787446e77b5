#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the packages that are missing, with apt. Quick when none is.
#   deps.sh SECTION...     those of these sections of packages.txt; none named: of all
set -euo pipefail
cd "$(dirname "$0")"
list=${DEPS_LIST:-packages.txt}

for section in "$@"; do
    grep -qxF "[$section]" "$list" || {
        echo "deps: no section '$section'; there are: $(sed -n 's/^\[\(.*\)\]$/\1/p' "$list" | tr '\n' ' ')" >&2
        exit 2
    }
done
wanted=() section=
while read -r line; do
    case $line in
    '' | '#'*) ;;
    '['*) section=${line//[][]/} ;;
    *) [[ $# -eq 0 || " $* " == *" $section "* ]] && wanted+=("$line") ;;
    esac
done <"$list"
if ! command -v dpkg-query >/dev/null; then
    echo "deps: this system has no dpkg; install by hand what corresponds to: ${wanted[*]}" >&2
    exit 0
fi
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
    sed -n 's/^installed //p' || true)
missing=()
for package in "${wanted[@]}"; do
    grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "deps: installing ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "deps: not root, and there is no sudo; run as root:" >&2
        echo "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" </dev/null; }
# The lists of a fresh image are empty, those of an old one name files that are gone by now.
apt-cache show "${missing[@]}" >/dev/null 2>&1 || apt update
apt install -y --no-install-recommends "${missing[@]}" || {
    apt update
    apt install -y --no-install-recommends "${missing[@]}"
}
