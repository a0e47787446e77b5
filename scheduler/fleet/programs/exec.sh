# SPDX-License-Identifier: MIT
# Runs BATCHAI_COMMAND in the container: with the environment of its file, in the image's bash or sh.
R=$BATCHAI_RUNTIME
if [ -n "$BATCHAI_USER" ]; then
    set -- --user "$(id -u "$BATCHAI_USER"):$(id -g "$BATCHAI_USER")"
fi
inside='. "$0"; S=/bin/sh; [ -x /bin/bash ] && S=/bin/bash; exec $S -c "$1"'
exec $R exec "$@" -w "$BATCHAI_JOB_DIR" "$BATCHAI_CONTAINER" \
    /bin/sh -c "$inside" "$BATCHAI_ENV_FILE" "$BATCHAI_COMMAND"
