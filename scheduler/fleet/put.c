/* SPDX-License-Identifier: MIT
 *
 * One thing is under way at a time: the file is opened, a piece is read, or a request to the node
 * waits for its answer. So the end, which a halt may ask for at any moment, has to wait for one
 * callback at most.
 */
#include "scheduler/fleet/put.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/guid.h"
#include "lib/strbuf.h"

/* A step, in the script's arena. */
struct order {
    struct put_file put;
    bool archive;
    struct job *job; /* while it is carried out */
};

/* One that is carried out. */
struct job {
    struct order *order; /* NULL: the script was halted */
    struct script_turn *turn;
    struct node_link *link;
    struct files *files;
    char *archive; /* where it lies on the node until it is unpacked; NULL: it is none */
    struct file *file;
    uint64_t at, size;
    bool reading;
    char *piece;
};

static void release(struct job *j)
{
    if (j->file)
        file_close(j->file);
    free(j->piece);
    free(j->archive);
    free(j);
}

static void end(struct job *j, const struct err *why)
{
    struct script_turn *turn = j->order ? j->turn : NULL;
    if (j->order)
        j->order->job = NULL;
    release(j);
    if (turn)
        script_turn_end(turn, why);
}

static void on_unpacked(void *ctx, const struct err *why)
{
    end(ctx, why);
}

static void read_on(struct job *j);

static void on_sent(void *ctx, const struct err *why)
{
    struct job *j = ctx;
    free(j->piece);
    j->piece = NULL;
    if (why || !j->order)
        end(j, why);
    else if (j->at < j->size)
        read_on(j);
    else if (j->archive)
        node_unpack(j->link, j->archive, j->order->put.path, on_unpacked, j);
    else
        end(j, NULL);
}

/* Takes the bytes. */
static void send(struct job *j, char *bytes, size_t n)
{
    const struct put_file *put = &j->order->put;
    const struct node_piece piece = {.offset = (int64_t)j->at,
                                     .bytes = bytes,
                                     .n = n,
                                     .last = j->at + n >= j->size,
                                     .mode = j->archive ? 0600 : put->mode};
    j->piece = bytes;
    j->at += n;
    node_write_bytes(j->link, j->archive ? NULL : put->as, j->archive ? j->archive : put->path,
                     &piece, on_sent, j);
}

static void shorter(struct job *j)
{
    struct err e;
    err_set(&e, ERR_IO, NULL, "%s has become shorter meanwhile", j->order->put.from.path);
    end(j, &e);
}

static void on_read(void *ctx, const struct err *why, char *bytes, size_t n)
{
    struct job *j = ctx;
    j->reading = false;
    if (why) {
        free(bytes);
        end(j, why);
    } else if (n == 0) {
        free(bytes);
        shorter(j);
    } else {
        send(j, bytes, n);
    }
}

static void read_on(struct job *j)
{
    uint64_t left = j->size - j->at;
    size_t most = files_piece(j->files);
    j->reading = true;
    file_read(j->file, j->at, left < most ? (size_t)left : most, on_read, j);
}

static void on_opened(void *ctx, const struct err *why, struct file *file, struct file_start *start)
{
    struct job *j = ctx;
    if (why) {
        end(j, why);
        return;
    }
    j->file = file;
    j->size = start->range.len;
    if (!j->order) {
        end(j, NULL);
        return;
    }
    char *bytes = start->bytes;
    start->bytes = NULL;
    send(j, bytes, start->n);
}

static struct file_range whole(const char *text, uint64_t size)
{
    (void)text;
    return (struct file_range){.len = size};
}

static void open_it(struct job *j)
{
    const struct files_open what = {.at = j->order->put.from, .choose = whole};
    files_open(j->files, &what, on_opened, j);
}

/* Whether the node has unpacked it before. */
static void on_looked(void *ctx, const struct err *why)
{
    struct job *j = ctx;
    if (j->order && why && why->code == ERR_FILE_NOT_FOUND)
        open_it(j);
    else
        end(j, why);
}

static void begin(void *ctx, struct node_link *link, struct script_turn *turn)
{
    struct order *o = ctx;
    struct job *j = xcalloc(1, sizeof *j);
    assert(!o->job);
    o->job = j;
    *j = (struct job){.order = o, .turn = turn, .link = link, .files = o->put.files};
    if (!o->archive) {
        open_it(j);
        return;
    }
    char guid[GUID_SIZE];
    struct strbuf name = STRBUF_INIT;
    guid_new(guid);
    strbuf_printf(&name, "%s.%s.zip", o->put.path, guid);
    j->archive = strbuf_take(&name);
    node_unpack(link, NULL, o->put.path, on_looked, j);
}

static void halt(void *ctx)
{
    struct order *o = ctx;
    struct job *j = o->job;
    if (!j)
        return;
    o->job = NULL;
    j->order = NULL;
    if (j->reading) /* its callback does not come once the file is closed */
        release(j);
}

static void add(struct script *sc, struct arena *a, const struct script_label *label,
                const struct put_file *put, bool archive)
{
    struct order *o = arena_alloc(a, sizeof *o);
    *o = (struct order){.put = *put, .archive = archive};
    const struct script_work work = {.begin = begin, .halt = halt, .ctx = o};
    script_work(sc, label, &work);
}

void script_put_file(struct script *sc, struct arena *a, const struct script_label *label,
                     const struct put_file *put)
{
    add(sc, a, label, put, false);
}

void script_put_archive(struct script *sc, struct arena *a, const struct script_label *label,
                        const struct put_file *put)
{
    add(sc, a, label, put, true);
}
