#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The life of a cluster and a job through `az batchai`, unmodified: life.sh GROUP; az is the first one in PATH.
. "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/walk.sh"
group=$1 workspace=az experiment=first
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
has 'hello from a job' az batchai job file stream "${in[@]}" -e "$experiment" -j hello -f stdout.txt
until_is succeeded az batchai job show "${in[@]}" -e "$experiment" -n hello --query executionState
az batchai job wait "${in[@]}" -e "$experiment" -n hello
is hello az batchai job list "${in[@]}" -e "$experiment" --query '[].name'

files=(az batchai job file list "${in[@]}" -e "$experiment" -j hello -d stdouterr)
url=$("${files[@]}" --query "[?name=='stdout.txt'].downloadUrl" -o tsv)
text=$(curl -sSf --cacert "$SSL_CERT_FILE" "$url")
[ "$text" = 'hello from a job' ] || { echo "stdout.txt holds '$text'" >&2; exit 1; }

is 0 az batchai cluster resize "${in[@]}" -n nodes -t 0 --query scaleSettings.manual.targetNodeCount
until_is 0 az batchai cluster show "${in[@]}" -n nodes --query currentNodeCount
az batchai job delete "${in[@]}" -e "$experiment" -n hello -y
az batchai cluster delete "${in[@]}" -n nodes -y
is '' az batchai cluster list "${in[@]}" --query '[].name'
# The account that it is to use is not there, and az cannot make it.
debian && trouble="'str' object has no attribute 'get'" || trouble='The request content is not valid JSON'
cannot "$trouble" az batchai cluster create "${in[@]}" -n auto -s Standard_D1 -t 0 -u demo -p pw --use-auto-storage
az batchai experiment delete "${in[@]}" -n "$experiment" -y
az batchai workspace delete -g "$group" -n "$workspace" -y
echo "ok az-$version 2018-05-01"
