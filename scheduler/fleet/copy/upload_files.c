/* SPDX-License-Identifier: MIT
 *
 * A step is described by an order in the script's arena; a `struct upload_work` carries the order
 * out. There is one pending operation at a time: a request to the node, or a transfer. A request
 * always calls back; an ended transfer does not call back. So after a halt, the work waits only for
 * a pending request to the node.
 */
#include "scheduler/fleet/copy/upload_files.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/strbuf.h"
#include "scheduler/fleet/transfer/blobs.h"

#define PIECE ((size_t)512 * 1024)
/* A pattern with more matches is most likely a user's mistake, so the step fails. */
#define FILES_MAX 10000
/* The most directories that are listed for a pattern: each costs a request to the node. */
#define DIRS_MAX 100000
/* How often a failed upload is tried, with pauses that double. */
#define TRIES          4
#define FIRST_PAUSE_US 500000
/* A file of up to WHOLE_MAX bytes is sent in one request; a larger file in blocks of BLOCK bytes
 * (longer blocks if there would be too many). So a failed request costs little when it is tried
 * again. */
#define WHOLE_MAX ((uint64_t)64 * 1024 * 1024)
#define BLOCK     ((uint64_t)16 * 1024 * 1024)
/* The least rate (bytes a second) at which a storage account is expected to assemble blocks: that
 * of a busy disk. */
#define ASSEMBLED_S ((uint64_t)10 * 1024 * 1024)
/* The first version of the storage service that accepts blocks of this size. */
#define VERSION "x-ms-version: 2020-04-08"

struct upload_order {
    struct upload what;
    struct upload_work *work;
};

struct upload_names {
    const char **at;
    size_t n, room;
};

struct upload_work {
    struct upload_order *order; /* NULL: the script was halted */
    struct script_turn *turn;
    struct node_link *link;
    struct arena a;
    struct glob_place place;
    /* relative to `base`; dirs: directories that are not listed yet */
    struct upload_names dirs, files;
    size_t n_dirs;           /* how many directories were found */
    int64_t left_out;        /* how many entries were left out of the lists of directories */
    size_t at;               /* the index of the present file in `files` */
    const char *path, *blob; /* paths of the file: below the base; in the container */
    struct transfer *transfer;
    int tries;
    uint64_t size, sent;     /* of the file */
    int64_t mtime_us, inode; /* of the file, when its upload began */
    uint64_t from, upto;     /* the part of the file in the pending request */
    size_t block;            /* the number of the present block */
    bool asks;               /* a request to the node is pending */
    struct err why;          /* the error to end with after it was logged */
};

/* --- the end ------------------------------------------------------------------------------------
 */

static void end(struct upload_work *j, const struct err *why)
{
    struct script_turn *turn = j->order ? j->turn : NULL;
    if (j->order)
        j->order->work = NULL;
    if (j->transfer)
        transfer_end(j->transfer);
    struct err e = why ? *why : (struct err){0};
    arena_free(&j->a);
    free(j);
    if (turn)
        script_turn_end(turn, why ? &e : NULL);
}

/* Handles an answer of the node. True: the work was halted, so the answer is dropped. */
static bool answered(struct upload_work *j)
{
    j->asks = false;
    if (j->order)
        return false;
    end(j, NULL);
    return true;
}

static void on_failure_logged(void *ctx, const struct err *why)
{
    struct upload_work *j = ctx;
    (void)why; /* the failure is reported even if it could not be logged */
    if (!answered(j))
        end(j, &j->why);
}

/* Ends the work with this error after writing it to the file for errors. */
static void fail(struct upload_work *j, const struct err *why)
{
    const struct upload *u = &j->order->what;
    j->why = *why;
    if (j->at < j->files.n)
        (void)err_prefix(&j->why, "%s", j->files.at[j->at]);
    j->asks = true;
    node_ask(j->link,
             REQUEST(append, .path = u->errors,
                     .text = arena_concat(&j->a, u->file->what, ": ", j->why.msg, "\n"),
                     .as = u->as),
             on_failure_logged, j);
}

/* Like fail(), for an error that concerns no file in particular. */
static void fail_all(struct upload_work *j, const struct err *why)
{
    j->at = j->files.n;
    fail(j, why);
}

/* --- one file -----------------------------------------------------------------------------------
 */

static void put_file(struct upload_work *j);
static void put_part(struct upload_work *j);

static void on_logged(void *ctx, const struct err *why)
{
    struct upload_work *j = ctx;
    if (answered(j))
        return;
    if (why) {
        fail(j, why);
        return;
    }
    j->at++;
    j->tries = 0;
    if (j->at < j->files.n)
        put_file(j);
    else
        end(j, NULL);
}

