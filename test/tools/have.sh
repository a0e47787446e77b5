#!/bin/sh
# SPDX-License-Identifier: MIT
# Is all here that the build needs? Says what is missing, by name, and how to get it.
#   have.sh PACKAGE...     the packages of pkg-config; CC and AGENT_LIBS as make has them
missing=
lacks() { missing="$missing
  $1"; }

# Of `ccache cc --sysroot=DIR` the first two words must be programs.
for word in ${CC:-cc}; do
    case $word in -*) continue ;; esac
    command -v "$word" >/dev/null 2>&1 || lacks "$word (the compiler)"
done
if ! command -v pkg-config >/dev/null 2>&1; then
    lacks pkg-config
else
    for package in "$@"; do
        pkg-config --exists "$package" || lacks "$package (no $package.pc for pkg-config)"
    done
fi
# What has no .pc file, and the static libraries of the agent.
try() {
    printf '%s\n' "$2" >"$dir/try.c"
    flags=$3
    # shellcheck disable=SC2086
    ${CC:-cc} -o "$dir/try" "$dir/try.c" $flags >/dev/null 2>&1 || lacks "$1"
}
if [ -z "$missing" ]; then
    dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
    try 'the C library (stdio.h)' 'int main(void) { return 0; }' ''
    try 'crypt.h and libcrypt' '#include <crypt.h>
        int main(void) { return crypt("", "") != 0; }' '-lcrypt'
    try 'minizip/unzip.h and libminizip (libminizip-dev)' '#include <minizip/unzip.h>
        int main(void) { return unzClose(0) == 0; }' '-lminizip -lz'
    case " ${AGENT_LIBS:-} " in
    *" -static "*)
        try 'libjansson.a, libuuid.a, libminizip.a and libz.a (static, for the agent)' 'int json_loads(void), uuid_parse(void), unzClose(void);
            int main(void) { return json_loads() + uuid_parse() + unzClose(); }' '-static -w -ljansson -luuid -lminizip -lz'
        ;;
    esac
fi
[ -z "$missing" ] && exit 0
echo "make: missing to build:$missing
Install them with: make deps" >&2
exit 1
