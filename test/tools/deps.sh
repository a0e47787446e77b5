#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the packages that are missing, with apt, and those of PyPI below /usr/local. Quick when none is.
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
wanted=() modules=() section=
is_chosen() { [[ $# -eq 1 || " ${*:2} " == *" $1 "* ]]; }
while read -r line; do
    case $line in
    '' | '#'*) ;;
    '['*) section=${line//[][]/} ;;
    'pypi '*) is_chosen "$section" "$@" && modules+=("${line#pypi }") ;;
    *) is_chosen "$section" "$@" && wanted+=("$line") ;;
    esac
done <"$list"
if ! command -v dpkg-query >/dev/null; then
    echo "deps: this system has no dpkg; install by hand what corresponds to: ${wanted[*]}" >&2
    exit 0
fi

as_root=()
# Whether it may be done; otherwise says what root is to run.
get_root() {
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "deps: not root, and there is no sudo; run as root:" >&2
            echo "  $*" >&2
            exit 1
        fi
        as_root=(sudo)
    fi
}
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" </dev/null; }
# The lists of a fresh image are empty, those of an old one name files that are gone by now.
install_debian() {
    echo "deps: installing $*"
    get_root "apt-get update && apt-get install -y --no-install-recommends $*"
    apt-cache show "$@" >/dev/null 2>&1 || apt update
    apt install -y --no-install-recommends "$@" || {
        apt update
        apt install -y --no-install-recommends "$@"
    }
}

PYTHON=${PYTHON:-/usr/bin/python3}
PIP=("$PYTHON" -m pip install --break-system-packages --no-deps)
# install_module MODULE PACKAGE: without what the package asks for, which Debian's packages have
install_module() {
    "$PYTHON" -c "import importlib.util as u, sys; sys.exit(not u.find_spec('$1'))" 2>/dev/null && return
    "$PYTHON" -m pip --version >/dev/null 2>&1 || install_debian python3-pip
    echo "deps: installing $2 of PyPI"
    get_root "${PIP[*]} $2"
    "${as_root[@]}" env PIP_ROOT_USER_ACTION=ignore "${PIP[@]}" -q "$2" </dev/null
}

installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
    sed -n 's/^installed //p' || true)
missing=()
for package in "${wanted[@]}"; do
    grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] || install_debian "${missing[@]}"
for module in "${modules[@]}"; do
    read -r name package <<<"$module"
    install_module "$name" "$package"
done
