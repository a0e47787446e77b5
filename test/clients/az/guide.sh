#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The walk of the guide to `az batchai`: every kind of cluster, jobs, file servers, a vault for keys.
#   guide.sh GROUP ACCOUNT VAULT
. "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/walk.sh"
group=$1 account=$2 vault=$3 secrets=$1-secrets
in=(-g "$group" -w ws) user=(-u demoUser -p demoPassword1)
subscription=/subscriptions/$AZURE_SUBSCRIPTION_ID
batchai=$subscription/resourceGroups/$group/providers/Microsoft.BatchAI/workspaces/ws
batch_ai=9fcb3732-5f52-4135-8c08-9d4bbaf203ea
# rest METHOD PATH OPTIONS...: what az has no command for
rest() {
    local method=$1 path=$2
    shift 2
    az rest -m "$method" -u "$BATCHAID_ENDPOINT$batchai$path?api-version=2018-05-01" --resource "$BATCHAID_ENDPOINT" "$@"
}

has storage az --help
has cluster az batchai -h
has --afs-mount-path az batchai cluster create -h
has azure-cli az --version
has "$AZURE_SUBSCRIPTION_ID" az account list -o table
az account set -s batchaid
az provider register -n Microsoft.Batch -o none
az provider register -n Microsoft.BatchAI -o none
grant=(az role assignment create --assignee $batch_ai)
if debian; then
    cannot "no attribute 'config'" "${grant[@]}" --scope "$subscription" --role "Network Contributor"
else
    "${grant[@]}" --scope "$subscription" --role "Network Contributor" -o none
fi

# --- clusters --------------------------------------------------------------------------------------
az group create -l eastus -n "$group" -o none
az batchai workspace create -g "$group" -n ws -o none
is 1 az batchai cluster create "${in[@]}" -n manual -s Standard_NC6 -i UbuntuLTS --min 1 --max 1 "${user[@]}" \
    --query scaleSettings.manual.targetNodeCount
az configure -d location=eastus group="$group"
is 1 az batchai cluster create -w ws -n auto -s Standard_NC6 -i UbuntuLTS --min 0 --max 1 "${user[@]}" \
    --query scaleSettings.autoScale.maximumNodeCount

az storage account create -l eastus -g "$group" -n "$account" -o none
az storage share create -n demoafs --account-name "$account" -o none
az storage container create -n democontainer --account-name "$account" -o none
volumes=nodeSetup.mountVolumes
is azurecontainer az batchai cluster create "${in[@]}" -n demoCluster --storage-account-name "$account" \
    --afs-name demoafs --afs-mount-path azurefileshare --bfs-name democontainer --bfs-mount-path azurecontainer \
    -s Standard_NC6 -i UbuntuLTS --min 1 --max 1 "${user[@]}" \
    --query $volumes.azureBlobFileSystems[0].relativeMountPath

cannot "no attribute 'get'" az batchai file-server create "${in[@]}" -n demoNFS --disk-count 2 --disk-size 10 \
    -s Standard_D1 "${user[@]}"
rest put /fileServers/demoNFS -b '{"properties": {"vmSize": "Standard_D1",
    "sshConfiguration": {"userAccountSettings": {"adminUserName": "demoUser", "adminUserPassword": "demoPassword1"}},
    "dataDisks": {"diskSizeInGB": 10, "diskCount": 2, "storageAccountType": "Premium_LRS"}}}' >nfs
until_is succeeded rest get /fileServers/demoNFS --query properties.provisioningState
has demoNFS az batchai file-server list "${in[@]}" -o table
cannot "'show' is misspelled" az batchai file-server show "${in[@]}" -n demoNFS
cannot "no attribute 'get'" az batchai cluster create "${in[@]}" -n withNFS --nfs demoNFS --nfs-mount-path nfs \
    -s Standard_NC6 --min 1 --max 1 "${user[@]}"
cat >nfs.json <<JSON
{"properties": {"nodeSetup": {"mountVolumes": {"fileServers": [
    {"fileServer": {"id": "$batchai/fileServers/demoNFS"}, "relativeMountPath": "nfs"}]}}}}
JSON
is nfs az batchai cluster create "${in[@]}" -n withNFS -s Standard_NC6 --min 1 --max 1 "${user[@]}" -f nfs.json \
    --query $volumes.fileServers[0].relativeMountPath

