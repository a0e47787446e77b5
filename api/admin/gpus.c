/* SPDX-License-Identifier: MIT
 *
 * Rows are read and written in slices. The first request for the whole list makes the text (it is
 * the maker); requests that arrive meanwhile wait for this text. The text is sent again to later
 * requests for FRESH_NS. If the client of the maker leaves, another waiting request becomes the
 * maker. Called only on the loop's thread.
 */
#include "api/admin/gpus.h"

#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>
#include <zlib.h>

#include "api/admin/admin.h"
#include "api/admin/routes.h"
#include "api/http/request.h"
#include "lib/jsontext.h"
#include "lib/work.h"
#include "scheduler/fleet/fleet.h"

#define FRESH_NS          UINT64_C(1000000000)
#define MACHINES_PER_TURN 200
#define GPUS_MAX          10000 /* most machines of a page */
#define ETAG_SIZE         (2 * crypto_generichash_BYTES_MIN + 5)
#define GZIP_WINDOW       (15 + 16) /* deflateInit2(): largest window, gzip header */
#define GZIP_MEMORY       8

/* Each GPU is shown as one letter: its state, or `outside`. */
enum { GPU_OUTSIDE = GPU_STATES, LETTERS };
static const struct {
    char letter;
    const char *name; /* its name in the reply's `counts` */
} letters[LETTERS] = {[GPU_FREE] = {'f', "free"},         [GPU_USED] = {'u', "used"},
                      [GPU_BUSY] = {'b', "busy"},         [GPU_IDLE] = {'i', "idle"},
                      [GPU_UNUSABLE] = {'x', "unusable"}, [GPU_OUTSIDE] = {'o', "outside"}};

struct gpu_list;

struct gpu_board {
    struct strbuf text;
    unsigned char *packed; /* the text, compressed with gzip */
    size_t n_packed;
    char etag[ETAG_SIZE];
    uint64_t made_ns;       /* 0: never */
    struct gpu_list *maker; /* the request that makes the text, or NULL */
};

struct gpu_list {
    struct gpu_board *board; /* this request is its maker; NULL: it is not */
    struct machines_reading *reading;
    long max;
    const char *after; /* "NUMBER/NAME" of the last machine of the page before; NULL: none */
    bool read, more;
    const struct machine_view *list;
    size_t n, at, first; /* first: index of the page's first */
    size_t last;         /* the number of the page's last machine, from 1 on */
    long shown;
    uint64_t counts[LETTERS];
    struct strbuf text;
};

struct gpu_board *gpu_board_create(void)
{
    return xcalloc(1, sizeof(struct gpu_board));
}

void gpu_board_free(struct gpu_board *b)
{
    if (b) {
        strbuf_free(&b->text);
        free(b->packed);
    }
    free(b);
}

/* Ends being the maker, so that another request may make the board. */
static void give_up(struct gpu_list *l)
{
    if (l->board)
        l->board->maker = NULL;
    l->board = NULL;
}

static void list_free(void *ctx)
{
    struct gpu_list *l = ctx;
    give_up(l);
    strbuf_free(&l->text);
}

/* --- the text --------------------------------------------------------------------------------- */

static void add_text(struct strbuf *b, const char *member, const char *text)
{
    strbuf_puts(b, member);
    jsontext_add_text(b, text, strlen(text));
}

static int letter_of(const struct gpu_view *g)
{
    return g->outside && g->state != GPU_UNUSABLE ? (int)GPU_OUTSIDE : (int)g->state;
}

static void add_row(struct gpu_list *l, const struct machine_view *m)
{
    struct strbuf *b = &l->text;
    strbuf_puts(b, l->shown++ > 0 ? ",{" : "{");
    add_text(b, "\"node\":", m->name);
    add_text(b, ",\"state\":", m->state);
    if (m->pool)
        add_text(b, ",\"cluster\":", m->pool);
    if (m->drained)
        strbuf_puts(b, ",\"drained\":true");
    strbuf_puts(b, ",\"gpus\":\"");
    for (int i = 0; i < m->n_gpus; i++)
        strbuf_putc(b, letters[letter_of(&m->gpus[i])].letter);
    strbuf_puts(b, "\"}");
}

/* Counts all GPUs; shows only the rows of the page. */
static void add(struct gpu_list *l, size_t i)
{
    const struct machine_view *m = &l->list[i];
    for (int k = 0; k < m->n_gpus; k++)
        l->counts[letter_of(&m->gpus[k])]++;
    if (i < l->first || m->n_gpus == 0)
        return;
    if (l->shown == l->max) {
        l->more = true;
        return;
    }
    add_row(l, m);
    l->last = i + 1;
}

static void end(struct gpu_list *l, struct arena *a)
{
    strbuf_puts(&l->text, "],\"counts\":{");
    for (size_t i = 0; i < LETTERS; i++)
        strbuf_printf(&l->text, "%s\"%s\":%llu", i ? "," : "", letters[i].name,
                      (unsigned long long)l->counts[i]);
    strbuf_putc(&l->text, '}');
    if (l->more)
        add_text(&l->text,
                 ",\"next\":", arena_printf(a, "%zu/%s", l->last, l->list[l->last - 1].name));
    strbuf_putc(&l->text, '}');
}

/* --- the board -------------------------------------------------------------------------------- */