/* Writes the line to the file for results, then calls `then`. */
static void log_then(struct upload_work *j, const char *text, node_done_cb then)
{
    const struct upload *u = &j->order->what;
    j->asks = true;
    node_ask(j->link, REQUEST(append, .path = u->log, .text = text, .as = u->as), then, j);
}

static void log_line(struct upload_work *j, const char *text)
{
    log_then(j, text, on_logged);
}

/* The name of the blob: for a pattern, the file's name below the output's `path`; for one file,
 * `path` itself. */
static const char *blob_of(struct upload_work *j, const char *name)
{
    const char *path = j->order->what.file->path;
    size_t n = path ? strlen(path) : 0;
    while (n > 0 && path[n - 1] == '/')
        n--;
    if (n == 0)
        return name;
    path = arena_strndup(&j->a, path, n);
    return j->place.is_pattern ? arena_concat(&j->a, path, "/", name) : path;
}

static bool has_blocks(const struct upload_work *j)
{
    return j->size > WHOLE_MAX;
}

static void log_end(struct upload_work *j)
{
    const char *name = j->files.at[j->at];
    log_line(j, arena_printf(&j->a, "%s: %llu bytes are in blob %s\n", name,
                             (unsigned long long)j->size, j->blob));
}

/* Whether the request succeeded; otherwise tries the request again, or fails the work. */
static bool is_done(struct upload_work *j, const struct err *why, const struct transfer_got *got,
                    void (*again)(struct upload_work *j))
{
    struct err e;
    bool passes = why ? why->code != ERR_UNAVAILABLE : transfer_may_pass(got->status);
    if (passes && j->tries < TRIES) {
        again(j);
        return false;
    }
    if (!why && transfer_is_good(got->status))
        return true;
    if (!why) {
        transfer_refused(got->status, got->bytes, got->n, &e);
        why = &e;
    }
    fail(j, why);
    return false;
}

/* Kinds of requests: they differ in the headers for the blob's kind and its metadata. */
enum put { PUT_BLOB, PUT_BLOCK, PUT_LIST };

/* Begins a put of `n` bytes to this URL; the caller may free `a` afterwards. */
static void begin_transfer(struct upload_work *j, struct arena *a, enum put put, const char *url,
                           uint64_t n)
{
    const struct output_file *f = j->order->what.file;
    const char **headers = arena_alloc(a, (f->n_headers + 2) * sizeof *headers);
    size_t n_headers = 0;
    headers[n_headers++] = VERSION;
    if (put == PUT_BLOB)
        headers[n_headers++] = "x-ms-blob-type: BlockBlob";
    for (size_t i = 0; put != PUT_BLOCK && i < f->n_headers; i++)
        headers[n_headers++] = f->headers[i];
    const struct transfer_ask ask = {
        .url = url,
        .put = true,
        .own = f->own,
        .length = n,
        .headers = headers,
        .n_headers = n_headers,
        .delay_us = j->tries == 0 ? 0 : (int64_t)FIRST_PAUSE_US << (j->tries - 1),
        .work_us = put == PUT_LIST ? (int64_t)(j->size / ASSEMBLED_S) * 1000000 : 0};
    j->tries++;
    if (j->transfer)
        transfer_end(j->transfer);
    j->transfer = transfer_begin(j->order->what.transfers, &ask);
}

/* --- its blocks --------------------------------------------------------------------------------
 */

static void commit(struct upload_work *j);

static void on_committed(void *ctx, const struct err *why, struct transfer_got *got)
{
    struct upload_work *j = ctx;
    if (is_done(j, why, got, commit))
        log_end(j);
}

static void on_list_written(void *ctx, const struct err *why)
{
    struct upload_work *j = ctx;
    (void)why; /* the answer reports the error, too */
    transfer_read(j->transfer, PIECE, on_committed, j);
}

static void commit(struct upload_work *j)
{
    size_t n;
    struct arena a;
    arena_init(&a);
    char *body = blob_commit_body(j->block + 1, &n);
    begin_transfer(j, &a, PUT_LIST, blob_commit_url(&a, j->order->what.file->url, j->blob), n);
    arena_free(&a);
    transfer_write(j->transfer, body, n, on_list_written, j);
}

static void on_answer(void *ctx, const struct err *why, struct transfer_got *got)
{
    struct upload_work *j = ctx;
    if (!is_done(j, why, got, put_part))
        return;
    j->tries = 0;
    if (!has_blocks(j)) {
        log_end(j);
    } else if (j->upto == j->size) {
        commit(j);
    } else {
        j->from = j->upto;
        j->block++;
        put_part(j);
    }
}

/* --- its bytes ---------------------------------------------------------------------------------
 */

static void read_on(struct upload_work *j);

