# SPDX-License-Identifier: MIT
# Removes container BATCHAI_CONTAINER, if there is one, with whatever runs in it.
R=$BATCHAI_RUNTIME
$R inspect "$BATCHAI_CONTAINER" >/dev/null 2>&1 || exit 0
$R rm -f "$BATCHAI_CONTAINER" >/dev/null
