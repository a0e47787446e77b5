#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# clang-tidy and cppcheck over one source; fails on anything they find.
#   tidy.sh FILE.c     CFLAGS and BUILD as make sets them; DEEP=1 lets the analyzer follow every path
# What was found clean is remembered by its content, headers, rules and tools included, in
# ${XDG_CACHE_HOME:-~/.cache}/batchaid/tidy: another clone, or a branch gone back to, is not looked at again.
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
# The analyzer gives up on a function after so many steps: an eighth of its own bound finds what is to be
# found in functions of this size in a third of the time.
paths=()
[ -n "${DEEP:-}" ] || paths=(-extra-arg=-Xclang -extra-arg=-analyzer-config -extra-arg=-Xclang -extra-arg=max-nodes=30000)

# The file that says it is clean; none where the headers are not known.
depends=${BUILD:-build}/obj/${1%.c}.d
seen=
if [ -e "$depends" ] && [ -n "${XDG_CACHE_HOME:-${HOME:-}}" ]; then
    # The first rule of a .d file: the object, then the files.
    mapfile -t files < <(sed -e '/^$/q' -e 's/^[^:]*://' -e 's/\\$//' "$depends" | tr -s ' ' '\n' | grep . | sort -u)
    key=$({
        echo "${tidy_flags[@]}" "${paths[@]}"
        clang-tidy --version
        cppcheck --version
        sha256sum -- "${files[@]}" .clang-tidy test/tools/tidy.sh test/tools/cppcheck.h test/tools/cppcheck.supp
    } 2>/dev/null | sha256sum) && seen=${XDG_CACHE_HOME:-$HOME/.cache}/batchaid/tidy/${key%% *}
fi
[ -n "$seen" ] && [ -e "$seen" ] && exit 0

failed=0
out=$(clang-tidy --quiet "${paths[@]}" "$1" -- "${tidy_flags[@]}" 2>&1) || {
    printf '%s\n' "$out" | grep -v 'warnings\? generated\|warnings treated as errors'
    failed=1
}
cppcheck --quiet --std=c11 --enable=warning,style,performance,portability --inline-suppr \
    --suppressions-list=test/tools/cppcheck.supp --error-exitcode=1 \
    --template='{file}:{line}: {severity}: {message} [{id}]' --include=test/tools/cppcheck.h \
    -D__GNUC__ -DBATCHAID_VERSION='"0"' -I. -I"${BUILD:-build}/gen" "$1" || failed=1
[ $failed -eq 0 ] && [ -n "$seen" ] && mkdir -p "${seen%/*}" && : >"$seen"
exit $failed