cat >setup.json <<'JSON'
{
  "properties": {
    "nodeSetup": {
      "setupTask": {
        "commandLine": "echo Hello $ENVIRONMENT_VARIABLE_1",
        "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/afs",
        "environmentVariables": [{ "name": "ENVIRONMENT_VARIABLE_1", "value": "Value1" }]
      }
    }
  }
}
JSON
az batchai cluster create "${in[@]}" -n setup -s Standard_NC6 --min 1 --max 1 --storage-account-name "$account" \
    --afs-name demoafs --afs-mount-path afs "${user[@]}" -f setup.json -o none
until_is 1 az batchai cluster show "${in[@]}" -n setup --query nodeStateCounts.idleNodeCount
output=$(az batchai cluster show "${in[@]}" -n setup --query nodeSetup.setupTask.stdOutErrPathSuffix -o tsv)
node=$(az batchai cluster node list "${in[@]}" -c setup --query "[0].nodeId" -o tsv)
az storage file download -s demoafs -p "$output/stdout-$node.txt" --dest ./setup.out --account-name "$account" \
    --no-progress -o none
has "Hello Value1" cat setup.out
echo '{"properties": {"vmPriority": "lowpriority"}}' >low.json
is lowpriority az batchai cluster create "${in[@]}" -n low -s Standard_NC6 --min 0 --max 1 "${user[@]}" -f low.json \
    --query vmPriority

cat >many.json <<JSON
{"properties": {"nodeSetup": {"mountVolumes": {
    "azureFileShares": [
        {"accountName": "<AZURE_BATCHAI_STORAGE_ACCOUNT>", "relativeMountPath": "afs1",
         "azureFileUrl": "https://<AZURE_BATCHAI_STORAGE_ACCOUNT>.file.core.windows.net/dataset1",
         "credentials": {"accountKey": "<AZURE_BATCHAI_STORAGE_KEY>"}},
        {"accountName": "<AZURE_BATCHAI_STORAGE_ACCOUNT>", "relativeMountPath": "afs2",
         "azureFileUrl": "https://<AZURE_BATCHAI_STORAGE_ACCOUNT>.file.core.windows.net/dataset2",
         "credentials": {"accountKey": "<AZURE_BATCHAI_STORAGE_KEY>"}}],
    "azureBlobFileSystems": [
        {"accountName": "<AZURE_BATCHAI_STORAGE_ACCOUNT>", "containerName": "dataset1", "relativeMountPath": "bfs1",
         "mountOptions": "", "credentials": {"accountKey": "<AZURE_BATCHAI_STORAGE_KEY>"}}],
    "fileServers": [
        {"fileServer": {"id": "$batchai/fileServers/demoNFS"}, "relativeMountPath": "nfs1", "mountOptions": "rw"}]}}}}
JSON
is "afs1 afs2" az batchai cluster create "${in[@]}" -n many -s Standard_NC6 -t 1 "${user[@]}" -f many.json \
    --storage-account-name "$account" --query "join(' ', $volumes.azureFileShares[].relativeMountPath)"
until_is 1 az batchai cluster show "${in[@]}" -n many --query nodeStateCounts.idleNodeCount
cat >unmanaged.json <<'JSON'
{"properties": {"nodeSetup": {"mountVolumes": {"unmanagedFileSystems": [
    {"mountCommand": "mount -t glusterfs 10.0.0.4:/gv0", "relativeMountPath": "glusterfs"}]}}}}
JSON
is glusterfs az batchai cluster create "${in[@]}" -n unmanaged -s Standard_NC6 -t 0 "${user[@]}" -f unmanaged.json \
    --query $volumes.unmanagedFileSystems[0].relativeMountPath

cannot "are required: --workspace" az batchai cluster list -o table -g ""
has demoCluster az batchai cluster list -w ws -o table
is "$account" az batchai cluster show "${in[@]}" -n democluster --query $volumes.azureFileShares[0].accountName
has 127.0.0.1 az batchai cluster node list "${in[@]}" -c demoCluster -o table
is 0 az batchai cluster resize "${in[@]}" -n manual -t 0 --query scaleSettings.manual.targetNodeCount
cannot "missing 1 required positional argument" az batchai cluster auto-scale "${in[@]}" -n manual --min 0 --max 10
is 10 rest patch /clusters/manual \
    -b '{"properties": {"scaleSettings": {"autoScale": {"minimumNodeCount": 0, "maximumNodeCount": 10}}}}' \
    --query properties.scaleSettings.autoScale.maximumNodeCount
az batchai cluster delete "${in[@]}" -n manual -y

