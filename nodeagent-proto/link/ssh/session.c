/* SPDX-License-Identifier: MIT
 *
 * The environment of libssh2. Its memory is wiped when freed, because it holds passwords and
 * decrypted keys; memory that libssh2 leaks (1.10: the ephemeral keys of a session that ends during
 * its key exchange) is freed with the session. Instead of the socket, libssh2 uses buffers of the
 * link.
 */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/arena.h"
#include "nodeagent-proto/link/ssh/ssh_priv.h"

/* ---- memory ---- */

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

/* ---- a socket ---- */

/* Receives with a time limit: an ssh-agent may never answer, and the thread must return to the
 * pool. */
static ssize_t receive_by(int fd, void *buf, size_t n, int flags, int patience_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int ready = poll(&p, 1, patience_ms);
    ssize_t got = ready > 0 ? recv(fd, buf, n, flags) : -1;
    return got >= 0 ? got : ready == 0 ? -ETIMEDOUT : -errno;
}

/* The pool's thread must not read the phase, because the loop may set it meanwhile. */
static bool is_over(const struct ssh *l)
{
    return !l->work_busy && l->phase == SSH_OVER;
}

static ssize_t take_received(libssh2_socket_t fd, void *buf, size_t n, int flags, void **abstract)
{
    struct ssh *l = *abstract;
    assert(l->in_at <= l->in.len);
    size_t there = l->in.len - l->in_at;
    if (fd != l->fd) /* an ssh-agent's socket: this runs on the thread pool */
        return receive_by(fd, buf, n, flags, l->login_ms);
    if (is_over(l))
        return -ECONNRESET;
    if (there == 0)
        return -EAGAIN;
    if (n > there)
        n = there;
    memcpy(buf, l->in.s + l->in_at, n);
    l->in_at += n;
    if (l->in_at == l->in.len) {
        strbuf_free(&l->in);
        l->in_at = 0;
    }
    return (ssize_t)n;
}

static ssize_t put_to_send(libssh2_socket_t fd, const void *buf, size_t n, int flags,
                           void **abstract)
{
    struct ssh *l = *abstract;
    if (fd != l->fd) {
        ssize_t put = send(fd, buf, n, flags);
        return put < 0 ? -errno : put;
    }
    if (is_over(l))
        return -EPIPE;
    strbuf_add(&l->out, buf, n);
    return (ssize_t)n;
}

/* ---- the session ---- */

/* libssh2 1.11.1 has a second function that takes a callback, and calls the first deprecated. */
static void set_callback(LIBSSH2_SESSION *session, int type, void (*f)(void))
{
#if LIBSSH2_VERSION_NUM >= 0x010b01
    libssh2_session_callback_set2(session, type, f);
#else
    void *p; /* C has no cast from a function to void * */
    memcpy(&p, &f, sizeof p);
    libssh2_session_callback_set(session, type, p);
#endif
}

LIBSSH2_SESSION *ssh_session_create(struct ssh *l)
{
    LIBSSH2_SESSION *session = libssh2_session_init_ex(get, put, resize, l);
    if (!session)
        return NULL;
    libssh2_session_set_blocking(session, 0);
    set_callback(session, LIBSSH2_CALLBACK_RECV, (void (*)(void))take_received);
    set_callback(session, LIBSSH2_CALLBACK_SEND, (void (*)(void))put_to_send);
    return session;
}

void ssh_session_free(struct ssh *l)
{
    /* In phase OVER sending and receiving fail at once, so this cannot return EAGAIN. */
    if (l->session && libssh2_session_free(l->session) < 0)
        LOG_ERROR(l->link.log, "node.ssh_session_not_freed", LF_STR("node", l->name));
    for (struct ssh_block *b; (b = l->blocks);) {
        l->blocks = b->next;
        wipe(b);
    }
}
