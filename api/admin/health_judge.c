/* SPDX-License-Identifier: MIT */
#include "api/admin/health.h"

static bool database_good(const struct health_facts *f)
{
    return f->database.code == ERR_NONE;
}

static bool disk_good(const struct health_facts *f)
{
    return f->disk.code == ERR_NONE && f->disk_free >= HEALTH_DISK_LOW;
}

/* A daemon without nodes is healthy, because clusters may be empty. */
static bool nodes_good(const struct health_facts *f)
{
    return f->nodes_unknown.code == ERR_NONE && (f->nodes == 0 || f->nodes_unusable < f->nodes);
}

static bool loop_good(const struct health_facts *f)
{
    return f->lag_us < HEALTH_LAG_HIGH_US;
}

/* Adds "error" to a part that could not be measured. */
static json_t *with_error(json_t *part, const struct err *why)
{
    if (why->code != ERR_NONE)
        json_object_set_new(part, "error", json_string(why->msg));
    return part;
}

static json_t *show_database(const struct health_facts *f)
{
    return with_error(json_object(), &f->database);
}

static json_t *show_disk(const struct health_facts *f)
{
    return with_error(json_pack("{s:I, s:I}", "freeBytes", (json_int_t)f->disk_free, "totalBytes",
                                (json_int_t)f->disk_total),
                      &f->disk);
}

static json_t *show_nodes(const struct health_facts *f)
{
    return with_error(json_pack("{s:i, s:i}", "total", f->nodes, "unusable", f->nodes_unusable),
                      &f->nodes_unknown);
}

static json_t *show_loop(const struct health_facts *f)
{
    return json_pack("{s:I, s:I, s:I}", "lagMicroseconds", (json_int_t)f->lag_us, "slow",
                     (json_int_t)f->slow, "longestMicroseconds", (json_int_t)f->longest_us);
}

static const struct {
    const char *name;
    bool (*good)(const struct health_facts *f);
    json_t *(*show)(const struct health_facts *f);
} parts[] = {
    {"database", database_good, show_database},
    {"disk", disk_good, show_disk},
    {"nodes", nodes_good, show_nodes},
    {"loop", loop_good, show_loop},
};
enum { PARTS = sizeof parts / sizeof parts[0] };

bool health_judge(const struct health_facts *f, json_t *list)
{
    bool all = true;
    for (size_t i = 0; i < PARTS; i++) {
        if (parts[i].good(f))
            continue;
        all = false;
        if (list)
            json_array_append_new(list, json_string(parts[i].name));
    }
    return all;
}

json_t *health_render(const struct health_facts *f)
{
    json_t *o = json_object();
    for (size_t i = 0; i < PARTS; i++) {
        json_t *part = parts[i].show(f);
        json_object_set_new(part, "healthy", json_boolean(parts[i].good(f)));
        json_object_set_new(o, parts[i].name, part);
    }
    json_object_set_new(o, "upSeconds", json_integer((json_int_t)(f->up_us / 1000000)));
    return o;
}
