/* SPDX-License-Identifier: MIT
 *
 * `submit` uses one cluster for each size of machines; it has nodes only while jobs need them. One
 * local node on the daemon's machine is enough for jobs that need a part of a node, so without
 * machines the cluster's limit is the number of nodes that the job needs.
 */
#include "daemon/cli/job_places.h"

#include <ctype.h>
#include <pwd.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/job_size.h"
#include "lib/strbuf.h"

#define GROUP          "jobs"
#define WORKSPACE      "jobs"
#define CLUSTER        "default"
#define VM_SIZE        "STANDARD_D1_V2" /* any size: machines without vm_sizes accept it */
#define LOCATION       "eastus"         /* any location */
#define ACCOUNT_MAX    24
#define HASHED         4 /* bytes of a hash that ends an account's name in hexadecimal */
#define EXPERIMENT_MAX 64
#define VERSION        "2018-05-01"
#define VERSION_GROUP  "2019-10-01"
#define VERSION_VAULT  "2022-07-01"

/* --- names ------------------------------------------------------------------------------------ */

/* The name of the login's user without the domain; without a login, of the user of this process. */
static const char *user_of(const struct daemon_client *c, struct arena *a)
{
    const char *user = client_user(c);
    const struct passwd *own = user ? NULL : getpwuid(getuid());
    if (user)
        return arena_strndup(a, user, strcspn(user, "@"));
    return own ? arena_strdup(a, own->pw_name) : "user";
}

/* Appends only the letters and digits of `text` to the prefix, in lower case. */
static char *plain(struct arena *a, const char *prefix, const char *text, size_t max)
{
    char *out = arena_alloc(a, strlen(prefix) + strlen(text) + 1), *at = stpcpy(out, prefix);
    for (; *text && (size_t)(at - out) < max; text++)
        if (isalnum((unsigned char)*text))
            *at++ = (char)tolower((unsigned char)*text);
    return out;
}

/* An account name that contains a hash of the whole user name, so that only this user can have it.
 * The name from plain() may be another user's, because j.doe and jdoe get the same name. */
static char *unique_account(struct arena *a, const char *user)
{
    unsigned char hash[crypto_generichash_BYTES];
    char hex[2 * HASHED + 1];
    crypto_generichash(hash, sizeof hash, (const unsigned char *)user, strlen(user), NULL, 0);
    sodium_bin2hex(hex, sizeof hex, hash, HASHED);
    return arena_concat(a, plain(a, "jobs", user, ACCOUNT_MAX - 2 * HASHED), hex);
}

/* Reads --group, which is GROUP or GROUP/WORKSPACE. */
static void take_group(const struct options *o, struct arena *a, struct job_place *p)
{
    const char *slash = o->group ? strchr(o->group, '/') : NULL;
    p->group = !o->group ? GROUP
               : slash   ? arena_strndup(a, o->group, (size_t)(slash - o->group))
                         : o->group;
    p->workspace = slash ? slash + 1 : WORKSPACE;
}

/* --- paths ------------------------------------------------------------------------------------ */

static void add_group(struct daemon_client *c, const struct job_place *p, struct strbuf *out)
{
    char *group = client_escape(c, p->group);
    strbuf_printf(out, "/subscriptions/%s/resourceGroups/%s", client_subscription(c), group);
    free(group);
}

static void add_workspace(struct daemon_client *c, const struct job_place *p, struct strbuf *out)
{
    char *workspace = client_escape(c, p->workspace);
    add_group(c, p, out);
    strbuf_concat(out, "/providers/Microsoft.BatchAI/workspaces/", workspace);
    free(workspace);
}

/* Appends a path below the workspace. */
static void add_below(struct daemon_client *c, const struct job_place *p, const char *kind,
                      const char *name, struct strbuf *out)
{
    char *escaped = client_escape(c, name);
    add_workspace(c, p, out);
    strbuf_concat(out, "/", kind, "/", escaped);
    free(escaped);
}

/* Sends a PUT. Decrefs the body. */
static int put(struct daemon_client *c, struct strbuf *path, const char *version, json_t *body,
               struct err *e)
{
    json_t *reply = NULL;
    strbuf_concat(path, "?api-version=", version);
    int rc = client_call(c, "PUT", path->s, body, &reply, e);
    json_decref(body);
    json_decref(reply);
    strbuf_free(path);
    return rc;
}

