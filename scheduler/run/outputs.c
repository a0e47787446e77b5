/* SPDX-License-Identifier: MIT
 *
 * Finds the output directories of a run on its present or former nodes, from the rows of its
 * allocations, the spec that its front loads, and the paths that a launch would use. A search lasts
 * for one call. It owns only the secrets of the spec, and wipes them.
 */
#include "scheduler/run/outputs.h"

#include <assert.h>
#include <string.h>

#include "lib/fs.h"
#include "model/run_output.h"
#include "scheduler/run/run_priv.h"

/* The path of the output directory with this id; NULL: the run has no such output directory. */
static const char *path_of(struct arena *a, const struct launch_env *env,
                           const struct run_spec *spec, const char *id)
{
    struct run_output o;
    if (!run_output_find(a, spec, id, &o))
        return NULL;
    if (run_output_is_std(&o))
        return env_get_var(&env->env, env->words, VAR_STD_DIR, NULL);
    return env_get_var(&env->env, env->words, VAR_OUTPUT, id);
}

bool outputs_in_run_dir(const struct launch_env *env, const struct run_spec *spec)
{
    bool found = false;
    for (size_t i = 0; i < run_output_count(spec) && !found; i++)
        found = launch_is_of_attempt(
            env, path_of(env->env.a, env, spec, run_output_at(env->env.a, spec, i).id));
    return found;
}

/* --- where it is ---------------------------------------------------------------------------- */

/* Why the output is not on a former node of the run (PRESENT: it is). */
enum absence { PRESENT, NODE_GONE, DIRECTORY_REMOVED, VOLUME_GONE };

/* Texts for front_text(). */
static const char *const reasons[] = {
    [NODE_GONE] = "every node that the {run} ran on has left the {pool}",
    [DIRECTORY_REMOVED] = "its node does not keep the {run}'s own directory any more",
    [VOLUME_GONE] = "its volume was mounted only while the {run} ran",
};
static_assert(sizeof reasons / sizeof reasons[0] == VOLUME_GONE + 1, "a reason for each");

/* The state of the search. */
struct output_search {
    struct runs *runs;
    struct arena *a;
    struct run run;
    const char *id;
    struct run_spec spec;
    bool held; /* the run still has its nodes */
    struct allocation *at;
    size_t n;
    struct launch_node *nodes; /* by rank; empty names: the node does not exist any more */
    struct node_rt **rt;       /* by rank; NULL: the node does not exist any more */
    struct output_dir *found;  /* has room for all possible results */
    size_t n_found;
    enum absence absence;
};

static int find_parts(struct output_search *q, struct err *e)
{
    if (st_allocation_of_run(q->runs->st, q->a, q->run.id, q->run.attempt, &q->at, &q->n, e) < 0)
        return -1;
    for (size_t i = 0; i < q->n; i++)
        q->held = q->held || q->at[i].state == ALLOCATION_HELD;
    return 0;
}

/* A leaving node is treated as gone: its files are about to be removed. */
static int find_runtimes(struct output_search *q, struct err *e)
{
    size_t n = (size_t)q->run.nodes;
    q->nodes = arena_alloc(q->a, n * sizeof *q->nodes);
    q->rt = arena_alloc(q->a, n * sizeof *q->rt);
    for (size_t i = 0; i < n; i++) {
        q->nodes[i] = (struct launch_node){.name = "", .root = "", .address = ""};
        q->rt[i] = NULL;
    }
    for (size_t i = 0; i < q->n; i++) {
        struct node row;
        int rank = q->at[i].rank;
        int rc = st_node_by_id(q->runs->st, q->a, q->at[i].node_id, &row, e); /* 0: no node */
        if (rc < 0)
            return -1;
        if (rc == 0 || row.state == NODE_LEAVING || rank >= q->run.nodes)
            continue;
        struct node_rt *rt = node_rt_get(q->runs->fleet, &row);
        q->rt[rank] = rt;
        q->nodes[rank] = (struct launch_node){.name = node_rt_name(rt),
                                              .root = node_rt_root(rt),
                                              .address = node_rt_address(rt),
                                              .is_local = node_rt_is_local(rt),
                                              .gpus = node_rt_gpus(rt)};
    }
    return 0;
}

