# SPDX-License-Identifier: MIT
# Runs BATCHAI_COMMAND in the container: with the environment of its file, in the image's bash or sh.
R=$BATCHAI_RUNTIME
# BATCHAI_FILES_AS is the account's user and group as numbers: it need not have a name.
[ -n "$BATCHAI_USER" ] && set -- --user "$BATCHAI_FILES_AS"
inside='. "$0"; S=/bin/sh; [ -x /bin/bash ] && S=/bin/bash; exec $S -c "$1"'
exec $R exec "$@" -w "$BATCHAI_JOB_DIR" "$BATCHAI_CONTAINER" \
    /bin/sh -c "$inside" "$BATCHAI_ENV_FILE" "$BATCHAI_COMMAND"
