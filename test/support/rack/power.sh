#!/bin/bash
# SPDX-License-Identifier: MIT
# A machine that has power: runs inside the rack's namespaces, boots the machine, and boots it again
# whenever it restarted itself (reboot(2) in a process namespace ends its first process by SIGHUP).
#   power.sh NAME MAC ADDRESS...
# On /run/machines/NAME (the rack's) are `disk` and `node`, which outlive boots, and `cable`, the name
# of the switch port that it is plugged into.
set -u
here=$(dirname "$(realpath "$0")")
name=$1 mac=$2
shift 2
home=/run/machines/$name
boots=$(cat "$home/boots" 2>/dev/null || echo 0)

while :; do
    # A new network at each boot: of old connections the machine knows nothing.
    boot=$name.$((boots += 1))
    echo "$boots" >"$home/boots"
    ip netns add "$boot"
    ip link add "$boot" address 06:00:00:00:00:00 type veth peer name eth0 address "$mac" netns "$boot"
    ip link set "$boot" master switch
    ip link set "$boot" up
    echo "$boot" >"$home/cable"
    nsenter --net=/run/netns/"$boot" \
        env --default-signal=HUP unshare --pid --mount --uts --ipc --fork --kill-child "$here/boot.sh" "$name" "$@"
    booted=$?
    ip link delete "$boot"
    ip netns delete "$boot"
    [ "$booted" -eq 129 ] || exit "$booted"
done
