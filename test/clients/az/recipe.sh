#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A recipe's walk: scripts and logs on two shares that the job itself mounts, its model listed and fetched. The job
# runs the script by its command line instead of Chainer's settings.
#   recipe.sh GROUP ACCOUNT
. "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/walk.sh"
group=$1 account=$2
in=(-g "$group" -w recipe_workspace) of=(-g "$group" -w recipe_workspace -e chainer_experiment)

az group create -n "$group" -l eastus -o none
is eastus az batchai workspace create "${in[@]//-w/-n}" -l eastus --query location
is 2 az batchai cluster create -n nc6 "${in[@]}" -s Standard_NC6 -t 2 --generate-ssh-keys \
    --query scaleSettings.manual.targetNodeCount
az storage account create -n "$account" --sku Standard_LRS -g "$group" -l eastus -o none
cat >train_mnist.py <<'PY'
import sys
print("epoch 1")
open(sys.argv[2] + "/cg.dot", "w").write("digraph {}\n")
PY
az storage share create -n scripts --account-name "$account" -o none
az storage share create -n logs --account-name "$account" -o none
az storage directory create -n chainer -s scripts --account-name "$account" -o none
az storage file upload -s scripts --source train_mnist.py --path chainer --account-name "$account" --no-progress -o none

cat >job.json <<'JSON'
{
  "$schema": "https://raw.githubusercontent.com/Azure/BatchAI/master/schemas/2018-05-01/job.json",
  "properties": {
    "nodeCount": 2,
    "customToolkitSettings": {
      "commandLine": "python3 $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/chainer/train_mnist.py -o $AZ_BATCHAI_OUTPUT_MODEL"
    },
    "stdOutErrPathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/logs",
    "mountVolumes": {
      "azureFileShares": [
        {
          "azureFileUrl": "https://<AZURE_BATCHAI_STORAGE_ACCOUNT>.file.core.windows.net/logs",
          "relativeMountPath": "logs"
        },
        {
          "azureFileUrl": "https://<AZURE_BATCHAI_STORAGE_ACCOUNT>.file.core.windows.net/scripts",
          "relativeMountPath": "scripts"
        }
      ]
    },
    "outputDirectories": [{ "id": "MODEL", "pathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/logs" }]
  }
}
JSON
az batchai experiment create "${in[@]}" -n chainer_experiment -o none
is distributed_chainer az batchai job create -n distributed_chainer -c nc6 "${of[@]}" -f job.json \
    --storage-account-name "$account" --query name
has "epoch 1" az batchai job file stream -j distributed_chainer "${of[@]}" -f stdout.txt
until_is succeeded az batchai job show -n distributed_chainer "${of[@]}" --query executionState
is cg.dot az batchai job file list -j distributed_chainer "${of[@]}" -d MODEL --query "[].name"
url=$(az batchai job file list -j distributed_chainer "${of[@]}" -d MODEL --query "[0].downloadUrl" -o tsv)
has "digraph {}" curl -sSf --cacert "$SSL_CERT_FILE" "$url"
segment=$(az batchai job show -n distributed_chainer "${of[@]}" --query jobOutputDirectoryPathSegment -o tsv)
az storage file download -s logs -p "$segment/outputs/cg.dot" --account-name "$account" --dest ./model --no-progress -o none
has "digraph {}" cat model
az group delete -n "$group" -y
echo "ok az-$version recipe"
