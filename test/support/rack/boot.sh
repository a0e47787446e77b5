#!/bin/bash
# SPDX-License-Identifier: MIT
# The first process of a machine: puts its root file system together (the host's, as the lower, never
# written layer of an overlay), goes into it, starts sshd and reaps.
#   boot.sh NAME ADDRESS...
set -eu
name=$1
shift
home=/run/machines/$name
root=$home/root

mount -t overlay "$name" -o "lowerdir=/,upperdir=$home/disk/layer,workdir=$home/disk/work" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount --rbind /dev "$root/dev"
mount -t devpts -o newinstance,gid=5,mode=620,ptmxmode=666 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
mount -t tmpfs -o mode=755 run "$root/run"
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
mkdir -p "$root$RACK_HIDDEN" "$root/mnt/batch" "$root/common" "$root/run/sshd" "$root/run/lock"
# Machines have nothing of the checkout but what the daemon brings them.
mount -t tmpfs -o ro none "$root$RACK_HIDDEN"
mount --bind "$home/node" "$root/mnt/batch"
mount --bind "$RACK_COMMON" "$root/common"

# What of /proc is the kernel's, and so the host's: read only; nothing here may restart the host.
cat /proc/sys/kernel/random/uuid >"$root/run/boot_id"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount --bind "$root/run/boot_id" "$root/proc/sys/kernel/random/boot_id"
[ ! -e /proc/sysrq-trigger ] || mount --bind /dev/null "$root/proc/sysrq-trigger"

hostname "$name"
ip link set lo up
ip link set eth0 up
for address in "$@"; do
    case $address in
    *:*) ip address add "$address" dev eth0 nodad ;;
    *) ip address add "$address" dev eth0 ;;
    esac
done

cd "$root"
pivot_root . .
umount -l .
cd /
# As on a machine that just booted: nothing of who started it. The pipe keeps `read` waiting; bash
# reaps whatever becomes an orphan.
mkfifo /run/init
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 setsid \
    /bin/bash -c '/usr/sbin/sshd && echo up >/run/up; exec 3<>/run/init; while :; do read -r _ <&3; done' \
    "$name" </dev/null >/run/boot.log 2>&1
