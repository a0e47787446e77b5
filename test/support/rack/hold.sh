#!/bin/bash
# SPDX-License-Identifier: MIT
# The first process of a rack's own process, mount and network namespaces: builds the switch that
# machines are plugged into, says "ready", and ends when its standard input does. All namespaces of
# the rack and everything in them end with it.
set -eu
mount -t tmpfs -o mode=755 rack /run
mount -t proc proc /proc
mkdir /run/machines /run/try /run/try/layer /run/try/work /run/try/root
mount -t overlay try -o lowerdir=/,upperdir=/run/try/layer,workdir=/run/try/work /run/try/root
umount /run/try/root
ip link set lo up
ip link add switch type bridge
ip link set switch up
echo ready
while read -r _; do :; done
