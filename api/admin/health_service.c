/* SPDX-License-Identifier: MIT
 *
 * The answers about readiness and health wait until a test write is on disk, because the answers of
 * all other requests wait for the disk, too. One sync is enough for all probes in a turn of the
 * loop.
 */
#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

#include "api/admin/health.h"
#include "api/arm/errors.h"
#include "api/http/auth.h"
#include "lib/loop.h"
#include "scheduler/fleet/fleet.h"
#include "storage/storage.h"

/* --- the checks ------------------------------------------------------------------------------- */

struct health_look {
    struct request *r;
    struct err database;
    int64_t turned_us;
    struct machines_reading *machines;
    struct err nodes_unknown;
    void (*answer)(struct health_look *l);
};

static void next_turn(struct request *r, void *ctx)
{
    struct health_look *l = ctx;
    (void)r;
    l->turned_us = loop_mono_us(health_of(l->r)->loop) - l->turned_us;
    l->answer(l);
}

static void on_disk(void *ctx, const struct err *why)
{
    struct health_look *l = ctx;
    if (why)
        l->database = *why;
    l->turned_us = loop_mono_us(health_of(l->r)->loop);
    request_again(l->r, next_turn, l);
}

static struct replied *look(struct request *r, void (*answer)(struct health_look *l))
{
    struct storage *st = health_of(r)->storage;
    struct health_look *l = arena_alloc(&r->arena, sizeof *l);
    *l = (struct health_look){.r = r, .answer = answer};
    if (st_touch(st, &l->database) < 0) {
        l->turned_us = loop_mono_us(health_of(r)->loop);
        request_again(r, next_turn, l);
    } else {
        st_when_durable(st, on_disk, l);
    }
    return reply_later(r);
}

/* --- ready -------------------------------------------------------------------------------------
 */

static void answer_ready(struct health_look *l)
{
    const struct daemon_readiness *is = health_of(l->r)->readiness;
    json_t *missing = json_array();
    if (is->stopping)
        json_array_append_new(missing, json_string("stopping"));
    if (is->seeding)
        json_array_append_new(missing, json_string("seed"));
    if (l->database.code != ERR_NONE)
        json_array_append_new(missing, json_string("database"));
    bool ready = json_array_size(missing) == 0;
    json_t *body = json_pack("{s:b, s:o}", "ready", ready, "missing", missing);
    request_finish(l->r, reply_json(l->r, ready ? 200 : 503, body));
}

static struct replied *ready_get(struct request *r)
{
    return look(r, answer_ready);
}

/* --- health ------------------------------------------------------------------------------------
 */

static void look_at_disk(const char *dir, struct health_facts *f)
{
    struct statvfs s;
    if (statvfs(dir, &s) < 0) {
        err_errno(&f->disk, ERR_IO, "the state directory");
        return;
    }
    f->disk_free = (int64_t)s.f_bavail * (int64_t)s.f_frsize;
    f->disk_total = (int64_t)s.f_blocks * (int64_t)s.f_frsize;
}

static bool is_unusable(const struct machine_view *m)
{
    return strcmp(m->state, "unusable") == 0 || strcmp(m->state, "unreachable") == 0;
}

static void count_nodes(const struct machines_reading *v, struct health_facts *f)
{
    size_t n;
    const struct machine_view *machines = fleet_machines_list(v, &n);
    f->nodes = (int)n;
    for (size_t i = 0; i < n; i++)
        f->nodes_unusable += is_unusable(&machines[i]);
}

static void show_health(struct health_look *l)
{
    const struct daemon_health *h = health_of(l->r);
    const struct api_counters c = request_counters(l->r);
    struct health_facts f = {.database = l->database,
                             .nodes_unknown = l->nodes_unknown,
                             .lag_us = l->turned_us,
                             .slow = (int64_t)c.slow,
                             .longest_us = (int64_t)c.longest_us,
                             .up_us = loop_mono_us(h->loop) - h->begun_us};
    look_at_disk(h->state_dir, &f);
    if (f.nodes_unknown.code == ERR_NONE)
        count_nodes(l->machines, &f);
    json_t *wrong = json_array();
    bool well = health_judge(&f, wrong);
    json_t *body = l->r->who ? health_render(&f) : json_object();
    json_object_set_new(body, "healthy", json_boolean(well));
    json_object_set_new(body, "wrong", wrong);
    request_finish(l->r, reply_json(l->r, well ? 200 : 503, body));
}

/* Reads nodes in pieces, because everybody may send this request and there may be thousands of
 * nodes. */
static void read_nodes(struct request *r, void *ctx)
{
    struct health_look *l = ctx;
    if (fleet_machines_more(l->machines, &l->nodes_unknown) == 1)
        request_again(r, read_nodes, l);
    else
        show_health(l);
}

static void answer_health(struct health_look *l)
{
    l->machines = fleet_machines_begin(health_of(l->r)->fleet, &l->r->arena, MACHINES_BRIEF);
    read_nodes(l->r, l);
}

static struct replied *health_get(struct request *r)
{
    return look(r, answer_health);
}

/* --- the service -------------------------------------------------------------------------------
 */

static const struct route routes[] = {
    {"GET", "/batchaid/ready", 0, 0, ready_get, "Ready_Get"},
    {"GET", "/batchaid/health", 0, 0, health_get, "Health_Get"},
};

static const char *const paths[] = {"/batchaid/ready", "/batchaid/health", NULL};

/* Everybody may send the request, but a token in it must be valid. */
static int may(struct request *r, struct err *e)
{
    return request_header(r, "Authorization") ? auth_check(r, e) : 0;
}

ERROR_TABLE(health_words, ARM_ERRORS, NO_OWN_ERRORS)

const struct service health_service = {
    .name = "health",
    .deps = "daemon_health",
    .paths = paths,
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_NONE,
    .may = may,
    .audiences = AUDIENCE_ARM,
    .body_max = REQUEST_BODY_MAX,
    .words = health_words,
    .unwatched = true, /* probes are no tests: inject no faults here */
};
