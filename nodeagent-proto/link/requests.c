/* SPDX-License-Identifier: MIT
 *
 * The requests of node.h and their answers, each decoded by the request's row in wire/requests.txt.
 */
#include <assert.h>
#include <stdlib.h>

#include "lib/arena.h"
#include "lib/base64.h"
#include "nodeagent-proto/link/link_priv.h"
#include "nodeagent-proto/wire/message.h"
#include "nodeagent-proto/wire/sample.h"

/* ---- answers: received values become an array, of one item or of all parts ------------------- */

static int read_status(json_t *j, void *out, struct err *e)
{
    return message_task_status_read(j, out, e);
}

static int read_health(json_t *j, void *out, struct err *e)
{
    return message_health_read(j, out, e);
}

static int read_usage(json_t *j, void *out, struct err *e)
{
    return message_usage_read(j, out, e);
}

static int read_sample(json_t *j, void *out, struct err *e)
{
    return message_sample_read(j, out, e);
}

static int read_entry(json_t *j, void *out, struct err *e)
{
    return message_dir_entry_read(j, out, e);
}

static int read_text(json_t *j, void *out, struct err *e)
{
    (void)e;
    *(const char **)out = json_string_value(j) ? json_string_value(j) : "";
    return 0;
}

static const struct {
    int (*read)(json_t *j, void *out, struct err *e); /* reads one item */
    size_t size;
    bool list;
} answers[N_ANSWER_KINDS] = {
    [ANSWER_STATUS] = {read_status, sizeof(struct task_status), false},
    [ANSWER_STATUSES] = {read_status, sizeof(struct task_status), true},
    [ANSWER_ENTRIES] = {read_entry, sizeof(struct node_dir_entry), true},
    [ANSWER_TEXTS] = {read_text, sizeof(const char *), true},
    [ANSWER_HEALTH] = {read_health, sizeof(struct node_health), false},
    [ANSWER_SAMPLE] = {read_sample, sizeof(struct sample_read), false},
    [ANSWER_USAGE] = {read_usage, sizeof(struct node_usage), false},
};

/* Reads the items (of `parts` if the answer is a list) and answers with them. */
static int hear_items(struct node_link *link, struct link_pending *p, json_t *parts, struct err *e)
{
    enum answer_kind kind = p->form->answer;
    size_t n = answers[kind].list ? json_array_size(parts) : 1, size = answers[kind].size;
    char *items = xcalloc(n + 1, size);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = answers[kind].read(answers[kind].list ? json_array_get(parts, i) : parts,
                                items + i * size, e);
    if (rc == 0)
        link_answer(link, p, NULL, items, n);
    free(items);
    return rc;
}

/* Limits for all parts of an answer: an agent lists at most 100,000 entries. A machine that sends
 * parts without end would fill the memory of the daemon; an entry needs more memory than its bytes
 * in the message. */
#define PARTS_BYTES_MAX   ((size_t)128 * 1024 * 1024)
#define PARTS_ENTRIES_MAX 200000

/* Appends the array of this part to p->parts. 1: the last part is there; 0: more follow. */
static int collect(const struct node_link *link, struct link_pending *p, json_t *part, json_t *msg,
                   struct err *e)
{
    p->parts_bytes += link->in.spent;
    if (p->parts_bytes > PARTS_BYTES_MAX)
        return err_set(e, ERR_PROTOCOL, NULL, "the answer to '%s' has more than %zu MiB",
                       p->form->name, PARTS_BYTES_MAX / 1024 / 1024);
    if (!p->parts)
        p->parts = json_array();
    json_array_extend(p->parts, part);
    p->cut = json_is_true(json_object_get(msg, "cut"));
    json_int_t left_out = json_integer_value(json_object_get(msg, "left_out"));
    p->left_out = left_out > 0 && left_out <= INT32_MAX ? left_out : 0; /* others make no sense */
    if (json_array_size(p->parts) > PARTS_ENTRIES_MAX)
        return err_set(e, ERR_PROTOCOL, NULL, "the answer to '%s' has more than %d entries",
                       p->form->name, PARTS_ENTRIES_MAX);
    return !json_is_true(json_object_get(msg, "more"));
}

/* An agent that cannot attach raw bytes to the JSON sends base64. */
static int hear_base64(json_t *text, char **owned, struct node_bytes *got, struct err *e)
{
    if (base64_decode(json_string_value(text), json_string_length(text), owned, &got->n) < 0)
        return err_set(e, ERR_PROTOCOL, NULL, "the bytes of a file are not base64");
    got->bytes = *owned;
    return 0;
}

