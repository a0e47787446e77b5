/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/link/agents.h"

#include <sodium.h>
#include <stdlib.h>

#include "lib/arena.h"
#include "lib/fs.h"

#define AGENT_MAX_BYTES (256U * 1024 * 1024) /* a limit against a wrong path, no more */

static int load(const struct node_agent_file *file, struct node_agent_image *image, struct err *e)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    if (fs_read(file->path, AGENT_MAX_BYTES, &image->bytes, &image->n, e) < 0)
        return err_prefix(e, "the node agent for %s", file->arch);
    if (image->n == 0)
        return err_set(e, ERR_CONFIG, NULL, "the node agent for %s, %s, is an empty file",
                       file->arch, file->path);
    image->arch = xstrdup(file->arch);
    crypto_hash_sha256(hash, (const unsigned char *)image->bytes, image->n);
    sodium_bin2hex(image->hash, sizeof image->hash, hash, sizeof hash);
    return 0;
}

int node_agents_load(const struct node_agent_file *files, size_t n, struct node_agents **out,
                     struct err *e)
{
    struct node_agents *a = xcalloc(1, sizeof *a + n * sizeof a->images[0]);
    for (; a->n < n; a->n++)
        if (load(&files[a->n], &a->images[a->n], e) < 0) {
            free(a->images[a->n].bytes);
            node_agents_free(a);
            return -1;
        }
    *out = a;
    return 0;
}

void node_agents_free(struct node_agents *a)
{
    for (size_t i = 0; a && i < a->n; i++) {
        free(a->images[i].arch);
        free(a->images[i].bytes);
    }
    free(a);
}
