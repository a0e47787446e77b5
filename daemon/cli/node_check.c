/* SPDX-License-Identifier: MIT
 *
 * At most a fixed number of machines at a time, each with a link and a time limit of its own:
 *
 *   WAITING -> OPENING -> FACTS (on_ready) -> HEALTH -> MOUNTING -> CLOSING -> DONE
 *                 |          |                   |          |          ^
 *                 '----------+-------------------+----------+----------'  a failure, or the limit
 *
 * At the end of a machine's check, its link is closed and the next machine begins. Verdicts are in
 * an array of the caller. The loop belongs to this check and ends with its last machine.
 */
#include "daemon/cli/node_check.h"
#include "lib/loop_uv.h"

#include <assert.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "daemon/cli/table.h"
#include "lib/arena.h"
#include "lib/timefmt.h"
#include "nodeagent-proto/link/node.h"

#define PROGRESS_MS 200
#define US_PER_S    1000000

static const struct log quiet = {.fd = STDERR_FILENO, .level = LOG_LVL_ERROR};

struct checking {
    const struct check_config *config;
    uv_loop_t loop;
    struct loop *tools; /* `loop` as struct loop */
    struct files *files;
    uv_timer_t progress;
    struct one *all;
    size_t n, next, open, done;
};

/* A machine during its check. */
struct one {
    struct checking *checking;
    struct check_result *result;
    struct node_link *link;
    uv_timer_t limit;
    int64_t asked_us;
    bool over; /* its check has ended; later callbacks only belong to the closing of the link */
};

/* --- judging -------------------------------------------------------------------------------- */

static void set(struct check_result *r, enum check_item item, enum check_verdict verdict,
                const char *word)
{
    r->cells[item].verdict = verdict;
    snprintf(r->cells[item].word, sizeof r->cells[item].word, "%s", word);
    table_clean(r->cells[item].word);
}

static void problem(struct check_result *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void problem(struct check_result *r, const char *fmt, ...)
{
    char text[1280];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    table_clean(text);
    if (r->n_problems < CHECK_PROBLEMS_MAX)
        r->problems[r->n_problems++] = xstrdup(text);
}

static void note(struct check_result *r, const char *lacks)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "%s: shares without a rule: %s", r->machine->name, lacks);
    char *text = strbuf_take(&b);
    table_clean(text);
    if (r->n_notes < CHECK_PROBLEMS_MAX)
        r->notes[r->n_notes++] = text;
    else
        free(text);
}

static enum check_item item_of(const struct check_result *r, enum node_step step)
{
    static const enum check_item items[NODE_STEPS] = {
        [NODE_STEP_NAME] = CHECK_NAME,          [NODE_STEP_CONNECT] = CHECK_TCP,
        [NODE_STEP_HANDSHAKE] = CHECK_HOST_KEY, [NODE_STEP_HOST_KEY] = CHECK_HOST_KEY,
        [NODE_STEP_LOGIN] = CHECK_LOGIN,        [NODE_STEP_MACHINE] = CHECK_SHELL,
        [NODE_STEP_UPLOAD] = CHECK_AGENT,       [NODE_STEP_START] = CHECK_BECOME,
        [NODE_STEP_AGENT] = CHECK_AGENT,
    };
    assert(step < NODE_STEPS);
    if (step == NODE_STEP_START && !r->machine->group->become)
        return CHECK_SHELL;
    return items[step];
}

static void passed_before(struct one *m, enum node_step step)
{
    for (int s = 0; s < (int)step; s++)
        set(m->result, item_of(m->result, (enum node_step)s), CHECK_OK, "ok");
    if (step > NODE_STEP_HOST_KEY && node_link_is_new_host(m->link))
        set(m->result, CHECK_HOST_KEY, CHECK_OK, "new");
}

static const char *word_for(const struct one *m, enum node_step step)
{
    if (step != NODE_STEP_HOST_KEY)
        return "no";
    return node_link_is_new_host(m->link) ? "unknown" : "changed";
}

static void judge_failure(struct one *m, const struct err *why)
{
    enum node_step step = node_link_step(m->link);
    passed_before(m, step);
    set(m->result, item_of(m->result, step), CHECK_BAD, word_for(m, step));
    problem(m->result, "%s", why->msg);
}

static void judge_root(struct check_result *r, const struct node_facts *f)
{
    const struct site_group *g = r->machine->group;
    if (!g->become || f->is_root)
        return;
    set(r, CHECK_BECOME, CHECK_BAD, "no");
    problem(r, "%s: '%s' runs as '%s', not as root; make it give root, or set become to none",
            r->machine->name, g->become, f->user && *f->user ? f->user : "somebody else");
}

