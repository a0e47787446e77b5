#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the portable program, with its libraries beside it, in two forms: the Python package for tests, and a tree that
# runs where it lies. The wheel comes first, because auditwheel finds, copies and names the libraries.
#   portable.sh BUILD VERSION ARCH OUT
# OUT/batchaid-VERSION-py3-none-TAG.whl, and OUT/batchaid-VERSION-linux-ARCH/ with bin/, lib/ and share/.
# Of the environment: CC and PYTHON as make has them; SYSROOT, the tree of a cross build with Debian's packages for ARCH
# (empty: this machine); SOURCE_DATE_EPOCH.
set -euo pipefail
build=$(realpath "$1") version=$2 arch=$3 out=$(realpath -m "$4")
cd "$(dirname "$0")/../.."
here=etc/dist sysroot=${SYSROOT:-} tree=$out/batchaid-$version-linux-$arch
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022

tool() { ${CC:-cc} -print-prog-name="$1"; }
library() {
    local path
    for path in "$sysroot"/{usr/lib,lib}/"$arch-linux-gnu/$1"; do
        [ ! -e "$path" ] || { echo "$path" && return; }
    done
    echo "portable.sh: $1 is missing for $arch: make deps" >&2
    return 1
}

# The package as setuptools takes it; its tag is auditwheel's to say.
MAKEFLAGS='' make -s -o all wheel-src BUILD="$build" WHEEL_SRC="$work/src" DAEMON="$build/portable/batchaid" WHEEL_ARCH="$arch"
"$(tool strip)" --strip-unneeded --remove-section=.comment --remove-section=.note "$work"/src/batchaid/bin/*
# auditwheel does not look for these two: the daemon loads libcurl later, its name is a text of the program; libz it takes
# for a part of each Linux.
curl=$(strings "$build/portable/batchaid" | grep -xE 'libcurl[-a-z0-9.]*\.so\.[0-9]+' | head -1)
for name in "$curl" libz.so.1; do
    path=$(library "$name")
    install -D -m 755 "$path" "$work/src/batchaid/lib/$name"
done
libraries=$(dirname "$(library "$curl")"):$(dirname "$path")
"$PYTHON" -m pip wheel -q --no-deps --no-index --no-build-isolation -w "$work/raw" "$work/src"
AUDITWHEEL_LD_LIBRARY_PATH=$libraries "$PYTHON" -m auditwheel repair ${sysroot:+--ldpaths "$libraries"} \
    --only-plat -z 1 --lib-sdir /lib -w "$work/repaired" "$work"/raw/*.whl >"$work/log" 2>&1 || { cat "$work/log" >&2 && exit 1; }

# What the package consists of, and the licences of all that.
"$PYTHON" -m wheel unpack -d "$work/whole" "$work"/repaired/*.whl >/dev/null
whole=$(echo "$work"/whole/*) info=$(echo "$work"/whole/*/*.dist-info)
chmod 755 "$whole"/batchaid/bin/* "$whole"/batchaid/lib/* # unpacked without their modes
rm -rf "$info/sboms"
"$PYTHON" $here/contents.py --version "$version" --arch "$arch" --root "$sysroot/" --libraries "$whole/batchaid/lib" \
    --sbom "$info/sboms/batchaid.cdx.json" --licences "$info/licenses" --texts --static libexpat1-dev libcrypt-dev
sed -i 's|^License: MIT$|License: MIT; of the libraries in it, and of what is linked statically: licenses/ in its .dist-info|' "$info/METADATA"
mkdir -p "$out"
rm -f "$out"/batchaid-*_"$arch".whl
"$PYTHON" -m wheel pack -d "$out" "$whole" >/dev/null

rm -rf "$tree" && mkdir -p "$tree/share"
cp -r "$whole/batchaid/bin" "$whole/batchaid/lib" "$tree"
cp -r "$info/licenses" "$tree/share/licences"
cp "$info/sboms/batchaid.cdx.json" "$tree/sbom.cdx.json"
cp LICENSE "$tree"
sed "s/@version@/$version/g; s/@arch@/$arch/g" $here/README.txt >"$tree/README.txt"
install -D -m 644 -t "$tree/share/man/man1" docs/man/*.1
install -D -m 644 -t "$tree/share/man/man5" docs/man/*.5
install -D -m 644 etc/batchaid.bash-completion "$tree/share/bash-completion/completions/batchaid"
install -D -m 644 -t "$tree/share/batchaid" etc/batchaid.yaml.example
echo "$out"/batchaid-*_"$arch".whl
