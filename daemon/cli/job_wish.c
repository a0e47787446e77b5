/* SPDX-License-Identifier: MIT
 *
 * The command runs in a folder of the job's output directory on a share, so that its files outlive
 * node and job. The first process unpacks the copied folder there. If several processes unpack it
 * at once, each does so under a temporary name, and only the first rename succeeds.
 */
#include "daemon/cli/job_wish.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "lib/shell.h"
#include "lib/strbuf.h"
#include "model/wishes.h"

#define NODES_MAX  10000
#define GPUS_MAX   1024
#define CORES_MAX  100000
#define TIME_MAX_S (INT64_C(366) * 86400)
#define NAME_MAX_  64
#define STEM_MAX   40
#define RANDOM     4

/* --- checks ----------------------------------------------------------------------------------- */

static int check_number(const char *option, const char *value, long min, long max, struct err *e)
{
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end || errno || n < min || n > max)
        return err_set(e, ERR_CONFIG, NULL,
                       "--%s is '%.100s'; it must be a whole number from %ld to %ld", option, value,
                       min, max);
    return 0;
}

int job_check_nodes(const char *value, struct err *e)
{
    return check_number("nodes", value, 1, NODES_MAX, e);
}

int job_check_gpus(const char *value, struct err *e)
{
    return check_number("gpus", value, 0, GPUS_MAX, e);
}

int job_check_cores(const char *value, struct err *e)
{
    return check_number("cores", value, 1, CORES_MAX, e);
}

/* Checks a value by the rule for the reserved variable in which the job gets it. */
static int check_wish(const char *option, const char *variable, const char *value, struct err *e)
{
    struct wishes w = {.part = false};
    struct err ignored;
    if (wish_read(variable, value, "", "", &w, &ignored) == 0)
        return 0;
    const struct wish_row *row = wish_row(0);
    for (size_t i = 1; row && strcmp(row->name, variable) != 0; i++)
        row = wish_row(i);
    return err_set(e, ERR_CONFIG, NULL, "--%s is '%.100s'; it must be %s", option, value,
                   row ? row->right : "another value");
}

int job_check_memory(const char *value, struct err *e)
{
    return check_wish("memory", WISH_PREFIX "MEMORY", value, e);
}

int job_check_array(const char *value, struct err *e)
{
    return check_wish("array", WISH_PREFIX "ARRAY", value, e);
}

int job_nodes(const struct options *o)
{
    return o->nodes ? (int)strtol(o->nodes, NULL, 10) : 1;
}

struct capacity job_need(const struct options *o)
{
    const char *const given[][2] = {{WISH_PREFIX "GPUS", o->gpus},
                                    {WISH_PREFIX "CORES", o->cores},
                                    {WISH_PREFIX "MEMORY", o->memory}};
    struct wishes w = {.part = false};
    struct err wrong;
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++)
        if (given[i][1] && wish_read(given[i][0], given[i][1], "", "", &w, &wrong) < 0)
            continue; /* the option's check has refused such a value already */
    return w.need;
}

static const char name_letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

int job_check_name(const char *value, struct err *e)
{
    size_t n = strlen(value);
    if (n > NAME_MAX_ || strspn(value, name_letters) != n || *value == '-')
        return err_set(e, ERR_CONFIG, NULL,
                       "--name is '%.100s'; it must be 1 to %d letters, digits, - and _, and not "
                       "begin with -",
                       value, NAME_MAX_);
    return 0;
}

int job_check_group(const char *value, struct err *e)
{
    const char *slash = strchr(value, '/');
    if (*value && (!slash || (slash > value && slash[1] && !strchr(slash + 1, '/'))))
        return 0;
    return err_set(e, ERR_CONFIG, NULL, "--group is '%.100s'; it must be GROUP or GROUP/WORKSPACE",
                   value);
}

