# SPDX-License-Identifier: MIT
# Starts container BATCHAI_CONTAINER of BATCHAI_IMAGE, which does nothing but stay, unless it runs. The last line on
# stderr is its id.
R=$BATCHAI_RUNTIME N=$BATCHAI_CONTAINER
case $($R inspect -f '{{.State.Running}} {{.Id}}' "$N" 2>/dev/null) in
"true "*)
    $R inspect -f '{{.Id}}' "$N" >&2
    exit 0
    ;;
esac
$R rm -f "$N" >/dev/null 2>&1
eval "set -- $BATCHAI_OPTIONS"
case " $* " in
*" --network"* | *" --net"*) ;;
*) set -- --network host "$@" ;;
esac
set -- "$@" --name "$N" --label batchaid.root="$BATCHAI_ROOT"
# Tells the sweep that there is something to look for. A container that can see its mark ends by itself when that is
# gone, as with a node whose root was removed.
C=$BATCHAI_ROOT/containers
mark() {
    mkdir -p "$C" && chmod a+x "$C" && true >"$C/$N"
}
# The last container that goes takes the folder along, which may be just now.
mark 2>/dev/null || mark 2>/dev/null || mark || exit 1

# Symbolic links in the mount roots lead to folders that have to be there too. Links inside of what is
# mounted there are somebody's data: they could lead anywhere.
real=$(cd "$BATCHAI_ROOT" && pwd -P) || exit 1
mounted() {
    while read -r _ _ _ _ point _; do
        case $point in *\\*) point=$(printf %b_ "$point") point=${point%_} ;; esac
        [ "$point" != "$real${1#"$BATCHAI_ROOT"}" ] || return 0
    done </proc/self/mountinfo
    return 1
}
links() {
    for entry in "$1"/* "$1"/.[!.]*; do
        if mounted "$entry"; then
            continue
        elif [ -L "$entry" ]; then
            printf '%s\n' "$entry"
        elif [ -d "$entry" ]; then
            links "$entry"
        fi
    done
}
# What is mounted somewhere below $1. A runtime leaves that writable below what it mounts read-only.
inside() {
    while read -r _ _ _ _ point _; do
        case $point in *\\*) point=$(printf %b_ "$point") point=${point%_} ;; esac
        case $point in "$real${1#"$BATCHAI_ROOT"}/"*) printf '%s\n' "$1${point#"$real${1#"$BATCHAI_ROOT"}"}" ;; esac
    done </proc/self/mountinfo
}
# The folders that the container sees, each behind its "ro" or "rw".
folders() {
    mounts=${BATCHAI_MOUNTS:-$BATCHAI_ROOT/mounts}
    if [ -z "$BATCHAI_NARROW" ]; then
        printf 'rw %s\n' "$BATCHAI_ROOT"
        links "$mounts" | sed 's/^/rw /'
        links "$BATCHAI_JOB_DIR/mounts" | sed 's/^/rw /'
        return
    fi
    # Its own files that it needs to run at all.
    printf 'ro %s\n' "$BATCHAI_JOB_DIR" "$C"
    [ -z "$BATCHAI_BINDS" ] || printf %s "$BATCHAI_BINDS" | while read -r how folder; do
        # What a task has put in its place could lead anywhere.
        now=$(readlink -f "$folder") || exit 1
        [ "$now" = "$real${folder#"$BATCHAI_ROOT"}" ] || { echo "$folder is a link to $now" >&2; exit 1; }
        printf '%s %s\n' "$how" "$folder"
        [ "$how" = rw ] || inside "$folder" | sed 's/^/ro /'
        [ "$folder" != "$mounts" ] || links "$mounts" | sed "s/^/$how /"
    done
}
T=$(mktemp) || exit 1
trap 'rm -f "$T"' EXIT
folders >"$T" || exit 1
seen=:
while IFS= read -r line; do
    how=${line%% *} folder=${line#* }
    [ ! -L "$folder" ] || { folder=$(readlink -f "$folder") && [ -d "$folder" ] || continue; }
    case $seen in *":$folder:"*) continue ;; esac
    seen="$seen$folder:"
    case $folder in
    *[,\"]*)
        echo "the folder $folder cannot be mounted in a container: its name has a comma or a quote, which separate options there" >&2
        exit 1
        ;;
    esac
    case $how in ro) how=,readonly ;; *) how= ;; esac
    set -- "$@" --mount "type=bind,source=$folder,target=$folder$how"
done <"$T"
# Whether one of them has $1 in it.
shown() {
    while IFS= read -r line; do
        case $1/ in "${line#* }"/*) return 0 ;; esac
    done <"$T"
    return 1
}
# Processes begin in a directory of the container's own if it does not see the one that is meant.
if [ -n "$BATCHAI_WORK_DIR" ] && ! shown "$BATCHAI_WORK_DIR"; then
    (umask 077 && mkdir -p "$C/$N.wd") || exit 1
    [ -z "$BATCHAI_USER" ] || chown "$BATCHAI_FILES_AS" "$C/$N.wd" || exit 1
    set -- "$@" --mount "type=bind,source=$C/$N.wd,target=$BATCHAI_WORK_DIR"
fi

case $BATCHAI_SHARED_DIR in
"" | "$BATCHAI_ROOT"/*) ;;
*) set -- "$@" --mount type=bind,source="$BATCHAI_SHARED_DIR",target="$BATCHAI_SHARED_DIR" ;;
esac

# The job's user stays that user, whatever programs with a set-user-ID bit the image brings.
[ -n "$BATCHAI_USER" ] && set -- "$@" --security-opt no-new-privileges
[ -n "$BATCHAI_SHM_SIZE" ] && set -- "$@" --shm-size "$BATCHAI_SHM_SIZE"
[ "$BATCHAI_MEMORY" -gt 0 ] && set -- "$@" --memory "$BATCHAI_MEMORY"
[ "$BATCHAI_CPUS" -gt 0 ] && set -- "$@" --cpus "$BATCHAI_CPUS"
[ "$BATCHAI_PROCESSES" -gt 0 ] && set -- "$@" --pids-limit "$BATCHAI_PROCESSES"
[ "$BATCHAI_OPEN_FILES" -gt 0 ] && set -- "$@" --ulimit "nofile=$BATCHAI_OPEN_FILES:$BATCHAI_OPEN_FILES"

# Whether the job has the GPU of this number.
has_gpu() {
    [ "$D" = all ] && return 0
    case ",$D," in *",$1,"*) return 0 ;; esac
    return 1
}
# How GPUs are had: CDI, docker's --gpus, NVIDIA's own runtime, and else the devices themselves.
# BATCHAI_DEVICES is all, or the numbers of those that the job has: none, if it has a part of the node.
D=$BATCHAI_DEVICES
if [ "$BATCHAI_GPUS" -gt 0 ]; then
    if [ "$R" = podman ] && ls /etc/cdi/*nvidia* /var/run/cdi/*nvidia* >/dev/null 2>&1; then
        for number in $(echo "$D" | tr , ' '); do
            set -- "$@" --device "nvidia.com/gpu=$number"
        done
    elif [ "$R" = docker ] && command -v nvidia-container-cli >/dev/null; then
        # Quotes of its own: docker reads the value as CSV.
        [ "$D" = all ] && set -- "$@" --gpus all || set -- "$@" --gpus "\"device=$D\""
    elif $R info --format '{{json .}}' 2>/dev/null | grep -q '"nvidia"'; then
        set -- "$@" --runtime nvidia -e "NVIDIA_VISIBLE_DEVICES=$D"
    else
        for device in /dev/nvidia*; do
            number=${device#/dev/nvidia}
            case $number in *[!0-9]* | '') number=all ;; esac
            [ "$number" = all ] || has_gpu "$number" || continue
            [ -c "$device" ] && set -- "$@" --device "$device"
        done
    fi
elif [ -z "$D" ]; then
    # Where NVIDIA's is the usual runtime, images ask for all GPUs.
    set -- "$@" -e NVIDIA_VISIBLE_DEVICES=void
fi
for device in /dev/infiniband/*; do
    [ -c "$device" ] && set -- "$@" --device "$device"
done

stay='trap "exit 0" TERM
while [ -e "$0/containers/$1" ] || [ ! -e "$0/." ]; do sleep 10 & wait $!; done'
$R run -d --rm "$@" --entrypoint /bin/sh -- "$BATCHAI_IMAGE" -c "$stay" "$BATCHAI_ROOT" "$N" >&2 || exit 1
echo "container $N runs image $BATCHAI_IMAGE"
