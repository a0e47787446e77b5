# SPDX-License-Identifier: MIT
# Removes container BATCHAI_CONTAINER, if there is one, with whatever runs in it, and the unnamed volumes that its
# image asks for (-v). That there is none is believed of a runtime that answers; of one that does not, where start.sh
# never got as far as to leave its mark: one that works for nobody here has no containers either. One that hangs, or
# is in the middle of a removal, is asked again; the longest way through ends before the step's limit
# (REMOVE_TIMEOUT_S).
R=$BATCHAI_RUNTIME S=${BATCHAI_PATIENCE_S:-7} MARK=$BATCHAI_ROOT/containers/$BATCHAI_CONTAINER
ask() {
    limit=$1
    shift
    timeout -k 1 "$limit" $R "$@"
    rc=$?
    case $rc in 124 | 137) echo "$R $1 does not answer within $limit s" >&2 ;; esac
    return $rc
}
removed() {
    rm -rf "$MARK.login"
    if ! id=$(ask "$S" ps -aq --filter name="$BATCHAI_CONTAINER\$"); then
        [ ! -e "$MARK" ]
        return
    fi
    [ -z "$id" ] || ask $((4 * S)) rm -f -v $id >/dev/null || return
    rm -rf "$MARK.wd"
    rm -f "$MARK" "$MARK.counted"
    rmdir "$BATCHAI_ROOT/containers" 2>/dev/null
    return 0
}
# What users of the container have left below the node's root, an agent that is not root could neither remove nor read.
# The engine, which let them make it, gives it to the agent.
give_back() {
    me=$(id -u) group=$(id -g)
    [ "$me" -ne 0 ] || return 0
    left=$(find "$BATCHAI_ROOT" -xdev ! -uid "$me" -print -prune 2>/dev/null)
    [ -n "$left" ] || return 0
    printf '%s\n' "$left" | while IFS= read -r path; do
        case $R in
        podman) timeout -k 1 60 $R unshare chown -hR 0:0 "$path" ;;
        *)
            timeout -k 1 60 $R run --rm --network none --user 0:0 --entrypoint chown --mount \
                "type=bind,source=$BATCHAI_ROOT,target=$BATCHAI_ROOT" -- "$BATCHAI_IMAGE" -hR "$me:$group" "$path" >/dev/null
            ;;
        esac || echo "$path belongs to a user of the container still: chown it" >&2
    done
}
for pause in 1 1 0; do
    if removed; then
        give_back
        exit 0
    fi
    sleep $pause
done
exit 1
