/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/link/agents.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/arena.h"
#include "lib/fs.h"

#define PROGRAM_MAX_BYTES (256U * 1024 * 1024) /* only to refuse a wrong path */

static int load_program(const char *path, const char *name, struct node_program *p, struct err *e)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    char hex[2 * sizeof hash + 1];
    if (fs_read(path, PROGRAM_MAX_BYTES, &p->bytes, &p->n, e) < 0)
        return -1;
    if (p->n == 0) {
        free(p->bytes);
        p->bytes = NULL;
        return err_set(e, ERR_CONFIG, NULL, "%s is an empty file", path);
    }
    crypto_hash_sha256(hash, (const unsigned char *)p->bytes, p->n);
    sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    snprintf(p->name, sizeof p->name, "%s-%s", name, hex);
    return 0;
}

static int load(const struct node_agent_file *file, struct node_agent_image *image, struct err *e)
{
    struct err why;
    if (load_program(file->path, "batchai-node", &image->programs[NODE_PROGRAM_AGENT], e) < 0)
        return err_prefix(e, "the node agent for %s", file->arch);
    image->arch = xstrdup(file->arch);
    if (file->cmd_path &&
        load_program(file->cmd_path, "batchai-cmd", &image->programs[NODE_PROGRAM_CMD], &why) < 0)
        image->no_cmd = xstrdup(why.msg);
    return 0;
}

int node_agents_load(const struct node_agent_file *files, size_t n, struct node_agents **out,
                     struct err *e)
{
    struct node_agents *a = xcalloc(1, sizeof *a + n * sizeof a->images[0]);
    for (; a->n < n; a->n++)
        if (load(&files[a->n], &a->images[a->n], e) < 0) {
            node_agents_free(a);
            return -1;
        }
    *out = a;
    return 0;
}

void node_agents_free(struct node_agents *a)
{
    for (size_t i = 0; a && i < a->n; i++) {
        for (size_t k = 0; k < NODE_PROGRAMS; k++)
            free(a->images[i].programs[k].bytes);
        free(a->images[i].arch);
        free(a->images[i].no_cmd);
    }
    free(a);
}
