/* SPDX-License-Identifier: MIT
 *
 * Makes the steps of a script: their environment, and one shell program each. A table decides the
 * users of the processes by the runtime, the agent's rights and the site's setting. Nothing is kept
 * here.
 */
#include "scheduler/fleet/container/container.h"

#include <string.h>

#include "lib/shell.h"

#include "programs.inc"

#define PULL_CODE  FAIL_FAILED_PULLING_CONTAINER_IMAGE
#define START_CODE FAIL_FAILED_STARTING_CONTAINER

/* Time limit of the quick commands, in s; pulling an image may take as long as the run. */
#define START_TIMEOUT_S  300
#define REMOVE_TIMEOUT_S 120

const char *container_runtime(const struct site *site, const char *node_runtimes,
                              bool agent_is_root)
{
    static const char *const usual[] = {"docker", "podman", "docker"};
    bool told = site && site->n_container_runtimes > 0;
    const char *const *order = told ? site->container_runtimes : usual + agent_is_root;
    size_t n = told ? site->n_container_runtimes : 2;
    if (node_runtimes && strcmp(node_runtimes, RUNTIME_SCRIPTED) == 0)
        return RUNTIME_SCRIPTED;
    for (size_t i = 0; node_runtimes && i < n; i++) {
        size_t len = strlen(order[i]);
        for (const char *p = node_runtimes; *p; p += strspn(p, " ")) {
            size_t word = strcspn(p, " ");
            if (word == len && strncmp(p, order[i], len) == 0)
                return order[i];
            p += word;
        }
    }
    return NULL;
}

enum cell { NO, YES, ANY };

static bool fits(enum cell cell, bool is)
{
    return cell == ANY || (cell == YES) == is;
}

const char *container_who(const struct container *c)
{
    static const struct {
        const char *runtime;
        /* the agent is root; the run has an account; setting containers.user */
        enum cell root, account, image;
        const char *who;
    } rows[] = {
        {"podman", YES, YES, ANY, "mapped"},  {"podman", YES, NO, ANY, "image"},
        {"podman", NO, ANY, ANY, "rootless"}, {"docker", YES, NO, ANY, "image"},
        {"docker", ANY, ANY, YES, "root"},    {"docker", YES, YES, NO, "account"},
        {"docker", NO, ANY, NO, "agent"},
    };
    bool image = c->site && c->site->image_users;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].runtime, c->runtime) == 0 && fits(rows[i].root, c->agent_is_root) &&
            fits(rows[i].account, c->user != NULL) && fits(rows[i].image, image))
            return rows[i].who;
    return "account";
}

static bool is_scripted(const struct container *c)
{
    return strcmp(c->runtime, RUNTIME_SCRIPTED) == 0;
}

/* An id in the form of a runtime's id: the digits of the container's name. */
static const char *scripted_id(struct arena *a, const struct container *c)
{
    char *id = arena_strdup(a, c->name);
    size_t n = 0;
    for (const char *p = c->name; *p; p++)
        if (strchr("0123456789abcdef", *p))
            id[n++] = *p;
    id[n] = '\0';
    return id;
}

/* The image, with the registry of `c` in front unless its name has a registry. */
static const char *image_name(struct arena *a, const struct container *c)
{
    const char *image = c->spec->image, *server = c->spec->server;
    size_t n = server ? strlen(server) : 0;
    bool said = !server || (strncmp(image, server, n) == 0 && image[n] == '/');
    return said ? image : arena_printf(a, "%s/%s", server, image);
}

/* The name to pull. For a name without a registry, podman would search a list of registries, but
 * users of the services mean docker.io. */
static const char *pull_name(struct arena *a, const struct container *c)
{
    const char *image = image_name(a, c);
    size_t first = strcspn(image, "/");
    bool has_host = image[first] && (memchr(image, '.', first) || memchr(image, ':', first) ||
                                     strncmp(image, "localhost/", 10) == 0);
    if (has_host || strcmp(c->runtime, "podman") != 0)
        return image;
    return arena_printf(a, image[first] ? "docker.io/%s" : "docker.io/library/%s", image);
}

static const char *env_file(struct arena *a, const struct container *c)
{
    return arena_printf(a, "%s/.environment", c->run_dir);
}

