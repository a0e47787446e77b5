#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The life of a cluster and a job through `az batchai`, unmodified: life.sh GROUP
set -euo pipefail
group=$1 workspace=az experiment=first
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# is WANTED COMMAND...: the command prints this, or the program ends.
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

batchaid az-login >/dev/null
eval "$(batchaid env)"
in=(-g "$group" -w "$workspace")

is succeeded az batchai workspace create -g "$group" -n "$workspace" -l northeurope --query provisioningState
is succeeded az batchai cluster create "${in[@]}" -n nodes -s Standard_D1 -t 1 -u demo -p pw-never-shown \
    --query provisioningState
until_is 1 az batchai cluster show "${in[@]}" -n nodes --query nodeStateCounts.idleNodeCount
is nodes az batchai cluster list "${in[@]}" --query '[].name'

cat >"$work/job.json" <<'JSON'
{
  "properties": {
    "nodeCount": 1,
    "customToolkitSettings": { "commandLine": "echo hello from a job" },
    "stdOutErrPathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/out",
    "mountVolumes": {
      "azureFileShares": [
        {
          "accountName": "acct",
          "azureFileUrl": "https://acct.file.core.windows.net/out",
          "credentials": { "accountKey": "c2VjcmV0IGtleQ==" },
          "relativeMountPath": "out"
        }
      ]
    }
  }
}
JSON
is "$experiment" az batchai experiment create "${in[@]}" -n "$experiment" --query name
is hello az batchai job create "${in[@]}" -e "$experiment" -n hello -c nodes -f "$work/job.json" --query name
until_is succeeded az batchai job show "${in[@]}" -e "$experiment" -n hello --query executionState

files=(az batchai job file list "${in[@]}" -e "$experiment" -j hello -d stdouterr)
url=$("${files[@]}" --query "[?name=='stdout.txt'].downloadUrl" -o tsv)
text=$(curl -sSf --cacert "$SSL_CERT_FILE" "$url")
[ "$text" = 'hello from a job' ] || { echo "stdout.txt holds '$text'" >&2; exit 1; }

is 0 az batchai cluster resize "${in[@]}" -n nodes -t 0 --query scaleSettings.manual.targetNodeCount
until_is 0 az batchai cluster show "${in[@]}" -n nodes --query currentNodeCount
az batchai job delete "${in[@]}" -e "$experiment" -n hello -y
az batchai cluster delete "${in[@]}" -n nodes -y
is '' az batchai cluster list "${in[@]}" --query '[].name'
echo "ok az-$(az version --query '"azure-cli"' -o tsv) 2018-05-01"
