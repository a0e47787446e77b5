/* SPDX-License-Identifier: MIT
 *
 * `batchaid explain`: the story of one job.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/table.h"

/* The parts of [[[GROUP/]WORKSPACE/]EXPERIMENT/]JOB, from the end, or of
 * [[GROUP/]ACCOUNT/]JOB/TASK: with their names in replies, and in the queries for jobs and for
 * tasks. */
enum { JOB, EXPERIMENT, WORKSPACE, GROUP, N_PARTS };
static const char *const members[N_PARTS] = {"name", "experiment", "workspace", "resourceGroup"};
static const char *const of_task[N_PARTS] = {"name", "job", "account", "resourceGroup"};

/* Caller frees *copy; the parts point into it. */
static int split(const char *name, char **copy, char *parts[N_PARTS], struct err *e)
{
    int n = 0;
    *copy = xstrdup(name);
    for (char *slash; n < N_PARTS; *slash = '\0') {
        slash = strrchr(*copy, '/');
        parts[n++] = slash ? slash + 1 : *copy;
        if (!slash)
            return 0;
    }
    return err_set(e, ERR_CONFIG, NULL,
                   "explain: '%.200s' has too many slashes; use JOB, or GROUP/WORKSPACE/"
                   "EXPERIMENT/JOB",
                   name);
}

static int ambiguous(const char *name, const json_t *found, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    size_t i;
    json_t *j;
    json_array_foreach(found, i, j)
        if (i < 5)
            strbuf_printf(&b, "%s%s/%s/%s/%s", i ? ", " : "", jobs_text(j, "resourceGroup"),
                          jobs_text(j, "workspace"), jobs_text(j, "experiment"),
                          jobs_text(j, "name"));
    err_set(e, ERR_CONFIG, NULL, "there are several of '%.100s'; name one of them: %.700s%s", name,
            b.s, json_array_size(found) > 5 ? ", ..." : "");
    strbuf_free(&b);
    return -1;
}

/* Appends the results of a query, page by page. */
static int ask(struct daemon_client *c, const char *question, const char *const names[N_PARTS],
               char *const parts[N_PARTS], json_t *found, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    json_int_t before = 0;
    int rc;
    do {
        json_t *reply = NULL;
        path.len = 0;
        strbuf_printf(&path, "%s", question);
        for (int i = 0; i < N_PARTS; i++)
            jobs_filter(c, &path, names[i], parts[i]);
        if (before)
            strbuf_printf(&path, "&before=%" JSON_INTEGER_FORMAT, before);
        rc = client_call(c, "GET", path.s, NULL, &reply, e);
        if (rc == 0)
            json_array_extend(found, json_object_get(reply, "value"));
        before = json_integer_value(json_object_get(reply, "next"));
        json_decref(reply);
    } while (rc == 0 && before);
    strbuf_free(&path);
    return rc;
}

int jobs_find(struct daemon_client *c, const char *name, json_t **found, struct err *e)
{
    char *copy, *parts[N_PARTS] = {NULL};
    int rc = split(name, &copy, parts, e);
    *found = json_array();
    if (rc == 0)
        rc = ask(c, "/batchaid/jobs", members, parts, *found, e);
    if (rc == 0 && json_array_size(*found) == 0 && parts[EXPERIMENT])
        rc = ask(c, "/batchaid/tasks", of_task, parts, *found, e);
    if (rc == 0 && json_array_size(*found) == 0)
        rc = err_set(e, ERR_CONFIG, NULL,
                     "there is no job or task '%.200s'; `batchaid jobs` lists jobs, and tasks of "
                     "Azure Batch are JOB/TASK, or GROUP/ACCOUNT/JOB/TASK",
                     name);
    else if (rc == 0 && json_array_size(*found) > 1)
        rc = ambiguous(name, *found, e);
    free(copy);
    return rc;
}

static void add_segment(struct daemon_client *c, struct strbuf *path, const char *segment)
{
    char *escaped = client_escape(c, segment);
    strbuf_printf(path, "/%s", escaped);
    free(escaped);
}

int jobs_ask_about(struct daemon_client *c, const char *below, const json_t *j, json_t **reply,
                   struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    strbuf_puts(&path, below);
    for (int i = N_PARTS - 1; i >= 0; i--)
        add_segment(c, &path, jobs_text(j, members[i]));
    int rc = client_call(c, "GET", path.s, NULL, reply, e);
    strbuf_free(&path);
    return rc;
}

static void print_story(const json_t *reply)
{
    size_t i;
    const json_t *line;
    const json_t *j = json_object_get(reply, "job");
    const char *kind = jobs_text(reply, "kind");
    char *head = NULL;
    printf("%s %s in %s/%s/%s, %s\n", kind ? kind : "job", jobs_text(j, "name"),
           jobs_text(j, "resourceGroup"), jobs_text(j, "workspace"), jobs_text(j, "experiment"),
           jobs_text(j, "state"));
    json_array_foreach(json_object_get(reply, "story"), i, line) {
        const char *time = jobs_text(line, "time");
        head = xstrdup(jobs_text(line, "text"));
        table_clean(head);
        printf("%-24s  %s\n", time ? time : "now", head);
        free(head);
    }
}

static int explain(struct daemon_client *c, const struct options *o, struct err *e)
{
    json_t *found = NULL, *reply = NULL;
    int rc = jobs_find(c, o->args[0], &found, e);
    if (rc == 0)
        rc = jobs_ask_about(c, "/batchaid/jobs", json_array_get(found, 0), &reply, e);
    if (rc == 0 && o->json) {
        json_dumpf(reply, stdout, JSON_INDENT(2));
        putchar('\n');
    } else if (rc == 0) {
        print_story(reply);
    }
    json_decref(found);
    json_decref(reply);
    return rc;
}

int cmd_explain(const struct options *o)
{
    return jobs_with_client(o, explain);
}
