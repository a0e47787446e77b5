#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes a tree with what a cross build needs of Debian: headers and libraries of the suite of this machine.
#   sysroot.sh ARCH DIR        ARCH as `uname -m` names it
# Packages are unpacked and none is executed, so that it needs no emulator. A tree that is there stays.
set -euo pipefail
# dpkg knows the packages that were only unpacked, so that it can say of which one a library is.
register() {
    local dpkg=$1/var/lib/dpkg deb
    echo 1 >"$dpkg/info/format" # names of lists have the architecture
    for deb in "$1"/var/cache/apt/archives/*.deb; do
        { dpkg-deb --field "$deb" && printf 'Status: install ok unpacked\n\n'; } >>"$dpkg/status"
        dpkg-deb --fsys-tarfile "$deb" | tar -t | sed 's|^\.||; s|/$||; s|^$|/.|' >"$dpkg/info/$(dpkg-deb --show --showformat '${Package}:${Architecture}' "$deb").list"
    done
}
if [ "${1:-}" = --register ]; then
    register "$2"
    exit 0
fi

arch=$1 dir=$(realpath -m "$2")
cd "$(dirname "$0")/../.."
case $arch in
aarch64) debian=arm64 ;;
x86_64) debian=amd64 ;;
*) echo "sysroot.sh: $arch is not a known architecture: aarch64 or x86_64" >&2 && exit 2 ;;
esac
sources=/etc/apt/sources.list.d/debian.sources
[ -e $sources ] || sources=/etc/apt/sources.list
# shellcheck disable=SC1091
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
packages=$(sed -n '/^\[build\]/,/^\[demo\]/p' test/tools/packages.txt | grep -- '-dev$' | paste -sd,),libc6-dev,libcrypt-dev
name="$suite $packages"
[ "$(cat "$dir/packages" 2>/dev/null)" != "$name" ] || exit 0

rm -rf "$dir" "$dir.new" && mkdir -p "$dir.new"
mmdebstrap --quiet --architectures="$debian" --variant=extract --include="$packages" \
    --extract-hook="$PWD/etc/dist/sysroot.sh --register \"\$1\"" "$suite" "$dir.new/root.tar" "$sources"
tar -xf "$dir.new/root.tar" -C "$dir.new" --exclude='./dev/*' --exclude='./usr/share/locale/*' --exclude='./usr/share/man/*'
rm "$dir.new/root.tar"
# Links that begin at the root lead out of the tree.
find "$dir.new" -type l -lname '/*' -printf '%p %l\n' | while read -r link to; do
    ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$dir.new$to")" "$link"
done
echo "$name" >"$dir.new/packages"
mv "$dir.new" "$dir"
