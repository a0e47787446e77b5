/* SPDX-License-Identifier: MIT
 *
 * `batchaid rerun`: creates a job from the description of another job. The copy of that job's
 * folder is still on the share. Replies contain no keys and no values of secrets: the command adds
 * keys to mounts again, but cannot repeat a job with values of secrets or with the password of a
 * registry. References to secrets in vaults are repeated.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/cli/cmd_jobs.h"
#include "daemon/cli/job_wish.h"
#include "daemon/cli/json_print.h"

#define ARRAY           "BATCHAID_JOB_ARRAY"
#define NAME_MAX_LENGTH 64 /* of a job */

/* Members that people may set; the other members of a reply are set by the service. */
static const char *const kept[] = {
    "schedulingPriority", "cluster",           "mountVolumes",         "nodeCount",
    "containerSettings",  "cntkSettings",      "pyTorchSettings",      "tensorFlowSettings",
    "caffeSettings",      "caffe2Settings",    "chainerSettings",      "customToolkitSettings",
    "customMpiSettings",  "horovodSettings",   "jobPreparation",       "stdOutErrPathPrefix",
    "inputDirectories",   "outputDirectories", "environmentVariables", "secrets",
    "constraints"};

static int check_secrets(const json_t *properties, const char *name, struct err *e)
{
    size_t i;
    json_t *secret;
    json_array_foreach(json_object_get(properties, "secrets"), i, secret)
        if (!json_object_get(secret, "valueSecretReference"))
            return err_set(e, ERR_CONFIG, NULL,
                           "%.100s has the secret %.100s, whose value the daemon shows to nobody; "
                           "submit it again with --secret NAME=VAULT/SECRET",
                           name, jobs_text(secret, "name"));
    return 0;
}

/* Refuses a job with the password of a registry of images. */
static int check_registry(const json_t *properties, const char *name, struct err *e)
{
    const json_t *registry =
        json_object_get(json_object_get(properties, "containerSettings"), "imageSourceRegistry");
    const json_t *login = json_object_get(registry, "credentials");
    if (!login || json_object_get(login, "passwordSecretReference"))
        return 0;
    return err_set(e, ERR_CONFIG, NULL,
                   "%.100s logs in to a registry as %.100s with a password, which the daemon shows "
                   "to nobody; create the job again with its password, or with a "
                   "passwordSecretReference, which can be repeated",
                   name, jobs_text(login, "username"));
}

static void add_key(json_t *volume)
{
    const json_t *own = json_object_get(volume, "credentials");
    if (!json_object_get(own, "accountKeySecretReference"))
        json_object_set_new(volume, "credentials", json_pack("{s:s}", "accountKey", JOB_KEY));
}

static void add_keys(json_t *properties)
{
    static const char *const lists[] = {"azureFileShares", "azureBlobFileSystems"};
    const json_t *volumes = json_object_get(properties, "mountVolumes");
    size_t k;
    json_t *volume;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        json_array_foreach(json_object_get(volumes, lists[i]), k, volume)
            add_key(volume);
}

/* Whether the array has a single index; if such an array has failed, this index has failed. */
static bool is_single(const char *indexes)
{
    return *indexes && !indexes[strspn(indexes, "0123456789")];
}

/* Replaces the indexes of the array by its failed indexes. */
static int only_failed(json_t *properties, const json_t *failed, const json_t *job, struct err *e)
{
    const char *state = jobs_text(job, "state");
    bool has_failed = state && strcmp(state, "failed") == 0;
    struct strbuf b = STRBUF_INIT;
    size_t i;
    json_t *one;
    json_array_foreach(failed, i, one)
        strbuf_printf(&b, "%s%" JSON_INTEGER_FORMAT, i ? "," : "", json_integer_value(one));
    bool replaced = false;
    json_array_foreach(json_object_get(properties, "environmentVariables"), i, one)
        if (strcasecmp(jobs_text(one, "name"), ARRAY) == 0) {
            replaced = b.len || (has_failed && is_single(jobs_text(one, "value")));
            if (b.len)
                json_object_set_new(one, "value", json_string(b.s));
        }
    strbuf_free(&b);
    return replaced ? 0
                    : err_set(e, ERR_CONFIG, NULL,
                              "%.100s is not an array with failed indexes; without --failed the "
                              "whole job is repeated",
                              jobs_text(job, "name"));
}

