#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the container image NAME of a portable program: the few packages of Debian that jobs need, and the program.
#   image.sh TREE CACHE NAME [ARCHIVE]
# CACHE keeps Debian's part, which is made anew when the list of packages changes. ARCHIVE: the image as a file for `docker
# load`, and unpacked for `podman load`, since podman 4 does not read gzip. By root, or with podman's user namespace.
# SOURCE_DATE_EPOCH is the time of all files.
set -euo pipefail
umask 022
tree=$(realpath "$1") cache=$(realpath -m "$2") name=$3 archive=${4:+$(realpath -m "$4")}
here=$(cd "$(dirname "$0")" && pwd)
sources=/etc/apt/sources.list.d/debian.sources
[ -e $sources ] || sources=/etc/apt/sources.list
# shellcheck disable=SC1091
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
mkdir -p "$cache"

packages=base-files,base-passwd,libc6,libc-bin,bash,dash,coreutils,findutils,grep,sed,mawk,tar,gzip,hostname,tini,ca-certificates
base=$cache/small-$(printf '%s %s' "$suite" "$packages" | md5sum | cut -c1-12).tar
if [ ! -e "$base" ]; then
    rm -f "$cache"/small-*.tar*
    mmdebstrap --quiet --format=tar --variant=extract --include="$packages" "$suite" "$base.new" "$sources"
    mv "$base.new" "$base"
fi

# Packages are only unpacked: what their scripts would do is done here.
fill() {
    local root=$1
    tar -xf "$base" -C "$root" --exclude='./dev/*' --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' \
        --exclude='./usr/share/info/*' --exclude='./usr/lib/*/gconv/*' --exclude='./usr/lib/*/perl*' --exclude='./usr/share/perl*' \
        --exclude='./var/cache/*' --exclude='./var/lib/apt/*' --exclude='./var/lib/dpkg/*' --exclude='./usr/share/bash-completion' \
        --exclude='./usr/share/debconf' --exclude='./usr/share/base-files/*' --exclude='./etc/apt'
    find "$root/usr/share/doc" -type f ! -name copyright -delete
    find "$root/usr/share/doc" -type d -empty -delete
    # Of ca-certificates the file alone is needed, not the programs that make it of others.
    find "$root/usr/share/ca-certificates" -name '*.crt' | LC_ALL=C sort | xargs cat >"$root/etc/ssl/certs/ca-certificates.crt"
    rm -rf "$root"/usr/share/{ca-certificates,lintian,dpkg} "$root"/usr/lib/ssl "$root"/usr/lib/*/{engines-3,ossl-modules}
    # Programs of packages that only installing others needs, and libraries that only those use.
    local none
    for none in openssl c_rehash 'perl*' 'debconf*' 'dpkg*' localedef iconv tini-static gpgv ldconfig update-ca-certificates \
        start-stop-daemon update-alternatives; do
        find "$root"/{bin,sbin,usr/bin,usr/sbin} -name "$none" -delete
    done
    for none in ssl crypto db-5 zstd lzma bz2 md nsl thread_db tic mvec; do
        find "$root"/{lib,usr/lib} -name "lib$none[.-]*so*" -delete
    done
    rm -rf "$root"/usr/share/doc/{openssl,libssl3,perl-base,dpkg,debconf,libdb5.3,libzstd1,liblzma5,libbz2-1.0,libmd0}
    ln -sf dash "$root/bin/sh"
    ln -sf mawk "$root/usr/bin/awk"
    cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
    cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
    echo 'batchaid:x:990:990::/var/lib/batchaid:/bin/sh' >>"$root/etc/passwd"
    echo 'batchaid:x:990:' >>"$root/etc/group"
    printf 'passwd: files\ngroup: files\nhosts: files dns\n' >"$root/etc/nsswitch.conf"
    install -d "$root"/{opt,mnt,proc,sys,dev,run,var/log}
    install -d -m 700 "$root/root"
    install -d -m 1777 "$root/tmp" "$root/var/tmp"
    install -d -m 700 -o 990 -g 990 "$root/var/lib/batchaid"
    cp -r "$tree" "$root/opt/batchaid"
    ln -s /opt/batchaid/bin/batchaid "$root/usr/bin/batchaid"
}

assemble() {
    local work
    work=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -rf '$work'" EXIT
    mkdir "$work/root" "$work/context"
    fill "$work/root"
    tar -cf "$work/context/root.tar" -C "$work/root" --sort=name --mtime="@$SOURCE_DATE_EPOCH" .
    cp "$here/image/Containerfile" "$work/context"
    podman build --quiet --no-cache --format docker --timestamp "$SOURCE_DATE_EPOCH" --tag "$name" "$work/context" >/dev/null
    podman save --quiet --format docker-archive -o "$work/built.tar" "$name"
    podman rmi --force "$name" >/dev/null
    "${PYTHON:-python3}" "$here/image/same.py" "$work/built.tar" "$work/image.tar"
    podman load --quiet -i "$work/image.tar"
    [ -z "$archive" ] || {
        rm -f "$archive"
        gzip -9n <"$work/image.tar" >"$archive"
    }
}
if [ "$(id -u)" -eq 0 ]; then
    assemble
else
    export -f assemble fill
    export base tree here name archive
    podman unshare bash -euo pipefail -c assemble
fi