/* -1: the text is not a time. */
static int64_t seconds_of(const char *text)
{
    static const struct {
        char unit;
        int64_t seconds;
    } units[] = {{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};
    int64_t sum = 0;
    size_t next = 0; /* units must be in this order, each at most once */
    if (!*text)
        return -1;
    while (*text) {
        char *end;
        if (!isdigit((unsigned char)*text))
            return -1;
        long n = strtol(text, &end, 10);
        while (next < sizeof units / sizeof units[0] && units[next].unit != *end)
            next++;
        if (next == sizeof units / sizeof units[0] || n > TIME_MAX_S)
            return -1;
        sum += n * units[next++].seconds;
        text = end + 1;
    }
    return sum > 0 && sum <= TIME_MAX_S ? sum : -1;
}

int job_check_time(const char *value, struct err *e)
{
    return seconds_of(value) > 0
               ? 0
               : err_set(e, ERR_CONFIG, NULL,
                         "--time is '%.100s'; it must be a time such as 30m, 4h or 1d12h (d, h, m, "
                         "s), at most a year",
                         value);
}

/* The length of a variable's name before the =; 0: the name is not valid. */
static size_t variable_name(const char *value)
{
    size_t n = strcspn(value, "=");
    bool valid = value[n] && n > 0 && !isdigit((unsigned char)*value);
    for (size_t i = 0; valid && i < n; i++)
        valid = isalnum((unsigned char)value[i]) || value[i] == '_';
    return valid ? n : 0;
}

int job_check_env(const char *value, struct err *e)
{
    size_t n = variable_name(value);
    struct wishes w = {.part = false};
    if (n == 0)
        return err_set(e, ERR_CONFIG, NULL,
                       "--env is '%.100s'; it must be NAME=VALUE with a name of letters, digits "
                       "and _, as in --env EPOCHS=20",
                       value);
    if (!wish_reserved(value))
        return 0;
    char *name = xstrdup(value);
    name[n] = '\0';
    int rc = wish_read(name, value + n + 1, "--env", "--env", &w, e);
    free(name);
    return rc;
}

int job_check_secret(const char *value, struct err *e)
{
    size_t n = variable_name(value);
    const char *slash = n ? strchr(value + n + 1, '/') : NULL;
    if (!slash || slash == value + n + 1 || !slash[1] || strchr(slash + 1, '/'))
        return err_set(e, ERR_CONFIG, NULL,
                       "--secret is '%.100s'; it must be NAME=VAULT/SECRET, as in --secret "
                       "TOKEN=labvault/hub-token",
                       value);
    return 0;
}

/* --- the name --- */

/* The name of a script among the arguments, or else the program; folders and ending are cut
 * later. */
static const char *stem_of(const struct options *o)
{
    static const char *const endings[] = {".py", ".sh", ".R", ".jl", ".pl"};
    for (int i = 0; i < o->n_args; i++) {
        const char *dot = strrchr(o->args[i], '.');
        for (size_t k = 0; dot && k < sizeof endings / sizeof endings[0]; k++)
            if (strcmp(dot, endings[k]) == 0)
                return o->args[i];
    }
    return o->args[0];
}

const char *job_new_name(const struct options *o, struct arena *a)
{
    static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789"; /* no two look alike */
    const char *stem = stem_of(o);
    char *word = arena_strndup(a, stem, strcspn(stem, " \t\n"));
    const char *slash = strrchr(word, '/');
    const char *base = slash ? slash + 1 : word;
    char *name = arena_strndup(a, base, strnlen(base, STEM_MAX)), *dot = strrchr(name, '.');
    if (dot)
        *dot = '\0';
    for (char *at = name; *at; at++)
        if (!strchr(name_letters, *at))
            *at = '-';
    name += strspn(name, "-_");
    char end[RANDOM + 1] = "";
    for (int i = 0; i < RANDOM; i++)
        end[i] = letters[randombytes_uniform(sizeof letters - 1)];
    return arena_concat(a, *name ? name : "job", "-", end);
}

/* --- the command ------------------------------------------------------------------------------ */

#define SHARE_DIR "$AZ_BATCHAI_JOB_MOUNT_ROOT/" JOB_SHARE

/* Adds shell commands that enter the folder; the first process of a job makes the folder. */
static void add_entry(struct strbuf *b, const char *archive)
{
    strbuf_puts(b, "cd \"$AZ_BATCHAI_OUTPUT_" JOB_OUTPUT "\" && { [ -d " JOB_FOLDER " ] || { ");
    if (archive)
        strbuf_concat(b, "t=$(mktemp -d .unpack-XXXXXX) && tar -xf \"" SHARE_DIR "/", archive,
                      "\" -C \"$t\" && chmod 777 \"$t\" && { mv -T \"$t\" " JOB_FOLDER
                      " 2>/dev/null || rm -rf \"$t\"; }; }; }");
    else
        strbuf_puts(b, "mkdir -m 777 " JOB_FOLDER " 2>/dev/null || [ -d " JOB_FOLDER " ]; }; }");
    strbuf_puts(b, " && cd " JOB_FOLDER " || { echo \"batchaid: the folder of the job cannot be "
                   "made; the image may lack tar or mktemp\" >&2; exit 125; }\n");
}

/* Adds the command. One argument is a shell command line; several are a program and its
 * arguments. */
static void add_command(struct strbuf *b, const struct options *o)
{
    if (o->n_args == 1) {
        strbuf_puts(b, o->args[0]);
        return;
    }
    strbuf_puts(b, "exec");
    for (int i = 0; i < o->n_args; i++) {
        strbuf_putc(b, ' ');
        shell_quote(b, o->args[i]);
    }
}

/* A job on several nodes runs the command on each of them, with the variables that torchrun
 * sets. */
static void add_toolkit(json_t *properties, const struct options *o, const char *archive)
{
    struct strbuf line = STRBUF_INIT, quoted = STRBUF_INIT;
    add_entry(&line, archive);
    add_command(&line, o);
    if (job_nodes(o) == 1) {
        json_object_set_new(properties, "customToolkitSettings",
                            json_pack("{s:s}", "commandLine", line.s));
    } else {
        shell_quote(&quoted, line.s);
        json_object_set_new(properties, "pyTorchSettings",
                            json_pack("{s:s, s:s, s:s}", "pythonInterpreterPath", "sh",
                                      "pythonScriptFilePath", "-c", "commandLineArgs", quoted.s));
    }
    strbuf_free(&line);
    strbuf_free(&quoted);
}

/* --- the document ----------------------------------------------------------------------------- */

static void add_variable(json_t *list, const char *name, const char *value)
{
    if (value)
        json_array_append_new(list, json_pack("{s:s, s:s}", "name", name, "value", value));
}

bool job_is_given_again(const struct option_values *list, size_t i)
{
    size_t n = strcspn(list->text[i], "=");
    for (size_t k = i + 1; k < list->n; k++)
        if (strncmp(list->text[k], list->text[i], n + 1) == 0)
            return true;
    return false;
}

static void add_env(json_t *list, const struct option_values *env)
{
    for (size_t i = 0; i < env->n; i++) {
        const char *at = env->text[i];
        size_t n = strcspn(at, "=");
        if (!job_is_given_again(env, i))
            json_array_append_new(
                list, json_pack("{s:o, s:s}", "name", json_stringn(at, n), "value", at + n + 1));
    }
}

/* The job's variables. They request only a part of each node, so other jobs may run on the same
 * node. */
static json_t *variables(const struct options *o, const char *after)
{
    json_t *list = json_array();
    add_env(list, &o->env);
    add_variable(list, "BATCHAID_JOB_SLOTS", o->gpus || o->cores || o->memory ? NULL : "1");
    add_variable(list, "BATCHAID_JOB_GPUS", o->gpus);
    add_variable(list, "BATCHAID_JOB_CORES", o->cores);
    add_variable(list, "BATCHAID_JOB_MEMORY", o->memory);
    add_variable(list, "BATCHAID_JOB_ARRAY", o->array);
    add_variable(list, "BATCHAID_JOB_DEPENDS_ON", after);
    return list;
}

/* Mounts the caller's share. The account belongs to the caller; the daemon makes it when a request
 * names it. */
static json_t *mounts(const char *account)
{
    struct strbuf url = STRBUF_INIT;
    strbuf_concat(&url, "https://", account, ".file.core.windows.net/" JOB_SHARE);
    json_t *out = json_pack("{s:[{s:s, s:s, s:{s:s}, s:s}]}", "azureFileShares", "accountName",
                            account, "azureFileUrl", url.s, "credentials", "accountKey", JOB_KEY,
                            "relativeMountPath", JOB_SHARE);
    strbuf_free(&url);
    return out;
}

json_t *job_document(const struct options *o, const struct job_place *p, const char *subscription)
{
    json_t *properties = json_pack(
        "{s:{s:o}, s:i, s:s, s:[{s:s, s:s}], s:o, s:o}", "cluster", "id",
        json_sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.BatchAI/workspaces/"
                     "%s/clusters/%s",
                     subscription, p->group, p->workspace, p->cluster),
        "nodeCount", job_nodes(o), "stdOutErrPathPrefix", SHARE_DIR, "outputDirectories", "id",
        JOB_OUTPUT, "pathPrefix", SHARE_DIR, "mountVolumes", mounts(p->account),
        "environmentVariables", variables(o, p->after));
    add_toolkit(properties, o, p->archive);
    if (p->secrets && json_array_size(p->secrets) > 0)
        json_object_set(properties, "secrets", p->secrets);
    if (o->image)
        json_object_set_new(properties, "containerSettings",
                            json_pack("{s:{s:s}}", "imageSourceRegistry", "image", o->image));
    if (o->time)
        json_object_set_new(properties, "constraints",
                            json_pack("{s:o}", "maxWallClockTime",
                                      json_sprintf("PT%" PRId64 "S", seconds_of(o->time))));
    return json_pack("{s:o}", "properties", properties);
}
