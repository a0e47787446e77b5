/* SPDX-License-Identifier: MIT
 *
 * The blobs of storage accounts, as Azure Batch's front asks for them.
 */
#ifndef DAEMON_BATCH_BLOBS_H
#define DAEMON_BATCH_BLOBS_H

#include "api/azstorage/azstorage.h"
#include "front/batch/batch.h"

/* `z`, of which storage and storage_dir are looked at, is borrowed. */
struct batch_blobs batch_blobs_of(struct azstorage *z);

#endif