static void set_number(struct env *v, const char *name, long long n)
{
    env_set(v, name, arena_printf(v->a, "%lld", n));
}

static void set_common(struct env *v, struct arena *a, const struct container *c)
{
    env_init(v, a);
    env_set(v, "BATCHAI_RUNTIME", c->runtime);
    env_set(v, "BATCHAI_CONTAINER", c->name);
    env_set(v, "BATCHAI_ROOT", c->root);
    env_set(v, "BATCHAI_JOB_DIR", c->run_dir);
    env_set(v, "BATCHAI_IMAGE", image_name(a, c));
    env_set(v, "BATCHAI_USER", c->user ? c->user : "");
    env_set(v, "BATCHAI_WHO", container_who(c));
}

static void set_registry(struct env *v, const struct container *c)
{
    const struct container_spec *s = c->spec;
    env_set(v, "BATCHAI_PULL", pull_name(v->a, c));
    env_set(v, "BATCHAI_SERVER", s->server ? s->server : "");
    env_set(v, "BATCHAI_REGISTRY_USER", s->user ? s->user : "");
    const struct kv password = {.name = "BATCHAI_REGISTRY_PASSWORD",
                                .value = s->password ? s->password : "",
                                .is_secret = true};
    env_add(v, &password, 1);
}

/* The words, quoted for the shell. */
static const char *quoted_words(struct arena *a, const char *const *words, size_t n)
{
    const char *text = "";
    for (size_t i = 0; i < n; i++)
        text = arena_concat(a, text, i > 0 ? " " : "", shell_quoted(a, words[i]));
    return text;
}

/* The working directory of the run's processes; "": the image sets it. */
static const char *work_dir(const struct container *c)
{
    return c->spec->in_image ? "" : c->work_dir;
}

/* The container's binds as lines "ro PATH" or "rw PATH", for the start program. */
static const char *bind_lines(struct arena *a, const struct container *c)
{
    const char *text = "";
    for (size_t i = 0; i < c->spec->n_binds; i++)
        text = arena_concat(a, text, c->spec->binds[i].read_only ? "ro " : "rw ", c->root, "/",
                            c->spec->binds[i].path, "\n");
    return text;
}

static void set_confine(struct env *v, const struct task_confine *c)
{
    const char *reach = "";
    for (size_t i = 0; i < c->n_reach; i++)
        reach = arena_concat(v->a, reach, c->reach[i], "\n");
    env_set(v, "BATCHAI_HIDE", c->hide ? c->hide : "");
    env_set(v, "BATCHAI_REACH", reach);
}

static void set_start(struct env *v, const struct container *c)
{
    set_confine(v, &c->confine);
    env_set(v, "BATCHAI_NARROW", c->spec->narrow ? "1" : "");
    env_set(v, "BATCHAI_BINDS", bind_lines(v->a, c));
    env_set(v, "BATCHAI_WORK_DIR", work_dir(c));
    env_set(v, "BATCHAI_SHARED_DIR", c->shared_dir ? c->shared_dir : "");
    env_set(v, "BATCHAI_SHM_SIZE", c->spec->shm_size ? c->spec->shm_size : "");
    env_set(v, "BATCHAI_UIDS",
            arena_printf(v->a, "%lld %lld", c->site ? (long long)c->site->first_uid : 0,
                         c->site ? (long long)(c->site->first_uid + c->site->n_uids) : 0));
    env_set(v, "BATCHAI_RUN_AS", c->spec->run_as ? c->spec->run_as : "");
    env_set(v, "BATCHAI_MOUNTS", c->mounts_dir ? c->mounts_dir : "");
    env_set(v, "BATCHAI_MOUNTS_PATH", c->words->mounts_path ? c->words->mounts_path : "");
    env_set(v, "BATCHAI_OPTIONS", quoted_words(v->a, c->spec->options, c->spec->n_options));
    set_number(v, "BATCHAI_MEMORY", c->limits.memory_bytes);
    set_number(v, "BATCHAI_CPUS", c->limits.cpus);
    set_number(v, "BATCHAI_PROCESSES", c->limits.processes);
    set_number(v, "BATCHAI_OPEN_FILES", c->limits.open_files);
    set_number(v, "BATCHAI_GPUS", c->gpus);
    env_set(v, "BATCHAI_DEVICES", c->devices ? c->devices : "all");
    env_set(v, "BATCHAI_GPU_FILES", c->gpu_files ? c->gpu_files : "");
}

