# SPDX-License-Identifier: MIT
# Pulls BATCHAI_PULL unless BATCHAI_IMAGE, its short name, is there. Logging in is for this pull alone:
# into a directory of its own in the run's, which goes with that even if this is killed, and with the
# password on standard input.
R=$BATCHAI_RUNTIME I=$BATCHAI_IMAGE
if $R image inspect -- "$I" >/dev/null 2>&1; then
    echo "container image $I is there"
    exit 0
fi
if [ -n "$BATCHAI_REGISTRY_USER" ]; then
    D=$(mktemp -d "$BATCHAI_JOB_DIR/.registry-XXXXXX") || exit 1
    trap 'rm -rf "$D"' EXIT
    export DOCKER_CONFIG="$D" REGISTRY_AUTH_FILE="$D/auth.json"
    echo "logging in on ${BATCHAI_SERVER:-the default registry} as $BATCHAI_REGISTRY_USER"
    [ -n "$BATCHAI_SERVER" ] && set -- "$BATCHAI_SERVER"
    printf %s "$BATCHAI_REGISTRY_PASSWORD" |
        $R login -u "$BATCHAI_REGISTRY_USER" --password-stdin -- "$@" >/dev/null || exit 1
fi
unset BATCHAI_REGISTRY_PASSWORD
echo "pulling container image $I"
$R pull -- "$BATCHAI_PULL" || exit 1
echo "pulled container image $I"
