/* SPDX-License-Identifier: MIT
 *
 * TensorFlow: the script as the master alone, or as master, workers and parameter servers. The
 * master is the first worker. With parameter servers the run ends with the master, because
 * parameter servers and their workers never end by themselves; the master's script ends when the
 * work is done. Without parameter servers, all workers train alike, and the run ends when all have
 * ended.
 *
 * TF_CONFIG calls the master "chief". Estimators and parameter server strategies of TensorFlow
 * require a chief, other strategies count the chief as a worker, and none of them accepts the name
 * "master", which versions before TensorFlow 1.4 used. So `worker` in TF_CONFIG lists all workers
 * but the first.
 */
#include "scheduler/run/launch/toolkit.h"

#include "lib/strbuf.h"

/* How many processes of each role there are. */
struct tf_tasks {
    size_t workers, servers; /* the master is one of the workers */
};

static struct tf_tasks tasks_of(const struct launch_input *in)
{
    const struct toolkit_spec *t = &in->spec->toolkit;
    return (struct tf_tasks){.workers = t->worker_count > 0 ? (size_t)t->worker_count : in->n_nodes,
                             .servers = (size_t)t->parameter_server_count};
}

static bool is_distributed(const struct tf_tasks *n)
{
    return n->workers > 1 || n->servers > 0;
}

static const char *worker_endpoint(struct arena *a, const struct launch_input *in,
                                   const struct tf_tasks *n, size_t i)
{
    return launch_endpoint(a, in, launch_place_of(in, n->workers, i).node, 1 + i);
}

static const char *server_endpoint(struct arena *a, const struct launch_input *in,
                                   const struct tf_tasks *n, size_t i)
{
    return launch_endpoint(a, in, i % in->n_nodes, 1 + n->workers + i);
}

typedef const char *endpoint_fn(struct arena *a, const struct launch_input *in,
                                const struct tf_tasks *n, size_t i);

/* The endpoints with indexes from `from` to `to`-1, each between two `mark`s, separated by
 * commas. */
struct tf_list {
    endpoint_fn *endpoint;
    size_t from, to;
    const char *mark;
};

static const char *endpoints(struct arena *a, const struct launch_input *in,
                             const struct tf_tasks *n, const struct tf_list *of)
{
    struct strbuf b = STRBUF_INIT;
    for (size_t i = of->from; i < of->to; i++)
        strbuf_concat(&b, i > of->from ? "," : "", of->mark, of->endpoint(a, in, n, i), of->mark);
    const char *text = arena_strdup(a, b.s ? b.s : "");
    strbuf_free(&b);
    return text;
}

/* The JSON text of TF_CONFIG. Endpoints contain no character that JSON must escape. A role without
 * processes is left out. */
static const char *config(struct arena *a, const struct launch_input *in, const struct tf_tasks *n,
                          const char *type, size_t index)
{
    const char *servers =
                   endpoints(a, in, n, &(struct tf_list){server_endpoint, 0, n->servers, "\""}),
               *workers =
                   endpoints(a, in, n, &(struct tf_list){worker_endpoint, 1, n->workers, "\""});
    return arena_printf(a,
                        "{\"cluster\":{%s%s%s\"chief\":[\"%s\"]%s%s%s},"
                        "\"task\":{\"type\":\"%s\",\"index\":%zu},\"environment\":\"cloud\"}",
                        *servers ? "\"ps\":[" : "", servers, *servers ? "]," : "",
                        worker_endpoint(a, in, n, 0), *workers ? ",\"worker\":[" : "", workers,
                        *workers ? "]" : "", type, index);
}

static void set_hosts(struct env *v, const struct launch_input *in, const struct tf_tasks *n)
{
    struct arena *a = v->a;
    env_set_var(v, in->words, VAR_PS_HOSTS, NULL,
                endpoints(a, in, n, &(struct tf_list){server_endpoint, 0, n->servers, ""}));
    env_set_var(v, in->words, VAR_WORKER_HOSTS, NULL,
                endpoints(a, in, n, &(struct tf_list){worker_endpoint, 0, n->workers, ""}));
}

static void add_worker(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                       const struct tf_tasks *n, size_t i)
{
    const struct toolkit_spec *t = &in->spec->toolkit;
    bool master = i == 0, many = is_distributed(n);
    struct env v;
    env_init(&v, a);
    set_hosts(&v, in, n);
    env_set_var(&v, in->words, VAR_RANK, NULL, arena_printf(a, "%zu", i));
    if (many)
        env_set(&v, "TF_CONFIG", config(a, in, n, master ? "chief" : "worker", master ? 0 : i - 1));
    const struct launch_process p = {
        .role = master || n->servers == 0 ? LAUNCH_MAIN : LAUNCH_HELPER,
        .rank = (int)launch_place_of(in, n->workers, i).node,
        .name = master ? "main" : arena_printf(a, "worker-%zu", i),
        .title = master ? (many ? "master" : NULL) : arena_printf(a, "worker %zu", i),
        .command_line = launch_script(a, in, master ? t->master_args : t->worker_args),
        .env = v.items,
        .n_env = v.n,
        .stdout_name = arena_printf(a, "stdout-wk-%zu.txt", i),
        .stderr_name = arena_printf(a, "stderr-wk-%zu.txt", i)};
    launch_add(a, out, &p);
}

static void add_server(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                       const struct tf_tasks *n, size_t i)
{
    struct env v;
    env_init(&v, a);
    set_hosts(&v, in, n);
    env_set_var(&v, in->words, VAR_RANK, NULL, arena_printf(a, "%zu", i));
    env_set(&v, "TF_CONFIG", config(a, in, n, "ps", i));
    const struct launch_process p = {
        .role = LAUNCH_HELPER,
        .rank = (int)(i % in->n_nodes),
        .name = arena_printf(a, "ps-%zu", i),
        .title = arena_printf(a, "parameter server %zu", i),
        .command_line = launch_script(a, in, in->spec->toolkit.parameter_server_args),
        .env = v.items,
        .n_env = v.n,
        .stdout_name = arena_printf(a, "stdout-ps-%zu.txt", i),
        .stderr_name = arena_printf(a, "stderr-ps-%zu.txt", i)};
    launch_add(a, out, &p);
}

bool plan_tensorflow(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                     struct failure *why)
{
    const struct tf_tasks n = tasks_of(in);
    (void)why;
    for (size_t i = 0; i < n.servers; i++)
        add_server(a, in, out, &n, i);
    for (size_t i = 0; i < n.workers; i++)
        add_worker(a, in, out, &n, i);
    out->end = n.servers > 0 ? LAUNCH_ENDS_WITH_FIRST : LAUNCH_ENDS_WITH_ALL;
    return true;
}
