/* SPDX-License-Identifier: MIT
 *
 * Frames as they come over a link, from either side, in pieces of any size (first byte). Whatever
 * is read as a message goes through every reader; what was read can be written and read again.
 */
#include <string.h>

#include "lib/arena.h"
#include "nodeagent-proto/wire/codec.h"
#include "nodeagent-proto/wire/facts.h"
#include "nodeagent-proto/wire/message.h"
#include "nodeagent-proto/wire/request.h"
#include "nodeagent-proto/wire/sample.h"
#include "test/fuzz/fuzz.h"

static void read_as_everything(json_t *msg)
{
    struct arena a;
    struct err e;
    struct task_spec spec;
    struct task_status status;
    struct node_facts facts;
    struct node_health health;
    struct node_usage usage;
    static struct sample_read sample;
    struct node_dir_entry entry;
    struct node_epoch epoch;
    arena_init(&a);
    int rc = message_task_spec_read(msg, &a, &spec, &e);
    tell("task_spec", rc, e.msg);
    if (rc == 0) {
        CLAIM(task_id_valid(spec.id));
        json_t *again = message_task_spec(&spec);
        CLAIM(again && message_task_spec_read(again, &a, &spec, &e) == 0);
        json_decref(again);
    }
    rc = message_task_status_read(msg, &status, &e);
    tell("task_status", rc, e.msg);
    if (rc == 0)
        json_decref(message_task_status(&status));
    rc = message_facts_read(msg, &a, &facts, &e);
    tell("facts", rc, e.msg);
    if (rc == 0) {
        char *text = node_facts_text(&facts);
        struct node_facts back;
        CLAIM(text && node_facts_parse(&a, text, &back, &e) == 0);
        free(text);
    }
    if (message_health_read(msg, &health, &e) == 0)
        json_decref(message_health(&health));
    if (message_sample_read(msg, &sample, &e) == 0)
        json_decref(message_sample(&sample.s));
    if (message_usage_read(msg, &usage, &e) == 0)
        json_decref(message_usage(&usage));
    if (message_dir_entry_read(msg, &entry, &e) == 0)
        json_decref(message_dir_entry(&entry));
    if (message_epoch_read(msg, &epoch, &e) == 0)
        json_decref(message_epoch(&epoch));
    message_err_read(msg, &e);
    (void)message_kind(msg);
    arena_free(&a);
}

/* What was read as a request can be sent as one. */
static void read_as_requests(json_t *msg)
{
    for (int op = 0; op < N_REQUESTS; op++) {
        struct arena a;
        struct err e;
        struct node_request r = {.op = (enum request_op)op};
        arena_init(&a);
        int rc = request_read(msg, &a, &r, &e);
        tell(request_form(r.op)->name, rc, e.msg);
        CLAIM(rc == 0 || e.msg[0]);
        if (rc == 0) {
            json_t *again = request_pack(&r);
            CLAIM(again && request_read(again, &a, &r, &e) == 0);
            json_decref(again);
        }
        arena_free(&a);
    }
}

static void one_message(json_t *msg)
{
    struct strbuf out = STRBUF_INIT;
    struct err e;
    const char *name;
    json_t *value;
    CLAIM(json_is_object(msg));
    read_as_everything(msg);
    read_as_requests(msg);
    json_object_foreach(msg, name, value)
        if (json_is_object(value))
            read_as_everything(value);
    CLAIM(frame_encode(msg, &out, &e) == 0 || out.len == 0);
    strbuf_free(&out);
}

/* What came with it goes with it again. */
static void with_bytes(const struct frame_decoder *d, json_t *msg)
{
    struct strbuf out = STRBUF_INIT;
    struct frame_decoder back;
    struct err e;
    json_t *again;
    size_t n, m;
    const char *bytes = frame_decoder_bytes(d, &n);
    CLAIM((bytes == NULL) == (n == 0));
    if (frame_encode_with(msg, bytes, n, &out, &e) == 0) {
        frame_decoder_init(&back);
        frame_decoder_feed(&back, out.s, out.len);
        CLAIM(frame_decoder_next(&back, &again, &e) == 1 && json_equal(again, msg));
        const char *same = frame_decoder_bytes(&back, &m);
        CLAIM(m == n && (n == 0 || memcmp(same, bytes, n) == 0));
        json_decref(again);
        frame_decoder_free(&back);
    }
    strbuf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    size_t piece = 1 + data[0], at = 1;
    struct frame_decoder d;
    frame_decoder_init(&d);
    for (int broken = 0; at < size && !broken; at += piece) {
        json_t *msg;
        struct err e;
        int rc;
        frame_decoder_feed(&d, data + at, size - at < piece ? size - at : piece);
        while ((rc = frame_decoder_next(&d, &msg, &e)) == 1) {
            one_message(msg);
            with_bytes(&d, msg);
            json_decref(msg);
        }
        broken = rc < 0;
    }
    frame_decoder_free(&d);
    return 0;
}
