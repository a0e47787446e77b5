/* SPDX-License-Identifier: MIT
 *
 * Finds jobs and tasks by their names on command lines.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/cli/cmd_jobs.h"
#include "lib/arena.h"

/* The parts of [[[GROUP/]WORKSPACE/]EXPERIMENT/]JOB, or of [[GROUP/]ACCOUNT/]JOB/TASK, from the
 * last to the first: their names in replies, and in queries for jobs and for tasks. */
enum { JOB, EXPERIMENT, WORKSPACE, GROUP, N_PARTS };
static const char *const members[N_PARTS] = {"name", "experiment", "workspace", "resourceGroup"};
static const char *const of_beginning[N_PARTS] = {"begins", "experiment", "workspace",
                                                  "resourceGroup"};
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
                   "'%.200s' has too many slashes; use JOB, or GROUP/WORKSPACE/"
                   "EXPERIMENT/JOB",
                   name);
}

/* Gets the id of the configured subscription. Caller frees. */
static int configured(struct daemon_client *c, char **out, struct err *e)
{
    json_t *reply = NULL;
    *out = NULL;
    if (client_call(c, "GET", "/batchaid/session", NULL, &reply, e) < 0)
        return -1;
    const char *id = jobs_text(reply, "subscriptionId");
    *out = id ? xstrdup(id) : NULL;
    json_decref(reply);
    return *out ? 0 : err_set(e, ERR_PROTOCOL, NULL, "the daemon's reply has no subscriptionId");
}

int jobs_name_subscription(struct daemon_client *c, json_t *rows, struct err *e)
{
    char *id = NULL;
    int rc = 0;
    size_t i;
    json_t *j;
    json_array_foreach(rows, i, j) {
        if (jobs_text(j, "subscription"))
            continue;
        rc = id ? 0 : configured(c, &id, e);
        if (rc < 0 || strcasecmp(id, client_subscription(c)) == 0)
            break; /* all rows without a subscription are in the client's */
        json_object_set_new(j, "subscription", json_string(id));
    }
    free(id);
    return rc;
}

const char *jobs_subscription(const struct daemon_client *c, const json_t *j)
{
    const char *of = jobs_text(j, "subscription");
    return of ? of : client_subscription(c);
}

char *jobs_words(const struct daemon_client *c, const json_t *j)
{
    struct strbuf b = STRBUF_INIT;
    const char *of = jobs_subscription(c, j);
    strbuf_puts(&b, jobs_text(j, "name"));
    if (client_meant(c) || strcasecmp(of, client_subscription(c)) != 0)
        strbuf_concat(&b, " --subscription ", of);
    return strbuf_take(&b);
}

static bool have_one_path(const json_t *found)
{
    const json_t *first = json_array_get(found, 0), *j;
    size_t i;
    json_array_foreach(found, i, j)
        for (int k = 0; k < N_PARTS; k++)
            if (strcasecmp(jobs_text(first, members[k]), jobs_text(j, members[k])) != 0)
                return false;
    return true;
}

/* If several jobs have the same path, and one is in the client's subscription, keeps only that
 * one. */
static void prefer_own(struct daemon_client *c, json_t *found)
{
    json_t *own = NULL, *j;
    size_t i;
    json_array_foreach(found, i, j)
        if (strcasecmp(jobs_subscription(c, j), client_subscription(c)) == 0)
            own = j;
    if (!own)
        return;
    json_incref(own);
    json_array_clear(found);
    json_array_append_new(found, own);
}

static bool is_one_subscription(const struct daemon_client *c, const json_t *found)
{
    const char *first = jobs_subscription(c, json_array_get(found, 0));
    const json_t *j;
    size_t i;
    json_array_foreach(found, i, j)
        if (strcasecmp(jobs_subscription(c, j), first) != 0)
            return false;
    return true;
}

static int ambiguous(const struct daemon_client *c, const char *name, const json_t *found,
                     struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    size_t i;
    json_t *j;
    bool one = is_one_subscription(c, found);
    json_array_foreach(found, i, j) {
        if (i >= 5)
            break;
        strbuf_printf(&b, "%s%s/%s/%s/%s", i ? ", " : "", jobs_text(j, "resourceGroup"),
                      jobs_text(j, "workspace"), jobs_text(j, "experiment"), jobs_text(j, "name"));
        if (!one)
            strbuf_concat(&b, " of subscription ", jobs_subscription(c, j));
    }
    err_set(e, ERR_CONFIG, NULL, "there are several of '%.100s'; name one of them%s: %.700s%s",
            name, one ? "" : ", or its --subscription", b.s,
            json_array_size(found) > 5 ? ", ..." : "");
    strbuf_free(&b);
    return -1;
}