static int hear_bytes(struct node_link *link, struct link_pending *p, json_t *msg, struct err *e)
{
    json_error_t je;
    struct node_bytes got;
    char *owned = NULL;
    json_int_t size, mtime, mode = 0, inode = 0;
    json_t *text = json_object_get(msg, p->form->answer_name);
    if (json_unpack_ex(msg, &je, 0, "{s:I, s:I, s?I, s?I}", "size", &size, "mtime_us", &mtime,
                       "mode", &mode, "inode", &inode) < 0)
        return err_set(e, ERR_PROTOCOL, NULL, "the bytes of a file cannot be read: %s", je.text);
    got.bytes = frame_decoder_bytes(&link->in, &got.n);
    if (json_is_string(text) && hear_base64(text, &owned, &got, e) < 0)
        return -1;
    if (!got.bytes)
        got.bytes = "";
    got.size = size;
    got.mtime_us = mtime;
    got.mode = mode;
    got.inode = inode;
    int rc = 0;
    if (size < 0 || got.n > p->most)
        rc = err_set(e, ERR_PROTOCOL, NULL,
                     "the agent answered %zu bytes of a file of %lld; at most %zu were asked for",
                     got.n, (long long)size, p->most);
    else
        link_answer(link, p, NULL, &got, 1);
    free(owned);
    return rc;
}

int link_hear_answer(struct node_link *link, struct link_pending *p, json_t *msg, struct err *e)
{
    enum answer_kind kind = p->form->answer;
    if (kind == ANSWER_BYTES)
        return hear_bytes(link, p, msg, e);
    if (kind == ANSWER_NOTHING) {
        link_answer(link, p, NULL, NULL, 0);
        return 0;
    }
    json_t *got = json_object_get(msg, p->form->answer_name);
    if (!answers[kind].list)
        return hear_items(link, p, got, e);
    int rc = collect(link, p, got, msg, e);
    return rc > 0 ? hear_items(link, p, p->parts, e) : rc;
}

/* ---- requests ---- */

void node_ask(struct node_link *link, const struct node_request *r, node_done_cb cb, void *ctx)
{
    assert(request_form(r->op)->answer == ANSWER_NOTHING);
    link_ask(link, r, (struct link_pending){.cb.done = cb, .ctx = ctx});
}

bool node_ask_is_beside(const struct node_request *r)
{
    return request_form(r->op)->beside;
}

void node_list_dir(struct node_link *link, const char *as, const char *base, const char *path,
                   node_dir_cb cb, void *ctx)
{
    link_ask(link, REQUEST(list_dir, .base = base, .path = path, .as = as),
             (struct link_pending){.cb.dir = cb, .ctx = ctx});
}

void node_read_file(struct node_link *link, const struct request_read_file *r, node_bytes_cb cb,
                    void *ctx)
{
    struct request_read_file raw = *r;
    raw.raw = true;
    link_ask(link, REQUEST_OF(read_file, raw),
             (struct link_pending){.cb.bytes = cb, .ctx = ctx, .most = (size_t)raw.max});
}

void node_run(struct node_link *link, const struct task_spec *spec, node_task_cb cb, void *ctx)
{
    link_ask(link, REQUEST(run, .task = spec), (struct link_pending){.cb.task = cb, .ctx = ctx});
}

void node_tasks(struct node_link *link, node_tasks_cb cb, void *ctx)
{
    link_ask(link, BARE_REQUEST(tasks), (struct link_pending){.cb.tasks = cb, .ctx = ctx});
}

void node_health(struct node_link *link, node_health_cb cb, void *ctx)
{
    link_ask(link, BARE_REQUEST(health), (struct link_pending){.cb.health = cb, .ctx = ctx});
}

void node_usage(struct node_link *link, node_usage_cb cb, void *ctx)
{
    link_ask(link, BARE_REQUEST(usage), (struct link_pending){.cb.usage = cb, .ctx = ctx});
}

void node_sample(struct node_link *link, bool gpus, node_sample_cb cb, void *ctx)
{
    link_ask(link, REQUEST(sample, .gpus = gpus),
             (struct link_pending){.cb.sample = cb, .ctx = ctx});
}

void node_mounting(struct node_link *link, const char *host, int port, node_texts_cb cb, void *ctx)
{
    link_ask(link, REQUEST(mounting, .host = host, .port = port),
             (struct link_pending){.cb.texts = cb, .ctx = ctx});
}

void node_clean(struct node_link *link, bool take, node_texts_cb cb, void *ctx)
{
    link_ask(link, REQUEST(clean, .take = take), (struct link_pending){.cb.texts = cb, .ctx = ctx});
}
