#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes OUT/batchaid_VERSION_ARCH.deb of what is built, for Debian 12 and later.
#   deb.sh BUILD VERSION OUT
# It uses the libraries of the Debian on which it is installed, except three in /usr/lib/batchaid: Debian 13 has another
# libjwt, with its libb64, and a libmicrohttpd in which on_connection() of api/http/server.c fails.
set -euo pipefail
build=$(realpath "$1") version=$2 out=$(realpath -m "$3")
cd "$(dirname "$0")/.."
here=etc/deb arch=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
root=$work/root
mkdir -p "$root/DEBIAN" "$work/debian"

MAKEFLAGS='' make -s -o all install BUILD="$build" PREFIX=/usr DESTDIR="$root"
rm -f "$root"/usr/bin/batchai-{node,cmd}-* # for other architectures
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$root"/usr/bin/*
own=/usr/lib/batchaid
ldd "$build/batchaid" | sed -nE 's/^\s*(lib(jwt|b64|microhttpd)\S*) => (\S+) .*/\1 \3/p' | while read -r name path; do
    install -D -m 644 "$path" "$root$own/$name"
    patchelf --set-rpath $own "$root$own/$name"
    echo "${name%%.so.*} ${name##*.so.}" >>"$work/debian/shlibs.local" # no package has it
done
patchelf --set-rpath $own "$root/usr/bin/batchaid"
# Debian 12 has its units in /lib.
mkdir -p "$root/lib"
mv "$root/usr/lib/systemd" "$root/lib/systemd"
find "$root/usr/share/man" -type f -exec gzip -9n {} +
# The configuration as it is by default is the administrator's to change, but for local nodes: those of a daemon for
# many people run their jobs as the daemon's user, so they are there only if somebody asks for them.
conf=$root/etc/batchaid/batchaid.yaml
mv "$conf.example" "$conf"
sed -i '/^local:/,/^[a-z]/ s/^  nodes: .*/  # 100 unless it is said; of the package 0, as jobs of local nodes run as the daemon'"'"'s own user.\n  nodes: 0/' "$conf"
grep -q '^  nodes: 0$' "$conf"

doc=$root/usr/share/doc/batchaid
"${PYTHON:-python3}" etc/dist/contents.py --version "$version" --arch "$(uname -m)" --root / --libraries "$root$own" \
    --sbom "$doc/sbom.cdx.json" --licences "$doc/licences"
install -D -m 644 $here/copyright "$doc/copyright"
sed "s/@version@/$version/" $here/changelog | gzip -9n >"$doc/changelog.gz"
chmod 644 "$doc/changelog.gz"
install -D -m 644 $here/lintian-overrides "$root/usr/share/lintian/overrides/batchaid"

# dpkg-shlibdeps finds the libraries that the daemon is linked with. The daemon loads libcurl later: its name is a text
# of the program.
touch "$work/debian/control"
libraries=$(cd "$work" && dpkg-shlibdeps -O -l"root$own" root/usr/bin/batchaid | sed -n 's/^shlibs:Depends=//p')
loaded=$(strings "$root/usr/bin/batchaid" | grep -xE 'libcurl[-a-z0-9.]*\.so\.[0-9]+' | while read -r soname; do
    path=$(ldconfig -p | sed -n "s/^[[:space:]]*$soname (.*x86-64.*=> //p; s/^[[:space:]]*$soname (.*AArch64.*=> //p" | head -1)
    dpkg -S "$(realpath "$path")" | cut -d: -f1
done | paste -sd, | sed 's/,/, /g')
[ -n "$libraries" ] && [ -n "$loaded" ]
size=$(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f1)
sed "s/@version@/$version/; s/@arch@/$arch/; s/@depends@/$libraries, $loaded/; s/@size@/$size/" $here/control >"$root/DEBIAN/control"
echo /etc/batchaid/batchaid.yaml >"$root/DEBIAN/conffiles"
for script in preinst postinst prerm postrm; do
    [ ! -e $here/$script ] || install -m 755 $here/$script "$root/DEBIAN/$script"
done
(cd "$root" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
mkdir -p "$out"
# Renamed when it is whole: somebody may be reading the one before.
made="$out/batchaid_${version}_$arch.deb"
dpkg-deb --root-owner-group -Zxz --build "$root" "$made.new" >/dev/null
mv "$made.new" "$made"
echo "$made"
