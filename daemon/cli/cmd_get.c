/* SPDX-License-Identifier: MIT
 *
 * `batchaid get`: downloads files of a job's output directories. The job has chosen the names of
 * the files, so only files below the local folder are written, and symbolic links in it are not
 * followed.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/get_file.h"
#include "daemon/cli/job_wish.h"
#include "daemon/cli/json_print.h"
#include "daemon/cli/table.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"

struct getting {
    struct daemon_client *c;
    const struct options *o;
    const json_t *job;
    char *to;
    /* The job's creation. The start may be that of a later attempt. The copy of the folder is made
     * before the job, and its files keep their times. */
    int64_t since_us;
    size_t files, older, gone;
    /* names that the daemon leaves out: not UTF-8, or neither a file nor a directory */
    json_int_t left_out;
    int64_t bytes;
    bool *found;  /* for each argument: whether a file matches it */
    json_t *rows; /* with --json, the fetched files; otherwise NULL */
    struct err *e;
};

/* --- one file --------------------------------------------------------------------------------- */

static void print_path(const char *path)
{
    char *shown = xstrdup(path);
    if (isatty(STDOUT_FILENO))
        table_clean(shown);
    printf("%s\n", shown);
    free(shown);
}

/* The path for a GET of a file's contents. It is not a link, because a link expires after an hour,
 * and fetching a list of files may take longer. */
static void content_path(const struct getting *g, const char *id, const char *path,
                         struct strbuf *out)
{
    jobs_add_story(g->c, g->job, "/files/content", out);
    jobs_filter(g->c, out, "directory", id);
    jobs_filter(g->c, out, "path", path);
}

static int fetch(struct getting *g, const char *id, const char *path, const char *name)
{
    struct get_file file;
    struct strbuf there = STRBUF_INIT, where = STRBUF_INIT;
    strbuf_concat(&there, g->to, "/", name);
    content_path(g, id, path, &where);
    int rc = get_file_open(g->to, name, &file, g->e);
    if (rc == 0) {
        struct err ended;
        client_doing(g->c, there.s);
        rc = client_fetch_own(g->c, where.s, get_file_write, &file, g->e);
        client_doing(g->c, NULL);
        if (get_file_end(&file, rc == 0, &ended) < 0) {
            *g->e = ended;
            rc = -1;
        }
        if (rc < 0)
            err_prefix(g->e, "%.300s was not fetched, and is as it was", there.s);
    }
    if (rc == 0) {
        if (g->rows)
            json_array_append_new(
                g->rows, json_pack("{s:s, s:I}", "path", there.s, "bytes", (json_int_t)file.bytes));
        else
            print_path(there.s);
        g->files++;
        g->bytes += file.bytes;
    }
    strbuf_free(&there);
    strbuf_free(&where);
    return rc;
}

/* --- which files ------------------------------------------------------------------------------ */

/* Whether an argument names the file: FILE is the whole name or a pattern for it, or a folder that
 * contains the file. */
static bool names(const char *wanted, const char *name)
{
    wanted += strncmp(wanted, "./", 2) == 0 ? 2 : 0;
    size_t n = strlen(wanted);
    n -= n > 0 && wanted[n - 1] == '/';
    return strcmp(wanted, name) == 0 || fnmatch(wanted, name, FNM_NOESCAPE) == 0 ||
           (strncmp(wanted, name, n) == 0 && name[n] == '/');
}

static bool is_named(const struct getting *g, const char *name)
{
    bool is = false;
    for (int i = 1; i < g->o->n_args; i++) {
        if (names(g->o->args[i], name))
            is = g->found[i] = true;
    }
    return is;
}

/* Whether to fetch a file: with FILE arguments, if one of them names it; otherwise, if it was
 * changed since the job's creation. That time is rounded down, because the daemon shows whole
 * seconds. A file without a time counts as old. */