/* Appends the results of a query with these filters. */
static int ask(struct daemon_client *c, const char *question, const char *const names[N_PARTS],
               char *const parts[N_PARTS], json_t *found, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    strbuf_puts(&path, question);
    for (int i = 0; i < N_PARTS; i++)
        jobs_filter(c, &path, names[i], parts[i]);
    jobs_filter(c, &path, "subscription", client_meant(c));
    int rc = jobs_ask_all(c, path.s, found, e);
    strbuf_free(&path);
    return rc;
}

int jobs_check_subscription(struct daemon_client *c, struct err *e)
{
    json_t *seen = NULL, *one;
    size_t i;
    bool is_there = false;
    if (!client_meant(c))
        return 0;
    if (client_call(c, "GET", "/subscriptions?api-version=2016-06-01", NULL, &seen, e) < 0)
        return -1;
    json_array_foreach(json_object_get(seen, "value"), i, one)
        is_there |= strcasecmp(jobs_text(one, "subscriptionId"), client_meant(c)) == 0;
    json_decref(seen);
    return is_there ? 0
                    : err_set(e, ERR_CONFIG, NULL,
                              "there is no subscription '%.100s' that you may see; `batchaid "
                              "subscription list` lists them",
                              client_meant(c));
}

/* Finds the newest job of the caller. */
static int find_last(struct daemon_client *c, json_t *found, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    strbuf_puts(&path, "/batchaid/jobs?mine=true&max=1");
    jobs_filter(c, &path, "subscription", client_meant(c));
    int rc = jobs_ask_first(c, path.s, found, e);
    strbuf_free(&path);
    if (rc < 0 || json_array_size(found) > 0)
        return rc < 0 ? -1 : jobs_name_subscription(c, found, e);
    if (jobs_check_subscription(c, e) < 0)
        return -1;
    return err_set(e, ERR_CONFIG, NULL,
                   "`-` is your last job, and you have no job %s%.100s; `batchaid jobs` lists the "
                   "jobs that you may see",
                   client_meant(c) ? "in the subscription " : "here",
                   client_meant(c) ? client_meant(c) : "");
}

static void mark_tasks(json_t *found)
{
    size_t i;
    json_t *task;
    json_array_foreach(found, i, task)
        json_object_set_new(task, "kind", json_string("task"));
}

/* Where the index of "sweep[3]" begins; 0: the name contains no index. */
static size_t index_at(const char *name)
{
    const char *open = strchr(name, '[');
    size_t digits = open ? strspn(open + 1, "0123456789") : 0;
    return digits > 0 && strcmp(open + 1 + digits, "]") == 0 ? (size_t)(open - name) : 0;
}

char *jobs_without_index(const char *name, const char **index)
{
    size_t at = index_at(name);
    char *copy = xstrdup(name);
    *index = NULL;
    if (at) {
        copy[at] = copy[strlen(name) - 1] = '\0';
        *index = copy + at + 1;
    }
    return copy;
}

/* Finds a job by its whole name, else a task, else a job by the beginning of its name. */
static int find_named(struct daemon_client *c, const char *name, char *const parts[N_PARTS],
                      json_t *found, struct err *e)
{
    int rc = ask(c, "/batchaid/jobs", members, parts, found, e);
    if (rc == 0 && json_array_size(found) == 0 && parts[EXPERIMENT]) {
        rc = ask(c, "/batchaid/tasks", of_task, parts, found, e);
        mark_tasks(found);
    }
    if (rc == 0 && json_array_size(found) == 0 && *parts[JOB])
        rc = ask(c, "/batchaid/jobs", of_beginning, parts, found, e);
    if (rc < 0)
        return -1;
    size_t stem = index_at(name);
    if (json_array_size(found) == 0 && jobs_check_subscription(c, e) < 0)
        return -1;
    if (json_array_size(found) == 0 && stem)
        return err_set(e, ERR_CONFIG, NULL,
                       "'%.200s' is an index of an array, and no job; its output: batchaid logs "
                       "'%.200s'; the array: %.*s",
                       name, name, (int)(stem < 200 ? stem : 200), name);
    if (json_array_size(found) == 0)
        return err_set(e, ERR_CONFIG, NULL,
                       "there is no job or task '%.200s'%s%.100s, and no job whose name begins "
                       "so; `batchaid jobs` lists jobs, and tasks of Azure Batch are JOB/TASK, or "
                       "GROUP/ACCOUNT/JOB/TASK",
                       name, client_meant(c) ? " in the subscription " : "",
                       client_meant(c) ? client_meant(c) : "");
    if (jobs_name_subscription(c, found, e) < 0)
        return -1;
    if (json_array_size(found) > 1 && have_one_path(found))
        prefer_own(c, found);
    return json_array_size(found) > 1 ? ambiguous(c, name, found, e) : 0;
}

