/* SPDX-License-Identifier: MIT
 *
 * Asks for the list of output files again and again, and downloads the bytes that were added to
 * them. The last time is after the job's end, so nothing is missed. The pauses grow: a short job is
 * followed closely, and a long job causes few requests. While the daemon does not answer, for
 * example in a restart, requests are repeated; each file continues at the byte it had reached.
 */
#include "daemon/cli/follow.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/log_lines.h"
#include "daemon/cli/table.h"
#include "daemon/cli/watch.h"

#define FIRST_PAUSE_MS 20
#define LAST_PAUSE_MS  500
#define FILES_MAX      4096
#define TAIL_BLOCK     65536

static volatile sig_atomic_t interrupted;

struct followed_file {
    char *name;
    bool begun; /* the offset of the first byte is known */
    int64_t offset;
    struct log_lines lines;
};

struct following {
    struct daemon_client *c;
    const struct follow *f;
    struct strbuf files_path, state_path;
    struct followed_file **files;
    size_t n;
    struct log_lines *writer, *error_writer;
    bool waiting_shown, has_more_files;
    struct outage outage;
    struct err *e;
};

/* --- time and signals ------------------------------------------------------------------------- */

static void on_interrupt(int signo)
{
    (void)signo;
    interrupted = 1;
}

/* A signal that is ignored, for example in the background of a script, stays ignored. */
static void catch_interrupts(struct sigaction *old)
{
    struct sigaction on = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    interrupted = 0;
    sigemptyset(&on.sa_mask);
    sigaction(SIGINT, NULL, old);
    if (old->sa_handler != SIG_IGN)
        sigaction(SIGINT, &on, NULL);
}

int64_t follow_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool follow_pause(long milliseconds)
{
    const struct timespec t = {.tv_sec = milliseconds / 1000,
                               .tv_nsec = milliseconds % 1000 * 1000000};
    if (!interrupted)
        nanosleep(&t, NULL);
    return !interrupted;
}

/* --- files ------------------------------------------------------------------------------------ */

/* The number of the process in "stdout-3.txt"; "": the name has none. NULL: this file is not output
 * of the job. */
static const char *process_of(const char *name, bool *is_error, size_t *len)
{
    const char *rest = NULL, *end = strrchr(name, '.');
    *is_error = strncmp(name, "stderr", 6) == 0;
    if (*is_error || strncmp(name, "stdout", 6) == 0)
        rest = name + 6;
    if (!rest || !end || strcmp(end, ".txt") != 0 || (*rest != '-' && rest != end))
        return NULL;
    rest += *rest == '-';
    *len = rest < end ? (size_t)(end - rest) : 0;
    return rest;
}

static struct followed_file *file_named(struct following *w, const char *name)
{
    bool is_error;
    size_t len = 0;
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->files[i]->name, name) == 0)
            return w->files[i];
    const char *process = process_of(name, &is_error, &len);
    if (!process || (w->f->process &&
                     (strlen(w->f->process) != len || strncmp(w->f->process, process, len) != 0)))
        return NULL;
    if (w->n == FILES_MAX) {
        if (!w->has_more_files)
            fprintf(stderr, "batchaid: only the first %d files are shown; --node N shows others\n",
                    FILES_MAX);
        w->has_more_files = true;
        return NULL;
    }
    w->files = xrealloc(w->files, (w->n + 1) * sizeof *w->files);
    struct followed_file *f = w->files[w->n++] = xcalloc(1, sizeof *f);
    f->name = xstrdup(name);
    log_lines_init(&f->lines, is_error ? stderr : stdout, is_error ? &w->error_writer : &w->writer,
                   process, len);
    return f;
}

static int on_bytes(void *ctx, const void *bytes, size_t n)
{
    struct followed_file *f = ctx;
    f->offset += (int64_t)n;
    return log_lines_add(&f->lines, bytes, n) < 0 || interrupted ? -1 : 0;
}

/* --- the last lines --------------------------------------------------------------------------- */

struct tail_block {
    char bytes[TAIL_BLOCK];
    size_t n;
};

static int keep_block(void *ctx, const void *bytes, size_t n)
{
    struct tail_block *b = ctx;
    size_t room = sizeof b->bytes - b->n, now = n < room ? n : room;
    memcpy(b->bytes + b->n, bytes, now);
    b->n += now;
    return b->n == sizeof b->bytes ? -1 : 0;
}

