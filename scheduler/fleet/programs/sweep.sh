# SPDX-License-Identifier: MIT
# Removes every container that a job of the node root BATCHAI_ROOT has left behind; fails if one stays.
# A runtime that does not answer has no part in what is started here, but is asked again the next time.
# Where no container was left, docker and podman are not asked: that takes them long.
[ -d "$BATCHAI_ROOT/containers" ] || exit 0
rc=0 silent=
for R in docker podman; do
    command -v $R >/dev/null || continue
    found=$($R ps -aq --filter label=batchaid.root="$BATCHAI_ROOT" 2>/dev/null) || silent=1
    for container in $found; do
        $R rm -f "$container" >/dev/null || rc=1
    done
done
[ $rc -eq 0 ] && [ -z "$silent" ] && rm -rf "$BATCHAI_ROOT/containers"
exit $rc