/* --- the cluster ------------------------------------------------------------------------------ */

/* Chooses the cluster. If the caller may not see the machines, it is the default cluster. */
static int choose_cluster(struct daemon_client *c, const struct options *o, struct arena *a,
                          struct job_place *p, struct err *e)
{
    long status = 0;
    json_t *reply = NULL;
    p->vm_size = VM_SIZE;
    p->cluster = o->cluster ? o->cluster : CLUSTER;
    p->nodes_max = job_nodes(o);
    if (o->cluster)
        return 0;
    int rc = client_try(c, "GET", "/batchaid/nodes", NULL, &status, &reply, e);
    if (rc == 0 && status >= HTTP_REFUSE && status != HTTP_FORBIDDEN)
        rc = client_refused(reply, status, e);
    else if (rc == 0 && status < HTTP_REFUSE)
        rc = job_size_choose(json_object_get(reply, "value"), o, a, p, e);
    json_decref(reply);
    return rc;
}

/* --- other jobs, secrets ---------------------------------------------------------------------- */

/* Refuses a job of another workspace: a job can wait only for jobs of its own workspace. */
static int check_dependency(struct daemon_client *c, const struct job_place *p, const char *name,
                            const json_t *j, struct err *e)
{
    const char *of = jobs_subscription(c, j);
    if (strcasecmp(jobs_text(j, "resourceGroup"), p->group) != 0 ||
        strcasecmp(jobs_text(j, "workspace"), p->workspace) != 0)
        return err_set(e, ERR_CONFIG, NULL,
                       "'%.100s' is in %.100s/%.100s, and a job can wait only for jobs of its own "
                       "workspace, %.100s/%.100s; use --group %.100s/%.100s",
                       name, jobs_text(j, "resourceGroup"), jobs_text(j, "workspace"), p->group,
                       p->workspace, jobs_text(j, "resourceGroup"), jobs_text(j, "workspace"));
    if (strcasecmp(of, client_subscription(c)) == 0)
        return 0;
    return err_set(e, ERR_CONFIG, NULL,
                   "'%.100s' is in the subscription %.100s, and a job can wait only for jobs of "
                   "its own subscription, %.100s",
                   name, of, client_subscription(c));
}

/* Adds JOB[:HOW] to the list as EXPERIMENT/JOB[:HOW]. */
static int add_dependency(struct daemon_client *c, const struct job_place *p, char *name,
                          struct strbuf *out, struct err *e)
{
    json_t *j = NULL;
    char *how = strrchr(name, ':');
    if (how)
        *how++ = '\0';
    int rc = jobs_find_job(c, name, &j, e);
    if (rc == 0)
        rc = check_dependency(c, p, name, j, e);
    if (rc == 0)
        strbuf_concat(out, out->len ? "," : "", jobs_text(j, "experiment"), "/",
                      jobs_text(j, "name"), how ? ":" : "", how ? how : "");
    else
        err_prefix(e, "--after");
    json_decref(j);
    return rc;
}

static int find_others(struct daemon_client *c, const struct options *o, struct arena *a,
                       struct job_place *p, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    char *rest = NULL;
    int rc = 0;
    if (!o->after)
        return 0;
    char *all = arena_strdup(a, o->after);
    for (char *one = strtok_r(all, ",", &rest); one && rc == 0; one = strtok_r(NULL, ",", &rest))
        rc = add_dependency(c, p, one, &b, e);
    if (rc == 0 && !b.len)
        rc = err_set(e, ERR_CONFIG, NULL,
                     "--after is '%.100s'; it must be jobs separated by commas, each as JOB, or as "
                     "JOB:end",
                     o->after);
    p->after = arena_strdup(a, b.s ? b.s : "");
    strbuf_free(&b);
    return rc;
}

static const json_t *vault_named(const json_t *vaults, const char *name, size_t n)
{
    size_t i;
    const json_t *v;
    json_array_foreach(vaults, i, v) {
        const char *own = jobs_text(v, "name");
        if (own && strlen(own) == n && strncasecmp(own, name, n) == 0)
            return v;
    }
    return NULL;
}

