#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A workshop's walk in the commands of 2018: as workshop.sh, but `batchaid az` makes of them those of today.
#   old_workshop.sh GROUP ACCOUNT
. "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/old.sh"
group=$1 account=$2

az account set -s "$AZURE_SUBSCRIPTION_ID"
has "$AZURE_SUBSCRIPTION_ID" az account list -o table
az group create -n "$group" -l westus2 -o none
az storage account create -n "$account" --sku Standard_LRS -l westus2 -g "$group" -o none
key=$(az storage account keys list -n "$account" -g "$group" --query "[0].value" -o tsv)
with=(--account-name "$account" --account-key "$key")
is true az storage share create -n lessons "${with[@]}" --query created
is true az storage directory create -s lessons -n first "${with[@]}" --query created
echo "print('lesson one')" >lesson.py
az storage file upload -s lessons --source lesson.py -p first "${with[@]}" --no-progress -o none

mkdir -p ~/.ssh
ssh-keygen -q -t rsa -m PEM -N '' -f ~/.ssh/id_rsa
cat >cluster.json <<'JSON'
{
    "properties": {
        "vmSize": "Standard_NC6",
        "scaleSettings": { "manual": { "targetNodeCount": 0 } },
        "userAccountSettings": { "adminUserName": "pupil", "adminUserPassword": "pupilPassword1" }
    }
}
JSON
is STANDARD_NC6 az batchai cluster create -n written -l westus2 -g "$group" -c cluster.json --query vmSize
az batchai cluster create -n class -g "$group" -l westus2 --storage-account-name "$account" --storage-account-key "$key" \
    -i UbuntuDSVM -s Standard_NC6 --min 2 --max 2 --afs-name lessons --afs-mount-path external \
    -u pupil -k ~/.ssh/id_rsa.pub -p pupilPassword1 -o none
until_is 2 az batchai cluster show -n class -g "$group" --query nodeStateCounts.idleNodeCount
has STANDARD_NC6 az batchai cluster show -n class -g "$group" -o table

cat >job.json <<'JSON'
{
    "properties": {
        "nodeCount": 1,
        "customToolkitSettings": { "commandLine": "python3 $AZ_BATCHAI_MOUNT_ROOT/external/first/lesson.py" },
        "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/external"
    }
}
JSON
az batch ai job create -g "$group" -l westus2 -n homework -r class -c job.json -o none
has homework az batchai job show -n homework -g "$group" -o table
is "lesson one" az batchai job stream-file -j homework -n stdout.txt -d stdouterr -g "$group"
until_is succeeded az batchai job show -n homework -g "$group" --query executionState

node=$(az batchai cluster list-nodes -n class -g "$group" --query "[0].join(' ', [ipAddress, to_string(port)])" -o tsv)
if [ -x /usr/sbin/sshd ]; then
    read -r address port <<<"$node"
    has pupil ssh "pupil@$address" -p "$port" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
        -i ~/.ssh/id_rsa 'echo $LOGNAME'
fi
az group delete -n "$group" -y
echo "ok az-$version old_workshop"
