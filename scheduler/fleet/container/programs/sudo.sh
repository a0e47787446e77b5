# SPDX-License-Identifier: MIT
# sudo for tasks of administrators: runs what it is given, with the rights that the task has anyway.
shell=
while [ $# -gt 0 ]; do
    case $1 in
    -u | -g | -h | -p | -C | -r | -t | -T | -U | -D | -R) shift ;;
    -i | -s | --login | --shell) shell=1 ;;
    --) shift && break ;;
    -*) ;;
    [A-Za-z_]*=*) export "$1" ;;
    *) break ;;
    esac
    shift
done
[ $# -gt 0 ] && exec "$@"
[ -n "$shell" ] && exec "${SHELL:-/bin/sh}"
exit 0