/* Adds NAME=VAULT/SECRET as an item of the document. */
static int add_secret(const json_t *vaults, const char *text, json_t *out, struct err *e)
{
    const char *vault = strchr(text, '=') + 1, *secret = strchr(vault, '/') + 1;
    int n = (int)(secret - vault) - 1;
    const json_t *v = vault_named(vaults, vault, (size_t)n);
    const char *uri = jobs_text(json_object_get(v, "properties"), "vaultUri");
    if (!uri)
        return err_set(e, ERR_CONFIG, NULL,
                       "--secret %.100s: there is no vault '%.*s' that you may see; `az keyvault "
                       "list` lists vaults",
                       text, n, vault);
    json_array_append_new(
        out, json_pack("{s:o, s:{s:{s:s}, s:o}}", "name", json_stringn(text, strcspn(text, "=")),
                       "valueSecretReference", "sourceVault", "id", jobs_text(v, "id"), "secretUrl",
                       json_sprintf("%s%ssecrets/%s", uri, uri[strlen(uri) - 1] == '/' ? "" : "/",
                                    secret)));
    return 0;
}

static int find_secrets(struct daemon_client *c, const struct options *o, struct job_place *p,
                        struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    json_t *reply = NULL;
    if (o->secrets.n == 0)
        return 0;
    strbuf_printf(
        &path, "/subscriptions/%s/providers/Microsoft.KeyVault/vaults?api-version=" VERSION_VAULT,
        client_subscription(c));
    int rc = client_call(c, "GET", path.s, NULL, &reply, e);
    p->secrets = json_array();
    for (size_t i = 0; rc == 0 && i < o->secrets.n; i++)
        if (!job_is_given_again(&o->secrets, i))
            rc = add_secret(json_object_get(reply, "value"), o->secrets.text[i], p->secrets, e);
    json_decref(reply);
    strbuf_free(&path);
    return rc;
}

int job_place_find(struct daemon_client *c, const struct options *o, struct arena *a,
                   struct job_place *p, struct err *e)
{
    const char *user = user_of(c, a);
    *p = (struct job_place){.group = NULL};
    take_group(o, a, p);
    const char *whole = client_user(c) ? client_user(c) : user;
    p->account = plain(a, "jobs", whole, ACCOUNT_MAX);
    p->second_account = unique_account(a, whole);
    p->experiment = o->experiment ? o->experiment : plain(a, "", user, EXPERIMENT_MAX);
    p->name = o->name ? o->name : job_new_name(o, a);
    if (choose_cluster(c, o, a, p, e) < 0 || find_others(c, o, a, p, e) < 0)
        return -1;
    return find_secrets(c, o, p, e);
}

/* --- making ----------------------------------------------------------------------------------- */

static json_t *new_cluster(const struct job_place *p)
{
    unsigned char bytes[18];
    char password[2 * sizeof bytes + 1];
    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2hex(password, sizeof password, bytes, sizeof bytes);
    json_t *body = json_pack("{s:{s:s, s:{s:{s:i, s:i}}, s:{s:s, s:s}}}", "properties", "vmSize",
                             p->vm_size, "scaleSettings", "autoScale", "minimumNodeCount", 0,
                             "maximumNodeCount", p->nodes_max, "userAccountSettings",
                             "adminUserName", "batchaid", "adminUserPassword", password);
    sodium_memzero(password, sizeof password);
    return body;
}

/* Makes the group, the workspace and the cluster, unless they exist. */
static int make_cluster(struct daemon_client *c, const struct job_place *p, struct err *e)
{
    struct strbuf group = STRBUF_INIT, workspace = STRBUF_INIT, cluster = STRBUF_INIT;
    long status = 0;
    json_t *reply = NULL;
    add_group(c, p, &group);
    add_workspace(c, p, &workspace);
    add_below(c, p, "clusters", p->cluster, &cluster);
    strbuf_puts(&group, "?api-version=" VERSION_GROUP);
    int rc = client_try(c, "GET", group.s, NULL, &status, &reply, e);
    strbuf_cut(&group, group.len - strlen("?api-version=" VERSION_GROUP));
    json_decref(reply);
    if (rc == 0 && status == HTTP_NOT_FOUND)
        rc = put(c, &group, VERSION_GROUP, json_pack("{s:s}", "location", LOCATION), e);
    if (rc == 0)
        rc = put(c, &workspace, VERSION, json_pack("{s:s}", "location", LOCATION), e);
    if (rc == 0)
        rc = put(c, &cluster, VERSION, new_cluster(p), e);
    strbuf_free(&group);
    strbuf_free(&workspace);
    strbuf_free(&cluster);
    if (rc < 0 && strcmp(e->target, "AuthorizationFailed") == 0)
        err_prefix(e,
                   "the cluster %.100s of %.100s/%.100s is missing, and cannot be made by you; "
                   "somebody with the role Contributor can make it, by one submit of their own",
                   p->cluster, p->group, p->workspace);
    else if (rc < 0)
        err_prefix(e, "the cluster %.100s of %.100s/%.100s is missing, and was not made",
                   p->cluster, p->group, p->workspace);
    return rc;
}

