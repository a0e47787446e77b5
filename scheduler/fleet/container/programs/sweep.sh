# SPDX-License-Identifier: MIT
# Removes every container that a run of the node root BATCHAI_ROOT has left behind; fails if one stays, or if a
# runtime hangs. One that fails has no part in what is started here, but is asked again the next time.
# Where no container was left, docker and podman are not asked: that takes them long.
[ -d "$BATCHAI_ROOT/containers" ] || exit 0
# Folders of logins, which pull.sh leaves when it is killed.
rm -rf "$BATCHAI_ROOT/containers/"*.login
# The longest way through ends before the step's limit (REMOVE_TIMEOUT_S).
rc=0 silent= S=${BATCHAI_PATIENCE_S:-20}
for R in docker podman; do
    command -v $R >/dev/null || continue
    found=$(timeout -k 1 "$S" $R ps -aq --filter label=batchaid.root="$BATCHAI_ROOT" 2>/dev/null)
    case $? in
    0) ;;
    124 | 137) echo "$R ps does not answer within $S s" >&2; rc=1 ;;
    *) silent=1 ;;
    esac
    [ -z "$found" ] || timeout -k 1 $((3 * S)) $R rm -f -v $found >/dev/null || rc=1
done
[ $rc -eq 0 ] && [ -z "$silent" ] && rm -rf "$BATCHAI_ROOT/containers"
exit $rc