/* One execution of one of the shell programs. */
struct program_run {
    const char *id, *program;
    const struct env *env;
    int timeout_s; /* 0: no time limit */
};

static void add_program(struct script *sc, struct arena *a, const struct container *c,
                        const struct script_label *label, const struct program_run *run)
{
    const struct task_spec task = {
        .id = run->id,
        .command_line = run->program,
        .cwd = c->root, /* the agent's programs begin where the run's account cannot write */
        .env = run->env->items,
        .n_env = run->env->n,
        .stdout_path = c->log_path,
        .stderr_path = arena_printf(a, "%s/stderr-container.txt", c->run_dir),
        .step = label->what,
        /* the run may write in the directory, and may have put links into it */
        .files_as = c->user,
        .timeout_s = run->timeout_s,
        /* podman's monitor of the container is a child of this command and must survive; other
         * children that podman leaves are not needed */
        .keep_children = run->program == start_program,
    };
    struct script_label named = *label;
    named.command = arena_printf(a, "%s: %s", c->runtime, label->what);
    script_command(sc, &named, &task, false);
}

/* The environment as text for the `.` command of the container's shell. */
static const char *env_text(struct arena *a, const struct env *env)
{
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < env->n; i++)
        shell_export(&b, env->items[i].name, env->items[i].value);
    const char *text = arena_strdup(a, b.s ? b.s : "");
    if (b.s)
        explicit_bzero(b.s, b.len);
    strbuf_free(&b);
    return text;
}

static struct script_label pull_label(struct arena *a, const struct container *c)
{
    return (struct script_label){
        .code = PULL_CODE,
        .what = arena_printf(a, "pull of container image %s", image_name(a, c)),
        .remedy =
            front_text(c->words, a,
                       "check that the image's name is right, that the node reaches the registry, "
                       "and that the credentials of {registry} match its {registry_url}")};
}

void container_add_start(struct script *sc, struct arena *a, const struct container *c,
                         const char *prefix, const struct env *env, const char **said)
{
    const struct script_label make = {.code = START_CODE, .what = "make working directory"};
    const struct script_label write = {.code = START_CODE, .what = "write environment file"};
    const struct script_label pull = pull_label(a, c);
    const struct script_label start = {
        .code = START_CODE,
        .what = arena_printf(a, "start of a container of image %s", image_name(a, c)),
        .remedy = "the image needs /bin/sh, and the node a container runtime that works"};
    struct env v, w;
    script_ask(sc, &make, REQUEST(make_dirs, .paths = &c->work_dir, .n_paths = 1, .as = c->user));
    if (is_scripted(c)) {
        *said = scripted_id(a, c);
        return;
    }
    script_ask(sc, &write,
               REQUEST(write_file, .path = env_file(a, c), .text = env_text(a, env), .mode = 0600,
                       .as = c->user));
    set_common(&v, a, c);
    set_registry(&v, c);
    add_program(sc, a, c, &pull,
                &(struct program_run){arena_printf(a, "%spull", prefix), pull_program, &v, 0});
    set_common(&w, a, c);
    set_start(&w, c);
    add_program(sc, a, c, &start,
                &(struct program_run){arena_printf(a, "%scontainer", prefix), start_program, &w,
                                      START_TIMEOUT_S});
    script_hear(sc, said);
}

const char *container_id(struct arena *a, const char *said)
{
    size_t end = said ? strlen(said) : 0;
    while (end > 0 && said[end - 1] == '\n')
        end--;
    size_t from = end;
    while (from > 0 && said[from - 1] != '\n')
        from--;
    size_t n = end - from;
    bool is_id = n > 0 && strspn(said + from, "0123456789abcdef") >= n;
    return is_id ? arena_strndup(a, said + from, n) : NULL;
}

const char *container_error(const struct failure *why)
{
    const char *said = why && why->code == START_CODE ? why->stderr_tail : NULL;
    return said && *said ? said : NULL;
}

void container_add_pull(struct script *sc, struct arena *a, const struct container *c,
                        const char *id)
{
    const struct script_label pull = pull_label(a, c);
    struct env v;
    set_common(&v, a, c);
    set_registry(&v, c);
    add_program(sc, a, c, &pull, &(struct program_run){id, pull_program, &v, 0});
}