static void on_written(void *ctx, const struct err *why)
{
    struct upload_work *j = ctx;
    if (!why && j->sent < j->upto)
        read_on(j);
    else /* the answer reports the error, too */
        transfer_read(j->transfer, PIECE, on_answer, j);
}

/* Begins the upload of a part of the file, or of the whole file. */
static void begin_part(struct upload_work *j)
{
    const char *container = j->order->what.file->url;
    uint64_t block = j->size / BLOB_BLOCKS_MAX + 1;
    bool blocks = has_blocks(j);
    struct arena a;
    arena_init(&a);
    if (block < BLOCK)
        block = BLOCK;
    j->upto = blocks && j->size - j->from > block ? j->from + block : j->size;
    const char *url = blocks ? blob_block_url(&a, container, j->blob, j->block)
                             : blob_url(&a, container, j->blob);
    begin_transfer(j, &a, blocks ? PUT_BLOCK : PUT_BLOB, url, j->upto - j->from);
    arena_free(&a);
}

/* Checks that the file is still the same. A file that has grown is uploaded up to its size at the
 * beginning. It is an error if the file is shorter, if another file has taken its place, or if it
 * has the same size but was written meanwhile, because the blob would then be a mixture. */
static int expect_the_same(const struct upload_work *j, const struct node_bytes *got, struct err *e)
{
    if (j->sent == 0)
        return 0;
    if ((uint64_t)got->size < j->size || got->n == 0)
        return err_set(e, ERR_IO, NULL, "it has become shorter meanwhile");
    bool grown = (uint64_t)got->size > j->size;
    bool same = grown ? got->inode == j->inode || got->inode == 0 || j->inode == 0
                      : got->mtime_us == j->mtime_us;
    return same ? 0 : err_set(e, ERR_IO, NULL, "it has been replaced or changed meanwhile");
}

static void on_read(void *ctx, const struct err *why, const struct node_bytes *got)
{
    struct upload_work *j = ctx;
    struct err e;
    if (answered(j))
        return;
    if (why && why->code == ERR_FILE_NOT_FOUND && !j->place.is_pattern && j->sent == 0) {
        log_line(j, arena_concat(&j->a, j->files.at[j->at], ": there is no such file\n"));
        return;
    }
    if (!why && expect_the_same(j, got, &e) < 0)
        why = &e;
    if (why) {
        e = *why;
        e.code = ERR_IO; /* other codes are for errors of the container */
        fail(j, &e);
        return;
    }
    if (j->sent == 0) {
        j->size = (uint64_t)got->size;
        j->mtime_us = got->mtime_us;
        j->inode = got->inode;
    }
    if (j->sent == j->from)
        begin_part(j);
    size_t n = got->n < j->upto - j->sent ? got->n : (size_t)(j->upto - j->sent);
    j->sent += n;
    if (n == 0) {
        transfer_read(j->transfer, PIECE, on_answer, j);
        return;
    }
    char *copy = xrealloc(NULL, n);
    memcpy(copy, got->bytes, n);
    transfer_write(j->transfer, copy, n, on_written, j);
}

static void read_on(struct upload_work *j)
{
    const struct upload *u = &j->order->what;
    j->asks = true;
    node_read_file(j->link,
                   &(struct request_read_file){.base = u->base,
                                               .path = j->path,
                                               .offset = (int64_t)j->sent,
                                               .max = PIECE,
                                               .as = u->as},
                   on_read, j);
}

static void put_part(struct upload_work *j)
{
    j->sent = j->from;
    read_on(j);
}

/* The path of a file or directory relative to the base. */
static const char *path_of(struct upload_work *j, const char *name)
{
    const char *below = j->place.below;
    return arena_concat(&j->a, below, *below && *name ? "/" : "", name);
}

static void put_file(struct upload_work *j)
{
    const char *name = j->files.at[j->at];
    j->path = path_of(j, name);
    j->blob = blob_of(j, name);
    j->from = j->upto = j->size = 0;
    j->block = 0;
    put_part(j);
}

/* --- which files --------------------------------------------------------------------------------
 */

static void add_name(struct upload_work *j, struct upload_names *l, const char *name)
{
    if (l->n == l->room) {
        size_t room = l->room > 0 ? 2 * l->room : 16;
        const char **at = arena_alloc(&j->a, room * sizeof *at);
        if (l->n > 0)
            memcpy(at, l->at, l->n * sizeof *at);
        l->at = at;
        l->room = room;
    }
    l->at[l->n++] = name;
}

static void put_files(struct upload_work *j)
{
    if (j->files.n > 0)
        put_file(j);
    else
        log_line(j, arena_concat(&j->a, j->order->what.file->what, ": nothing matches\n"));
}