static bool is_wanted(struct getting *g, const char *name, const json_t *row)
{
    int64_t changed_us = 0;
    const char *when = jobs_text(row, "modifiedTime");
    if (g->o->n_args > 1)
        return is_named(g, name);
    if (when && timefmt_parse(when, &changed_us) < 0)
        changed_us = INT64_MAX;
    bool is = changed_us >= g->since_us - g->since_us % 1000000;
    g->older += !is;
    return is;
}

/* If a running job has removed the file since it was listed, prints that and returns 0, so that the
 * other files are fetched. */
static int say_gone(struct getting *g, int rc)
{
    if (rc == 0 || strcmp(g->e->target, "FileNotFound") != 0)
        return rc;
    g->gone++;
    table_say(stderr, "batchaid: %s", g->e->msg);
    return 0;
}

static int get_dir(struct getting *g, const char *id, const char *dir, const char *shown_dir);

static int get_one(struct getting *g, const char *id, const char *shown_dir, const json_t *row)
{
    const char *name = jobs_text(row, "name"), *path = jobs_text(row, "path");
    struct strbuf shown = STRBUF_INIT;
    int rc = 0;
    if (!name || !path || strncmp(name, ".unpack-", 8) == 0)
        return 0;
    strbuf_concat(&shown, shown_dir, *shown_dir ? "/" : "", name);
    if (json_is_true(json_object_get(row, "isDirectory")))
        rc = get_dir(g, id, path, shown.s);
    else if (is_wanted(g, shown.s, row))
        rc = fetch(g, id, path, shown.s);
    strbuf_free(&shown);
    return say_gone(g, rc);
}

static int get_dir(struct getting *g, const char *id, const char *dir, const char *shown_dir)
{
    json_t *reply = NULL, *row;
    size_t i;
    int rc = 0;
    do {
        struct strbuf path = STRBUF_INIT;
        jobs_add_story(g->c, g->job, "/files", &path);
        jobs_filter(g->c, &path, "directory", id);
        jobs_filter(g->c, &path, "path", *dir ? dir : NULL);
        jobs_filter(g->c, &path, "after", jobs_text(reply, "next"));
        json_decref(reply);
        reply = NULL;
        rc = client_call(g->c, "GET", path.s, NULL, &reply, g->e);
        g->left_out += json_integer_value(json_object_get(reply, "leftOut"));
        json_array_foreach(json_object_get(reply, "value"), i, row)
            if (rc == 0)
                rc = get_one(g, id, shown_dir, row);
        strbuf_free(&path);
    } while (rc == 0 && jobs_text(reply, "next"));
    json_decref(reply);
    return rc;
}

/* --- the job ---------------------------------------------------------------------------------- */

/* Fetches all output directories. Names of files in the folder of `submit` are shown without a
 * prefix, names in other directories below the directory's id. */
static int get_all(struct getting *g, const json_t *resource)
{
    size_t i;
    json_t *one;
    int rc = 0;
    const json_t *dirs =
        json_object_get(json_object_get(resource, "properties"), "outputDirectories");
    json_array_foreach(dirs, i, one) {
        const char *id = jobs_text(one, "id");
        bool own = strcmp(id, JOB_OUTPUT) == 0;
        if (rc == 0)
            rc = get_dir(g, id, own ? JOB_FOLDER : "", own ? "" : id);
    }
    if (rc == 0 && json_array_size(dirs) == 0)
        rc = err_set(g->e, ERR_CONFIG, NULL,
                     "%.100s has no output directories, so the daemon does not know its files; "
                     "`batchaid logs` prints its output",
                     jobs_text(g->job, "name"));
    return rc;
}

/* Prints the arguments that no file matches. Returns 0 if there are none. */
static int say_missing(const struct getting *g)
{
    int code = EXIT_DONE;
    for (int i = 1; i < g->o->n_args; i++)
        if (!g->found[i]) {
            code = EXIT_FAILED;
            fprintf(stderr, "batchaid: no file of %s has such a name: %s\n",
                    jobs_text(g->job, "name"), g->o->args[i]);
        }
    return code;
}

static const char *plural(json_int_t n)
{
    return n == 1 ? "" : "s";
}

/* Prints what say() prints, as JSON. `whole`: all files were listed, so arguments that no file
 * matches are "missing". */