void container_add_removal(struct script *sc, struct arena *a, const struct container *c,
                           const char *prefix)
{
    const struct script_label remove = {
        .code = FAIL_CONTAINER_NOT_REMOVED,
        .what = front_text(c->words, a, "removal of the {run}'s container"),
        .remedy = front_text(c->words, a,
                             "see that the container runtime answers, then resize the {pool} or "
                             "undrain the machine")};
    struct env v;
    set_common(&v, a, c);
    add_program(sc, a, c, &remove,
                &(struct program_run){arena_printf(a, "%sremove", prefix), remove_program, &v,
                                      REMOVE_TIMEOUT_S});
}

void container_add_sweep(struct script *sc, struct arena *a, const struct front_words *words,
                         const char *root, const char *id)
{
    const struct script_label sweep = {
        .code = FAIL_NODE_PREPARATION_FAILED,
        .what = front_text(words, a, "remove containers of earlier {runs}")};
    const struct script_label tidy = {.what = "remove the sweep's output", .may_fail = true};
    const char *dir = arena_printf(a, "%s/sweep", root);
    struct env v;
    env_init(&v, a);
    env_set(&v, "BATCHAI_ROOT", root);
    const struct task_spec task = {
        .id = id,
        .command_line = sweep_program,
        .cwd = root,
        .env = v.items,
        .n_env = v.n,
        .stdout_path = "/dev/null",
        .stderr_path = arena_printf(a, "%s/stderr.txt", dir),
        .step = sweep.what,
        .timeout_s = REMOVE_TIMEOUT_S,
    };
    script_command(sc, &sweep, &task, false);
    script_ask(sc, &tidy, REQUEST(remove_tree, .path = dir));
}

/* Returns the command with the further variables of one task set in front of it. The environment of
 * all tasks is in a file that was written at the container's start. */
static const char *with_variables(struct arena *a, const struct kv *own, size_t n, const char *path,
                                  const char *command)
{
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < n; i++)
        shell_export(&b, own[i].name, own[i].value);
    if (path)
        strbuf_concat(&b, "PATH=", shell_quoted(a, path), ":\"$PATH\"; export PATH\n");
    strbuf_puts(&b, command);
    const char *text = arena_strdup(a, b.s);
    strbuf_free(&b);
    return text;
}

/* The command for the container's shell; "": the image's default command. */
static const char *command_of(struct arena *a, const struct container *c,
                              const struct task_spec *task)
{
    const char *first = c->spec->entrypoint;
    if (!task->argv)
        return task->command_line;
    if (task->n_argv == 0 && !first)
        return "";
    return arena_concat(a, "exec ", first ? shell_quoted(a, first) : "", first ? " " : "",
                        quoted_words(a, task->argv, task->n_argv));
}

void container_wrap(struct arena *a, const struct container *c, const struct kv *own, size_t n_own,
                    struct task_spec *task)
{
    struct env v;
    if (is_scripted(c))
        return;
    set_common(&v, a, c);
    env_set(&v, "BATCHAI_ENV_FILE", env_file(a, c));
    env_set(&v, "BATCHAI_WORK_DIR", work_dir(c));
    env_set(&v, "BATCHAI_RC", task->argv ? "" : "1"); /* a program is started without a shell */
    env_set(&v, "BATCHAI_COMMAND",
            with_variables(a, own, n_own, task->path, command_of(a, c, task)));
    task->title = arena_printf(a, "in container %s: %s", c->name,
                               task->title ? task->title : task->command_line);
    task->env = v.items;
    task->n_env = v.n;
    task->command_line = exec_program;
    task->argv = NULL;
    task->n_argv = 0;
    task->path = NULL;
    task->signal_command = signal_program;
    task->cgroups_path = arena_printf(a, "%s/containers/%s", c->root, c->name);
    task->files_as = c->user;
    task->cwd = c->root;
    task->user = NULL; /* the command that calls the runtime runs as the agent */
    task->limits = (struct task_limits){0};
    /* The task needs no confinement, because the container hides the node's files from the run.
     * Podman without root also needs rights that a confined process lacks. */
    task->confine = (struct task_confine){.hide = NULL};
    task->view = (struct task_view){NULL, NULL};
}