static void judge_facts(struct check_result *r, const struct node_facts *f)
{
    char word[sizeof r->cells[0].word];
    snprintf(word, sizeof word, "%d", f->n_gpus);
    if (f->n_gpus > 0)
        set(r, CHECK_GPU, CHECK_OK, word);
    snprintf(word, sizeof word, "%s", f->runtimes ? f->runtimes : "");
    for (char *p = word; *p; p++)
        *p = (char)(*p == ' ' ? ',' : *p);
    if (*word)
        set(r, CHECK_CONTAINERS, CHECK_OK, word);
    if (f->mpi && *f->mpi)
        set(r, CHECK_MPI, CHECK_OK, "ok");
}

static void judge_disk(const struct site *site, struct check_result *r, const struct node_health *h)
{
    struct strbuf free_now = STRBUF_INIT, wanted = STRBUF_INIT;
    bool low = h->disk_free_bytes < site->min_free_disk_bytes;
    table_bytes(h->disk_free_bytes, &free_now);
    table_bytes(site->min_free_disk_bytes, &wanted);
    set(r, CHECK_DISK, low ? CHECK_BAD : CHECK_OK, free_now.s);
    if (low)
        problem(r, "%s: the disk of %s has %s free, less than the %s wanted; make room there",
                r->machine->name, r->machine->group->node_root, free_now.s, wanted.s);
    strbuf_free(&free_now);
    strbuf_free(&wanted);
}

/* Records that the node root cannot be used. */
static void judge_root_dir(struct check_result *r, const struct err *why)
{
    const struct site_group *g = r->machine->group;
    bool root = g->become || strcmp(g->user, "root") == 0;
    set(r, CHECK_DISK, CHECK_BAD, "no");
    problem(r, "%s: %s; make it usable for %s%s, or give another node_root", r->machine->name,
            why->msg, root ? "root" : g->user, root ? "" : ", reach root with become");
}

/* The smallest possible difference of the machine's clock: `theirs` was read between the readings
 * `before` and `after` of this clock. */
static int64_t skew_us(int64_t theirs, int64_t before, int64_t after)
{
    return theirs < before ? theirs - before : theirs > after ? theirs - after : 0;
}

static void judge_clock(const struct site *site, struct check_result *r)
{
    char word[32] = "ok";
    int64_t s = r->clock_skew_us / US_PER_S;
    bool bad = s > site->max_clock_skew_s || -s > site->max_clock_skew_s;
    if (bad)
        snprintf(word, sizeof word, "%+" PRId64 "s", s);
    set(r, CHECK_CLOCK, bad ? CHECK_BAD : CHECK_OK, word);
    if (bad)
        problem(r, "%s: its clock is %" PRId64 " s %s of this machine's; let NTP set both",
                r->machine->name, s < 0 ? -s : s, s < 0 ? "behind" : "ahead");
}

static void judge_health(struct one *m, const struct node_health *h)
{
    struct check_result *r = m->result;
    r->has_health = true;
    r->disk_free_bytes = h->disk_free_bytes;
    r->clock_skew_us = skew_us(h->time_us, m->asked_us, time_now_us());
    judge_disk(m->checking->config->site, r, h);
    judge_clock(m->checking->config->site, r);
    if (!h->gpu_errors || !*h->gpu_errors)
        return;
    set(r, CHECK_GPU, CHECK_BAD, "errors");
    problem(r,
            "%s: the GPU driver reports errors: %s; check the kernel's log of the machine, and "
            "reboot it",
            r->machine->name, h->gpu_errors);
}

/* --- the steps of one machine --- */

static void begin_more(struct checking *c);

static void on_released(uv_handle_t *h)
{
    struct one *m = h->data;
    m->checking->open--;
    m->checking->done++;
    begin_more(m->checking);
}

static void on_closed(void *ctx)
{
    struct one *m = ctx;
    uv_close((uv_handle_t *)&m->limit, on_released);
}

static void end(struct one *m)
{
    assert(!m->over);
    m->over = true;
    uv_timer_stop(&m->limit);
    node_close(m->link, on_closed, m);
}

static void on_limit(uv_timer_t *t)
{
    struct one *m = t->data;
    set(m->result, CHECK_AGENT, CHECK_BAD, "no");
    problem(m->result,
            "%s: its agent does not answer within %d s; check whether a disk of the machine hangs",
            m->result->machine->name, m->checking->config->site->connect_timeout_s);
    end(m);
}

