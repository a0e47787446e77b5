/* SPDX-License-Identifier: MIT
 *
 * libssh2's memory: wiped when freed, as it holds passwords and decrypted keys; and what libssh2
 * forgets (1.10: the ephemeral keys of a session that ends within its key exchange) goes with the
 * session.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "nodeagent-proto/link/ssh/ssh_priv.h"

struct ssh_block {
    struct ssh_block *prev, *next;
    size_t n;
    max_align_t bytes[];
};

static void *get(size_t n, void **abstract)
{
    struct ssh *l = *abstract;
    struct ssh_block *b = xcalloc(1, sizeof *b + n);
    b->n = n;
    b->next = l->blocks;
    if (b->next)
        b->next->prev = b;
    l->blocks = b;
    return b->bytes;
}

static void wipe(struct ssh_block *b)
{
    explicit_bzero(b->bytes, b->n);
    free(b);
}

static void drop(struct ssh *l, struct ssh_block *b)
{
    if (b->prev)
        b->prev->next = b->next;
    else
        l->blocks = b->next;
    if (b->next)
        b->next->prev = b->prev;
    wipe(b);
}

static struct ssh_block *block_of(void *bytes)
{
    return (struct ssh_block *)(void *)((char *)bytes - offsetof(struct ssh_block, bytes));
}

static void put(void *bytes, void **abstract)
{
    if (bytes)
        drop(*abstract, block_of(bytes));
}

static void *resize(void *bytes, size_t n, void **abstract)
{
    void *larger = get(n, abstract);
    if (bytes) {
        size_t old = block_of(bytes)->n;
        memcpy(larger, bytes, old < n ? old : n);
        put(bytes, abstract);
    }
    return larger;
}

LIBSSH2_SESSION *ssh_session_create(struct ssh *l)
{
    return libssh2_session_init_ex(get, put, resize, l);
}

void ssh_session_free(struct ssh *l)
{
    /* The phase is OVER: sending and receiving fail at once, so this cannot ask to wait. */
    if (l->session && libssh2_session_free(l->session) < 0)
        LOG_ERROR(l->link.log, "node.ssh-session-kept", LF_STR("node", l->name));
    for (struct ssh_block *b; (b = l->blocks);) {
        l->blocks = b->next;
        wipe(b);
    }
}
