/* SPDX-License-Identifier: MIT
 *
 * Of fuzz_agent.c: what stands in the place of agent/upload.h and agent/usage.h, and of whole files
 * that are written.
 */
#ifndef TEST_FUZZ_AGENT_PARTS_H
#define TEST_FUZZ_AGENT_PARTS_H

#include "nodeagent-proto/agent/keys.h"
#include "nodeagent-proto/agent/unlinked.h"
#include "nodeagent-proto/agent/usage.h"
#include "test/sim/wrap.h"

void sampler_take(struct sampler *sampler, const char *root, const char *list, bool watch,
                  struct node_sample *out)
{
    struct gpu_sample *gpus = out->gpus;
    (void)sampler;
    (void)root;
    (void)list;
    sample_clear(out);
    out->gpus = gpus;
    out->disk_free = watch;
}

void usage_look(const char *root, struct node_usage *out)
{
    CLAIM(root == m.a.root);
    *out = (struct node_usage){.cpu_ticks = 1};
}

/* What a machine lacks for mounts; the real function connects to the host. */
json_t *mounting_lacks(const char *host, int port)
{
    struct err e;
    json_t *list = json_array();
    CLAIM(host);
    (void)port;
    if (act(&e) < 0)
        json_array_append_new(list, json_string(e.msg));
    return list;
}

int file_write_piece(const char *path, const struct file_piece *piece, struct err *e)
{
    CLAIM(piece->offset >= 0 && piece->mode <= 07777);
    return act_at(path, e);
}

int unlinked_discard(const struct unlinked *u, struct err *e)
{
    CLAIM(u->root == m.a.root && u->dir && u->used && u->links);
    return act_at(u->dir, e);
}

int archive_unpack(const char *archive, const char *target, struct err *e)
{
    CLAIM(target && *target == '/');
    return act_at(archive, e);
}

int keys_set(const struct account *a, const char *public_line, const char *private_key,
             struct err *e)
{
    CLAIM(a->uid == 70000 && !public_line && private_key && m.a.facts.node.is_root);
    return act(e);
}

WRAP(int, fs_write_atomic, const char *path, const void *data, size_t len, mode_t mode,
     struct err *e)
{
    CLAIM(is_below(path) && len > 0 && data && mode == 0600); /* the epoch */
    return act(e);
}

#endif
