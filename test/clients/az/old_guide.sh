#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The walk of the guide to `az batchai` in the commands of 2017, which know neither workspaces nor experiments: as
# guide.sh, but `batchaid az` makes of them those of today, or asks the version that had them.
#   old_guide.sh GROUP ACCOUNT VAULT
. "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/old.sh"
group=$1 account=$2 vault=$3 secrets=$1-secrets
here=(-l westeurope -g "$group") size=(-s Standard_NC6) user=(-u operator -p operatorPassword1)
image=(-i UbuntuLTS)
batch_ai=9fcb3732-5f52-4135-8c08-9d4bbaf203ea
volumes=nodeSetup.mountVolumes

has batchai az -h
has file-server az batchai -h
has --afs-mount-path az batchai cluster create -h
has azure-cli az --version
az login -o none
has "$AZURE_SUBSCRIPTION_ID" az account list -o table
az account set -s batchaid
az provider register -n Microsoft.Batch -o none
az provider register -n Microsoft.BatchAI -o none
az role assignment create --scope "/subscriptions/$AZURE_SUBSCRIPTION_ID" --role "Network Contributor" \
    --assignee $batch_ai -o none

# --- clusters --------------------------------------------------------------------------------------
az group create -l westeurope -n "$group" -o none
is 1 az batchai cluster create "${here[@]}" -n fixed "${size[@]}" "${image[@]}" --min 1 --max 1 "${user[@]}" \
    --query scaleSettings.manual.targetNodeCount
az configure -d location=westeurope
az configure -d group="$group"
is 1 az batchai cluster create -n growing "${size[@]}" "${image[@]}" --min 0 --max 1 "${user[@]}" \
    --query scaleSettings.autoScale.maximumNodeCount

az storage account create "${here[@]}" -n "$account" -o none
az storage share create -n numbers --account-name "$account" -o none
az storage container create -n pictures --account-name "$account" -o none
is "files blobs" az batchai cluster create "${here[@]}" -n mounting --storage-account-name "$account" --afs-name numbers \
    --afs-mount-path files --container-name pictures --container-mount-path blobs "${size[@]}" "${image[@]}" \
    --min 1 --max 1 "${user[@]}" \
    --query "join(' ', [$volumes.azureFileShares[0].relativeMountPath, $volumes.azureBlobFileSystems[0].relativeMountPath])"

az batchai file-server create "${here[@]}" -n disks --disk-count 2 --disk-size 10 -s Standard_D1 "${user[@]}" -o none
is data az batchai cluster create "${here[@]}" -n served --nfs disks --nfs-mount-path data "${size[@]}" "${image[@]}" \
    --min 1 --max 1 "${user[@]}" --query $volumes.fileServers[0].relativeMountPath
az group create -l westeurope -n "$secrets" -o none
az batchai file-server create -l westeurope -g "$secrets" -n elsewhere --disk-count 1 --disk-size 10 \
    --storage-sku Premium_LRS -s Standard_D1 "${user[@]}" -o none
has "/$secrets/" az batchai cluster create "${here[@]}" -n abroad --nfs elsewhere --nfs-resource-group "$secrets" \
    --nfs-mount-path data "${size[@]}" "${image[@]}" --min 1 --max 1 "${user[@]}" \
    --query $volumes.fileServers[0].fileServer.id -o tsv

cat >cluster.json <<'JSON'
{
    "properties": {
        "nodeSetup": {
            "setupTask": {
                "commandLine": "echo Prepared by $WHO",
                "runElevated": false,
                "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/files",
                "environmentVariables": [{ "name": "WHO", "value": "a setup task" }]
            }
        }
    }
}
JSON
az cluster create "${here[@]}" -n prepared "${size[@]}" --min 1 --max 1 --storage-account-name "$account" \
    --afs-name numbers --afs-mount-path files "${user[@]}" -c cluster.json -o none
until_is 1 az batchai cluster show -g "$group" -n prepared --query nodeStateCounts.idleNodeCount
suffix=$(az batchai cluster show -g "$group" -n prepared --query nodeSetup.setupTask.stdOutErrPathSuffix -o tsv)
node=$(az batchai cluster list-nodes -g "$group" -n prepared --query "[0].nodeId" -o tsv)
az storage file download -s numbers -p "$suffix/stdout-$node.txt" --dest ./prepared.out --account-name "$account" \
    --no-progress -o none
