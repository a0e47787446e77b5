# SPDX-License-Identifier: MIT
# Removes every container that a job of the node root BATCHAI_ROOT has left behind.
for R in docker podman; do
    command -v $R >/dev/null || continue
    for container in $($R ps -aq --filter label=batchaid.root="$BATCHAI_ROOT" 2>/dev/null); do
        $R rm -f "$container" >/dev/null
    done
done
exit 0
