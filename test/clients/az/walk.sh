# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# How the walkthroughs of this folder begin: az, the first one in PATH, is logged in in a home of its own, and the
# folder is empty and goes at the end. They take what people type from first to last; where az itself has changed
# since, the form that it has today.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export AZURE_CORE_ONLY_SHOW_ERRORS=1
eval "$(batchaid env --endpoint "$BATCHAID_ENDPOINT" 2>/dev/null)"
az login --service-principal -u "$AZURE_CLIENT_ID" -p "$AZURE_CLIENT_SECRET" --tenant "$AZURE_TENANT_ID" -o none
version=$(az version --query '"azure-cli"' -o tsv)

# is WANTED COMMAND...: the command prints this, or the walk ends.
is() {
    local wanted=$1 seen
    shift
    seen=$("$@" -o tsv 2>"$work/stderr") || { cat "$work/stderr" >&2; exit 1; }
    [ "$seen" = "$wanted" ] || { echo "$*: wanted '$wanted', got '$seen'" >&2; exit 1; }
}
# until_is WANTED COMMAND...: asks until the command prints this; 40 times at most.
until_is() {
    local wanted=$1 seen='' left
    shift
    for ((left = 40; left > 0; left--)); do
        seen=$("$@" -o tsv 2>"$work/stderr") || { cat "$work/stderr" >&2; exit 1; }
        [ "$seen" = "$wanted" ] && return
    done
    echo "$*: wanted '$wanted', got '$seen' at last" >&2
    exit 1
}
# has TEXT COMMAND...: the text is somewhere in what the command prints.
has() {
    local text=$1 seen
    shift
    seen=$("$@" 2>"$work/stderr") || { cat "$work/stderr" >&2; exit 1; }
    [[ $seen == *"$text"* ]] || { echo "$*: no '$text' in '$seen'" >&2; exit 1; }
}
# cannot TEXT COMMAND...: az itself cannot do it, and complains with this text (docs/guide-2018.md).
cannot() {
    local text=$1
    shift
    if "$@" >"$work/stdout" 2>"$work/stderr"; then
        echo "$*: this az can do it; tell docs/guide-2018.md" >&2
        exit 1
    fi
    grep -qF -- "$text" "$work/stderr" || { cat "$work/stderr" >&2; exit 1; }
}
# debian: az is Debian's, of which more is broken than of that of PyPI.
debian() { [[ $version == 2.45.* ]]; }