/* Finds where the last `lines` lines of a file of this size begin; reads the file backwards in
 * blocks. */
static int tail_of(struct following *w, const char *url, int64_t size, int64_t lines, int64_t *from)
{
    struct tail_block *b = xcalloc(1, sizeof *b);
    int rc = 0;
    int64_t seen = 0;
    *from = lines == 0 ? size : 0;
    for (int64_t at = size; rc == 0 && lines > 0 && at > 0;) {
        int64_t begin = at > TAIL_BLOCK ? at - TAIL_BLOCK : 0;
        b->n = 0;
        rc = client_fetch(w->c, url, begin, keep_block, b, w->e);
        for (int64_t i = at - begin; rc == 0 && i-- > 0 && i < (int64_t)b->n;) {
            bool is_last = begin + i == size - 1; /* the newline of the last line */
            if (b->bytes[i] == '\n' && !is_last && ++seen == lines) {
                *from = begin + i + 1;
                at = 0;
                break;
            }
        }
        at = at ? begin : 0;
    }
    free(b);
    return rc;
}

/* --- looking ---------------------------------------------------------------------------------- */

static int read_more(struct following *w, const json_t *shown, bool first)
{
    const char *name = jobs_text(shown, "name"), *url = jobs_text(shown, "downloadUrl");
    int64_t size =
        json_integer_value(json_object_get(json_object_get(shown, "properties"), "contentLength"));
    struct followed_file *f = name && url ? file_named(w, name) : NULL;
    if (!f)
        return 0;
    if (first && !f->begun && w->f->tail >= 0 && tail_of(w, url, size, w->f->tail, &f->offset) < 0)
        return -1;
    f->begun = true;
    return size > f->offset && !interrupted ? client_fetch(w->c, url, f->offset, on_bytes, f, w->e)
                                            : 0;
}

/* Lines need the number of their process as a prefix as soon as two processes write. */
static void name_processes(struct following *w)
{
    const char *one = NULL;
    bool several = false;
    for (size_t i = 0; i < w->n; i++) {
        const char *process = w->files[i]->lines.process;
        several = several || (one && strcmp(one, process) != 0);
        one = process;
    }
    for (size_t i = 0; i < w->n; i++)
        w->files[i]->lines.prefixed = several;
}

/* Handles a refusal of the list of files. If the caller lacks rights, or the daemon cannot answer
 * now, it is an error. Other refusals mean that there are no files, or none yet: the reason is
 * printed if the job has ended, and its exit code is still used. */
static int judge_list(const struct following *w, const json_t *job, long status,
                      const json_t *reply)
{
    struct err why;
    if (status < HTTP_REFUSE)
        return 0;
    if (status == HTTP_FORBIDDEN || status == HTTP_TOO_MANY || status >= HTTP_OF_DAEMON)
        return client_refused(reply, status, w->e);
    if (jobs_has_ended(job) && jobs_text(job, "startTime") && client_refused(reply, status, &why))
        fprintf(stderr, "batchaid: %s\n", why.msg);
    return 0;
}

/* Appends the rows of all pages. */
static int list_files(struct following *w, const json_t *job, json_t *all)
{
    struct strbuf path = STRBUF_INIT;
    int rc = 0;
    strbuf_puts(&path, w->files_path.s);
    for (const char *method = "POST"; rc == 0 && path.len; method = "GET") {
        long status = 0;
        json_t *reply = NULL;
        rc = client_try(w->c, method, path.s, NULL, &status, &reply, w->e);
        if (rc == 0)
            rc = judge_list(w, job, status, reply);
        if (rc == 0)
            json_array_extend(all, json_object_get(reply, "value"));
        const char *next = rc == 0 ? jobs_next_page(w->c, reply) : NULL;
        strbuf_reset(&path);
        if (next)
            strbuf_puts(&path, next);
        json_decref(reply);
    }
    strbuf_free(&path);
    return rc;
}

static int look_at_files(struct following *w, const json_t *job, bool first)
{
    json_t *all, *shown;
    size_t i;
    if (w->f->quiet)
        return 0;
    all = json_array();
    int rc = list_files(w, job, all);
    json_array_foreach(all, i, shown)
        if (jobs_text(shown, "name"))
            file_named(w, jobs_text(shown, "name"));
    name_processes(w);
    json_array_foreach(all, i, shown)
        if (rc == 0)
            rc = read_more(w, shown, first);
    fflush(stdout);
    json_decref(all);
    return rc;
}

