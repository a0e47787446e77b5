/* SPDX-License-Identifier: MIT
 *
 * There are two layouts: a separate directory for each attempt, with inputs and outputs as the spec
 * names them; or the front's place on nodes (struct place_spec). MASTER_ADDR and similar variables
 * are set first, so that variables of the spec replace them. Variables that the front defines are
 * set last and replace the spec's.
 */
#include "scheduler/run/launch/env.h"

#include <stdbool.h>
#include <string.h>

#include "lib/fs.h"
#include "lib/strbuf.h"
#include "model/run_output.h"
#include "scheduler/fleet/node/node.h"
#include "scheduler/run/launch/toolkit.h"

const char *launch_run_dir(struct arena *a, const char *root, const char *guid, int attempt)
{
    return arena_printf(a, "%s/" RUNS_DIR "/%s-%d", root, guid, attempt);
}

const char *launch_shared_dir(struct arena *a, const char *root, const char *guid, int attempt)
{
    return arena_printf(a, "%s/%s-%d", root, guid, attempt);
}

static const char *run_dir(struct arena *a, const struct launch_input *in, int rank)
{
    return launch_run_dir(a, in->nodes[rank].root, in->run_guid, in->attempt);
}

/* The hosts of the run, separated by `between`. */
static const char *host_list(struct arena *a, const struct launch_input *in, char between)
{
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < in->n_nodes; i++)
        strbuf_printf(&b, "%.*s%s", i > 0, &between, in->nodes[i].address);
    const char *text = arena_strdup(a, b.s);
    strbuf_free(&b);
    return text;
}

const char *launch_host_file(struct arena *a, const struct launch_input *in, int rank)
{
    return arena_concat(a, run_dir(a, in, rank), "/hostfile");
}

/* How many ranks a node may have: as many as the toolkit starts on it; for a command of the user,
 * one for each GPU, or, without GPUs, one for each core. */
static size_t slots_of(const struct launch_input *in, size_t i)
{
    const struct launch_node *n = &in->nodes[i];
    if (in->spec->tool != TOOL_CUSTOM)
        return launch_share(in, launch_ranks(in), i);
    return (size_t)(n->gpus > 0 ? n->gpus : n->cores);
}

/* The text of the host file, in the format of Open MPI. Nodes without a rank are included, for
 * users who start processes on them themselves; mpirun fills the first nodes first. */
static const char *host_file(struct arena *a, const struct launch_input *in)
{
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < in->n_nodes; i++) {
        size_t n = slots_of(in, i);
        strbuf_printf(&b, "%s slots=%zu\n", in->nodes[i].address, n > 0 ? n : 1);
    }
    const char *text = arena_strdup(a, b.s);
    strbuf_free(&b);
    return text;
}

/* The usual variables for the meeting point of a run's processes (MASTER_ADDR and others). Values
 * of the run's document replace them. */
static void set_meeting_point(struct arena *a, const struct launch_input *in,
                              struct launch_env *out)
{
    env_set(&out->env, "MASTER_ADDR", in->nodes[0].address);
    env_set(&out->env, "MASTER_PORT", arena_printf(a, "%d", launch_port(in, 0)));
}

/* AMD GPUs need ROCR_VISIBLE_DEVICES. Only this one may be set, because AMD's HIP also reads
 * CUDA_VISIBLE_DEVICES, and applies it to the GPUs that are still visible. */