/* The counts of a cluster's autoScale. */
struct node_limits {
    json_int_t least, most, first;
};

static void say_who_may_grow(const struct job_place *p, int most, int needed, struct err *e)
{
    err_prefix(e,
               "the cluster %.100s of %.100s/%.100s can have at most %d node%s, and you may not "
               "change that; somebody with the role Contributor can, by one submit with --nodes %d",
               p->cluster, p->group, p->workspace, most, most == 1 ? "" : "s", needed);
}

/* The node limit that the cluster should have. Clusters as new_cluster() makes them grow with the
 * inventory; a cluster with nodes that stay was set up by somebody, and grows only for the job. */
static json_int_t new_limit(const struct options *o, const struct job_place *p,
                            const struct node_limits *now)
{
    json_int_t needed = now->least > 0 || now->first > 0 ? job_nodes(o) : p->nodes_max;
    return needed > now->most ? needed : now->most;
}

/* Raises the node limit of a cluster that `submit` has chosen. If the caller may not change it, it
 * is enough that the job fits. */
static int let_grow(struct daemon_client *c, const struct options *o, const struct job_place *p,
                    const json_t *cluster, const char *path, struct err *e)
{
    struct node_limits now = {.first = 0};
    json_t *reply = NULL;
    long status = 0;
    if (json_unpack((json_t *)cluster, "{s:{s:{s:{s:I, s:I, s?I}}}}", "properties", "scaleSettings",
                    "autoScale", "maximumNodeCount", &now.most, "minimumNodeCount", &now.least,
                    "initialNodeCount", &now.first) < 0 ||
        now.most >= new_limit(o, p, &now))
        return 0;
    json_t *body = json_pack("{s:{s:{s:{s:I, s:I, s:I}}}}", "properties", "scaleSettings",
                             "autoScale", "minimumNodeCount", now.least, "maximumNodeCount",
                             new_limit(o, p, &now), "initialNodeCount", now.first);
    int rc = client_try(c, "PATCH", path, body, &status, &reply, e);
    bool refused = rc == 0 && status == HTTP_FORBIDDEN;
    if (rc == 0 && status >= HTTP_REFUSE && !(refused && job_nodes(o) <= now.most))
        rc = client_refused(reply, status, e);
    if (rc < 0 && refused)
        say_who_may_grow(p, (int)now.most, job_nodes(o), e);
    json_decref(body);
    json_decref(reply);
    return rc;
}

static int no_cluster(const struct job_place *p, struct err *e)
{
    return err_set(e, ERR_CONFIG, NULL,
                   "there is no cluster '%.100s' in %.100s/%.100s; without --cluster the command "
                   "chooses or makes one, and `az batchai cluster list -g %.100s -w %.100s` lists "
                   "those that exist",
                   p->cluster, p->group, p->workspace, p->group, p->workspace);
}

/* Makes the cluster, or uses it if another submit has just made it (with another password). */
static int make_or_share(struct daemon_client *c, const struct options *o,
                         const struct job_place *p, const char *path, struct err *e)
{
    long status = 0;
    json_t *reply = NULL;
    struct err other;
    int rc = make_cluster(c, p, e);
    if (rc < 0 && client_try(c, "GET", path, NULL, &status, &reply, &other) == 0 &&
        status == HTTP_OK)
        rc = let_grow(c, o, p, reply, path, e);
    json_decref(reply);
    return rc;
}

