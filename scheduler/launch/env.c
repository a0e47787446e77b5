/* SPDX-License-Identifier: MIT */
#include "scheduler/launch/env.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/strbuf.h"

void env_init(struct env *v, struct arena *a)
{
    *v = (struct env){.a = a};
}

static struct kv *env_slot(struct env *v)
{
    if (v->n == v->cap) {
        size_t cap = v->cap ? v->cap * 2 : 32;
        struct kv *items = arena_alloc(v->a, cap * sizeof *items);
        if (v->n > 0)
            memcpy(items, v->items, v->n * sizeof *items);
        v->items = items;
        v->cap = cap;
    }
    return &v->items[v->n++];
}

void env_set(struct env *v, const char *name, const char *value)
{
    *env_slot(v) = (struct kv){.name = name, .value = value};
}

void env_add(struct env *v, const struct kv *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *env_slot(v) = items[i];
}

const char *env_get(const struct env *v, const char *name)
{
    for (size_t i = v->n; i-- > 0;)
        if (strcmp(v->items[i].name, name) == 0)
            return v->items[i].value;
    return NULL;
}

static size_t name_length(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_')
        return 0;
    size_t n = 1;
    while (isalnum((unsigned char)s[n]) || s[n] == '_')
        n++;
    return n;
}

/* The reference that `s` (just behind a "$") makes: its name's place and length, and how many
 * characters it takes up. 0 if it is none. */
static size_t reference(const char *s, const char **name, size_t *name_len)
{
    bool braces = *s == '{';
    *name = s + braces;
    *name_len = name_length(*name);
    if (*name_len == 0 || (braces && (*name)[*name_len] != '}'))
        return 0;
    return *name_len + (braces ? 2 : 0);
}

const char *env_expand(const struct env *v, const char *text, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    const char *result = NULL;
    for (const char *p = text; *p;) {
        const char *name;
        size_t len, taken = *p == '$' ? reference(p + 1, &name, &len) : 0;
        if (taken == 0) {
            strbuf_putc(&b, *p++);
            continue;
        }
        char *copy = arena_strndup(v->a, name, len);
        const char *value = env_get(v, copy);
        if (!value) {
            err_set(e, ERR_INVALID_PROPERTY, NULL, "path \"%s\" names $%s, which is not set", text,
                    copy);
            goto out;
        }
        strbuf_puts(&b, value);
        p += 1 + taken;
    }
    result = arena_strndup(v->a, b.s ? b.s : "", b.len);
out:
    strbuf_free(&b);
    return result;
}

const char *launch_mount_root(struct arena *a, const char *node_root)
{
    return arena_printf(a, "%s/mounts", node_root);
}

static const char *job_dir(struct arena *a, const struct launch_input *in, int rank)
{
    return arena_printf(a, "%s/jobs/%s-%d", in->nodes[rank].root, in->job_guid, in->attempt);
}

static const char *host_list(struct arena *a, const struct launch_input *in, const char *after,
                             const char *between)
{
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < in->n_nodes; i++)
        strbuf_printf(&b, "%s%s%s", i ? between : "", in->nodes[i].address, after);
    const char *text = arena_strdup(a, b.s ? b.s : "");
    strbuf_free(&b);
    return text;
}

static void set_basics(struct arena *a, const struct launch_input *in, struct launch_env *out)
{
    const struct launch_node *self = &in->nodes[in->rank];
    struct env *v = &out->env;
    env_set(v, "AZ_BATCHAI_MOUNT_ROOT", launch_mount_root(a, self->root));
    env_set(v, "AZ_BATCHAI_JOB_MOUNT_ROOT", out->job_mounts);
    env_set(v, "AZ_BATCHAI_JOB_TEMP", out->job_dir);
    env_set(v, "AZ_BATCHAI_JOB_TEMP_DIR", out->job_dir);
    env_set(v, "AZ_BATCHAI_SHARED_JOB_TEMP", out->shared_dir);
    env_set(v, "AZ_BATCHAI_NODE_ID", self->name);
    env_set(v, "AZ_BATCHAI_NODE_COUNT", arena_printf(a, "%zu", in->n_nodes));
    env_set(v, "AZ_BATCHAI_NUM_GPUS", arena_printf(a, "%d", self->gpus));
    env_set(v, "AZ_BATCHAI_TASK_INDEX", arena_printf(a, "%d", in->rank));
    env_set(v, "AZ_BATCHAI_MPI_HOST_FILE", out->hostfile_path);
    env_set(v, "AZ_BATCH_HOST_LIST", host_list(a, in, "", ","));
}

