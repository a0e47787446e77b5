/* SPDX-License-Identifier: MIT
 *
 * Makes a state of the daemon from a text (a seed), and a text from the daemon's state (a dump).
 * docs/testing.md describes both for clients.
 *
 *   text -> tree (seed_doc.h) -> steps (kinds.c)
 *        -> requests, each carried out as if it had come alone (apply.c), with the states that no
 *           request gives (state.c)
 *        -> files (files.c)
 *
 * Every resource is created by the handler of its PUT, so there is one set of checks. All parts
 * that are only rows are written in one transaction; if they are many, in one transaction for each
 * turn of the loop. Shares, containers and their contents are written after these transactions,
 * because they need folders on disk. If a later part fails, the groups of the seed are removed
 * again; if the daemon is killed meanwhile, its next start removes them.
 */
#ifndef API_TESTING_SEED_SEED_H
#define API_TESTING_SEED_SEED_H

#include "api/arm/arm.h"

struct batch_front;
struct files;
struct loop_lane;
struct packages;

struct seed {
    struct arm arm;
    struct loop_lane *lane; /* for blocking calls on files; borrowed */
    /* the directory with the folders of accounts; borrowed, like the following pointers: */
    const char *storage_dir;
    struct files *files;
    struct packages *packages;
    struct batch_front *batch;
};

/* Call before anything else starts. Removes the seeds that a killed daemon left unfinished, and
 * renames back the folders that an unfinished reset had renamed. */
int seed_begin(struct storage *st, const char *storage_dir, int64_t now_us, const struct log *log,
               struct err *e) MUST_CHECK;

/* Handlers of the testing service's routes; `seed` lives as long as the server. For seed_apply(),
 * request.raw is the body. */
struct replied *seed_apply(struct request *r, const struct seed *seed);
/* Query: ?subscription=&resourceGroup= */
struct replied *seed_dump(struct request *r, const struct seed *seed);

#endif
