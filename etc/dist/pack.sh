#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes tarballs of the trees of portable.sh in DIR, and SHA256SUMS of all files there but those trees'.
#   pack.sh DIR VERSION        SOURCE_DATE_EPOCH is the time of all files
set -euo pipefail
cd "$1"
for tree in batchaid-"$2"-linux-*/; do
    tree=${tree%/}
    cp "$tree/sbom.cdx.json" "$tree.cdx.json"
    tar -c --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=u-w "$tree" | gzip -9n >"$tree.tar.gz"
done
find . -type f ! -name SHA256SUMS ! -path './batchaid-*-linux-*/*' -printf '%P\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS
cat SHA256SUMS