/* An expanded path; what is not absolute is meant below the job's own directory. */
static const char *place(struct arena *a, struct launch_env *out, const char *path, struct err *e)
{
    const char *p = env_expand(&out->env, path ? path : "", e);
    if (!p)
        return NULL;
    size_t len = strlen(p);
    while (len > 1 && p[len - 1] == '/')
        len--;
    p = arena_strndup(a, p, len);
    return p[0] == '/' ? p : arena_printf(a, "%s/%s", out->job_dir, p);
}

static int set_std_dir(struct arena *a, const struct launch_input *in, struct launch_env *out,
                       struct err *e)
{
    const char *prefix = place(a, out, in->spec->std_prefix, e);
    if (!prefix)
        return err_prefix(e, "stdOutErrPathPrefix");
    out->std_dir = arena_printf(a, "%s/%s/stdouterr", prefix, in->spec->segment);
    env_set(&out->env, "AZ_BATCHAI_STDOUTERR_DIR", out->std_dir);
    return 0;
}

static int set_directories(struct arena *a, const struct launch_input *in, struct launch_env *out,
                           struct err *e)
{
    const struct job_spec *spec = in->spec;
    for (size_t i = 0; i < spec->n_inputs; i++) {
        const char *path = place(a, out, spec->inputs[i].path, e);
        if (!path)
            return err_prefix(e, "inputDirectories \"%s\"", spec->inputs[i].id);
        env_set(&out->env, arena_printf(a, "AZ_BATCHAI_INPUT_%s", spec->inputs[i].id), path);
    }
    out->output_dirs = arena_alloc(a, (spec->n_outputs + 1) * sizeof *out->output_dirs);
    for (size_t i = 0; i < spec->n_outputs; i++) {
        const struct directory_spec *d = &spec->outputs[i];
        const char *prefix = place(a, out, d->path, e);
        if (!prefix)
            return err_prefix(e, "outputDirectories \"%s\"", d->id);
        bool suffix = d->suffix && *d->suffix;
        const char *glue = suffix ? "/" : "", *tail = suffix ? d->suffix : "";
        const char *path =
            d->as_is ? arena_printf(a, "%s%s%s", prefix, glue, tail)
                     : arena_printf(a, "%s/%s/outputs%s%s", prefix, spec->segment, glue, tail);
        if (!d->as_is)
            out->output_dirs[out->n_outputs++] = path;
        env_set(&out->env, arena_printf(a, "AZ_BATCHAI_OUTPUT_%s", d->id), path);
    }
    return 0;
}

/* With several nodes, each has files of its own, because all see the same directory. */
static void set_files(struct arena *a, const struct launch_input *in, struct launch_env *out)
{
    bool many = in->n_nodes > 1;
    const char *dash = many ? "-" : "", *node = many ? in->nodes[in->rank].name : "";
    out->log_path = arena_printf(a, "%s/execution%s%s.log", out->std_dir, dash, node);
    out->prep_stdout = arena_printf(a, "%s/stdout-job_prep%s%s.txt", out->std_dir, dash, node);
    out->prep_stderr = arena_printf(a, "%s/stderr-job_prep%s%s.txt", out->std_dir, dash, node);
}

int launch_env(struct arena *a, const struct launch_input *in, struct launch_env *out,
               struct err *e)
{
    *out = (struct launch_env){0};
    env_init(&out->env, a);
    out->job_dir = job_dir(a, in, in->rank);
    out->job_mounts = arena_printf(a, "%s/mounts", out->job_dir);
    out->shared_dir = arena_printf(a, "%s/shared", job_dir(a, in, 0));
    out->hostfile_path = arena_printf(a, "%s/hostfile", out->job_dir);
    out->hostfile_text = host_list(a, in, " slots=1\n", "");
    env_add(&out->env, in->spec->env, in->spec->n_env);
    set_basics(a, in, out);
    if (set_std_dir(a, in, out, e) != 0 || set_directories(a, in, out, e) != 0)
        return -1;
    set_files(a, in, out);
    return 0;
}
