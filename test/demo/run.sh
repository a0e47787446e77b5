#!/bin/bash
# SPDX-License-Identifier: MIT
# The walkthrough of `make demo`: a daemon with its embedded default, and everything else through the
# real az. Shows each command, streams the job's output live, checks the model that comes out.
#   test/demo/run.sh             keeps its state in $BUILD/demo (BUILD defaults to build)
# Ends with exit code 0 and "demo: job succeeded, exit code 0", or says what failed.
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 1

BUILD=$(realpath -m "${BUILD:-build}")
BATCHAID=$BUILD/batchaid
STATE=$BUILD/demo
LOG=$STATE/daemon.log
READY=$STATE/ready
# What az prints shall appear at once, without its notes about deprecated command groups, and without those of the
# Python of Debian 13 about its code.
export PYTHONUNBUFFERED=1 AZURE_CORE_ONLY_SHOW_ERRORS=true PYTHONWARNINGS=ignore::FutureWarning
PYTHON=${PYTHON:-python3}
command -v "$PYTHON" >/dev/null || PYTHON=/usr/bin/python3

GROUP=demo-group WORKSPACE=demo-workspace CLUSTER=demo-cluster EXPERIMENT=demo-experiment JOB=digits
WHERE=(-g "$GROUP" -w "$WORKSPACE")
JOB_WHERE=("${WHERE[@]}" -e "$EXPERIMENT")

step='start'
daemon_pid=

say() { printf '\n# %s\n' "$*"; }

# Shows "$ az ..." and runs it against the demo's daemon.
az() {
    printf '$ az'
    printf ' %q' "$@"
    printf '\n'
    "$BATCHAID" az --state-dir "$STATE" "$@"
}

# az without showing it, for what the script itself wants to know.
ask() { "$BATCHAID" az --state-dir "$STATE" "$@" -o tsv; }

fail() {
    echo "demo: failed at: $step${1:+: $1}" >&2
    exit 1
}

stop_daemon() {
    [ -n "$daemon_pid" ] || return 0
    kill -TERM "$daemon_pid" 2>/dev/null
    wait "$daemon_pid"
    local code=$?
    daemon_pid=
    return $code
}

clean_up() {
    local code=$?
    trap - EXIT INT TERM
    if [ "$code" -ne 0 ]; then
        [ "$code" -gt 128 ] && echo "demo: interrupted at: $step" >&2
        echo "demo: the last lines of the daemon's log ($LOG):" >&2
        tail -n 30 "$LOG" >&2
        # Nothing may run on: deleting the group ends its jobs.
        [ -n "$daemon_pid" ] && "$BATCHAID" az --state-dir "$STATE" group delete -n "$GROUP" -y >/dev/null 2>&1
    fi
    stop_daemon
    exit "$code"
}

wait_ready() {
    for _ in $(seq 200); do
        grep -q '^ready https://' "$READY" && return 0
        kill -0 "$daemon_pid" 2>/dev/null || return 1
        sleep 0.05
    done
    return 1
}

write_cluster_json() {
    cat <<'JSON'
{
  "properties": {
    "nodeSetup": {
      "mountVolumes": {
        "azureFileShares": [{
          "accountName": "demostorage",
          "azureFileUrl": "https://demostorage.file.core.windows.net/demo",
          "credentials": { "accountKey": "ZGVtbw==" },
          "relativeMountPath": "demo"
        }]
      }
    }
  }
}
JSON
}

write_job_json() {
    cat <<'JSON'
{
  "$schema": "https://raw.githubusercontent.com/Azure/BatchAI/master/schemas/2018-05-01/job.json",
  "properties": {
    "nodeCount": 1,
    "customToolkitSettings": {
      "commandLine": "python3 $AZ_BATCHAI_MOUNT_ROOT/demo/train.py"
    },
    "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/demo",
    "inputDirectories": [{ "id": "DATA", "path": "$AZ_BATCHAI_MOUNT_ROOT/demo/data" }],
    "outputDirectories": [{ "id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/demo" }]
  }
}
JSON
}

trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

[ -x "$BATCHAID" ] || fail "$BATCHAID is not built"
rm -rf "$STATE"
mkdir -p "$STATE" || fail

