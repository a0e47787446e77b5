/* SPDX-License-Identifier: MIT
 *
 * Reports of a node as JSON and back: facts, health, directory entries.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/jsontext.h"
#include "nodeagent-proto/wire/facts.h"
#include "nodeagent-proto/wire/message.h"

#define TEXT(f)   *(const char **)(void *)((char *)(f) + fact_texts[i].offset)
#define NUMBER(f) *(int64_t *)(void *)((char *)(f) + fact_numbers[i].offset)
#define COUNT(a)  (sizeof(a) / sizeof(a)[0])

static const struct {
    const char *name;
    size_t offset;
} fact_texts[] = {
    {"agent_version", offsetof(struct node_facts, agent_version)},
    {"hostname", offsetof(struct node_facts, hostname)},
    {"os", offsetof(struct node_facts, os)},
    {"arch", offsetof(struct node_facts, arch)},
    {"incarnation", offsetof(struct node_facts, incarnation)},
    {"boot_id", offsetof(struct node_facts, boot_id)},
    {"user", offsetof(struct node_facts, user)},
    {"runtimes", offsetof(struct node_facts, runtimes)},
    {"mpi", offsetof(struct node_facts, mpi)},
};

static const struct {
    const char *name;
    size_t offset;
} fact_numbers[] = {
    {"memory_bytes", offsetof(struct node_facts, memory_bytes)},
    {"disk_free_bytes", offsetof(struct node_facts, disk_free_bytes)},
    {"time_us", offsetof(struct node_facts, time_us)},
};

static int unreadable(struct err *e, const char *what, const json_error_t *je)
{
    return err_set(e, ERR_PROTOCOL, NULL, "%s cannot be read: %s", what, je->text);
}

json_t *message_facts(const struct node_facts *facts)
{
    struct node_facts f = *facts;
    json_t *gpus = json_loads(f.gpus, 0, NULL);
    json_t *j = json_pack("{s:i, s:i, s:b, s:o}", "version", PROTOCOL_VERSION, "cpus", f.cpus,
                          "is_root", (int)f.is_root, "gpus", gpus ? gpus : json_array());
    int rc = j ? 0 : -1;
    for (size_t i = 0; rc == 0 && i < COUNT(fact_texts); i++)
        rc = json_object_set_new(j, fact_texts[i].name, jsontext_string(TEXT(&f)));
    for (size_t i = 0; rc == 0 && i < COUNT(fact_numbers); i++)
        rc = json_object_set_new(j, fact_numbers[i].name, json_integer(NUMBER(&f)));
    if (rc == 0)
        return j;
    json_decref(j);
    return NULL;
}

static int check_version(json_t *j, struct err *e)
{
    json_error_t je;
    int version;
    if (json_unpack_ex(j, &je, 0, "{s:i}", "version", &version) < 0)
        return unreadable(e, "the agent's hello", &je);
    if (version == PROTOCOL_VERSION)
        return 0;
    return err_set(e, ERR_PROTOCOL, "version",
                   "the agent speaks version %d of the node protocol; version %d is needed",
                   version, PROTOCOL_VERSION);
}

int message_facts_read(json_t *j, struct arena *a, struct node_facts *out, struct err *e)
{
    json_error_t je;
    int is_root;
    json_t *gpus;
    memset(out, 0, sizeof *out);
    if (check_version(j, e) < 0)
        return -1;
    if (json_unpack_ex(j, &je, 0, "{s:i, s:b, s:o}", "cpus", &out->cpus, "is_root", &is_root,
                       "gpus", &gpus) < 0)
        return unreadable(e, "the agent's hello", &je);
    out->is_root = is_root;
    for (size_t i = 0; i < COUNT(fact_texts); i++)
        if (json_unpack_ex(j, &je, 0, "{s:s}", fact_texts[i].name, &TEXT(out)) < 0)
            return unreadable(e, "the agent's hello", &je);
    for (size_t i = 0; i < COUNT(fact_numbers); i++) {
        json_int_t n;
        if (json_unpack_ex(j, &je, 0, "{s:I}", fact_numbers[i].name, &n) < 0)
            return unreadable(e, "the agent's hello", &je);
        NUMBER(out) = n;
    }
    if (!json_is_array(gpus))
        return err_set(e, ERR_PROTOCOL, "gpus", "the agent's hello has no list of GPUs");
    out->n_gpus = (int)json_array_size(gpus);
    struct strbuf text = STRBUF_INIT;
    jsontext_add(&text, gpus);
    out->gpus = arena_strdup(a, text.s);
    strbuf_free(&text);
    return 0;
}

char *node_facts_text(const struct node_facts *f)
{
    json_t *j = message_facts(f);
    char *text = j ? jsontext(j) : xstrdup("{}");
    json_decref(j);
    return text;
}

int node_facts_parse(struct arena *a, const char *text, struct node_facts *out, struct err *e)
{
    json_error_t je;
    memset(out, 0, sizeof *out);
    json_t *j = json_loads(text, JSON_REJECT_DUPLICATES, &je);
    if (!j)
        return unreadable(e, "the recorded facts of the node", &je);
    int rc = message_facts_read(j, a, out, e);
    for (size_t i = 0; rc == 0 && i < COUNT(fact_texts); i++)
        TEXT(out) = arena_strdup(a, TEXT(out));
    json_decref(j);
    return rc;
}

const char *node_fake_gpus(struct arena *a, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(
            list, json_pack("{s:i, s:s, s:b}", "index", i, "model", "fake GPU", "fake", 1));
    char *text = jsontext(list);
    const char *copy = arena_strdup(a, text);
    free(text);
    json_decref(list);
    return copy;
}

bool node_gpus_are_fake(const char *gpus)
{
    json_t *list = gpus ? json_loads(gpus, 0, NULL) : NULL;
    bool fake = json_is_true(json_object_get(json_array_get(list, 0), "fake"));
    json_decref(list);
    return fake;
}

bool node_gpus_are_amd(const char *gpus)
{
    json_t *list = gpus ? json_loads(gpus, 0, NULL) : NULL;
    const char *vendor = json_string_value(json_object_get(json_array_get(list, 0), "vendor"));
    bool amd = vendor && strcmp(vendor, "amd") == 0;
    json_decref(list);
    return amd;
}

json_t *message_health(const struct node_health *h)
{
    return json_pack("{s:I, s:I, s:I, s:o, s:i, s:o}", "time_us", (json_int_t)h->time_us,
                     "disk_free_bytes", (json_int_t)h->disk_free_bytes, "disk_total_bytes",
                     (json_int_t)h->disk_total_bytes, "disk_error", jsontext_string(h->disk_error),
                     "gpus", h->gpus, "gpu_errors", jsontext_string(h->gpu_errors));
}

int message_health_read(json_t *j, struct node_health *out, struct err *e)
{
    json_error_t je;
    json_int_t when, disk_free, total;
    memset(out, 0, sizeof *out);
    out->disk_error = ""; /* agents of before do not say it */
    if (json_unpack_ex(j, &je, 0, "{s:I, s:I, s:I, s?s, s:i, s:s}", "time_us", &when,
                       "disk_free_bytes", &disk_free, "disk_total_bytes", &total, "disk_error",
                       &out->disk_error, "gpus", &out->gpus, "gpu_errors", &out->gpu_errors) < 0)
        return unreadable(e, "the health of a node", &je);
    out->time_us = when;
    out->disk_free_bytes = disk_free;
    out->disk_total_bytes = total;
    return 0;
}

