# SPDX-License-Identifier: MIT
# Runs BATCHAI_COMMAND in the container: with the environment of its file, in the image's bash or sh. Without a
# command, what the image starts by itself. With BATCHAI_RC, what an interactive bash there exports comes first.
R=$BATCHAI_RUNTIME
# Who its processes are: start.sh noted it. BATCHAI_FILES_AS is the account's user and group as numbers: it need not
# have a name.
{ read -r who <"$BATCHAI_ROOT/containers/$BATCHAI_CONTAINER"; } 2>/dev/null
who=${who:-${BATCHAI_USER:+account}}
case $who in
account) set -- --user "$BATCHAI_FILES_AS" ;;
agent) set -- --user "$(id -u):$(id -g)" ;;
esac
[ -n "$BATCHAI_WORK_DIR" ] && set -- "$@" -w "$BATCHAI_WORK_DIR"

denied='permission denied|operation not permitted|are you root|not root|as root|superuser'
# The rest runs inside. A home is there and can be written to; root there is none of the machine's, so that Open MPI
# need not fear it.
home='if [ ! -d "${HOME:=/}" ]; then mkdir -p "$HOME" 2>/dev/null; fi
for d in "$PWD" /tmp; do [ -d "$HOME" ] && [ -w "$HOME" ] || HOME=$d; done
: "${OMPI_ALLOW_RUN_AS_ROOT=1}" "${OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1}"
export HOME OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
. "$0"'
# What the rc files print is no variable, what they leave running may hold the pipe open, and what they wait for ends
# after 10 s. The run's own variables win.
rc='_b=BATCHAI-VARIABLES _u=$((SECONDS + 10))
limited() { if command -v timeout >/dev/null; then exec timeout -s KILL 10 "$@"; else exec "$@"; fi; }
while [ $SECONDS -le $_u ] && IFS= read -r -t $((_u - SECONDS + 1)) -d "" _l; do
    case $_b$_l in
    BATCHAI-VARIABLESBATCHAI-VARIABLES) _b= ;;
    BATCHAI-VARIABLES*) ;;
    "") break ;;
    *)
        case ${_l%%=*} in
        "" | [0-9]* | *[!A-Za-z0-9_]* | _* | PWD | OLDPWD | SHLVL) ;;
        *) export "$_l" ;;
        esac
        ;;
    esac
done < <(limited /bin/bash -i -c "printf %b \"\\0BATCHAI-VARIABLES\\0\"; env -0; printf %b \"\\0\"" </dev/null 2>/dev/null)
kill -KILL $! 2>/dev/null
unset -v _b _u _l
. "$0"'

if [ -n "$BATCHAI_COMMAND" ]; then
    inside="$home"'
S=/bin/sh
[ -x /bin/bash ] && S=/bin/bash
[ -z "$2" ] || [ $S != /bin/bash ] || exec $S -c '\''[ -z "$BASH_VERSION" ] || eval "$2"; exec /bin/bash -c "$1"'\'' "$0" "$@"
exec $S -c "$1"'
    [ -n "$BATCHAI_RC" ] || rc=
    case $who in
    account | agent)
        $R exec "$@" "$BATCHAI_CONTAINER" /bin/sh -c "$inside" "$BATCHAI_ENV_FILE" "$BATCHAI_COMMAND" "$rc"
        code=$?
        # What was written last, as far as it can be read again.
        if [ $code -ne 0 ] && tail -c 4096 "/proc/$$/fd/2" 2>/dev/null | grep -q -i -E "$denied"; then
            echo "batchaid: in this container of $R processes are not root, but the account on the node: with podman, or containers.user: image, it is the image's user" >&2
        fi
        exit $code
        ;;
    esac
    exec $R exec "$@" "$BATCHAI_CONTAINER" /bin/sh -c "$inside" "$BATCHAI_ENV_FILE" "$BATCHAI_COMMAND" "$rc"
fi
# Each word is a line of its bytes' numbers, because a word may contain line breaks, or nothing. The _ keeps line breaks
# at the end of a word.
words='word {{printf "%# x" .}}{{println}}'
words="{{range .Config.Entrypoint}}$words{{end}}{{range .Config.Cmd}}$words{{end}}"
own=$($R image inspect -f "$words" -- "$BATCHAI_IMAGE") || exit 1
set -- "$@" "$BATCHAI_CONTAINER" /bin/sh -c "$home"'; exec "$@"' "$BATCHAI_ENV_FILE"
while read -r is_word bytes; do
    [ -n "$is_word" ] || continue
    word=
    [ -z "$bytes" ] || word=$(printf %b_ "$(printf '\\0%03o' $bytes)")
    set -- "$@" "${word%_}"
done <<END
$own
END
exec $R exec "$@"
