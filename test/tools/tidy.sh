#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# clang-tidy and cppcheck over the daemon's and the agent's sources; fails on anything they find.
#   tidy.sh [FILE.c...]     CFLAGS and BUILD as make sets them
set -uo pipefail
cd "$(dirname "$0")/../.."
rooms=(lib model storage nodeagent-proto scheduler api daemon)
if [ $# -gt 0 ]; then
    files=("$@")
else
    mapfile -t files < <(find "${rooms[@]}" -name '*.c' | sort)
fi
read -ra flags <<<"$CFLAGS"
tidy_flags=()
for flag in "${flags[@]}"; do
    case $flag in
    -MMD | -MP | -O2 | -O1 | -g | -Werror | -D_FORTIFY_SOURCE=* | -fsanitize=* | -DBATCHAID_VERSION=*) ;;
    *) tidy_flags+=("$flag") ;;
    esac
done
tidy_flags+=('-DBATCHAID_VERSION="0"')

failed=0
printf '%s\0' "${files[@]}" |
    xargs -0 -n 4 -P "$(nproc)" sh -c '
        flags=$1; shift
        # shellcheck disable=SC2086
        out=$(clang-tidy --quiet "$@" -- $flags 2>&1) && exit 0
        printf "%s\n" "$out" | grep -v "warnings generated\|warnings treated as errors"
        exit 1' sh "${tidy_flags[*]}" || failed=1

cppcheck --quiet --std=c11 --enable=warning,style,performance,portability --inline-suppr \
    --suppressions-list=test/tools/cppcheck.supp --error-exitcode=1 -j "$(nproc)" \
    --template='{file}:{line}: {severity}: {message} [{id}]' \
    --include=test/tools/cppcheck.h \
    -D__GNUC__ -DBATCHAID_VERSION='"0"' -I. -I"${BUILD:-build}/gen" "${files[@]}" || failed=1
[ $failed -eq 0 ] && echo "tidy: ok"
exit $failed