static enum absence judge(const struct output_search *q, const struct allocation *at,
                          const struct launch_env *env, const char *path)
{
    if (!q->held && fs_is_within(path, env->run_mounts))
        return VOLUME_GONE;
    return q->held || at->kept || !launch_is_of_attempt(env, path) ? PRESENT : DIRECTORY_REMOVED;
}

/* Whether the directory was found already. All local nodes are on one machine, so the same path is
 * the same directory. */
static bool known(const struct output_search *q, const struct node_rt *rt, const char *path)
{
    for (size_t i = 0; i < q->n_found && node_rt_is_local(rt); i++)
        if (strcmp(q->found[i].base, path) == 0)
            return true;
    return false;
}

static int add_part(struct output_search *q, const struct allocation *at, struct err *e)
{
    struct node_rt *rt = at->rank < q->run.nodes ? q->rt[at->rank] : NULL;
    if (!rt)
        return 0;
    const struct front_words *words = front_of_run(q->runs, &q->run)->words;
    const struct launch_input in = {.words = words,
                                    .spec = &q->spec,
                                    .run_guid = q->run.guid,
                                    .attempt = q->run.attempt,
                                    .number = q->run.id,
                                    .shared_root = run_shared_root(q->runs),
                                    .nodes = q->nodes,
                                    .n_nodes = (size_t)q->run.nodes};
    struct launch_env env;
    if (launch_env(q->a, &in, at->rank, &env, e) != 0)
        return -1;
    const char *path = path_of(q->a, &env, &q->spec, q->id);
    if (!path)
        return err_set(e, ERR_OUTPUT_DIRECTORY_NOT_FOUND, NULL,
                       "the %s has no output directory '%.100s'", words->run, q->id);
    enum absence absence = judge(q, at, &env, path);
    if (absence != PRESENT)
        q->absence = absence;
    else if (!known(q, rt, path))
        q->found[q->n_found++] =
            (struct output_dir){.node_id = node_rt_id(rt),
                                .rank = at->rank,
                                .node = arena_strdup(q->a, node_rt_name(rt)),
                                .base = path,
                                .run_dir = arena_printf(q->a, "%s-%d", q->run.guid, q->run.attempt),
                                .is_local = node_rt_is_local(rt)};
    return 0;
}

static int add_parts(struct output_search *q, struct err *e)
{
    const struct front *f = front_of_run(q->runs, &q->run);
    const struct front_read how = {.st = q->runs->st, .a = q->a, .secrets = true};
    if (f->ops->load(f, &how, &q->run, &q->spec, e) != 0)
        return -1;
    int rc = 0;
    q->absence = NODE_GONE;
    q->found = arena_alloc(q->a, (q->n + 1) * sizeof *q->found);
    for (size_t i = 0; i < q->n && rc == 0; i++)
        rc = add_part(q, &q->at[i], e);
    run_spec_wipe(&q->spec);
    return rc;
}

int runs_output_dirs(struct runs *rs, struct arena *a, enum resource_kind owner, int64_t owner_id,
                     const char *id, struct output_dir **out, size_t *n, struct err *e)
{
    struct output_search q = {.runs = rs, .a = a, .id = id};
    *out = NULL;
    *n = 0;
    int rc = st_run_of(rs->st, a, owner, owner_id, 0, &q.run, e);
    if (rc <= 0 || q.run.state == RUN_WAITING)
        return rc < 0 ? -1 : 0;
    if (find_parts(&q, e) != 0 || find_runtimes(&q, e) != 0 || add_parts(&q, e) != 0)
        return -1;
    if (q.n_found == 0)
        return err_set(e, ERR_NOT_ON_MOUNT_ROOT, NULL, "%s",
                       front_text(front_of_run(rs, &q.run)->words, a, reasons[q.absence]));
    *out = q.found;
    *n = q.n_found;
    return 0;
}

static int sweep_of(struct runs *rs, struct arena *a, const struct run *r, struct err *e)
{
    struct allocation *at;
    size_t n;
    if (st_allocation_of_run(rs->st, a, r->id, r->attempt, &at, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (at[i].node_id != 0)
            fleet_sweep_when_durable(rs->fleet, at[i].node_id);
    return 0;
}

int outputs_forget(struct runs *rs, struct arena *a, int64_t run_id, struct err *e)
{
    struct run r;
    int rc = st_run_by_id(rs->st, a, run_id, &r, e);
    return rc > 0 ? sweep_of(rs, a, &r, e) : rc;
}
