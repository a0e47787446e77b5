/* SPDX-License-Identifier: MIT
 *
 * States that no request can set: states and ends of jobs and tasks, and keys of accounts. A job or
 * task that a seed sets to running has no processes: it stays running until a client terminates it.
 */
#include <sodium.h>
#include <string.h>

#include "api/testing/seed/steps.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"
#include "storage/storage.h"

/* --- reading states --------------------------------------------------------------------------- */

int seed_time_read(const char *text, const char *what, int64_t fallback, int64_t *out,
                   struct err *e)
{
    *out = fallback;
    if (!text || timefmt_parse_offset(text, out) == 0)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, what,
                   "%s is '%.60s'; it must be an instant such as 2026-11-23T09:00:00Z.", what,
                   text);
}

/* Whether the member is a list: Batch AI has a list "errors", Azure Batch a single error. */
static bool is_list(const char *errors)
{
    return strcmp(errors, "errors") == 0;
}

static bool error_ok(const json_t *v)
{
    return json_is_string(json_object_get(v, "code")) &&
           json_is_string(json_object_get(v, "message"));
}

static bool errors_ok(const json_t *v, const char *errors)
{
    size_t i;
    json_t *one;
    if (!is_list(errors))
        return error_ok(v);
    json_array_foreach((json_t *)v, i, one) {
        if (!error_ok(one))
            return false;
    }
    return json_is_array(v);
}

int seed_state_read(const json_t *o, const char *state, const char *errors, int64_t now_us,
                    struct told_state *out, struct err *e)
{
    json_error_t why;
    *out = (struct told_state){.name = NULL};
    if (json_unpack_ex((json_t *)o, &why, JSON_STRICT, "{s:s, s?s, s?s, s?o, s?o, s?s}", state,
                       &out->name, "startTime", &out->start, "endTime", &out->end, "exitCode",
                       &out->exit_code, errors, &out->errors, "guid", &out->guid) < 0)
        return err_set(e, ERR_INVALID_PROPERTY, "state",
                       "state takes %s, startTime, endTime, exitCode, %s and guid: %s.", state,
                       errors, why.text);
    if (out->exit_code && !json_is_integer(out->exit_code))
        return err_set(e, ERR_INVALID_PROPERTY, "state.exitCode",
                       "exitCode must be a whole number.");
    if (out->exit_code && (json_integer_value(out->exit_code) < INT32_MIN ||
                           json_integer_value(out->exit_code) > INT32_MAX))
        return err_set(e, ERR_INVALID_PROPERTY, "state.exitCode",
                       "exitCode is %lld; it must be from %d to %d.",
                       (long long)json_integer_value(out->exit_code), INT32_MIN, INT32_MAX);
    if (out->errors && !errors_ok(out->errors, errors))
        return err_set(e, ERR_INVALID_PROPERTY, "state", "%s must be %s with code and message.",
                       errors, is_list(errors) ? "a list of mappings" : "a mapping");
    if (out->guid && !guid_valid(out->guid))
        return err_set(e, ERR_INVALID_PROPERTY, "state.guid", "guid is '%.60s'; it must be a GUID.",
                       out->guid);
    if (seed_time_read(out->start, "state.startTime", out->end ? 0 : now_us, &out->start_us, e) <
            0 ||
        seed_time_read(out->end, "state.endTime", out->start_us, &out->end_us, e) < 0)
        return -1;
    return out->end_us >= out->start_us
               ? 0
               : err_set(e, ERR_INVALID_PROPERTY, "state.endTime", "endTime is before startTime.");
}

int seed_unknown(const char *what, const char *given, const char *right, struct err *e)
{
    return err_set(e, ERR_INVALID_PROPERTY, what, "%s is '%.60s'; it must be %s.", what, given,
                   right);
}

const char *seed_json(struct arena *a, const json_t *v)
{
    if (!v)
        return NULL;
    char *text = jsontext(v);
    const char *kept = arena_strdup(a, text);
    free(text);
    return kept;
}

/* --- Batch AI ----------------------------------------------------------------------------------
 */

