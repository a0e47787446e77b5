/* SPDX-License-Identifier: MIT
 *
 * State: lists of connections, each in order of age, and a hash table of addresses with their
 * counts. Invariant: from accept to close a connection is in one list, and its address is in the
 * table. The server owns both. Called only on the loop's thread.
 */
#include "api/http/connections.h"

#include <assert.h>
#include <ctype.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/hash.h"

#define BUCKETS 256
#define RELAY   2 /* further descriptors of a relayed connection */

/* TCP gives up a client that has vanished after (1 + KEEPALIVES) * KEEPALIVE_S seconds. */
#define KEEPALIVE_S 15
#define KEEPALIVES  3
#define SEND_BUFFER (64 * 1024) /* bytes */

enum connection_list { FRESH, IDLE, BUSY, READING, DISCARDING, LISTS };

/* Failed logins of one account. `account` is a keyed hash of its name. */
struct failures {
    uint64_t account;
    uint64_t until_ms; /* later by LOGIN_FAILURE_EVERY_MS per failure */
};

/* A client's address that has connections, or failed logins that are not forgotten yet. */
struct http_peer {
    struct http_peer *next; /* next in its bucket */
    unsigned char address[16];
    int open;
    struct failures *failures;  /* array of LOGIN_ACCOUNTS; NULL: no failures */
    uint64_t failures_until_ms; /* when the latest failure is forgotten */
    bool has_turn; /* a request of this address has its turn (connection_take_turn()) */
    struct connection_turn *waiting, **waiting_end;
};

struct connection {
    struct connections *all;
    struct http_peer *peer;
    const struct api_listen *door;
    int fd;
    enum connection_list list;
    struct connection *before, *after; /* neighbours in its list, oldest first */
    uint64_t since_ms;                 /* when it came into this list */
    uint64_t body;                     /* bytes received since then */
    bool refused, relayed;
};

struct connections {
    uv_timer_t timer;
    void *owner;
    struct connection *first[LISTS], *last[LISTS];
    struct http_peer *bucket[BUCKETS];
    unsigned char account_key[crypto_shorthash_KEYBYTES];
    int open, max; /* with RELAY for each relayed connection */
    uint64_t opened, hung_up;
    uint64_t patience_ms;
    void (*closed)(void *ctx);
    void *closed_ctx;
};

/* --- addresses ------------------------------------------------------------------------------ */

/* The address for limits: IPv4 as IPv4-mapped IPv6; of IPv6 the first 64 bits, because a client
 * usually has all addresses with these bits. All other address families count as one address. */
static void address_of(const struct sockaddr *from, unsigned char out[16])
{
    memset(out, 0, 16);
    if (from && from->sa_family == AF_INET6) {
        struct sockaddr_in6 a;
        memcpy(&a, from, sizeof a);
        bool is_one = IN6_IS_ADDR_V4MAPPED(&a.sin6_addr) || IN6_IS_ADDR_LOOPBACK(&a.sin6_addr);
        memcpy(out, &a.sin6_addr, is_one ? 16 : 8);
    } else if (from && from->sa_family == AF_INET) {
        struct sockaddr_in a;
        memcpy(&a, from, sizeof a);
        out[10] = out[11] = 0xff;
        memcpy(out + 12, &a.sin_addr, 4);
    }
}

static struct http_peer **bucket_of(struct connections *all, const unsigned char address[16])
{
    return &all->bucket[text_hash(address, 16) % BUCKETS];
}

static struct http_peer *peer_get(struct connections *all, const struct sockaddr *from)
{
    unsigned char address[16];
    address_of(from, address);
    struct http_peer **bucket = bucket_of(all, address);
    for (struct http_peer *p = *bucket; p; p = p->next)
        if (memcmp(p->address, address, sizeof address) == 0)
            return p;
    struct http_peer *p = xcalloc(1, sizeof *p);
    memcpy(p->address, address, sizeof address);
    p->waiting_end = &p->waiting;
    p->next = *bucket;
    *bucket = p;
    return p;
}

/* Removes the addresses that have no connections and whose failures have expired; with `every` all
 * addresses. */
static void forget_peers(struct connections *all, uint64_t now_ms, bool every)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct http_peer **p = &all->bucket[i]; *p;) {
            struct http_peer *gone = *p;
            if (!every && (gone->open > 0 || gone->failures_until_ms > now_ms)) {
                p = &gone->next;
                continue;
            }
            assert(gone->open == 0 && !gone->waiting);
            *p = gone->next;
            free(gone->failures);
            free(gone);
        }
}

/* --- logins --------------------------------------------------------------------------------- */

