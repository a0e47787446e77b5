# SPDX-License-Identifier: MIT
# Pulls BATCHAI_PULL unless BATCHAI_IMAGE, its short name, is there. Logging in is for this pull alone: with the password
# on standard input, and into a directory that the run's account can neither change nor rename, because docker and
# podman start programs that the files in it name. If this is killed, remove.sh or sweep.sh removes the directory.
R=$BATCHAI_RUNTIME I=$BATCHAI_IMAGE C=$BATCHAI_ROOT/containers
if $R image inspect -- "$I" >/dev/null 2>&1; then
    echo "container image $I is there"
    exit 0
fi
# The last container that goes takes the parent folder along, which may be just now.
make_login() {
    mkdir -p "$C" && rm -rf "$D" && mkdir -m 700 "$D"
}
if [ -n "$BATCHAI_REGISTRY_USER" ]; then
    D=$C/${BATCHAI_CONTAINER:-pool}.login
    trap 'rm -rf "$D"; rmdir "$C" 2>/dev/null' EXIT
    make_login 2>/dev/null || make_login 2>/dev/null || make_login || exit 1
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