# --- jobs ------------------------------------------------------------------------------------------
has terminate az batchai job --help
has --config-file az batchai job create -h
cat >job.json <<'JSON'
{
  "$schema": "https://raw.githubusercontent.com/Azure/BatchAI/master/schemas/2018-05-01/job.json",
  "properties": {
    "nodeCount": 1,
    "customToolkitSettings": {
      "commandLine": "cat $AZ_BATCHAI_INPUT_DATASET/numbers; echo $ENVIRONMENT_VARIABLE_2 >$AZ_BATCHAI_OUTPUT_MODEL/m"
    },
    "jobPreparation": { "commandLine": "mkdir -p $AZ_BATCHAI_INPUT_DATASET; echo 1 2 3 >$AZ_BATCHAI_INPUT_DATASET/numbers" },
    "environmentVariables": [
      { "name": "ENVIRONMENT_VARIABLE_1", "value": "Value1" },
      { "name": "ENVIRONMENT_VARIABLE_2", "value": "Value2" }
    ],
    "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/azurefileshare",
    "inputDirectories": [{ "id": "DATASET", "path": "$AZ_BATCHAI_MOUNT_ROOT/azurefileshare/database" }],
    "outputDirectories": [
      { "id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/azurefileshare", "pathSuffix": "Models" }
    ]
  }
}
JSON
az batchai experiment create "${in[@]}" -n trials -o none
of=("${in[@]}" -e trials)
az batchai job create "${of[@]}" -n job1 -c demoCluster -f job.json -o none
az batchai job create "${of[@]}" -n job2 -c "$batchai/clusters/demoCluster" -f job.json -o none
until_is succeeded az batchai job show "${of[@]}" -n job2 --query executionState
has job1 az batchai job list "${of[@]}" -o table
has "1 2 3" az batchai job file stream "${of[@]}" -j job2 -d stdouterr -f stdout.txt
is "execution.log stderr-job_prep.txt stderr.txt stdout-job_prep.txt stdout.txt" \
    az batchai job file list "${of[@]}" -j job2 -d stdouterr --query "join(' ', [].name)"
is m az batchai job file list "${of[@]}" -j job2 -d MODEL --query "[].name"
sed 's/cat .*numbers;/sleep 1000;/' job.json >long.json
az batchai job create "${of[@]}" -n job3 -c demoCluster -f long.json -o none
until_is running az batchai job show "${of[@]}" -n job3 --query executionState
cannot "'str' object cannot be interpreted as an integer" az batchai job wait "${of[@]}" -n job3 --interval 1
has 127.0.0.1 az batchai job node list "${of[@]}" -j job3 -o table
az batchai job terminate "${of[@]}" -n job3 -y
az batchai job delete "${of[@]}" -n job3 -y --no-wait
until_is "job1 job2" az batchai job list "${of[@]}" --query "join(' ', sort([].name))"

# --- a vault ---------------------------------------------------------------------------------------
az group create -l eastus -n "$secrets" -o none
id=$subscription/resourceGroups/$secrets/providers/Microsoft.KeyVault/vaults/$vault
uri=https://$vault.vault.${BATCHAID_ENDPOINT#https://}
key=$(az storage account keys list -n "$account" -g "$group" --query "[0].value" -o tsv)
if debian; then
    az keyvault create -l eastus -g "$secrets" -n "$vault" -o none
    cannot "No module named 'azure.keyvault.v7_0'" az keyvault secret set --vault-name "$vault" -n storage --value "$key"
    az rest -m put -u "$uri/secrets/storage?api-version=7.4" -b "{\"value\": \"$key\"}" \
        --resource https://vault.azure.net -o none
else
    az keyvault create -l eastus -g "$secrets" -n "$vault" --enable-rbac-authorization false -o none
    "${grant[@]}" --scope "$id" --role Reader -o none
    az keyvault secret set --vault-name "$vault" -n storage --value "$key" -o none
fi
az keyvault set-policy --spn $batch_ai -n "$vault" -g "$secrets" --secret-permissions get list -o none
cat >secret.json <<JSON
{"properties": {"nodeSetup": {"mountVolumes": {"azureFileShares": [
    {"accountName": "$account", "azureFileUrl": "https://$account.file.core.windows.net/demoafs",
     "relativeMountPath": "azurefileshare", "credentials": {"accountKeySecretReference": {
         "sourceVault": {"id": "$id"}, "secretUrl": "https://$vault.vault.azure.net/secrets/storage"}}}]}}}}
JSON
az batchai cluster create "${in[@]}" -n secret -s Standard_NC6 -t 1 "${user[@]}" -f secret.json -o none
az batchai job create "${of[@]}" -n job4 -c secret -f job.json -o none
until_is succeeded az batchai job show "${of[@]}" -n job4 --query executionState

az batchai cluster delete "${in[@]}" -n withNFS -y
az group delete -n "$secrets" -y
az group delete -n "$group" -y
echo "ok az-$version guide"