static json_t *copy_of(const json_t *resource)
{
    const json_t *from = json_object_get(resource, "properties");
    json_t *to = json_object();
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        json_t *v = json_object_get(from, kept[i]);
        if (v)
            json_object_set_new(to, kept[i], json_deep_copy(v));
    }
    return to;
}

/* The next name: after "train-x7fk" follows "train-x7fk-2", then "train-x7fk-3". A long name is cut
 * before the number is added. */
static char *next_name(const char *name, int more)
{
    struct strbuf b = STRBUF_INIT;
    const char *dash = strrchr(name, '-');
    char *end = NULL;
    long n = dash ? strtol(dash + 1, &end, 10) : 0;
    bool counted = dash && end && !*end && n > 1 && n < 10000;
    size_t stem = counted ? (size_t)(dash - name) : strlen(name);
    char number[24];
    size_t room =
        NAME_MAX_LENGTH - (size_t)snprintf(number, sizeof number, "-%ld", (counted ? n : 1) + more);
    if (stem > room)
        for (stem = room; stem > 1 && name[stem - 1] == '-';)
            stem--;
    strbuf_add(&b, name, stem);
    strbuf_puts(&b, number);
    return strbuf_take(&b);
}

/* Tries the next names until one is free. The reply for a new job is 202; 200 means that another
 * client has created an equal job since the GET, so the name is taken. */
static int create(struct daemon_client *c, const json_t *job, json_t *properties, char **name,
                  struct err *e)
{
    json_t *body = json_pack("{s:O}", "properties", properties), *place = json_deep_copy(job);
    long status = 0;
    int rc = 0;
    *name = NULL;
    for (int more = 1; more == 1 || (rc == 0 && status == 409 && more < 100); more++) {
        struct strbuf path = STRBUF_INIT;
        json_t *reply = NULL;
        free(*name);
        *name = next_name(jobs_text(job, "name"), more);
        json_object_set_new(place, "name", json_string(*name));
        jobs_add_path(c, place, "", &path);
        rc = client_try(c, "GET", path.s, NULL, &status, &reply, e);
        json_decref(reply);
        reply = NULL;
        if (rc == 0 && status < 400)
            status = 409;
        else if (rc == 0)
            rc = client_try(c, "PUT", path.s, body, &status, &reply, e);
        if (rc == 0 && status == HTTP_OK)
            status = HTTP_CONFLICT;
        if (rc == 0 && status >= 400 && status != 409)
            rc = client_refused(reply, status, e);
        json_decref(reply);
        strbuf_free(&path);
    }
    json_decref(body);
    json_decref(place);
    return rc == 0 && status == 409
               ? err_set(e, ERR_CONFLICT, NULL, "the names after %.100s are taken", *name)
               : rc;
}

static void print_name(const struct options *o, const json_t *job, const char *name)
{
    if (!o->json) {
        printf("%s\n", name);
        return;
    }
    json_t *out = json_pack(
        "{s:s, s:s, s:s, s:s}", "resourceGroup", jobs_text(job, "resourceGroup"), "workspace",
        jobs_text(job, "workspace"), "experiment", jobs_text(job, "experiment"), "name", name);
    json_print_new(out);
}

static int again(struct daemon_client *c, const struct options *o, struct err *e)
{
    struct strbuf path = STRBUF_INIT;
    json_t *job = NULL, *resource = NULL, *story = NULL, *properties = NULL;
    char *name = NULL;
    int rc = jobs_find_job(c, o->args[0], &job, e);
    if (rc == 0) {
        jobs_add_path(c, job, "", &path);
        rc = client_call(c, "GET", path.s, NULL, &resource, e);
    }
    if (rc == 0) {
        properties = copy_of(resource);
        add_keys(properties);
        rc = check_secrets(properties, jobs_text(job, "name"), e);
        rc = rc < 0 ? -1 : check_registry(properties, jobs_text(job, "name"), e);
    }
    if (rc == 0 && o->failed && (rc = jobs_ask_about(c, "/batchaid/jobs", job, &story, e)) == 0)
        rc = only_failed(properties, json_object_get(story, "failedIndexes"), job, e);
    if (rc == 0 && (rc = create(c, job, properties, &name, e)) == 0)
        print_name(o, job, name);
    free(name);
    json_decref(job);
    json_decref(resource);
    json_decref(story);
    json_decref(properties);
    strbuf_free(&path);
    return rc;
}

int cmd_again(const struct options *o)
{
    return jobs_with_client(o, again);
}
