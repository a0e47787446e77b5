# SPDX-License-Identifier: MIT
# Runs BATCHAI_COMMAND in the container: with the environment of its file, in the image's bash or sh. Without a
# command, what the image starts by itself.
R=$BATCHAI_RUNTIME
# BATCHAI_FILES_AS is the account's user and group as numbers: it need not have a name.
[ -n "$BATCHAI_USER" ] && set -- --user "$BATCHAI_FILES_AS"
[ -n "$BATCHAI_WORK_DIR" ] && set -- "$@" -w "$BATCHAI_WORK_DIR"
if [ -n "$BATCHAI_COMMAND" ]; then
    inside='. "$0"; S=/bin/sh; [ -x /bin/bash ] && S=/bin/bash; exec $S -c "$1"'
    exec $R exec "$@" "$BATCHAI_CONTAINER" /bin/sh -c "$inside" "$BATCHAI_ENV_FILE" "$BATCHAI_COMMAND"
fi
words='{{range .Config.Entrypoint}}{{println .}}{{end}}{{range .Config.Cmd}}{{println .}}{{end}}'
own=$($R image inspect -f "$words" -- "$BATCHAI_IMAGE") || exit 1
set -- "$@" "$BATCHAI_CONTAINER" /bin/sh -c '. "$0"; exec "$@"' "$BATCHAI_ENV_FILE"
while IFS= read -r word; do
    [ -z "$word" ] || set -- "$@" "$word"
done <<END
$own
END
exec $R exec "$@"
