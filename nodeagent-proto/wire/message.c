/* SPDX-License-Identifier: MIT
 *
 * Tasks and errors as JSON and back, and the envelope of replies. Reading a task checks all values
 * whose errors would be dangerous for the agent (ids, absolute paths, limits). Pure: no state, any
 * thread; texts that are read belong to the JSON.
 */
#include "nodeagent-proto/wire/message.h"

#include <stddef.h>
#include <string.h>

#include "lib/jsontext.h"

/* ---- names of errors ---- */

static const struct {
    enum err_code code;
    const char *name;
} codes[] = {
    {ERR_INVALID_PROPERTY, "InvalidParameter"},
    {ERR_INVALID_PATH, "InvalidPath"},
    {ERR_CONFLICT, "Conflict"},
    {ERR_RESOURCE_NOT_FOUND, "ResourceNotFound"},
    {ERR_FILE_NOT_FOUND, "FileNotFound"},
    {ERR_UNAVAILABLE, "ServiceUnavailable"},
    {ERR_NOT_SUPPORTED, "FeatureNotSupported"},
    {ERR_INTERNAL, "InternalServerError"},
    {ERR_NODE, "NodeFailure"},
    {ERR_NODE_LOST, "NodeLost"},
    {ERR_PROTOCOL, "NodeProtocolError"},
    {ERR_IO, "IoError"},
    {ERR_QUOTA, "QuotaExceeded"},
    {ERR_BODY_TOO_LARGE, "RequestEntityTooLarge"},
};
#define N_CODES (sizeof codes / sizeof codes[0])

const char *wire_code_name(enum err_code code)
{
    for (size_t i = 0; i < N_CODES; i++)
        if (codes[i].code == code)
            return codes[i].name;
    return wire_code_name(ERR_NODE);
}

enum err_code wire_code_find(const char *name)
{
    for (size_t i = 0; i < N_CODES; i++)
        if (strcmp(codes[i].name, name) == 0)
            return codes[i].code;
    return ERR_NODE;
}

/* ---- tasks, facts and usage ---- */

static int unreadable(struct err *e, const char *what, const json_error_t *je)
{
    return err_set(e, ERR_PROTOCOL, NULL, "%s cannot be read: %s", what, je->text);
}

bool task_id_valid(const char *id)
{
    size_t n = strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-");
    return n > 0 && n <= TASK_ID_MAX && id[n] == '\0';
}

/* Made without json_pack(), which would parse its format anew for each of a task's dozens of
 * variables. */
static json_t *pack_pair(const struct kv *v)
{
    json_t *pair = json_array();
    if (json_array_append_new(pair, json_string(v->name)) == 0 &&
        json_array_append_new(pair, json_string(v->value ? v->value : "")) == 0)
        return pair;
    json_decref(pair);
    return NULL;
}

