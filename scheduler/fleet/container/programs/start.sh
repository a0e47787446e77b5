# SPDX-License-Identifier: MIT
# Starts container BATCHAI_CONTAINER of BATCHAI_IMAGE, which does nothing but stay, unless it runs. The last line on
# stderr is its id.
R=$BATCHAI_RUNTIME N=$BATCHAI_CONTAINER
C=$BATCHAI_ROOT/containers
# Behind the mark (below), the container's own cgroups as /proc has them, by which its tasks are measured. Without a
# cgroup of its own no path has its id. It may have cgroups inside.
note_cgroups() {
    read -r pid id <<END
$($R inspect -f '{{.State.Pid}} {{.Id}}' "$N")
END
    [ -z "$id" ] || sed -n "s|\(/[^:]*$id[^/]*\).*|\1|p" "/proc/$pid/cgroup" >>"$C/$N"
}
case $($R inspect -f '{{.State.Running}} {{.Id}}' "$N" 2>/dev/null) in
"true "*)
    grep -q : "$C/$N" 2>/dev/null || note_cgroups 2>/dev/null
    $R inspect -f '{{.Id}}' "$N" >&2
    exit 0
    ;;
esac
$R rm -f -v "$N" >/dev/null 2>&1
# "UID GID HOME" of the image's user $1, as its own passwd has them.
image_user() {
    case $1 in
    "" | 0 | root | 0:0 | root:root) echo "0 0" ;;
    *)
        find='u=${0%%:*} g= home=
