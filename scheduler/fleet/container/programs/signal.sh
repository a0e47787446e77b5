# SPDX-License-Identifier: MIT
# Signals everything in the container but the process that keeps it.
exec $BATCHAI_RUNTIME exec --user 0 "$BATCHAI_CONTAINER" /bin/sh -c "kill -$BATCHAI_SIGNAL -1"
