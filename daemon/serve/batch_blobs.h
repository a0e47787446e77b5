/* SPDX-License-Identifier: MIT
 *
 * The blobs of storage accounts, as Azure Batch's front asks for them.
 */
#ifndef DAEMON_SERVE_BATCH_BLOBS_H
#define DAEMON_SERVE_BATCH_BLOBS_H

#include "api/plane/storage/azstorage.h"
#include "daemon/serve/hosts.h"
#include "scheduler/front/batch/batch.h"

/* What it is made of; borrowed, as is all that it leads to. */
struct batch_blobs_source {
    struct azstorage store; /* with storage and storage_dir */
    const struct hosts *hosts;
};
struct serve_config;
struct batch_blobs_source batch_blobs_source_of(struct storage *st, const struct access *access,
                                                const struct serve_config *c,
                                                const struct hosts *hosts);
struct batch_blobs batch_blobs_of(struct batch_blobs_source *s);

#endif