has "Prepared by a setup task" cat prepared.out

echo '{ "vmPriority": "lowpriority" }' >cluster.json
is lowpriority az batchai cluster create "${here[@]}" -n cheap "${size[@]}" --min 0 --max 1 "${user[@]}" \
    -c cluster.json --query vmPriority

server=$(az batchai file-server show -g "$group" -n disks --query id -o tsv)
cat >cluster.json <<JSON
{
    "properties": {
        "nodeSetup": {
            "mountVolumes": {
                "azureFileShares": [
                    {
                        "accountName": "<AZURE_BATCHAI_STORAGE_ACCOUNT>",
                        "azureFileUrl": "https://<AZURE_BATCHAI_STORAGE_ACCOUNT>.file.core.windows.net/odd",
                        "credentials": { "accountKey": "<AZURE_BATCHAI_STORAGE_KEY>" },
                        "directoryMode": "0777",
                        "fileMode": "0777",
                        "relativeMountPath": "odd"
                    },
                    {
                        "accountName": "<AZURE_BATCHAI_STORAGE_ACCOUNT>",
                        "azureFileUrl": "https://<AZURE_BATCHAI_STORAGE_ACCOUNT>.file.core.windows.net/even",
                        "credentials": { "accountKey": "<AZURE_BATCHAI_STORAGE_KEY>" },
                        "relativeMountPath": "even"
                    }
                ],
                "azureBlobFileSystems": [
                    {
                        "containerName": "pictures",
                        "relativeMountPath": "blobs",
                        "accountName": "<AZURE_BATCHAI_STORAGE_ACCOUNT>",
                        "mountOptions": "",
                        "credentials": { "accountKey": "<AZURE_BATCHAI_STORAGE_KEY>" }
                    }
                ],
                "fileServers": [
                    { "fileServer": { "id": "$server" }, "relativeMountPath": "data", "mountOptions": "rw" }
                ]
            }
        }
    }
}
JSON
AZURE_BATCHAI_STORAGE_ACCOUNT=$account \
AZURE_BATCHAI_STORAGE_KEY=$(az storage account keys list -n "$account" -g "$group" --query "[0].value" -o tsv) \
    is "odd even" az batchai cluster create "${here[@]}" -n many "${size[@]}" --min 1 --max 1 "${user[@]}" \
    -c cluster.json --query "join(' ', $volumes.azureFileShares[].relativeMountPath)"
until_is 1 az batchai cluster show -g "$group" -n many --query nodeStateCounts.idleNodeCount
cat >cluster.json <<'JSON'
{"properties": {"nodeSetup": {"mountVolumes": {"unmanagedFileSystems": [
    {"mountCommand": "mount -t nfs 10.0.0.4:/export", "relativeMountPath": "theirs"}]}}}}
JSON
is theirs az batchai cluster create "${here[@]}" -n unmanaged "${size[@]}" --min 0 --max 0 "${user[@]}" \
    -c cluster.json --query $volumes.unmanagedFileSystems[0].relativeMountPath

has "$group" az batchai cluster list -o table -g ""
has growing az batchai cluster list -o table -g "$group"
has growing az batchai cluster list -o table
is "$account" az batchai cluster show -n MOUNTING -g "$group" --query $volumes.azureFileShares[0].accountName
has 127.0.0.1 az batchai cluster list-nodes -n mounting -g "$group" -o table
is 0 az batchai cluster resize -n fixed -g "$group" -t 0 --query scaleSettings.manual.targetNodeCount
is 10 az batchai cluster auto-scale -n fixed -g "$group" --min 0 --max 10 --query scaleSettings.autoScale.maximumNodeCount
az batchai cluster delete -n fixed -g "$group" -y