static int end_runs(struct storage *st, struct arena *a, int64_t job_id, const struct told_state *t,
                    bool over, struct err *e)
{
    int64_t *ids;
    size_t n;
    if (st_run_ids_of(st, a, RES_JOB, job_id, &ids, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const struct st_run_move m = {.id = ids[i],
                                      .from = RUN_WAITING,
                                      .to = RUN_OVER,
                                      .start_us = t->start_us,
                                      .end_us = over ? t->end_us : 0,
                                      .attempt = t->start_us > 0,
                                      .failure = -1};
        if (st_run_move(st, &m, e) < 0)
            return -1;
    }
    return 0;
}

/* Moves the job through all states up to `to`, so that each state has its event. A job that failed
 * and has no start time never ran. */
static int move_job(struct storage *st, struct arena *a, const struct job *j,
                    const struct told_state *t, enum exec_state to, struct err *e)
{
    bool over = to == EXEC_SUCCEEDED || to == EXEC_FAILED;
    bool ran = to != EXEC_FAILED || t->start_us > 0;
    const struct st_job_move start = {.id = j->id,
                                      .from = EXEC_QUEUED,
                                      .to = EXEC_RUNNING,
                                      .now_us = t->start_us > 0 ? t->start_us : t->end_us,
                                      .start_us = t->start_us,
                                      .reason = "seeded"};
    const struct st_job_move end = {.id = j->id,
                                    .from = ran ? EXEC_RUNNING : EXEC_QUEUED,
                                    .to = to,
                                    .now_us = t->end_us,
                                    .end_us = over ? t->end_us : 0,
                                    .has_exit_code = t->exit_code != NULL,
                                    .exit_code = (int)json_integer_value(t->exit_code),
                                    .errors = seed_json(a, t->errors),
                                    .reason = "seeded"};
    if (to == EXEC_QUEUED)
        return 0;
    if (end_runs(st, a, j->id, t, over, e) < 0 || (ran && st_job_move(st, &start, e) < 0))
        return -1;
    return to == EXEC_RUNNING ? 0 : st_job_move(st, &end, e);
}

int seed_job_then(const struct seed *seed, struct request *r, const struct seed_step *s,
                  struct err *e)
{
    struct told_state t;
    struct job j;
    struct storage *st = seed->arm.storage;
    const json_t *given = seed_state_of(r, s);
    const struct scope scope = {.subscription = s->subscription,
                                .group = seed_step_in(s, SEED_GROUP)->name,
                                .workspace = seed_step_in(s, SEED_WORKSPACE)->name,
                                .experiment = s->above->name};
    if (!given)
        return 0;
    if (seed_state_read(given, "executionState", "errors", r->now_us, &t, e) < 0)
        return -1;
    int to = enum_from_name(exec_state_names, t.name);
    if (to == 0)
        return seed_unknown("state.executionState", t.name,
                            "queued, running, terminating, succeeded or failed", e);
    int rc = st_job_find(st, &r->arena, &scope, s->name, &j, e);
    if (rc <= 0)
        return rc < 0 ? -1 : err_set(e, ERR_INTERNAL, NULL, "The job does not exist any more.");
    if (t.guid && st_job_set_guid(st, j.id, t.guid, e) < 0)
        return -1;
    return move_job(st, &r->arena, &j, &t, (enum exec_state)to, e);
}

/* --- keys --------------------------------------------------------------------------------------
 */

/* Sets both keys of an account; `set` replaces one key. */
int seed_keys_set(const struct seed *seed, struct request *r, const json_t *keys, int64_t id,
                  int (*set)(struct storage *st, int64_t id, int which, const unsigned char *key,
                             int64_t now_us, struct err *e),
                  struct err *e)
{
    unsigned char key[ACCOUNT_KEY_BYTES];
    for (int i = 0; i < 2; i++) {
        const char *text = json_string_value(json_array_get(keys, (size_t)i));
        size_t n = 0;
        if (!text || json_array_size(keys) != 2 ||
            sodium_base642bin(key, sizeof key, text, strlen(text), NULL, &n, NULL,
                              sodium_base64_VARIANT_ORIGINAL) != 0 ||
            n != sizeof key)
            return err_set(e, ERR_INVALID_PROPERTY, "keys",
                           "keys must be a list of two texts, each the base64 form of %d bytes.",
                           ACCOUNT_KEY_BYTES);
        if (set(seed->arm.storage, id, i, key, r->now_us, e) < 0)
            return -1;
    }
    sodium_memzero(key, sizeof key);
    return 0;
}

static int set_storage_key(struct storage *st, int64_t id, int which, const unsigned char *key,
                           int64_t now_us, struct err *e)
{
    return st_account_set_key(st, id, which, key, now_us, e);
}

int seed_account_then(const struct seed *seed, struct request *r, const struct seed_step *s,
                      struct err *e)
{
    struct storage_account acct;
    const json_t *keys = json_object_get(s->given, "keys");
    if (!keys)
        return 0;
    int rc = st_account_by_name(seed->arm.storage, &r->arena, s->name, &acct, e);
    return rc <= 0 ? -1 : seed_keys_set(seed, r, keys, acct.id, set_storage_key, e);
}
