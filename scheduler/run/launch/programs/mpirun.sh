# SPDX-License-Identifier: MIT
# Starts $ranks ranks of $command by the mpirun that is there, each in a shell of its own. $hosts: "a:2,b:1" says how
# many each host has, in order, and $hostfile the same for Open MPI; empty: all are here.
command -v mpirun >/dev/null || {
    echo "there is no mpirun here: install Open MPI or MPICH (Debian: openmpi-bin or mpich), in the image if there is one" >&2
    exit 127
}
# Ranks are not bound to cores, because others may compute on the same machine. No variables are handed from node to
# node: each node has its own.
case $(mpirun --version 2>&1) in
*"Open MPI"* | *OpenRTE* | *PRRTE*)
    set -- --allow-run-as-root --bind-to none --map-by slot:OVERSUBSCRIBE
    [ -z "$hostfile" ] || set -- "$@" --hostfile "$hostfile"
    ;;
*Intel*)
    first=${hosts%%,*}
    set -- -genvnone
    [ -z "$hosts" ] || set -- "$@" -ppn "${first##*:}" -hosts "$(printf %s "$hosts" | sed 's/:[0-9]*\(,\|$\)/\1/g')"
    ;;
*)
    set -- -genvnone
    [ -z "$hosts" ] || set -- "$@" -hosts "$hosts"
    ;;
esac
exec mpirun -n "$ranks" "$@" /bin/sh -c 'S=/bin/sh; [ -x /bin/bash ] && S=/bin/bash; exec $S -c "$0"' "$command"