static void on_left_out_logged(void *ctx, const struct err *why)
{
    struct upload_work *j = ctx;
    if (answered(j))
        return;
    if (why)
        fail_all(j, why);
    else
        put_files(j);
}

/* Tells how many entries no list showed, then uploads the files. */
static void log_left_out(struct upload_work *j)
{
    const char *says = j->left_out == 1 ? "entry is left out, because its name is"
                                        : "entries are left out, because their names are";
    if (j->left_out > 0)
        log_then(j,
                 arena_printf(&j->a, "%s: %lld %s not UTF-8\n", j->order->what.file->what,
                              (long long)j->left_out, says),
                 on_left_out_logged);
    else
        put_files(j);
}

static void list_next(struct upload_work *j);

/* Finds the directories and files of this list that match. */
static void add_matches(struct upload_work *j, const char *dir, const struct node_dir *found)
{
    for (size_t i = 0; i < found->n; i++) {
        const struct node_dir_entry *en = &found->list[i];
        const char *name =
            *dir ? arena_concat(&j->a, dir, "/", en->name) : arena_strdup(&j->a, en->name);
        if (en->is_dir && glob_may_hold(j->place.pattern, name)) {
            add_name(j, &j->dirs, name);
            j->n_dirs++;
        } else if (!en->is_dir && glob_match(j->place.pattern, name))
            add_name(j, &j->files, name);
    }
    j->left_out += found->left_out;
}

static void on_list(void *ctx, const struct err *why, const struct node_dir *found)
{
    struct upload_work *j = ctx;
    struct err e;
    if (answered(j))
        return;
    const char *dir = j->dirs.at[--j->dirs.n];
    add_matches(j, dir, found);
    if (why && why->code != ERR_FILE_NOT_FOUND) {
        e = *why;
        e.code = ERR_IO;
        fail_all(j, &e);
    } else if (found->cut) {
        err_set(&e, ERR_IO, NULL,
                "%s has more than %zu entries, so files that match may be missing in its list",
                *dir ? dir : "the directory", found->n);
        fail_all(j, &e);
    } else if (j->files.n > FILES_MAX) {
        err_set(&e, ERR_IO, NULL, "more than %d files match", FILES_MAX);
        fail_all(j, &e);
    } else if (j->n_dirs > DIRS_MAX) {
        err_set(&e, ERR_IO, NULL, "more than %d directories may hold files that match", DIRS_MAX);
        fail_all(j, &e);
    } else {
        list_next(j);
    }
}

static void list_next(struct upload_work *j)
{
    const struct upload *u = &j->order->what;
    if (j->dirs.n == 0) {
        log_left_out(j);
        return;
    }
    const char *dir = j->dirs.at[j->dirs.n - 1];
    j->asks = true;
    node_list_dir(j->link, u->as, u->base, path_of(j, dir), on_list, j);
}

/* --- the step -----------------------------------------------------------------------------------
 */

static void begin(void *ctx, struct node_link *link, struct script_turn *turn)
{
    struct upload_order *o = ctx;
    struct upload *u = &o->what;
    struct upload_work *j = xcalloc(1, sizeof *j);
    struct err e;
    assert(!o->work);
    o->work = j;
    *j = (struct upload_work){.order = o, .turn = turn, .link = link};
    arena_init(&j->a);
    if (u->file->refused) {
        err_set(&e, u->file->refused_as, NULL, "%s", u->file->refused);
        fail(j, &e);
    } else if (glob_place(&j->a, u->base, u->from, u->pattern, &j->place, &e) < 0) {
        e.code = ERR_IO;
        fail(j, &e);
    } else {
        if (j->place.is_pattern)
            add_name(j, &j->dirs, "");
        else
            add_name(j, &j->files, j->place.pattern);
        list_next(j);
    }
}

static void halt(void *ctx)
{
    struct upload_order *o = ctx;
    struct upload_work *j = o->work;
    if (!j)
        return;
    o->work = NULL;
    j->order = NULL;
    if (!j->asks)
        end(j, NULL);
}

static const struct script_cause causes[] = {
    {ERR_FILE_NOT_FOUND, FAIL_OUTPUT_NO_CONTAINER},
    {ERR_FORBIDDEN, FAIL_OUTPUT_DENIED},
    {0, FAIL_OUTPUT_FAILED},
};

void script_upload(struct script *sc, struct arena *a, const struct upload *what)
{
    struct upload_order *o = arena_alloc(a, sizeof *o);
    const struct script_label label = {
        .code = FAIL_OUTPUT_FAILED, .causes = causes, .what = what->file->what};
    *o = (struct upload_order){.what = *what};
    const struct script_work work = {.begin = begin, .halt = halt, .ctx = o};
    script_work(sc, &label, &work);
}
