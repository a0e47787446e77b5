#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the container image NAME of a .deb: Debian's essential packages, what the .deb depends on, and the .deb.
#   image.sh DEB CACHE NAME
# CACHE keeps Debian's part, which is made anew when the dependencies change. By root, or with podman's user namespace.
set -euo pipefail
deb=$(realpath "$1") cache=$(realpath -m "$2") name=$3
here=$(cd "$(dirname "$0")" && pwd)
sources=/etc/apt/sources.list.d/debian.sources
[ -e $sources ] || sources=/etc/apt/sources.list
# shellcheck disable=SC1091
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
mkdir -p "$cache"

depends=$(dpkg-deb -f "$deb" Depends | sed 's/([^)]*)//g; s/ //g')
packages=$depends,tini,ca-certificates
base=$cache/base-$(printf '%s %s' "$suite" "$packages" | md5sum | cut -c1-12).tar
if [ ! -e "$base" ]; then
    rm -rf "$cache"/base-*.tar*
    mmdebstrap --quiet --format=tar --variant=essential --include="$packages" \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
        "$suite" "$base.new" "$sources"
    mv "$base.new" "$base"
fi

assemble() {
    local work
    work=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -rf '$work'" EXIT
    mkdir "$work/root" "$work/context"
    tar -xf "$base" -C "$work/root" --exclude='./dev/*'
    dpkg --root="$work/root" --install "$deb" >"$work/log" 2>&1 || { cat "$work/log" >&2 && return 1; }
    install -d -m 700 "$work/root/var/lib/batchaid"
    chroot "$work/root" chown batchaid:batchaid /var/lib/batchaid
    rm -rf "$work/root"/var/log/* "$work/root"/var/cache/debconf/* "$work/root"/var/lib/apt/lists/*
    tar -cf "$work/context/root.tar" -C "$work/root" --sort=name .
    cp "$here/image/Containerfile" "$work/context"
    podman build --quiet --format docker --tag "$name" "$work/context"
}
if [ "$(id -u)" -eq 0 ]; then
    assemble
else
    export -f assemble
    export base deb here name
    podman unshare bash -euo pipefail -c assemble
fi