/* Compresses the text to about a tenth, because the names and GPUs of machines are alike. */
static void pack(struct gpu_board *b)
{
    z_stream z = {.next_in = (unsigned char *)b->text.s, .avail_in = (unsigned)b->text.len};
    if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        work_give_up();
    size_t room = deflateBound(&z, b->text.len);
    b->packed = xrealloc(b->packed, room);
    z.next_out = b->packed;
    z.avail_out = (unsigned)room;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END)
        work_give_up();
    b->n_packed = room - z.avail_out;
    deflateEnd(&z);
}

static void keep(struct gpu_board *b, struct strbuf *text)
{
    unsigned char hash[crypto_generichash_BYTES_MIN];
    char hex[2 * sizeof hash + 1];
    strbuf_free(&b->text);
    b->text = *text;
    *text = (struct strbuf)STRBUF_INIT;
    b->made_ns = uv_hrtime();
    crypto_generichash(hash, sizeof hash, (const unsigned char *)b->text.s, b->text.len, NULL, 0);
    sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    snprintf(b->etag, sizeof b->etag, "W/\"%s\"", hex); /* of the text, packed or not */
    pack(b);
}

static struct replied *reply_board(struct request *r, const struct gpu_board *b)
{
    const char *has = request_header(r, "If-None-Match");
    reply_header(r, "ETag", "%s", b->etag);
    if (has && strcmp(has, b->etag) == 0)
        return reply_empty(r, 304);
    reply_header_text(r, "Vary", "Accept-Encoding");
    if (!request_takes_gzip(r))
        return reply_json_copy(r, 200, b->text.s, b->text.len);
    unsigned char *copy = xrealloc(NULL, b->n_packed);
    memcpy(copy, b->packed, b->n_packed);
    reply_header_text(r, "Content-Encoding", "gzip");
    return reply_bytes(r, 200, JSON_CONTENT_TYPE, copy, b->n_packed);
}

static bool is_fresh(const struct gpu_board *b)
{
    return b->made_ns && uv_hrtime() - b->made_ns < FRESH_NS;
}

/* --- slices ----------------------------------------------------------------------------------- */

static struct replied *finish(struct request *r, struct gpu_list *l)
{
    struct gpu_board *b = l->board;
    end(l, &r->arena);
    if (!b)
        return reply_json_text(r, 200, &l->text);
    keep(b, &l->text);
    return reply_board(r, b);
}

/* The index of the page's first machine: after the machine in `after`. If that machine is gone, its
 * former number is used. */
static size_t first_of(const struct gpu_list *l)
{
    const char *slash = l->after ? strchr(l->after, '/') : NULL;
    if (!slash)
        return 0;
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->list[i].name, slash + 1) == 0)
            return i + 1;
    unsigned long number = strtoul(l->after, NULL, 10);
    return number > 0 ? number - 1 : 0;
}

static int read_some(struct gpu_list *l, struct err *e)
{
    int rc = fleet_machines_more(l->reading, e);
    if (rc != 0)
        return rc;
    l->read = true;
    l->list = fleet_machines_list(l->reading, &l->n);
    l->first = first_of(l);
    strbuf_puts(&l->text, "{\"value\":[");
    return 0;
}

/* NULL: the list is not complete yet. */
static struct replied *list_some(struct request *r, struct gpu_list *l)
{
    struct err e;
    if (!l->read)
        return read_some(l, &e) < 0 ? reply_err(r, &e) : NULL;
    for (int i = 0; i < MACHINES_PER_TURN && l->at < l->n; i++)
        add(l, l->at++);
    return l->at < l->n ? NULL : finish(r, l);
}

static void list_more(struct request *r, void *ctx)
{
    struct replied *done = list_some(r, ctx);
    if (!done) {
        request_again(r, list_more, ctx);
        return;
    }
    give_up(ctx); /* a client may take long to read the reply */
    request_finish(r, done);
}

/* Sends the board if it is fresh. Otherwise waits while another request makes it, or makes it. */
static void board_more(struct request *r, void *ctx)
{
    struct gpu_list *l = ctx;
    struct gpu_board *b = admin_of(r)->gpus;
    if (is_fresh(b)) {
        request_finish(r, reply_board(r, b));
        return;
    }
    if (!b->maker) {
        b->maker = l;
        l->board = b;
        l->reading = fleet_machines_begin(admin_of(r)->fleet, &r->arena, MACHINES_BRIEF);
    }
    request_again(r, l->board ? list_more : board_more, l);
}

static int read_page(struct request *r, struct gpu_list *l, struct err *e)
{
    l->after = request_query(r, "after");
    if (l->after && !strchr(l->after, '/'))
        return err_set(
            e, ERR_INVALID_QUERY, "after",
            "'%.100s' is not a valid position in the list; use `next` of the previous page",
            l->after);
    return request_query_int(r, "max", (struct query_bounds){1, GPUS_MAX, LONG_MAX}, &l->max, e);
}

struct replied *gpus_list(struct request *r)
{
    struct err e;
    struct gpu_list *l = arena_alloc(&r->arena, sizeof *l);
    *l = (struct gpu_list){.max = 0};
    if (read_page(r, l, &e) < 0)
        return reply_err(r, &e);
    request_own_thing(r, l, list_free);
    if (!l->after && l->max == LONG_MAX) {
        request_again(r, board_more, l);
        return reply_later(r);
    }
    l->reading = fleet_machines_begin(admin_of(r)->fleet, &r->arena, MACHINES_BRIEF);
    request_again(r, list_more, l);
    return reply_later(r);
}