case $0 in *:*) g=${0#*:} ;; esac
while IFS=: read -r name _ i j _ h _; do
    if [ "$name" = "$u" ] || [ "$i" = "$u" ]; then u=$i g=${g:-$j} home=$h; break; fi
done </etc/passwd
while IFS=: read -r name _ i _; do
    if [ "$name" = "$g" ]; then g=$i; break; fi
done </etc/group
echo "$u ${g:-0} $home"'
        [ "$who" = mapped ] && in="--uidmap 0:$uid:65536 --gidmap 0:$gid:65536" || in=
        $R run --rm --network none --user 0:0 $in --entrypoint /bin/sh -- "$BATCHAI_IMAGE" -c "$find" "$1"
        ;;
    esac
}
is_number() {
    case $1 in "" | *[!0-9]*) return 1 ;; esac
    [ "$1" -lt "$2" ]
}
who=$BATCHAI_WHO
uid=${BATCHAI_FILES_AS%:*} gid=${BATCHAI_FILES_AS#*:}
# Whether the account has numbers on either side of its own: NODE_UID_ROOM.
has_room() {
    [ $((uid % 131072)) -eq 65536 ] && [ $((uid - 65536)) -gt "${BATCHAI_UIDS% *}" ] &&
        [ $((uid + 65536)) -le "${BATCHAI_UIDS#* }" ]
}
# Linux 5.19 and podman 4.2 map an image's layers where they are. Before, each run would copy them.
maps_layers() {
    IFS=.- read -r a b _ </proc/sys/kernel/osrelease
    v=$($R --version) v=${v##* }
    c=${v%%.*} d=${v#*.}
    [ $((a * 100 + b)) -ge 519 ] && [ $((c * 100 + ${d%%.*})) -ge 402 ]
}
[ "$who" != mapped ] || { has_room && maps_layers; } || who=account
home=
case $who in
mapped | rootless | root)
    as=${BATCHAI_RUN_AS:-$($R image inspect -f '{{.Config.User}}' -- "$BATCHAI_IMAGE")} || exit 1
    # podman may lose what a container prints that ends at once: then it is asked again.
    found=$(image_user "$as") && [ -n "$found" ] || found=$(image_user "$as") || exit 1
    read -r u g home <<END
$found
END
    if ! is_number "$u" 65536 || ! is_number "$g" 65536; then
        echo "the image $BATCHAI_IMAGE has no user $as below 65536" >&2
        exit 1
    fi
    ;;
esac
if [ "$who" = root ]; then
    home= who=image
    [ "$u" -eq 0 ] || { who=agent && [ -z "$BATCHAI_USER" ]; } || who=account
fi
# Where the image's users are the machine's, a run may be its account alone.
case $who:$BATCHAI_RUN_AS in
account:?* | agent:?*)
    echo "--user $BATCHAI_RUN_AS is a user of the machine itself in a container of $R: leave it out, or see that podman runs it with numbers of its own (jobs.uids)" >&2
    exit 1
    ;;
esac
eval "set -- $BATCHAI_OPTIONS"
case " $* " in
*" --network"* | *" --net"*) ;;
*) set -- --network host "$@" ;;
esac
set -- "$@" --name "$N" --label batchaid.root="$BATCHAI_ROOT"
# Tells the sweep that there is something to look for. A container that can see its mark ends by itself when that is
# gone, as with a node whose root was removed. The sums of the use that its tasks were told begin with nothing, and have
# their room on the disk.
mark() {
    mkdir -p "$C" && chmod a+x "$C" && echo "$who" >"$C/$N" &&
        (umask 077 && printf '%160s' >"$C/$N.counted")
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
# Whether a link may lead there: runs may have made it themselves. What is hidden from them (BATCHAI_HIDE) is so here,
# but for what they may reach in it, a line each.
may_see() {
    [ -n "$BATCHAI_HIDE" ] || return 0
    hidden=$(readlink -f "$BATCHAI_HIDE") || return 1
    case $hidden/ in "$1"/*) return 1 ;; esac
    case $1 in "$hidden"/*) ;; *) return 0 ;; esac
    while IFS= read -r reach; do
        reach=$(readlink -f "$reach") && case $1/ in "$reach"/*) return 0 ;; esac
    done <<EOF
$BATCHAI_REACH
EOF
    return 1
}
T=$(mktemp) || exit 1
trap 'rm -f "$T"' EXIT
folders >"$T" || exit 1
seen=:
while IFS= read -r line; do
    how=${line%% *} folder=${line#* }
    [ ! -L "$folder" ] || { folder=$(readlink -f "$folder") && [ -d "$folder" ] && may_see "$folder" || continue; }
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

# Volumes are where the service had them, too.
volumes=${BATCHAI_MOUNTS:-$BATCHAI_ROOT/mounts}
if [ -n "$BATCHAI_MOUNTS_PATH" ] && [ -d "$volumes" ] && shown "$volumes"; then
    set -- "$@" --mount "type=bind,source=$volumes,target=$BATCHAI_MOUNTS_PATH"
fi

case $BATCHAI_SHARED_DIR in
"" | "$BATCHAI_ROOT"/*) ;;
*) set -- "$@" --mount type=bind,source="$BATCHAI_SHARED_DIR",target="$BATCHAI_SHARED_DIR" ;;
esac

# How many numbers an ordinary user's podman has.
numbers() {
    $R unshare /bin/sh -c 'n=0; while read -r _ _ m; do n=$((n + m)); done </proc/self/uid_map; echo $n'
}
case $who in
# One range for all, so that the layers of the image are mapped where they are: no run has a copy of them.
mapped) set -- "$@" --uidmap "0:$((uid - u)):65536" --gidmap "0:$((gid - g)):65536" ;;
rootless)
    # Zero is the account itself there, and what the others are comes from /etc/subuid.
    map() {
        [ "$1" -eq 0 ] || echo "$2 $1:0:1 $2 0:1:$1"
        [ $(($1 + 1)) -ge "$n" ] || echo "$2 $(($1 + 1)):$(($1 + 1)):$((n - $1 - 1))"
        [ "$1" -ne 0 ] || echo "$2 0:0:1"
    }
    if [ "$u" -ne 0 ] || [ "$g" -ne 0 ]; then
        n=$(numbers)
        if is_number "$u" "$n" && is_number "$g" "$n"; then
            set -- "$@" $(map "$u" --uidmap) $(map "$g" --gidmap)
        else
            home=
            set -- "$@" --user 0:0
        fi
    fi
    ;;
# The run's user stays that user, whatever programs with a set-user-ID bit the image brings.
account | agent) set -- "$@" --security-opt no-new-privileges ;;
esac
[ -n "$BATCHAI_SHM_SIZE" ] && set -- "$@" --shm-size "$BATCHAI_SHM_SIZE"
[ "$BATCHAI_MEMORY" -gt 0 ] && set -- "$@" --memory "$BATCHAI_MEMORY"
[ "$BATCHAI_CPUS" -gt 0 ] && set -- "$@" --cpus "$BATCHAI_CPUS"
[ "$BATCHAI_PROCESSES" -gt 0 ] && set -- "$@" --pids-limit "$BATCHAI_PROCESSES"
[ "$BATCHAI_OPEN_FILES" -gt 0 ] && set -- "$@" --ulimit "nofile=$BATCHAI_OPEN_FILES:$BATCHAI_OPEN_FILES"

# How GPUs are had: AMD's as devices; others by CDI, docker's --gpus, NVIDIA's own runtime, and else as devices.
# BATCHAI_DEVICES is all, or the numbers of those that the run has: none, if it has a part of the node.
# BATCHAI_GPU_FILES are their own devices; a device's number is not that of its GPU.
D=$BATCHAI_DEVICES
DEV=${BATCHAI_DEV:-/dev} amd='' other='' groups=''
# The group that may open device $1, if not everybody may. The numbers of mapped users lack it.
note_group() {
    read -r mode group <<END
$(stat -L -c '%a %g' "$1")
END
    case $who:$mode in
    mapped:* | *[67]) ;;
    rootless:*) groups=keep-groups ;;
    *) case " $groups " in *" $group "*) ;; *) groups="$groups $group" ;; esac ;;
    esac
}
if [ "$BATCHAI_GPUS" -gt 0 ]; then
    for file in $BATCHAI_GPU_FILES; do
        case $file in dri/*) amd="${amd:-$DEV/kfd} $DEV/$file" ;; *) other=$file ;; esac
    done
    for device in $amd; do
        [ -c "$device" ] && note_group "$device" && set -- "$@" --device "$device"
    done
    for group in $groups; do
        set -- "$@" --group-add "$group"
    done
    if [ -n "$amd" ] && [ -z "$other" ]; then
        : # nothing else to have
    elif [ "$R" = podman ] && ls /etc/cdi/*nvidia* /var/run/cdi/*nvidia* >/dev/null 2>&1; then
        for number in $(echo "$D" | tr , ' '); do
            set -- "$@" --device "nvidia.com/gpu=$number"
        done
    elif [ "$R" = docker ] && command -v nvidia-container-cli >/dev/null; then
        # Quotes of its own: docker reads the value as CSV.
        [ "$D" = all ] && set -- "$@" --gpus all || set -- "$@" --gpus "\"device=$D\""
    elif $R info --format '{{json .}}' 2>/dev/null | grep -q '"nvidia"'; then
        set -- "$@" --runtime nvidia -e "NVIDIA_VISIBLE_DEVICES=$D"
    else
        for device in "$DEV"/nvidia*; do
            file=${device#"$DEV/"}
            case $D:$file in
            all:* | *[!0-9]) ;;
            *) case " $BATCHAI_GPU_FILES " in *" $file "*) ;; *) continue ;; esac ;;
            esac
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

# It may begin after its node was removed. One whose user may not look for the mark stays until it is removed.
stay='trap "exit 0" TERM
looks() { [ -x "$0" ] && { [ ! -e "$0/containers" ] || [ -x "$0/containers" ]; }; }
while [ -e "$0/containers/$1" ] || ! looks; do sleep 10 & wait $!; done'
$R run -d --rm "$@" --entrypoint /bin/sh -- "$BATCHAI_IMAGE" -c "$stay" "$BATCHAI_ROOT" "$N" >&2 || exit 1
note_cgroups 2>/dev/null
[ -z "$home" ] || $R exec --user 0:0 "$N" /bin/sh -c '[ -d "$0" ] || { mkdir -p "$0" && chown "$1" "$0"; }' "$home" "$u:$g" >/dev/null 2>&1
echo "container $N runs image $BATCHAI_IMAGE"