/* Its members as a table. */
static const struct {
    const char *name;
    size_t at;
} usage_members[] = {
#define USAGE_ROW(member) {#member, offsetof(struct node_usage, member)},
    NODE_USAGE_COUNTERS(USAGE_ROW) NODE_USAGE_LEVELS(USAGE_ROW) USAGE_ROW(time_us)
#undef USAGE_ROW
};

json_t *message_usage(const struct node_usage *u)
{
    json_t *j = json_object();
    for (size_t i = 0; i < sizeof usage_members / sizeof usage_members[0]; i++) {
        int64_t n;
        memcpy(&n, (const char *)u + usage_members[i].at, sizeof n);
        json_object_set_new(j, usage_members[i].name, json_integer(n));
    }
    return j;
}

int message_usage_read(json_t *j, struct node_usage *out, struct err *e)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < sizeof usage_members / sizeof usage_members[0]; i++) {
        const json_t *member = json_object_get(j, usage_members[i].name);
        int64_t n = json_integer_value(member);
        if (!json_is_integer(member) || n < 0)
            return err_set(e, ERR_NODE, NULL, "the usage of a node has no valid %s",
                           usage_members[i].name);
        memcpy((char *)out + usage_members[i].at, &n, sizeof n);
    }
    return 0;
}

json_t *message_dir_entry(const struct node_dir_entry *en)
{
    return json_pack("{s:s, s:b, s:I, s:I}", "name", en->name, "is_dir", (int)en->is_dir, "size",
                     (json_int_t)en->size, "mtime_us", (json_int_t)en->mtime_us);
}

int message_dir_entry_read(json_t *j, struct node_dir_entry *out, struct err *e)
{
    json_error_t je;
    int is_dir;
    json_int_t size, mtime;
    memset(out, 0, sizeof *out);
    if (json_unpack_ex(j, &je, 0, "{s:s, s:b, s:I, s:I}", "name", &out->name, "is_dir", &is_dir,
                       "size", &size, "mtime_us", &mtime) < 0)
        return unreadable(e, "an entry of a directory", &je);
    out->is_dir = is_dir;
    out->size = size;
    out->mtime_us = mtime;
    return 0;
}