# --- jobs ------------------------------------------------------------------------------------------
has terminate az batchai job --help
has --config-file az batchai job create -h
cat >job.json <<'JSON'
{
    "properties": {
        "nodeCount": 1,
        "customToolkitSettings": {
            "commandLine": "cat $AZ_BATCHAI_INPUT_NUMBERS/list; echo $WHO >$AZ_BATCHAI_OUTPUT_MODEL/model"
        },
        "jobPreparation": { "commandLine": "mkdir -p $AZ_BATCHAI_INPUT_NUMBERS; echo 4 5 6 >$AZ_BATCHAI_INPUT_NUMBERS/list" },
        "environmentVariables": [{ "name": "WHO", "value": "a job" }],
        "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/files",
        "inputDirectories": [{ "id": "NUMBERS", "path": "$AZ_BATCHAI_MOUNT_ROOT/files/numbers" }],
        "outputDirectories": [{ "id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/files", "pathSuffix": "models" }]
    }
}
JSON
az batchai job create -l westeurope -n one -g "$group" -r mounting -c job.json -o none
az batchai job create -l westeurope -n two -g "$group" -r mounting --cluster-resource-group "$group" -c job.json -o none
is "4 5 6" az batchai job stream-file -j two -g "$group" -d stdouterr -n stdout.txt
until_is succeeded az batchai job show -n two -g "$group" --query executionState
has "$group" az batchai job list -o table -g ''
has two az batchai job list -o table -g "$group"
is "execution.log stderr-job_prep.txt stderr.txt stdout-job_prep.txt stdout.txt" \
    az batchai job list-files -n two -g "$group" -d stdouterr --query "join(' ', [].name)"
is model az batchai job list-files -n two -g "$group" -d MODEL --query "[].name"
sed 's/cat .*list;/sleep 1000;/' job.json >long.json
az batchai job create -l westeurope -n three -g "$group" -r mounting -c long.json -o none
until_is running az batchai job show -n three -g "$group" --query executionState
has 127.0.0.1 az batchai job list-nodes -n three -g "$group" -o table
az batchai job terminate -n three -g "$group" -y
az batchai job delete -n three -g "$group" -y --no-wait
until_is "one two" az batchai job list -g "$group" --query "join(' ', sort([].name))"

# --- file servers ----------------------------------------------------------------------------------
has --disk-count az batchai file-server create -h
has "2 x 10 Gb" az batchai file-server list -o table -g ""
is 127.0.0.1 az batchai file-server show -n disks -g "$group" --query mountSettings.fileServerPublicIP
az batchai cluster delete -n abroad -g "$group" -y
az batchai file-server delete -n elsewhere -g "$secrets" -y

# --- a vault ---------------------------------------------------------------------------------------
az keyvault create -l westeurope -g "$secrets" -n "$vault" -o none
id=/subscriptions/$AZURE_SUBSCRIPTION_ID/resourceGroups/$secrets/providers/Microsoft.KeyVault/vaults/$vault
az role assignment create --scope "$id" --role Reader --assignee $batch_ai -g "" -o none
az keyvault set-policy --spn $batch_ai -n "$vault" -g "$secrets" --secret-permissions get list -o none
key=$(az storage account keys list -n "$account" -g "$group" --query "[0].value" -o tsv)
az keyvault secret set --vault-name "$vault" --name keyofnumbers --value "$key" -o none
cat >cluster.json <<JSON
{"properties": {"nodeSetup": {"mountVolumes": {"azureFileShares": [
    {"accountName": "$account", "azureFileUrl": "https://$account.file.core.windows.net/numbers",
     "relativeMountPath": "files", "credentials": {"accountKeySecretReference": {
         "sourceVault": {"id": "$id"}, "secretUrl": "https://$vault.vault.azure.net/secrets/keyofnumbers"}}}]}}}}
JSON
az batchai cluster create "${here[@]}" -n secret "${size[@]}" --min 1 --max 1 "${user[@]}" -c cluster.json -o none
az batchai job create -l westeurope -n four -g "$group" -r secret -c job.json -o none
until_is succeeded az batchai job show -n four -g "$group" --query executionState

for cluster in served many; do az batchai cluster delete -n $cluster -g "$group" -y; done
az group delete -n "$secrets" -y
az group delete -n "$group" -y
echo "ok az-$version old_guide"
