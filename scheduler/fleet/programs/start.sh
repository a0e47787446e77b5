# SPDX-License-Identifier: MIT
# Starts container BATCHAI_CONTAINER of BATCHAI_IMAGE, which does nothing but stay, unless it runs.
R=$BATCHAI_RUNTIME N=$BATCHAI_CONTAINER
[ "$($R inspect -f '{{.State.Running}}' "$N" 2>/dev/null)" = true ] && exit 0
$R rm -f "$N" >/dev/null 2>&1
eval "set -- $BATCHAI_OPTIONS"
case " $* " in
*" --network"* | *" --net"*) ;;
*) set -- --network host "$@" ;;
esac
set -- "$@" --name "$N" --label batchaid.root="$BATCHAI_ROOT"
set -- "$@" --mount type=bind,source="$BATCHAI_ROOT",target="$BATCHAI_ROOT"

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
T=$(mktemp) || exit 1
links "${BATCHAI_MOUNTS:-$BATCHAI_ROOT/mounts}" >"$T"
links "$BATCHAI_JOB_DIR/mounts" >>"$T"
seen=:
while IFS= read -r link; do
    folder=$(readlink -f "$link") && [ -d "$folder" ] || continue
    case $seen in *":$folder:"*) continue ;; esac
    seen="$seen$folder:"
    case $folder in
    *[,\"]*)
        echo "the folder $folder cannot be mounted in a container: its name has a comma or a quote, which separate options there" >&2
        exit 1
        ;;
    esac
    set -- "$@" --mount type=bind,source="$folder",target="$folder"
done <"$T"
rm -f "$T"

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

# Tells the sweep that there is something to look for. A container that can see the root ends by itself when its mark
# is gone, as with a node whose root was removed.
C=$BATCHAI_ROOT/containers
mkdir -p "$C" && chmod a+x "$C" && : >"$C/$N" || exit 1
stay='trap "exit 0" TERM
while [ -e "$0/containers/$1" ] || [ ! -e "$0/." ]; do sleep 10 & wait $!; done'
$R run -d --rm "$@" --entrypoint /bin/sh -- "$BATCHAI_IMAGE" -c "$stay" "$BATCHAI_ROOT" "$N" >/dev/null || exit 1
echo "container $N runs image $BATCHAI_IMAGE"
