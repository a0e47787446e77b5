# SPDX-License-Identifier: MIT
# Mounts the directory that the nodes of a run share from its first node, by sshfs over the run's own ssh.
# SHARED_DIR: where; SHARED_FROM: HOST:DIRECTORY; SHARED_SSH: the program; SHARED_NAME: the variable that names it.
# What it writes is for the run's log. Never fails: then the directory is this node's alone, and the log says why.
alone() {
    printf '$%s is a directory of this node alone: %s\n' "$SHARED_NAME" "$1"
    exit 0
}
mountpoint -q "$SHARED_DIR" && exit 0
[ -x "$(command -v sshfs)" ] || alone "the machine has no sshfs, and the configuration no jobs.shared_directory"
[ -c /dev/fuse ] || alone "the machine has no /dev/fuse, and the configuration no jobs.shared_directory"
# What one node writes the others see at once.
options="ssh_command=$SHARED_SSH,dir_cache=no,auto_cache,entry_timeout=0,attr_timeout=0,negative_timeout=0"
# The mount is root's, for containers too; what is in it is the run's account's.
[ "$(id -u)" = 0 ] && options="$options,allow_other,default_permissions"
[ -n "${BATCHAI_FILES_AS:-}" ] && options="$options,uid=${BATCHAI_FILES_AS%%:*},gid=${BATCHAI_FILES_AS#*:}"
said=$(mktemp) || alone "no temporary file can be made"
sshfs -o "$options" "$SHARED_FROM" "$SHARED_DIR" >"$said" 2>&1
code=$?
text=$(tr '\n' ' ' <"$said")
rm -f "$said"
[ "$code" = 0 ] || alone "sshfs: $text"
