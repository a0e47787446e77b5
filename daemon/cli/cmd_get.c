/* SPDX-License-Identifier: MIT
 *
 * `batchaid get`: downloads files of a job's output directories. Names come from the job, so only
 * names that stay below the folder are written, and links there are not followed.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/job_wish.h"
#include "daemon/cli/table.h"
#include "lib/fs.h"
#include "lib/timefmt.h"

struct getting {
    struct daemon_client *c;
    const struct options *o;
    const json_t *job;
    char *to;
    int64_t since_us; /* the job's start */
    size_t files;
    int64_t bytes;
    struct err *e;
};

/* --- one file --------------------------------------------------------------------------------- */

static int write_bytes(void *ctx, const void *bytes, size_t n)
{
    return fs_write_all(*(const int *)ctx, bytes, n);
}

/* Opens DIR/NAME for writing and makes the folders of NAME. */
static int open_file(const struct getting *g, const char *name, char **path)
{
    struct err *e = g->e;
    *path = fs_join(g->to, name);
    char *folder = fs_folder(*path);
    int rc = fs_path_is_safe(name) ? fs_mkdirs(folder, 0777, e)
                                   : err_set(e, ERR_CONFIG, NULL,
                                             "'%.200s' leads out of the folder, so it was not "
                                             "written",
                                             name);
    free(folder);
    if (rc < 0)
        return -1;
    int fd = open(*path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    return fd < 0 ? err_errno(e, ERR_IO, "%.300s cannot be written", *path) : fd;
}

static int fetch(struct getting *g, const char *name, const json_t *shown)
{
    char *path = NULL;
    int64_t size =
        json_integer_value(json_object_get(json_object_get(shown, "properties"), "contentLength"));
    int fd = open_file(g, name, &path), rc = fd < 0 ? -1 : 0;
    if (rc == 0)
        rc = client_fetch(g->c, jobs_text(shown, "downloadUrl"), 0, write_bytes, &fd, g->e);
    if (fd >= 0 && close(fd) < 0 && rc == 0)
        rc = err_errno(g->e, ERR_IO, "%.300s cannot be written", path);
    if (rc == 0) {
        printf("%s\n", path);
        g->files++;
        g->bytes += size;
    }
    free(path);
    return rc;
}

/* --- which files ------------------------------------------------------------------------------ */

/* FILE is a pattern of the whole name, or a folder above it. */
static bool is_named(const struct options *o, const char *name)
{
    for (int i = 1; i < o->n_args; i++) {
        const char *wanted = o->args[i];
        size_t n = strlen(wanted);
        n -= n > 0 && wanted[n - 1] == '/';
        if (fnmatch(wanted, name, 0) == 0 || (strncmp(wanted, name, n) == 0 && name[n] == '/'))
            return true;
    }
    return false;
}

/* Shown times have whole seconds. */
static bool is_wanted(const struct getting *g, const char *name, const json_t *shown)
{
    int64_t changed_us = INT64_MAX;
    const char *when = jobs_text(json_object_get(shown, "properties"), "lastModified");
    if (g->o->n_args > 1)
        return is_named(g->o, name);
    if (when && timefmt_parse(when, &changed_us) < 0)
        changed_us = INT64_MAX;
    return changed_us >= g->since_us - g->since_us % 1000000;
}

static int get_dir(struct getting *g, const char *id, const char *dir, const char *shown_dir);

static int get_one(struct getting *g, const char *id, const char *dir, const char *shown_dir,
                   const json_t *one)
{
    const char *name = jobs_text(one, "name"), *type = jobs_text(one, "fileType");
    struct strbuf path = STRBUF_INIT, shown = STRBUF_INIT;
    int rc = 0;
    if (!name || strncmp(name, ".unpack-", 8) == 0)
        return 0;
    strbuf_concat(&path, dir, *dir ? "/" : "", name);
    strbuf_concat(&shown, shown_dir, *shown_dir ? "/" : "", name);
    if (type && strcmp(type, "directory") == 0)
        rc = get_dir(g, id, path.s, shown.s);
    else if (jobs_text(one, "downloadUrl") && is_wanted(g, shown.s, one))
        rc = fetch(g, shown.s, one);
    strbuf_free(&path);
    strbuf_free(&shown);
    return rc;
}

/* The next page is at a link of the daemon's. */
static const char *next_of(const struct getting *g, const json_t *reply)
{
    const char *next = jobs_text(reply, "nextLink");
    size_t n = strlen(client_endpoint(g->c));
    const char *path = next ? strstr(next, "/subscriptions/") : NULL;
    return next && strncmp(next, client_endpoint(g->c), n) == 0 ? next + n : path;
}

static int get_dir(struct getting *g, const char *id, const char *dir, const char *shown_dir)
{
    struct strbuf path = STRBUF_INIT;
    json_t *one;
    size_t i;
    int rc = 0;
    jobs_add_path(g->c, g->job, "/listOutputFiles", &path);
    jobs_filter(g->c, &path, "outputdirectoryid", id);
    jobs_filter(g->c, &path, "directory", *dir ? dir : ".");
    for (const char *method = "POST"; rc == 0 && path.len; method = "GET") {
        json_t *reply = NULL;
        rc = client_call(g->c, method, path.s, NULL, &reply, g->e);
        json_array_foreach(json_object_get(reply, "value"), i, one)
            if (rc == 0)
                rc = get_one(g, id, dir, shown_dir, one);
        const char *next = rc == 0 ? next_of(g, reply) : NULL;
        strbuf_reset(&path);
        if (next)
            strbuf_puts(&path, next);
        json_decref(reply);
    }
    strbuf_free(&path);
    return rc;
}

/* --- the job ---------------------------------------------------------------------------------- */

/* The folder of `submit` is shown as the top, other directories by their ids. */
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

static void say(const struct getting *g)
{
    struct strbuf bytes = STRBUF_INIT;
    table_bytes(g->bytes, &bytes);
    if (g->files)
        fprintf(stderr, "batchaid: %zu file%s, %s\n", g->files, g->files == 1 ? "" : "s", bytes.s);
    else if (g->o->n_args > 1)
        fprintf(stderr, "batchaid: no file of %s has such a name\n", jobs_text(g->job, "name"));
    else
        fprintf(stderr,
                "batchaid: %s has written no files since its start; `batchaid get %s '*'` fetches "
                "all\n",
                jobs_text(g->job, "name"), jobs_text(g->job, "name"));
    strbuf_free(&bytes);
}

static int get(struct daemon_client *c, const struct options *o, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    struct getting g = {.c = c, .o = o, .e = e};
    json_t *job = NULL, *resource = NULL;
    if (jobs_find_job(c, o->args[0], &job, e) < 0)
        return -1;
    const char *begun = jobs_text(job, "startTime");
    g.job = job;
    g.to = xstrdup(o->folder_to ? o->folder_to : jobs_text(job, "name"));
    if (!begun || timefmt_parse(begun, &g.since_us) < 0)
        g.since_us = 0;
    jobs_add_path(c, job, "", &path);
    int rc = begun ? client_call(c, "GET", path.s, NULL, &resource, e)
                   : err_set(e, ERR_CONFIG, NULL, "%.100s has not begun, so it has no files",
                             jobs_text(job, "name"));
    if (rc == 0)
        rc = get_all(&g, resource);
    if (rc == 0)
        say(&g);
    strbuf_free(&path);
    json_decref(job);
    json_decref(resource);
    free(g.to);
    return rc < 0 ? -1 : g.files ? EXIT_DONE : EXIT_FAILED;
}

int cmd_get(const struct options *o)
{
    return jobs_with_client(o, get);
}