/* NULL: a text is not UTF-8. */
static json_t *pack_env(const struct kv *env, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        if (json_array_append_new(list, pack_pair(&env[i])) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static void put_number(json_t *j, const char *name, int64_t value)
{
    if (value != 0)
        json_object_set_new(j, name, json_integer(value));
}

/* Limits that are not set are left out, so that agents which do not know them accept the rest. */
static json_t *pack_limits(const struct task_limits *l)
{
    json_t *j = json_object();
    put_number(j, "memory_bytes", l->memory_bytes);
    put_number(j, "cpus", l->cpus);
    put_number(j, "processes", l->processes);
    put_number(j, "open_files", l->open_files);
    if (l->group)
        json_object_set_new(j, "group", json_string(l->group));
    if (l->gpus)
        json_object_set_new(j, "gpus", json_string(l->gpus));
    if (json_object_size(j) > 0)
        return j;
    json_decref(j);
    return NULL;
}

/* NULL: a text is not UTF-8. */
static json_t *pack_argv(const struct task_spec *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_argv; i++)
        if (json_array_append_new(list, json_string(s->argv[i])) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *pack_confine(const struct task_confine *c)
{
    json_t *reach = json_array();
    for (size_t i = 0; i < c->n_reach; i++)
        json_array_append_new(reach, json_string(c->reach[i]));
    return json_pack("{s:s, s:o}", "hide", c->hide, "reach", reach);
}

json_t *message_task_spec(const struct task_spec *s)
{
    json_t *env = pack_env(s->env, s->n_env);
    if (!env)
        return NULL;
    json_t *j = json_pack(
        "{s:s, s:s, s:s, s:o, s:s*, s:s, s:s, s:s*, s:s, s:s*, s:s*, s:s*, s:s*, s:s*, s:o*}", "id",
        s->id, "command_line", s->command_line, "cwd", s->cwd, "env", env, "path", s->path,
        "stdout_path", s->stdout_path, "stderr_path", s->stderr_path, "log_path", s->log_path,
        "step", s->step, "title", s->title, "user", s->user, "files_as", s->files_as,
        "signal_command", s->signal_command, "cgroups_path", s->cgroups_path, "limits",
        pack_limits(&s->limits));
    if (!j)
        return NULL;
    if (s->argv && json_object_set_new(j, "argv", pack_argv(s)) < 0) {
        json_decref(j);
        return NULL;
    }
    if (s->confine.hide)
        json_object_set_new(j, "confine", pack_confine(&s->confine));
    if (s->view.source)
        json_object_set_new(
            j, "view", json_pack("{s:s, s:s}", "source", s->view.source, "target", s->view.target));
    if (s->keep_children)
        json_object_set_new(j, "keep_children", json_true());
    put_number(j, "timeout_s", s->timeout_s);
    return j;
}

static bool read_pair(const json_t *pair, struct kv *out)
{
    out->name = json_string_value(json_array_get(pair, 0));
    out->value = json_string_value(json_array_get(pair, 1));
    return json_array_size(pair) == 2 && out->name && out->value;
}

static int read_env(json_t *list, struct arena *a, struct task_spec *out, struct err *e)
{
    struct kv *env = arena_alloc(a, (json_array_size(list) + 1) * sizeof *env);
    size_t i;
    json_t *pair;
    json_array_foreach(list, i, pair) {
        if (!read_pair(pair, &env[i]))
            return err_set(e, ERR_PROTOCOL, "env", "env[%zu] is not a pair of strings", i);
        if (!*env[i].name || strchr(env[i].name, '='))
            return err_set(e, ERR_INVALID_PROPERTY, "env",
                           "'%s' cannot name an environment variable: a name is not empty and has "
                           "no '='",
                           env[i].name);
    }
    out->env = env;
    out->n_env = i;
    return 0;
}

static int read_argv(json_t *list, struct arena *a, struct task_spec *out, struct err *e)
{
    const char **argv = arena_alloc(a, (json_array_size(list) + 1) * sizeof *argv);
    size_t i;
    json_t *arg;
    if (!list)
        return 0;
    json_array_foreach(list, i, arg) {
        argv[i] = json_string_value(arg);
        if (!argv[i])
            return err_set(e, ERR_PROTOCOL, "argv", "argv[%zu] is not a string", i);
    }
    if (i == 0)
        return err_set(e, ERR_PROTOCOL, "argv", "argv is not a list that begins with a program");
    out->argv = argv;
    out->n_argv = i;
    return 0;
}

static int read_confine(const json_t *c, struct arena *a, struct task_confine *out, struct err *e)
{
    const json_t *list = json_object_get(c, "reach");
    const char **reach = arena_alloc(a, (json_array_size(list) + 1) * sizeof *reach);
    if (!c)
        return 0;
    out->hide = json_string_value(json_object_get(c, "hide"));
    for (size_t i = 0; i < json_array_size(list); i++) {
        reach[i] = json_string_value(json_array_get(list, i));
        if (!reach[i] || reach[i][0] != '/')
            return err_set(e, ERR_PROTOCOL, "confine", "reach[%zu] is not an absolute path", i);
    }
    out->reach = reach;
    out->n_reach = json_array_size(list);
    if (out->hide && out->hide[0] == '/')
        return 0;
    return err_set(e, ERR_PROTOCOL, "confine", "hide is not an absolute path");
}

static int check_paths(const struct task_spec *s, struct err *e)
{
    const struct {
        const char *name, *path;
    } paths[] = {
        {"cwd", s->cwd},
        {"stdout_path", s->stdout_path},
        {"stderr_path", s->stderr_path},
        {"log_path", s->log_path},
    };
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (paths[i].path && paths[i].path[0] != '/')
            return err_set(e, ERR_INVALID_PATH, paths[i].name,
                           "%s '%s' is not an absolute path of the node", paths[i].name,
                           paths[i].path);
    return 0;
}

static int check_limits(const struct task_spec *s, struct err *e)
{
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {
        {"timeout_s", s->timeout_s},
        {"limits.memory_bytes", s->limits.memory_bytes},
        {"limits.cpus", s->limits.cpus},
        {"limits.processes", s->limits.processes},
        {"limits.open_files", s->limits.open_files},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].value < 0)
            return err_set(e, ERR_INVALID_PROPERTY, numbers[i].name,
                           "%s is %lld; it must be positive, or 0 for no limit", numbers[i].name,
                           (long long)numbers[i].value);
    return 0;
}

static int read_optional(json_t *j, struct task_spec *out, struct err *e)
{
    json_error_t je;
    int keep = 0;
    json_int_t memory = 0;
    if (json_unpack_ex(j, &je, 0,
                       "{s?s, s?s, s?s, s?s, s?b, s?i, s?s, s?s, s?{s?I, s?i, s?i, s?i, s?s, s?s}, "
                       "s?{s:s, s:s}}",
                       "title", &out->title, "path", &out->path, "user", &out->user, "files_as",
                       &out->files_as, "keep_children", &keep, "timeout_s", &out->timeout_s,
                       "signal_command", &out->signal_command, "cgroups_path", &out->cgroups_path,
                       "limits", "memory_bytes", &memory, "cpus", &out->limits.cpus, "processes",
                       &out->limits.processes, "open_files", &out->limits.open_files, "gpus",
                       &out->limits.gpus, "group", &out->limits.group, "view", "source",
                       &out->view.source, "target", &out->view.target) < 0)
        return unreadable(e, "the task", &je);
    out->keep_children = keep;
    out->limits.memory_bytes = memory;
    if (out->limits.group && !task_id_valid(out->limits.group))
        return err_set(
            e, ERR_INVALID_PROPERTY, "limits.group",
            "'%.100s' cannot name a group: use 1 to %d letters, digits, '_', '.' and '-'",
            out->limits.group, TASK_ID_MAX);
    return check_limits(out, e);
}

int message_task_spec_read(json_t *j, struct arena *a, struct task_spec *out, struct err *e)
{
    json_error_t je;
    json_t *env;
    memset(out, 0, sizeof *out);
    if (json_unpack_ex(j, &je, 0, "{s:s, s:s, s:s, s:o, s:s, s:s, s?s, s:s}", "id", &out->id,
                       "command_line", &out->command_line, "cwd", &out->cwd, "env", &env,
                       "stdout_path", &out->stdout_path, "stderr_path", &out->stderr_path,
                       "log_path", &out->log_path, "step", &out->step) < 0)
        return unreadable(e, "the task", &je);
    if (read_optional(j, out, e) < 0)
        return -1;
    if (!json_is_array(env))
        return err_set(e, ERR_PROTOCOL, "env", "the task's env is not an array");
    if (!task_id_valid(out->id))
        return err_set(e, ERR_INVALID_PROPERTY, "id",
                       "task id '%.120s' must be 1 to %d characters out of A-Z a-z 0-9 _ . -",
                       out->id, TASK_ID_MAX);
    if (read_confine(json_object_get(j, "confine"), a, &out->confine, e) < 0 ||
        check_paths(out, e) < 0 || read_argv(json_object_get(j, "argv"), a, out, e) < 0)
        return -1;
    return read_env(env, a, out, e);
}

json_t *message_err(const struct err *e)
{
    return json_pack("{s:s, s:o, s:o}", "code", wire_code_name(e->code), "target",
                     jsontext_string(e->target), "message", jsontext_string(e->msg));
}

static const char *text_or(const json_t *j, const char *name, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(j, name));
    return text && *text ? text : otherwise;
}

void message_err_read(json_t *j, struct err *e)
{
    err_set(e, wire_code_find(text_or(j, "code", "")), text_or(j, "target", ""), "%s",
            text_or(j, "message", "the agent gave no reason"));
}

enum message_kind message_kind(const json_t *msg)
{
    if (json_is_string(json_object_get(msg, "event")))
        return MESSAGE_EVENT;
    return json_is_string(json_object_get(msg, "op")) ? MESSAGE_REQUEST : MESSAGE_REPLY;
}

json_t *message_reply(json_int_t id, json_t *body)
{
    json_t *reply = json_pack("{s:I, s:b}", "id", id, "ok", 1);
    if (body)
        json_object_update_missing(reply, body);
    json_decref(body);
    return reply;
}

json_t *message_refusal(json_int_t id, const struct err *e)
{
    return json_pack("{s:I, s:b, s:o}", "id", id, "ok", 0, "error", message_err(e));
}