static void print_json(const struct getting *g, bool whole)
{
    json_t *missing = json_array();
    for (int i = 1; whole && i < g->o->n_args; i++)
        if (!g->found[i])
            json_array_append_new(missing, jsontext_string(g->o->args[i]));
    json_t *out =
        json_pack("{s:O, s:I, s:I, s:I, s:o}", "value", g->rows, "older", (json_int_t)g->older,
                  "gone", (json_int_t)g->gone, "leftOut", g->left_out, "missing", missing);
    json_print_new(out);
}

/* Prints what was fetched and what was not. Returns the exit code. */
static int say(const struct getting *g)
{
    struct strbuf bytes = STRBUF_INIT;
    char *words = jobs_words(g->c, g->job);
    table_bytes(g->bytes, &bytes);
    if (g->files)
        fprintf(stderr, "batchaid: %zu file%s, %s\n", g->files, plural((json_int_t)g->files),
                bytes.s);
    else if (g->o->n_args == 1 && !g->gone)
        fprintf(stderr, "batchaid: %s has written no files\n", jobs_text(g->job, "name"));
    if (g->older)
        fprintf(
            stderr,
            "batchaid: not fetched: %zu file%s from before its creation, as in the copy of your "
            "folder; `batchaid get %s '*'` fetches all\n",
            g->older, plural((json_int_t)g->older), words);
    if (g->left_out)
        fprintf(
            stderr,
            "batchaid: warning: %" JSON_INTEGER_FORMAT
            " name%s cannot be fetched (not UTF-8, a special file, or a link to a directory, to "
            "nothing or to another place)\n",
            g->left_out, plural(g->left_out));
    strbuf_free(&bytes);
    free(words);
    int code = say_missing(g);
    return g->files && !g->gone ? code : EXIT_FAILED;
}

/* A waiting job may have files of an earlier attempt. If it has none, it has not begun. */
static int explain_none(struct getting *g, int rc)
{
    bool waits = !jobs_text(g->job, "startTime");
    if (!waits || g->files > 0 || (rc < 0 && strcmp(g->e->target, "FileNotFound") != 0))
        return rc;
    return err_set(g->e, ERR_CONFIG, NULL, "%.100s has not begun, so it has no files",
                   jobs_text(g->job, "name"));
}

/* Refuses a folder that is not UTF-8, because JSON cannot contain it. */
static int check_to(const struct options *o, struct err *e)
{
    if (!o->json || !o->folder_to || jsontext_is_utf8(o->folder_to, strlen(o->folder_to)))
        return 0;
    return err_set(e, ERR_CONFIG, NULL,
                   "--json cannot print the folder of --to, which is not UTF-8; omit one of them");
}

static int get(struct daemon_client *c, const struct options *o, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    struct getting g = {.c = c, .o = o, .e = e, .rows = o->json ? json_array() : NULL};
    json_t *job = NULL, *resource = NULL;
    if (check_to(o, e) < 0 || jobs_find_job(c, o->args[0], &job, e) < 0) {
        json_decref(g.rows);
        return -1;
    }
    const char *created = jobs_text(job, "createdTime");
    g.job = job;
    g.found = xcalloc((size_t)o->n_args, sizeof *g.found);
    g.to = xstrdup(o->folder_to ? o->folder_to : jobs_text(job, "name"));
    if (!created || timefmt_parse(created, &g.since_us) < 0)
        g.since_us = 0;
    jobs_add_path(c, job, "", &path);
    int rc = client_call(c, "GET", path.s, NULL, &resource, e);
    if (rc == 0)
        rc = explain_none(&g, get_all(&g, resource));
    /* also after an error, because some files were fetched */
    if (g.rows && (rc == 0 || g.files > 0))
        print_json(&g, rc == 0);
    if (rc == 0)
        rc = say(&g);
    json_decref(g.rows);
    strbuf_free(&path);
    json_decref(job);
    json_decref(resource);
    free(g.to);
    free(g.found);
    return rc;
}

int cmd_get(const struct options *o)
{
    return jobs_with_client(o, get);
}
