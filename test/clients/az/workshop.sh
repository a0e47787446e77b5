#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A workshop's walk: an account with a share, scripts on it, a cluster that mounts it, a job, a login on a node.
#   workshop.sh GROUP ACCOUNT
. "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/walk.sh"
group=$1 account=$2
in=(-g "$group" -w workshop)

az account set -s "$AZURE_SUBSCRIPTION_ID"
has "$AZURE_SUBSCRIPTION_ID" az account list -o table
az group create -n "$group" -l eastus -o none
az storage account create -n "$account" --sku Standard_LRS -l eastus -g "$group" -o none
key=$(az storage account keys list -n "$account" -g "$group" --query "[0].value" -o tsv)
with=(--account-name "$account" --account-key "$key")
is true az storage share create -n scripts "${with[@]}" --query created
is true az storage directory create -s scripts -n yolo "${with[@]}" --query created
echo "print('trained')" >train.py
az storage file upload -s scripts --source train.py -p yolo "${with[@]}" --no-progress -o none

mkdir -p ~/.ssh
ssh-keygen -q -t rsa -m PEM -N '' -f ~/.ssh/id_rsa
cat >cluster.json <<JSON
{
  "properties": {
    "vmSize": "Standard_NC6",
    "scaleSettings": { "manual": { "targetNodeCount": 0 } },
    "userAccountSettings": { "adminUserName": "demo", "adminUserPassword": "demoPassword1" }
  }
}
JSON
az batchai workspace create -n workshop -g "$group" -l eastus -o none
is STANDARD_NC6 az batchai cluster create -n configured "${in[@]}" -f cluster.json --query vmSize
az batchai cluster create -n nodes "${in[@]}" --storage-account-name "$account" --storage-account-key "$key" \
    -i UbuntuDSVM -s Standard_NC6 --min 2 --max 2 --afs-name scripts --afs-mount-path external \
    -u demo -k ~/.ssh/id_rsa.pub -p demoPassword1 -o none
until_is 2 az batchai cluster show -n nodes "${in[@]}" --query nodeStateCounts.idleNodeCount
has STANDARD_NC6 az batchai cluster show -n nodes "${in[@]}" -o table

cat >job.json <<'JSON'
{
  "properties": {
    "nodeCount": 1,
    "customToolkitSettings": { "commandLine": "python3 $AZ_BATCHAI_MOUNT_ROOT/external/yolo/train.py" },
    "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/external"
  }
}
JSON
cannot "'ai' is misspelled" az batch ai job create "${in[@]}" -n job -r nodes -c job.json
az batchai experiment create "${in[@]}" -n trials -o none
az batchai job create "${in[@]}" -e trials -n job -c nodes -f job.json -o none
has trained az batchai job file stream -j job "${in[@]}" -e trials -f stdout.txt -d stdouterr
has succeeded az batchai job show -n job "${in[@]}" -e trials -o table

node=$(az batchai cluster node list -c nodes "${in[@]}" --query "[0].join(' ', [ipAddress, to_string(port)])" -o tsv)
if [ -x /usr/sbin/sshd ]; then
    read -r address port <<<"$node"
    has demo ssh "demo@$address" -p "$port" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
        -i ~/.ssh/id_rsa 'echo $LOGNAME'
fi
az group delete -n "$group" -y
echo "ok az-$version workshop"
