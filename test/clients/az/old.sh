# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# How walkthroughs in the commands of 2017 and 2018 begin: docs/guide-2018.md tells people to put `batchaid az` in az's
# place. The login is its own.
. "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/walk.sh"
az() { batchaid az "$@"; }