int jobs_find(struct daemon_client *c, const char *name, json_t **found, struct err *e)
{
    char *copy, *parts[N_PARTS] = {NULL};
    *found = json_array();
    if (strcmp(name, JOBS_LAST) == 0)
        return find_last(c, *found, e);
    int rc = split(name, &copy, parts, e);
    if (rc == 0)
        rc = find_named(c, name, parts, *found, e);
    free(copy);
    return rc;
}

static void add_segment(struct daemon_client *c, struct strbuf *path, const char *segment)
{
    char *escaped = client_escape(c, segment);
    strbuf_printf(path, "/%s", escaped);
    free(escaped);
}

static void add_below(struct daemon_client *c, const char *below, const json_t *j, const char *tail,
                      struct strbuf *path)
{
    strbuf_puts(path, below);
    for (int i = N_PARTS - 1; i >= 0; i--)
        add_segment(c, path, jobs_text(j, members[i]));
    strbuf_puts(path, tail);
    jobs_filter(c, path, "subscription", jobs_text(j, "subscription"));
}

int jobs_ask_about(struct daemon_client *c, const char *below, const json_t *j, json_t **reply,
                   struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    add_below(c, below, j, "", &path);
    int rc = client_call(c, "GET", path.s, NULL, reply, e);
    strbuf_free(&path);
    return rc;
}

void jobs_add_story(struct daemon_client *c, const json_t *j, const char *tail, struct strbuf *path)
{
    add_below(c, "/batchaid/jobs", j, tail, path);
}

int jobs_find_job(struct daemon_client *c, const char *name, json_t **job, struct err *e)
{
    json_t *found = NULL;
    int rc = jobs_find(c, name, &found, e);
    if (rc == 0 && json_object_get(json_array_get(found, 0), "kind"))
        rc = err_set(e, ERR_CONFIG, NULL,
                     "'%.200s' is a task of Azure Batch, and this command is for jobs; use `az "
                     "batch task` (`az batch task file`, `az batch task stop`)",
                     name);
    *job = rc == 0 ? json_incref(json_array_get(found, 0)) : NULL;
    json_decref(found);
    return rc;
}

int jobs_find_index(struct daemon_client *c, const char *name, json_t **job, json_int_t *index,
                    struct err *e)
{
    const char *number;
    char *stem = jobs_without_index(name, &number);
    int rc = jobs_find_job(c, stem, job, e);
    *index = number ? strtoll(number, NULL, 10) : -1;
    free(stem);
    return rc;
}

void jobs_add_path(struct daemon_client *c, const json_t *j, const char *tail, struct strbuf *path)
{
    static const char *const before[N_PARTS] = {
        "/jobs", "/experiments", "/providers/Microsoft.BatchAI/workspaces", "/resourceGroups"};
    strbuf_concat(path, "/subscriptions/", jobs_subscription(c, j));
    for (int i = N_PARTS - 1; i >= 0; i--) {
        strbuf_puts(path, before[i]);
        add_segment(c, path, jobs_text(j, members[i]));
    }
    strbuf_concat(path, tail, "?api-version=2018-05-01");
}

const char *jobs_next_page(const struct daemon_client *c, const json_t *reply)
{
    const char *next = jobs_text(reply, "nextLink");
    size_t n = strlen(client_endpoint(c));
    return next && strncmp(next, client_endpoint(c), n) == 0 ? next + n
           : next                                            ? strstr(next, "/subscriptions/")
                                                             : NULL;
}
