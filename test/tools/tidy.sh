#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# clang-tidy and cppcheck over one source; fails on anything they find.
#   tidy.sh FILE.c     CFLAGS and BUILD as make sets them
set -uo pipefail
cd "$(dirname "$0")/../.."
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
out=$(clang-tidy --quiet "$1" -- "${tidy_flags[@]}" 2>&1) || {
    printf '%s\n' "$out" | grep -v 'warnings\? generated\|warnings treated as errors'
    failed=1
}
cppcheck --quiet --std=c11 --enable=warning,style,performance,portability --inline-suppr \
    --suppressions-list=test/tools/cppcheck.supp --error-exitcode=1 \
    --template='{file}:{line}: {severity}: {message} [{id}]' --include=test/tools/cppcheck.h \
    -D__GNUC__ -DBATCHAID_VERSION='"0"' -I. -I"${BUILD:-build}/gen" "$1" || failed=1
exit $failed
