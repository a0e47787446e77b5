#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The life of a vault and its secrets through `az keyvault`, unmodified: vault.sh AZ GROUP VAULT
# AZ is that of azure-cli 2.91; Debian's az, which `batchaid az-login` registers the cloud with, has no secrets.
set -euo pipefail
az=$1 group=$2 vault=$3
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
in=(--vault-name "$vault")

is "$vault" keyvault create -g "$group" -n "$vault" -l eastus --query name
is "value one" keyvault secret set "${in[@]}" -n first --value "value one" --query value
is "value one" keyvault secret show "${in[@]}" -n first --query value
is two keyvault secret set "${in[@]}" -n first --value two --tags a=b --query value
is 2 keyvault secret list-versions "${in[@]}" -n first --query "length(@)"
is first keyvault secret list "${in[@]}" --query "[].name"
is false keyvault secret set-attributes "${in[@]}" -n first --enabled false --query attributes.enabled
is true keyvault secret set-attributes "${in[@]}" -n first --enabled true --query attributes.enabled
"$az" keyvault secret backup "${in[@]}" -n first --file "$work/backup"
is first keyvault secret delete "${in[@]}" -n first --query name
is first keyvault secret list-deleted "${in[@]}" --query "[].name"
is first keyvault secret recover "${in[@]}" -n first --query name
is first keyvault secret delete "${in[@]}" -n first --query name
"$az" keyvault secret purge "${in[@]}" -n first
is first keyvault secret restore "${in[@]}" --file "$work/backup" --query name
is two keyvault secret show "${in[@]}" -n first --query value
batch_ai=9fcb3732-5f52-4135-8c08-9d4bbaf203ea
is false keyvault update -n "$vault" --enable-rbac-authorization false --query properties.enableRbacAuthorization
is $batch_ai keyvault set-policy -n "$vault" -g "$group" --spn $batch_ai --secret-permissions get list \
    --query "properties.accessPolicies[].objectId"
is true keyvault update -n "$vault" --enable-rbac-authorization true --query properties.enableRbacAuthorization
"$az" keyvault delete -n "$vault" -g "$group"
is "$vault" keyvault recover -n "$vault" --query name
is two keyvault secret show "${in[@]}" -n first --query value
"$az" keyvault delete -n "$vault"
"$az" keyvault purge -n "$vault"
is "" keyvault list-deleted --resource-type vault --query "[?name=='$vault'].name"
echo "ok az-$("$az" version --query '"azure-cli"' -o tsv) keyvault"