static void set_devices(const struct launch_node *self, struct launch_env *out)
{
    if (!self->devices)
        return;
    if (self->amd) {
        env_set(&out->env, "ROCR_VISIBLE_DEVICES", self->devices);
        return;
    }
    /* Otherwise CUDA numbers the fastest GPU first, unlike the driver. */
    env_set(&out->env, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    env_set(&out->env, "CUDA_VISIBLE_DEVICES", self->devices);
}

static void set_basics(struct arena *a, const struct launch_input *in, int rank,
                       struct launch_env *out)
{
    const struct launch_node *self = &in->nodes[rank];
    const struct {
        enum front_var var;
        const char *value;
    } basics[] = {
        {VAR_POOL_MOUNTS, node_mount_root(a, in->words, self->root)},
        {VAR_RUN_MOUNTS, out->run_mounts},
        {VAR_RUN_DIR, out->run_dir},
        {VAR_SHARED_DIR, out->shared_dir},
        {VAR_NODE, self->name},
        {VAR_NODE_COUNT, arena_printf(a, "%zu", in->n_nodes)},
        {VAR_GPU_COUNT, arena_printf(a, "%d", self->gpus)},
        {VAR_RANK, arena_printf(a, "%d", rank)},
        {VAR_HOST_FILE, out->hostfile_path},
        {VAR_HOSTS, host_list(a, in, ',')},
    };
    for (size_t i = 0; i < sizeof basics / sizeof basics[0]; i++)
        env_set_var(&out->env, in->words, basics[i].var, NULL, basics[i].value);
    env_set(&out->env, "NODE_RANK", arena_printf(a, "%d", rank));
    set_devices(self, out);
}

/* Expands a path; a relative path is below the run's directory. */
static const char *place(struct arena *a, struct launch_env *out, const char *path, struct err *e)
{
    const char *p = env_expand(&out->env, path ? path : "", e);
    if (!p)
        return NULL;
    size_t len = strlen(p);
    while (len > 1 && p[len - 1] == '/')
        len--;
    p = arena_strndup(a, p, len);
    return p[0] == '/' ? p : arena_printf(a, "%s/%s", out->run_dir, p);
}

/* The directory of one output; NULL: its prefix cannot be expanded. */
static const char *output_dir(struct arena *a, struct launch_env *out, const struct run_output *o,
                              struct err *e)
{
    const char *prefix = place(a, out, o->prefix, e);
    if (!prefix || !*o->below)
        return prefix;
    return arena_printf(a, "%s/%s", prefix, o->below);
}

static int set_std_dir(struct arena *a, const struct launch_input *in, struct launch_env *out,
                       struct err *e)
{
    const struct run_output o = run_output_at(a, in->spec, 0);
    out->std_dir = output_dir(a, out, &o, e);
    if (!out->std_dir)
        return err_prefix(e, "%s", in->words->std_prefix);
    env_set_var(&out->env, in->words, VAR_STD_DIR, NULL, out->std_dir);
    return 0;
}

static int set_inputs(struct arena *a, const struct launch_input *in, struct launch_env *out,
                      struct err *e)
{
    const struct run_spec *spec = in->spec;
    for (size_t i = 0; i < spec->n_inputs; i++) {
        const char *path = place(a, out, spec->inputs[i].path, e);
        if (!path)
            return err_prefix(e, "%s \"%s\"", in->words->inputs, spec->inputs[i].id);
        env_set_var(&out->env, in->words, VAR_INPUT, spec->inputs[i].id, path);
    }
    return 0;
}

bool launch_is_of_attempt(const struct launch_env *env, const char *path)
{
    return path && fs_is_within(path, env->run_dir) && !fs_is_within(path, env->run_mounts);
}

/* Where the output of earlier attempts is: in the same directory, if this outlives the attempt. "":
 * there is no earlier output. */
static const char *kept_output(const struct launch_input *in, const struct launch_env *out,
                               const char *path)
{
    return in->attempt > 1 && !launch_is_of_attempt(out, path) ? path : "";
}

static int set_outputs(struct arena *a, const struct launch_input *in, struct launch_env *out,
                       struct err *e)
{
    const struct run_spec *spec = in->spec;
    size_t n = run_output_count(spec);
    out->output_dirs = arena_alloc(a, n * sizeof *out->output_dirs);
    for (size_t i = 1; i < n; i++) {
        const struct run_output o = run_output_at(a, spec, i);
        const char *path = output_dir(a, out, &o, e);
        if (!path)
            return err_prefix(e, "%s \"%s\"", in->words->outputs, o.id);
        if (!o.as_is)
            out->output_dirs[out->n_outputs++] = path;
        env_set_var(&out->env, in->words, VAR_OUTPUT, o.id, path);
        env_set_var(&out->env, in->words, VAR_PREVIOUS_OUTPUT, o.id, kept_output(in, out, path));
    }
    return 0;
}

/* With several nodes, each node has a separate log, because they all see one directory. */
static const char *log_path(struct arena *a, const struct launch_input *in, int rank,
                            const char *std_dir)
{
    const char *node = in->n_nodes == 1 ? NULL : in->nodes[rank].name;
    const char *suffix = in->spec->file_suffix;
    if (suffix) /* without its leading dash */
        node = node ? arena_concat(a, suffix + 1, "-", node) : suffix + 1;
    return arena_concat(a, std_dir, "/", front_log_name(in->words, a, node));
}

/* The directory that the run's nodes share. For local nodes, which are one machine, it is a
 * directory of the first node. For machines, it is in their common file system, if the site has
 * one. */
static const char *shared_dir(struct arena *a, const struct launch_input *in, int rank)
{
    bool local = in->nodes[rank].is_local, many = in->n_nodes > 1;
    if (!local && many && in->shared_root)
        return launch_shared_dir(a, in->shared_root, in->run_guid, in->attempt);
    return arena_concat(a, run_dir(a, in, local ? 0 : rank), "/" LAUNCH_SHARED);
}

const char *launch_meeting_file(struct arena *a, const struct launch_input *in)
{
    bool one_disk = in->n_nodes == 1 || in->nodes[0].is_local || in->shared_root;
    return one_disk ? arena_concat(a, shared_dir(a, in, 0), "/pytorch-init") : NULL;
}

const char *launch_place_dir(struct arena *a, const char *root, const struct place_spec *place,
                             int rank)
{
    return arena_printf(a, rank > 0 ? "%s/%s/%d" : "%s/%s", root, place->dir, rank);
}

/* Converts a path relative to a node's root to the path on the node of this rank. Paths in the
 * place's directory become paths in the place's directory for this rank. */
static const char *rooted(struct arena *a, const struct launch_input *in, int rank,
                          const char *path)
{
    const struct place_spec *place = in->spec->place;
    const char *root = in->nodes[rank].root;
    if (fs_is_within(path, place->dir))
        return arena_concat(a, launch_place_dir(a, root, place, rank), path + strlen(place->dir));
    return arena_concat(a, root, "/", path);
}

static const char *host_cores(struct arena *a, const struct launch_input *in)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "%zu", in->n_nodes);
    for (size_t i = 0; i < in->n_nodes; i++)
        strbuf_printf(&b, " %s %d", in->nodes[i].address, in->nodes[i].cores);
    const char *text = arena_strdup(a, b.s);
    strbuf_free(&b);
    return text;
}

