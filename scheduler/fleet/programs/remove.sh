# SPDX-License-Identifier: MIT
# Removes container BATCHAI_CONTAINER, if there is one, with whatever runs in it. That there is none is
# believed of a runtime that answers; of one that does not, where start.sh never got as far as to leave
# its mark: one that works for nobody here has no containers either.
R=$BATCHAI_RUNTIME
if ! id=$($R ps -aq --filter name="$BATCHAI_CONTAINER\$"); then
    [ -e "$BATCHAI_ROOT/containers/$BATCHAI_CONTAINER" ] && exit 1
    exit 0
fi
[ -z "$id" ] || $R rm -f $id >/dev/null || exit 1
rm -rf "$BATCHAI_ROOT/containers/$BATCHAI_CONTAINER.wd"
rm -f "$BATCHAI_ROOT/containers/$BATCHAI_CONTAINER"
rmdir "$BATCHAI_ROOT/containers" 2>/dev/null
exit 0