static uint64_t hash_of(const struct connections *all, const char *account)
{
    unsigned char out[crypto_shorthash_BYTES];
    uint64_t hash;
    char *low = xstrdup(account);
    for (char *p = low; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    crypto_shorthash(out, (const unsigned char *)low, strlen(low), all->account_key);
    free(low);
    memcpy(&hash, out, sizeof hash);
    return hash;
}

/* The entry of an account (*found); if it has none, the entry to reuse, which expires first. NULL:
 * the address has no failures. */
static struct failures *failures_of(const struct connection *c, const char *account, bool *found)
{
    struct failures *all = c->peer->failures, *first = all;
    uint64_t hash = hash_of(c->all, account);
    for (size_t i = 0; all && i < LOGIN_ACCOUNTS; i++) {
        *found = all[i].account == hash && all[i].until_ms > 0;
        if (*found)
            return &all[i];
        if (all[i].until_ms < first->until_ms)
            first = &all[i];
    }
    *found = false;
    return first;
}

bool connection_may_log_in(const struct connection *c, const char *account, uint64_t now_ms)
{
    bool found;
    const struct failures *f = failures_of(c, account, &found);
    return !found ||
           f->until_ms < now_ms + (uint64_t)LOGIN_FAILURES_AT_ONCE * LOGIN_FAILURE_EVERY_MS;
}

void connection_login_failed(struct connection *c, const char *account, uint64_t now_ms)
{
    struct http_peer *p = c->peer;
    bool found;
    if (!p->failures)
        p->failures = xcalloc(LOGIN_ACCOUNTS, sizeof *p->failures);
    struct failures *f = failures_of(c, account, &found);
    if (!found)
        *f = (struct failures){.account = hash_of(c->all, account)};
    if (f->until_ms < now_ms)
        f->until_ms = now_ms;
    f->until_ms += LOGIN_FAILURE_EVERY_MS;
    if (f->until_ms > p->failures_until_ms)
        p->failures_until_ms = f->until_ms;
}

bool connection_take_turn(struct connection *c, struct connection_turn *t)
{
    struct http_peer *p = c->peer;
    if (!p->has_turn) {
        p->has_turn = true;
        return true;
    }
    t->next = NULL;
    *p->waiting_end = t;
    p->waiting_end = &t->next;
    return false;
}

void connection_end_turn(struct connection *c)
{
    struct http_peer *p = c->peer;
    struct connection_turn *t = p->waiting;
    assert(p->has_turn);
    p->has_turn = t != NULL;
    if (!t)
        return;
    p->waiting = t->next;
    if (!p->waiting)
        p->waiting_end = &p->waiting;
    t->go(t);
}

/* --- lists ---------------------------------------------------------------------------------- */

static void take_out(struct connection *c)
{
    struct connections *all = c->all;
    *(c->before ? &c->before->after : &all->first[c->list]) = c->after;
    *(c->after ? &c->after->before : &all->last[c->list]) = c->before;
    c->before = c->after = NULL;
}

static void put_in(struct connection *c, enum connection_list list)
{
    struct connections *all = c->all;
    c->list = list;
    c->since_ms = uv_now(all->timer.loop);
    c->body = 0;
    c->before = all->last[list];
    *(c->before ? &c->before->after : &all->first[list]) = c;
    all->last[list] = c;
}

void connection_hang_up(struct connection *c)
{
    connection_refuse(c);
    c->all->hung_up++;
    shutdown(c->fd, SHUT_RDWR);
}

struct socket_option {
    int level, name, value;
};

static void set(const struct connection *c, const struct socket_option *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        (void)setsockopt(c->fd, all[i].level, all[i].name, &all[i].value, sizeof all[i].value);
}

void connection_lasts(const struct connection *c)
{
    static const struct socket_option all[] = {{IPPROTO_TCP, TCP_NODELAY, 1},
                                               {SOL_SOCKET, SO_KEEPALIVE, 1},
                                               {IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_S},
                                               {IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_S},
                                               {IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVES}};
    set(c, all, sizeof all / sizeof all[0]);
}

void connection_streams(const struct connection *c)
{
    static const struct socket_option all[] = {
        {SOL_SOCKET, SO_SNDBUF, SEND_BUFFER},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, (1 + KEEPALIVES) * KEEPALIVE_S * 1000}};
    connection_lasts(c);
    set(c, all, sizeof all / sizeof all[0]);
}

int connection_most(const struct connection *c)
{
    return c->all->max;
}

void connection_busy(struct connection *c)
{
    take_out(c);
    put_in(c, BUSY);
}

void connection_idle(struct connection *c)
{
    take_out(c);
    put_in(c, IDLE);
}

void connection_reads(struct connection *c, size_t n, bool wanted)
{
    enum connection_list list = wanted ? READING : DISCARDING;
    if (c->list != list) {
        take_out(c);
        put_in(c, list);
    }
    c->body += n;
}