static int check_cluster(struct daemon_client *c, const struct options *o,
                         const struct job_place *p, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    long status = 0;
    json_t *reply = NULL;
    add_below(c, p, "clusters", p->cluster, &path);
    strbuf_puts(&path, "?api-version=" VERSION);
    int rc = client_try(c, "GET", path.s, NULL, &status, &reply, e);
    if (rc == 0 && status == HTTP_NOT_FOUND)
        rc = o->cluster ? no_cluster(p, e) : make_or_share(c, o, p, path.s, e);
    else if (rc == 0 && status != HTTP_OK)
        rc = client_refused(reply, status, e);
    else if (rc == 0 && !o->cluster)
        rc = let_grow(c, o, p, reply, path.s, e);
    json_decref(reply);
    strbuf_free(&path);
    return rc;
}

static int make_share(struct daemon_client *c, const char *account, long *status, struct err *e)
{
    json_t *reply = NULL, *share = json_pack("{s:s, s:s, s:s}", "account", account, "kind", "files",
                                             "name", JOB_SHARE);
    int rc = client_try(c, "POST", "/batchaid/storage/shares", share, status, &reply, e);
    if (rc == 0 && *status >= HTTP_REFUSE)
        rc = client_refused(reply, *status, e);
    json_decref(share);
    json_decref(reply);
    return rc;
}

int job_place_make(struct daemon_client *c, const struct options *o, struct job_place *p,
                   struct err *e)
{
    long status = 0;
    struct err other;
    if (check_cluster(c, o, p, e) < 0)
        return -1;
    if (make_share(c, p->account, &status, e) == 0)
        return 0;
    if (status != HTTP_FORBIDDEN || make_share(c, p->second_account, &status, &other) < 0)
        return -1;
    p->account = p->second_account;
    return 0;
}

/* --- the job ---------------------------------------------------------------------------------- */

static void add_job(struct daemon_client *c, const struct job_place *p, struct strbuf *path)
{
    char *name = client_escape(c, p->name);
    add_below(c, p, "experiments", p->experiment, path);
    strbuf_concat(path, "/jobs/", name, "?api-version=" VERSION);
    free(name);
}

static int name_taken(const struct job_place *p, struct err *e)
{
    return err_set(
        e, ERR_CONFLICT, "Conflict",
        "there is a job %.100s in %.100s/%.100s/%.100s already, and nothing was started; "
        "choose another --name, or repeat that job: batchaid rerun %.100s",
        p->name, p->group, p->workspace, p->experiment, p->name);
}

/* Refuses a name that a visible job has already. If the job is hidden, the later PUT fails. */
int job_place_check_name(struct daemon_client *c, const struct job_place *p, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    json_t *reply = NULL;
    long status = 0;
    add_job(c, p, &path);
    int rc = client_try(c, "GET", path.s, NULL, &status, &reply, e);
    if (rc == 0 && status < HTTP_REFUSE)
        rc = name_taken(p, e);
    json_decref(reply);
    strbuf_free(&path);
    return rc;
}

/* Creates the job. *status 404: the experiment is missing; 200: an equal job existed, an error. */
static int put_job(struct daemon_client *c, const struct job_place *p, const json_t *document,
                   long *status, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    json_t *reply = NULL;
    add_job(c, p, &path);
    int rc = client_try(c, "PUT", path.s, document, status, &reply, e);
    if (rc == 0 && *status == HTTP_OK) {
        rc = name_taken(p, e);
    } else if (rc == 0 && *status >= HTTP_REFUSE) {
        rc = client_refused(reply, *status, e);
        if (*status == HTTP_CONFLICT)
            e->code = ERR_CONFLICT;
    }
    json_decref(reply);
    strbuf_free(&path);
    return rc;
}

int job_place_put(struct daemon_client *c, const struct job_place *p, const json_t *document,
                  struct err *e)
{
    struct strbuf experiment = STRBUF_INIT;
    long status = 0;
    int rc = put_job(c, p, document, &status, e);
    if (rc == 0 || status != HTTP_NOT_FOUND)
        return rc;
    add_below(c, p, "experiments", p->experiment, &experiment);
    rc = put(c, &experiment, VERSION, json_object(), e);
    return rc < 0 ? -1 : put_job(c, p, document, &status, e);
}