static void on_mounting(void *ctx, const struct err *why, const char *const *lacks, size_t n)
{
    struct one *m = ctx;
    if (m->over || !node_link_is_ready(m->link))
        return;
    set(m->result, CHECK_SHARES, why || n ? CHECK_BAD : CHECK_OK, why || n ? "no" : "ok");
    for (size_t i = 0; i < n; i++)
        note(m->result, lacks[i]);
    if (why)
        note(m->result, why->msg);
    end(m);
}

static void ask_for_mounting(struct one *m)
{
    const struct site *site = m->checking->config->site;
    const char *address =
        site->shares_address ? site->shares_address : node_link_own_address(m->link);
    node_mounting(m->link, address, site->shares_port, on_mounting, m);
}

static void on_health(void *ctx, const struct err *why, const struct node_health *health)
{
    struct one *m = ctx;
    if (m->over || !node_link_is_ready(m->link))
        return; /* on_down() reports the reason */
    if (why) {
        judge_root_dir(m->result, why);
    } else {
        judge_health(m, health);
    }
    if (m->checking->config->shares)
        ask_for_mounting(m);
    else
        end(m);
}

static void on_ready(void *ctx, const struct node_facts *facts)
{
    struct one *m = ctx;
    passed_before(m, NODE_STEPS);
    judge_root(m->result, facts);
    judge_facts(m->result, facts);
    m->asked_us = time_now_us();
    uv_timer_start(&m->limit, on_limit,
                   (uint64_t)m->checking->config->site->connect_timeout_s * 1000, 0);
    node_health(m->link, on_health, m);
}

static void on_down(void *ctx, const struct err *why)
{
    struct one *m = ctx;
    judge_failure(m, why);
    end(m);
}

static int open_link(struct one *m, struct err *e)
{
    struct node_ssh_config c = site_ssh_config(m->checking->config->site, m->result->machine);
    c.loop = m->checking->tools;
    c.log = &quiet;
    c.files = m->checking->files;
    c.look = true;
    c.callbacks = (struct node_callbacks){.ready = on_ready, .down = on_down, .ctx = m};
    return node_open_ssh(&c, &m->link, e);
}

static void begin(struct checking *c, struct one *m)
{
    struct err e;
    uv_timer_init(&c->loop, &m->limit);
    m->limit.data = m;
    c->open++;
    if (open_link(m, &e) == 0)
        return;
    problem(m->result, "%s: %s", m->result->machine->name, e.msg);
    on_closed(m);
}

static void on_files_stopped(void *ctx, size_t left_behind)
{
    (void)ctx;
    (void)left_behind; /* blocked threads end with the process */
}

static void begin_more(struct checking *c)
{
    int limit = c->config->site->connect_limit;
    while (c->next < c->n && c->open < (size_t)(limit > 0 ? limit : 1))
        begin(c, &c->all[c->next++]);
    if (c->done < c->n)
        return;
    uv_timer_stop(&c->progress);
    files_stop(c->files, on_files_stopped, c);
}

/* --- the check of all machines ---------------------------------------------------------------- */

static void on_progress(uv_timer_t *t)
{
    struct checking *c = t->data;
    c->config->progress(c->config->ctx, c->done, c->n);
}

void check_machines(const struct check_config *config, struct check_result *results, size_t n)
{
    struct checking c = {.config = config, .n = n, .all = xcalloc(n + 1, sizeof *c.all)};
    (void)signal(SIGPIPE, SIG_IGN);
    if (uv_loop_init(&c.loop) < 0)
        abort();
    c.tools = loop_uv_create(&c.loop, NULL, NULL);
    c.files = files_create(c.tools, &quiet);
    uv_timer_init(&c.loop, &c.progress);
    c.progress.data = &c;
    if (config->progress)
        uv_timer_start(&c.progress, on_progress, PROGRESS_MS, PROGRESS_MS);
    for (size_t i = 0; i < n; i++)
        c.all[i] = (struct one){.checking = &c, .result = &results[i]};
    begin_more(&c);
    uv_run(&c.loop, UV_RUN_DEFAULT);
    loop_uv_destroy(c.tools);
    uv_close((uv_handle_t *)&c.progress, NULL);
    uv_run(&c.loop, UV_RUN_DEFAULT);
    if (uv_loop_close(&c.loop) < 0)
        abort(); /* a link has not closed one of its handles */
    free(c.all);
}

void check_free(struct check_result *results, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < results[i].n_problems; k++)
            free(results[i].problems[k]);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < results[i].n_notes; k++)
            free(results[i].notes[k]);
}
