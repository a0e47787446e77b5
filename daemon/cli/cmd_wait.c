/* SPDX-License-Identifier: MIT
 *
 * `batchaid wait`: waits until a daemon serves the state directory and is ready; the daemon may
 * start later. `wait JOB...` waits for jobs (cmd_logs.c).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "daemon/cli/cli.h"
#include "daemon/cli/client.h"
#include "daemon/cli/json_print.h"
#include "daemon/cli/progress.h"
#include "lib/strbuf.h"

#define WAIT_DEFAULT_S 60
#define WAIT_PAUSE_MS  20
#define LOOK_MS        5000 /* after this time without a reply, the daemon is asked again */

static void pause_ms(long ms)
{
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* Sets the error "the daemon is not ready yet; missing: seed, database". */
static int not_ready(const json_t *reply, long status, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    size_t i;
    json_t *part;
    json_array_foreach(json_object_get(reply, "missing"), i, part)
        strbuf_concat(&b, i ? ", " : "", json_string_value(part), "");
    if (b.len)
        err_set(e, ERR_UNAVAILABLE, NULL, "the daemon is not ready yet; missing: %.500s", b.s);
    else
        err_set(e, ERR_UNAVAILABLE, NULL, "the daemon is not ready yet (status %ld)", status);
    strbuf_free(&b);
    return -1;
}

static int look(const struct state *s, long limit_ms, struct err *e)
{
    struct daemon_client *c = NULL;
    json_t *reply = NULL;
    long status = 0;
    if (client_reach(s, &c, e) < 0)
        return -1;
    client_limit(c, limit_ms);
    client_quiet(c, true);
    int rc = client_look(c, "/batchaid/ready", &status, &reply, e);
    if (rc == 0 && status != HTTP_OK)
        rc = not_ready(reply, status, e);
    json_decref(reply);
    client_close(c);
    return rc;
}

/* Tries at least once, even if the time is 0. */
static int wait_until(const struct state *s, int64_t timeout_us, struct err *e)
{
    struct progress progress;
    progress_begin(&progress);
    for (;;) {
        int64_t left_ms = (timeout_us - progress_us(&progress)) / 1000;
        int rc = look(s, left_ms < 1000 ? 1000 : left_ms < LOOK_MS ? (long)left_ms : LOOK_MS, e);
        int64_t waited = progress_us(&progress);
        if (rc == 0 || waited + INT64_C(1000) * WAIT_PAUSE_MS > timeout_us) {
            progress_end(&progress);
            return rc;
        }
        progress_say(&progress, "waiting for %" PRId64 " s: %s", waited / 1000000, e->msg);
        pause_ms(WAIT_PAUSE_MS);
    }
}

/* Prints whether the daemon is ready, once, at the end. */
static void print_json(bool ready, const struct err *why)
{
    json_t *out = json_pack("{s:b, s:s*}", "ready", ready, "reason", ready ? NULL : why->msg);
    json_print_new(out);
}

int cmd_wait(const struct options *o)
{
    struct state s;
    if (o->n_args > 0)
        return cmd_wait_for_jobs(o);
    struct err e;
    if (o->subscription) {
        err_set(&e, ERR_CONFIG, NULL,
                "wait: --subscription says where a job is; name the job, too");
        return cli_fail(EXIT_USAGE, &e);
    }
    int64_t timeout_s = o->timeout ? strtol(o->timeout, NULL, 10) : WAIT_DEFAULT_S;
    if (state_locate(o->state_dir, NULL, &s, &e) < 0)
        return cli_fail(EXIT_FAILED, &e);
    int rc = wait_until(&s, timeout_s * 1000000, &e);
    state_free(&s);
    if (o->json)
        print_json(rc == 0, &e);
    return rc < 0 ? cli_fail(EXIT_FAILED, &e) : EXIT_DONE;
}