/* Reads the job, and replaces *row. */
static int look_at_job(struct following *w, json_t **row)
{
    json_t *reply = NULL;
    if (client_call(w->c, "GET", w->state_path.s, NULL, &reply, w->e) < 0)
        return -1;
    json_decref(*row);
    *row = json_incref(json_object_get(reply, "job"));
    const json_t *story = json_object_get(reply, "story");
    const char *now = jobs_text(json_array_get(story, json_array_size(story) - 1), "text");
    const char *state = jobs_text(*row, "state");
    bool waits = state && strcmp(state, "queued") == 0 && isatty(STDERR_FILENO);
    if (waits && now) {
        char *text = xstrdup(now);
        table_clean(text);
        fprintf(stderr, "\r\033[K%.200s", text);
        free(text);
    } else if (w->waiting_shown) {
        fputs("\r\033[K", stderr);
    }
    w->waiting_shown = waits && now;
    json_decref(reply);
    return 0;
}

static void free_all(struct following *w)
{
    for (size_t i = 0; i < w->n; i++) {
        log_lines_end(&w->files[i]->lines);
        free(w->files[i]->name);
        free(w->files[i]);
    }
    free(w->files);
    strbuf_free(&w->files_path);
    strbuf_free(&w->state_path);
}

static void make_paths(struct following *w)
{
    jobs_add_path(w->c, w->f->job, "/listOutputFiles", &w->files_path);
    strbuf_puts(&w->files_path, "&outputdirectoryid=stdouterr&maxresults=1000");
    jobs_add_story(w->c, w->f->job, "", &w->state_path);
}

/* Looks at the job and then at its files. The state is read first, so that the files of an ended
 * job are complete. */
static int look(struct following *w, json_t **row, bool first)
{
    int rc = look_at_job(w, row);
    return rc < 0 ? -1 : look_at_files(w, *row, first);
}

/* Whether to look again after an error, because the daemon may restart. */
static bool waits_for_daemon(struct following *w)
{
    if (!w->f->until_end || !outage_goes_on(&w->outage, w->e, w->waiting_shown ? "\r\033[K" : ""))
        return false;
    w->waiting_shown = false;
    return true;
}

static int follow_on(struct following *w, json_t **row)
{
    int64_t begun = follow_now_ms(), pause = FIRST_PAUSE_MS;
    for (bool first = true;;) {
        int rc = look(w, row, first);
        if (interrupted)
            return FOLLOW_DETACHED;
        if (rc < 0 && !waits_for_daemon(w))
            return -1;
        if (rc == 0) {
            first = false;
            w->outage = (struct outage){0};
            if (jobs_has_ended(*row) || !w->f->until_end)
                return FOLLOW_DONE;
        }
        if (w->f->timeout_ms >= 0 && follow_now_ms() - begun >= w->f->timeout_ms)
            return FOLLOW_LATE;
        if (!follow_pause(rc < 0 ? OUTAGE_PAUSE_MS : (long)pause))
            return FOLLOW_DETACHED;
        pause = pause * 3 / 2 < LAST_PAUSE_MS ? pause * 3 / 2 : LAST_PAUSE_MS;
    }
}

int follow(struct daemon_client *c, const struct follow *f, struct followed *out, struct err *e)
{
    struct sigaction old;
    struct following w = {.c = c, .f = f, .e = e};
    *out = (struct followed){.job = NULL};
    make_paths(&w);
    catch_interrupts(&old);
    /* no lines of progress, because the last line of the job's output may not be complete yet */
    client_quiet(c, true);
    int rc = follow_on(&w, &out->job);
    client_quiet(c, false);
    sigaction(SIGINT, &old, NULL);
    if (w.waiting_shown)
        fputs("\r\033[K", stderr);
    out->files = w.n;
    free_all(&w);
    return rc;
}

int follow_exit_code(const json_t *job)
{
    const json_t *code = json_object_get(job, "exitCode");
    const char *state = jobs_text(job, "state");
    if (code)
        return (int)(json_integer_value(code) & 255);
    return state && strcmp(state, "succeeded") == 0 ? EXIT_DONE : EXIT_FAILED;
}
