#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Storage accounts, their shares and containers through `az storage`, unmodified, and a cluster with
# --use-auto-storage: storage.sh AZ GROUP ACCOUNT AUTO
# AZ is that of azure-cli 2.91. AUTO: the name of the account that az is to find, as it cannot make it itself
# (docs/guide-2018.md).
set -euo pipefail
az=$1 group=$2 account=$3 auto=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

batchaid az-login >/dev/null
eval "$(batchaid env)"
cp -r "$AZURE_CONFIG_DIR" "$work/azure"
rm -f "$work/azure/commandIndex.json"
export AZURE_CONFIG_DIR=$work/azure AZURE_CORE_ONLY_SHOW_ERRORS=1
"$az" login --service-principal -u "$AZURE_CLIENT_ID" -p "$AZURE_CLIENT_SECRET" --tenant "$AZURE_TENANT_ID" -o none

# is WANTED COMMAND...: az prints this, or the program ends.
is() {
    local wanted=$1 seen
    shift
    seen=$("$az" "$@" -o tsv 2>"$work/stderr") || { cat "$work/stderr" >&2; exit 1; }
    [ "$seen" = "$wanted" ] || { echo "$*: wanted '$wanted', got '$seen'" >&2; exit 1; }
}
of=(--storage-account "$account" -g "$group")

is "$account" storage account create -n "$account" -g "$group" -l eastus --sku Standard_LRS --query name
is false storage account check-name -n "$account" --query nameAvailable
is Succeeded storage account show -n "$account" --query provisioningState
is 2 storage account keys list -n "$account" -g "$group" --query "length(@)"
"$az" storage account keys renew -n "$account" -g "$group" --key secondary -o none
is b storage account update -n "$account" -g "$group" --tags a=b --query tags.a
is 5 storage share-rm create "${of[@]}" -n data --quota 5 --query shareQuota
is data storage share-rm list "${of[@]}" --query "[].name"
is true storage share-rm exists "${of[@]}" -n data --query exists
"$az" storage share-rm delete "${of[@]}" -n data -y -o none
is box storage container-rm create "${of[@]}" -n box --query name
is box storage container-rm list "${of[@]}" --query "[].name"
"$az" storage container-rm delete "${of[@]}" -n box -y -o none
"$az" storage account delete -n "$account" -g "$group" -y -o none

"$az" group create -n batchaiautostorage -l eastus -o none
"$az" storage account create -n "$auto" -g batchaiautostorage -l eastus -o none
"$az" batchai workspace create -g "$group" -n ws -l eastus -o none
volumes=nodeSetup.mountVolumes
is "$auto" batchai cluster create -g "$group" -w ws -n c -s Standard_D1 -t 0 -u demo -p pw --use-auto-storage \
    --query "$volumes.azureFileShares[0].accountName"
is batchaicontainer batchai cluster show -g "$group" -w ws -n c \
    --query "$volumes.azureBlobFileSystems[0].containerName"
is batchaishare storage share-rm list --storage-account "$auto" -g batchaiautostorage --query "[].name"
is batchaicontainer storage container-rm list --storage-account "$auto" -g batchaiautostorage --query "[].name"

echo "ok az-$("$az" version --query '"azure-cli"' -o tsv) storage"