say 'Start the daemon (its embedded default: nodes are directories on this machine)'
step='starting the daemon'
echo "$ $BATCHAID serve --state-dir $STATE --listen localhost:0"
"$BATCHAID" serve --state-dir "$STATE" --listen localhost:0 >"$READY" 2>"$LOG" &
daemon_pid=$!
wait_ready || fail
cat "$READY"

say 'Log the real az in to it (in a configuration directory of its own)'
step='logging in'
echo "$ $BATCHAID az-login --state-dir $STATE"
"$BATCHAID" az-login --state-dir "$STATE" || fail

say 'Put the training script and its data into the file share "demo"'
step='filling the share'
echo "$ $BATCHAID share-path --state-dir $STATE demostorage demo"
SHARE=$("$BATCHAID" share-path --state-dir "$STATE" demostorage demo) || fail
echo "$SHARE"
{ mkdir -p "$SHARE" && cp -r test/demo/train.py test/demo/data "$SHARE/"; } || fail
write_cluster_json >"$STATE/cluster.json" || fail
write_job_json >"$STATE/job.json" || fail

say 'A resource group, a workspace, a two-node cluster with the share mounted, an experiment'
step='creating resources'
az group create -n "$GROUP" -l eastus -o table || fail 'group create'
az batchai workspace create -g "$GROUP" -n "$WORKSPACE" -l eastus -o table || fail 'workspace create'
az batchai cluster create "${WHERE[@]}" -n "$CLUSTER" -s Standard_D1 -t 2 -u demo -p demoPassword1 \
    -f "$STATE/cluster.json" -o table || fail 'cluster create'
az batchai experiment create "${WHERE[@]}" -n "$EXPERIMENT" -o table || fail 'experiment create'

say 'The job: train a neural network on handwritten digits'
step='running the job'
az batchai job create "${JOB_WHERE[@]}" -n "$JOB" -c "$CLUSTER" -f "$STATE/job.json" -o table || fail 'job create'
az batchai job file stream "${JOB_WHERE[@]}" -j "$JOB" -f stdout.txt | tee "$STATE/streamed.txt" ||
    fail 'job file stream'
step='reading the result'
az batchai job show "${JOB_WHERE[@]}" -n "$JOB" -o table || fail 'job show'
RESULT=$(ask batchai job show "${JOB_WHERE[@]}" -n "$JOB" \
    --query '[executionState, to_string(executionInfo.exitCode)]' | tr '\n' ' ') || fail 'job show'
[ "$RESULT" = 'succeeded 0 ' ] || fail "the job ended as: $RESULT"
# az stops streaming once the job has ended, so the very last lines may be missing.
grep -q '^epoch  1 ' "$STATE/streamed.txt" || fail 'nothing was streamed'

say 'The model: list it, download it through its URL, try it'
step='fetching the model'
az batchai job file list "${JOB_WHERE[@]}" -j "$JOB" -d MODEL -o table || fail 'job file list'
URL=$(ask batchai job file list "${JOB_WHERE[@]}" -j "$JOB" -d MODEL \
    --query "[?name=='model.json'].downloadUrl") || fail 'job file list'
[ -n "$URL" ] || fail 'there is no model.json'
CA=$("$BATCHAID" env --state-dir "$STATE" | sed -n "s/^export REQUESTS_CA_BUNDLE='\(.*\)'$/\1/p")
echo "$ curl --cacert $CA -o $STATE/model.json '$URL'"
curl -sS --fail --cacert "$CA" -o "$STATE/model.json" "$URL" || fail 'download'
"$PYTHON" test/demo/train.py --data test/demo/data --evaluate "$STATE/model.json" || fail 'the model is no good'

say 'Delete everything'
step='deleting'
az batchai job delete "${JOB_WHERE[@]}" -n "$JOB" -y || fail 'job delete'
az batchai cluster delete "${WHERE[@]}" -n "$CLUSTER" -y || fail 'cluster delete'
az group delete -n "$GROUP" -y || fail 'group delete'
[ "$(ask group exists -n "$GROUP")" = false ] || fail 'the group is still there'

step='stopping the daemon'
stop_daemon || fail "exit code $?"
echo
echo 'demo: job succeeded, exit code 0'
