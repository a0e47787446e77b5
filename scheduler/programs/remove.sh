# SPDX-License-Identifier: MIT
# Removes container BATCHAI_CONTAINER, if there is one, with whatever runs in it. That there is none is
# believed only of a runtime that answers.
R=$BATCHAI_RUNTIME
id=$($R ps -aq --filter name="$BATCHAI_CONTAINER\$") || exit 1
[ -z "$id" ] || $R rm -f $id >/dev/null || exit 1
rm -f "$BATCHAI_ROOT/containers/$BATCHAI_CONTAINER"
rmdir "$BATCHAI_ROOT/containers" 2>/dev/null
exit 0