void connection_refuse(struct connection *c)
{
    c->refused = true;
}

bool connection_refused(const struct connection *c)
{
    return c->refused;
}

void connection_address(const struct connection *c, char out[CONNECTION_ADDRESS_SIZE])
{
    sodium_bin2hex(out, CONNECTION_ADDRESS_SIZE, c->peer->address, sizeof c->peer->address);
}

/* --- making room ---------------------------------------------------------------------------- */

/* The oldest connection of a list that has the address `of` (NULL: any) and is not being closed. */
static struct connection *oldest(struct connections *all, enum connection_list list,
                                 const struct http_peer *of)
{
    for (struct connection *c = all->first[list]; c; c = c->after)
        if (!c->refused && (!of || c->peer == of))
            return c;
    return NULL;
}

static void make_room(struct connections *all, struct connection *added, const struct http_peer *of)
{
    struct connection *c = oldest(all, FRESH, of);
    if (!c || c == added)
        c = oldest(all, IDLE, of);
    if (!c)
        c = oldest(all, DISCARDING, of);
    connection_hang_up(c ? c : added);
}

/* Whether the connection's client is too slow with the head or the body. */
static bool is_late(const struct connection *c, uint64_t now_ms)
{
    return now_ms - c->since_ms >= c->all->patience_ms + c->body / BODY_BYTES_PER_MS;
}

static void sweep(uv_timer_t *t)
{
    static const enum connection_list awaited[] = {FRESH, READING, DISCARDING};
    struct connections *all = t->data;
    uint64_t now = uv_now(t->loop);
    for (size_t i = 0; i < sizeof awaited / sizeof awaited[0]; i++)
        for (struct connection *c = all->first[awaited[i]]; c; c = c->after)
            if (!c->refused && is_late(c, now))
                connection_hang_up(c);
    forget_peers(all, now, false);
    if (all->open == 0)
        uv_timer_stop(t); /* the next connection starts the timer again */
}

struct connection *connection_opened(struct connections *all, int fd, const struct sockaddr *from,
                                     const struct api_listen *door)
{
    struct connection *c = xcalloc(1, sizeof *c);
    *c = (struct connection){.all = all, .peer = peer_get(all, from), .fd = fd, .door = door};
    put_in(c, FRESH);
    all->open++;
    all->opened++;
    c->peer->open++;
    if (c->peer->open > CONNECTIONS_OF_ONE)
        make_room(all, c, c->peer);
    else if (all->open > all->max)
        make_room(all, c, NULL);
    if (!uv_is_active((uv_handle_t *)&all->timer))
        uv_timer_start(&all->timer, sweep, all->patience_ms / 10, all->patience_ms / 10);
    return c;
}

void connection_set_relayed(struct connection *c)
{
    struct connections *all = c->all;
    assert(!c->relayed);
    c->relayed = true;
    all->open += RELAY;
    for (int i = 0; i < RELAY && all->open > all->max && !c->refused; i++)
        make_room(all, c, NULL);
}

bool connection_is_tls(const struct connection *c)
{
    return c->relayed;
}

void connection_closed(struct connection *c)
{
    assert(c->all->open > 0 && c->peer->open > 0);
    take_out(c);
    c->all->open -= c->relayed ? 1 + RELAY : 1;
    c->peer->open--;
    free(c);
}

void *connection_owner(const struct connection *c)
{
    return c->all->owner;
}

const struct api_listen *connection_door(const struct connection *c)
{
    return c->door;
}

/* --- the whole ------------------------------------------------------------------------------ */

struct connections *connections_create(uv_loop_t *loop, void *owner, uint64_t patience_ms, int max)
{
    struct connections *all = xcalloc(1, sizeof *all);
    all->owner = owner;
    uv_timer_init(loop, &all->timer);
    all->timer.data = all;
    all->patience_ms = patience_ms;
    all->max = max;
    crypto_shorthash_keygen(all->account_key);
    return all;
}

void connections_count(const struct connections *all, uint64_t *opened, uint64_t *hung_up)
{
    *opened = all->opened;
    *hung_up = all->hung_up;
}

static void on_timer_closed(uv_handle_t *h)
{
    struct connections *all = h->data;
    void (*cb)(void *) = all->closed;
    void *ctx = all->closed_ctx;
    free(all);
    cb(ctx);
}

void connections_close(struct connections *all, void (*cb)(void *ctx), void *ctx)
{
    assert(all->open == 0);
    forget_peers(all, 0, true);
    all->closed = cb;
    all->closed_ctx = ctx;
    uv_close((uv_handle_t *)&all->timer, on_timer_closed);
}
