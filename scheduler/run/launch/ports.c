/* SPDX-License-Identifier: MIT
 *
 * Ports for what a run's processes listen on. Nobody asks a node which ports are free, because a
 * run that is planned again after a restart must have the same ones, and all of its nodes must know
 * them before anything runs. So each run has a block of ports by its number: runs that share a
 * machine, as all those on local nodes do, have numbers close to each other and therefore different
 * blocks. A run of more than BLOCK listeners goes on into the blocks behind its own.
 */
#include "scheduler/run/launch/launch.h"

#include <stdint.h>
#include <string.h>

/* Below the ports that the kernel gives out by itself (from 32768 on), above those of services. */
#define FIRST  20000
#define BLOCK  16
#define BLOCKS 750

/* Moves the blocks of two daemons on one machine apart, whose runs have the same numbers: FNV-1a of
 * the folder in which the node roots are. */
static uint64_t folder_hash(const char *root)
{
    const char *end = strrchr(root, '/');
    uint64_t h = 14695981039346656037ULL;
    for (const char *p = root; p < end; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211ULL;
    return h;
}

int launch_port(const struct launch_input *in, size_t i)
{
    uint64_t again = in->attempt > 1 ? (uint64_t)in->attempt - 1 : 0;
    /* The ports of an earlier attempt may still be in use by what it left. */
    uint64_t block =
        folder_hash(in->nodes[0].root) % BLOCKS + (uint64_t)in->number + again * (BLOCKS / 2 + 1);
    return FIRST + (int)((block % BLOCKS * BLOCK + i) % (BLOCK * BLOCKS));
}