/* Sets the variables about the other nodes of a task with several nodes. */
static void set_team(struct arena *a, const struct launch_input *in, int rank,
                     struct launch_env *out)
{
    const struct launch_node *self = &in->nodes[rank];
    const struct {
        enum front_var var;
        const char *value;
    } vars[] = {
        {VAR_SHARED_DIR, launch_place_dir(a, self->root, in->spec->place, 0)},
        {VAR_HOSTS, host_list(a, in, ',')},
        {VAR_HOST_LIST, host_list(a, in, ';')},
        {VAR_HOST_CORES, host_cores(a, in)},
        {VAR_FIRST, launch_endpoint(a, in, 0, 0)},
        {VAR_IS_FIRST, rank == 0 ? "true" : "false"},
    };
    for (size_t i = 0; i < sizeof vars / sizeof vars[0]; i++)
        env_set_var(&out->env, in->words, vars[i].var, NULL, vars[i].value);
    launchers_set(a, in, rank, &out->env);
}

/* The front's variables about paths are set last, so that no user's variable hides them. */
static void set_place(struct arena *a, const struct launch_input *in, int rank,
                      struct launch_env *out)
{
    const struct place_spec *place = in->spec->place;
    const struct launch_node *self = &in->nodes[rank];
    out->std_dir = launch_place_dir(a, self->root, place, rank);
    out->run_dir = arena_concat(a, out->std_dir, "/wd");
    env_add(&out->env, in->spec->env, in->spec->n_env);
    for (size_t i = 0; i < place->n_rooted; i++)
        env_set(&out->env, place->rooted[i].name, rooted(a, in, rank, place->rooted[i].value));
    env_set_var(&out->env, in->words, VAR_NODE, NULL, self->name);
    env_set_var(&out->env, in->words, VAR_STD_DIR, NULL, out->std_dir);
    env_set_var(&out->env, in->words, VAR_RUN_DIR, NULL, out->run_dir);
    if (place->team)
        set_team(a, in, rank, out);
    set_devices(self, out);
}

int launch_env(struct arena *a, const struct launch_input *in, int rank, struct launch_env *out,
               struct err *e)
{
    *out = (struct launch_env){.words = in->words};
    env_init(&out->env, a);
    if (in->spec->place) {
        set_place(a, in, rank, out);
        return 0;
    }
    out->run_dir = run_dir(a, in, rank);
    out->run_mounts = arena_printf(a, "%s/mounts", out->run_dir);
    out->shared_dir = shared_dir(a, in, rank);
    out->hostfile_path = launch_host_file(a, in, rank);
    out->hostfile_text = host_file(a, in);
    set_meeting_point(a, in, out);
    env_add(&out->env, in->spec->env, in->spec->n_env);
    set_basics(a, in, rank, out);
    launchers_set(a, in, rank, &out->env);
    if (set_std_dir(a, in, out, e) != 0 || set_inputs(a, in, out, e) != 0 ||
        set_outputs(a, in, out, e) != 0)
        return -1;
    out->log_path = log_path(a, in, rank, out->std_dir);
    return 0;
}
