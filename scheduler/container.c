/* SPDX-License-Identifier: MIT */
#include "scheduler/container.h"

#include <string.h>

#include "lib/strbuf.h"

/* Names of the variables that the programs below get; BATCHAI_ is nobody else's. */
#define V(name) "BATCHAI_" name

#define PULL_CODE  "FailedPullingContainerImage"
#define START_CODE "FailedStartingContainer"

/* How long the quick ones may take, in s; pulling may take as long as the job may. */
#define START_TIMEOUT_S  300
#define REMOVE_TIMEOUT_S 120

/* Logging in is for this pull alone: into a directory of its own, with the password on standard
 * input. What the runtime says goes to execution.log, without the progress of every layer. */
static const char
    pull_program
        [] =
            "R=$" V("RUNTIME") " I=$" V(
                "IMAGE") "\n"
                         "if $R image inspect \"$I\" >/dev/null 2>&1; then\n"
                         "    echo \"container image $I is there\"\n"
                         "    exit 0\n"
                         "fi\n"
                         "D=$(mktemp -d) || exit 1\n"
                         "trap 'rm -rf \"$D\"' EXIT\n"
                         "export DOCKER_CONFIG=\"$D\" REGISTRY_AUTH_FILE=\"$D/auth.json\"\n"
                         "if [ -n \"$" V("REGISTRY_USER") "\" ]; then\n"
                                                          "    echo \"logging in on ${" V("SERVER") ":-the default registry} as $" V(
                                                              "REGISTRY_USER") "\"\n"
                                                                               "    printf %s "
                                                                               "\"$" V(
                                                                                   "REGISTRY_"
                                                                                   "PASSWORD") "\" "
                                                                                               "|\n"
                                                                                               "   "
                                                                                               "   "
                                                                                               "  "
                                                                                               "$R "
                                                                                               "log"
                                                                                               "in "
                                                                                               "-u "
                                                                                               "\""
                                                                                               "$" V("REGISTRY_USER") "\" --password-stdin $" V(
                                                                                                   "SERVER") " >/dev/null || exit 1\n"
                                                                                                             "fi\n"
                                                                                                             "unset " V(
                                                                                                                 "REGISTRY_PASSWORD") "\n"
                                                                                                                                      "echo \"pulling container image $I\"\n"
                                                                                                                                      "$R pull \"$I\" || exit 1\n"
                                                                                                                                      "echo \"pulled container image $I\"\n";

/* Symbolic links in the mount roots lead to folders that have to be there too. podman gives
 * containers limits above those of the machine unless it is told them. What of the machine's GPUs
 * can be had is asked of the runtime: CDI, the --gpus of docker, the runtime of NVIDIA's first
 * integration, and else the devices themselves. */
static const char start_program[] = "R=$" V(
    "RUNTIME") " N=$" V("CONTAINER") "\n"
                                     "[ \"$($R inspect -f '{{.State.Running}}' $N "
                                     "2>/dev/null)\" = true ] && exit 0\n"
                                     "$R rm -f $N >/dev/null 2>&1\n"
                                     "set -- --name $N --label batchaid.root=\"$" V(
                                         "ROOT") "\" --network host\n"
                                                 "set -- \"$@\" --mount "
                                                 "type=bind,source=\"$" V(
                                                     "ROOT") "\",target=\"$" V("ROOT") "\"\n"
                                                                                       "T=$(mktemp)"
                                                                                       " || exit "
                                                                                       "1\n"
                                                                                       "find \"$" V(
                                                                                           "ROOT") "/mounts\""
                                                                                                   " \"$" V(
                                                                                                       "JOB_DIR") "/mounts\" -type l >\"$T\" 2>/dev/null\n"
                                                                                                                  "while IFS= read -r L; do\n"
                                                                                                                  "    F=$(readlink -f \"$L\") && [ -d \"$F\" ] || continue\n"
                                                                                                                  "    case \" $SEEN \" in *\" $F \"*) continue ;; esac\n"
                                                                                                                  "    SEEN=\"$SEEN $F\"\n"
                                                                                                                  "    set -- \"$@\" --mount type=bind,source=\"$F\",target=\"$F\"\n"
                                                                                                                  "done <\"$T\"\n"
                                                                                                                  "rm -f \"$T\"\n"
                                                                                                                  "[ -n \"$" V("SHM_SIZE") "\" ] && set -- \"$@\" --shm-size \"$" V(
                                                                                                                      "SHM_SIZE") "\"\n"
                                                                                                                                  "[ $" V("MEMORY") " -gt 0 ] && set -- \"$@\" --memory $" V("MEMORY") "\n"
                                                                                                                                                                                                       "[ $" V("CPUS") " -gt 0 ] && set -- \"$@\" --cpus $" V("CPUS") "\n"
                                                                                                                                                                                                                                                                      "[ $" V("PROCESSES") " -gt 0 ] && set -- \"$@\" --pids-limit $" V("PROCESSES") "\n"
                                                                                                                                                                                                                                                                                                                                                     "if [ $" V("OPEN_FILES") " -gt 0 ]; then\n"
                                                                                                                                                                                                                                                                                                                                                                              "    set -- \"$@\" --ulimit nofile=$" V("OPEN_FILES") ":$" V("OPEN_FILES") "\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                         "elif [ $R = podman ] && [ \"$(ulimit -Hn)\" != unlimited ]; then\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                         "    set -- \"$@\" --ulimit nofile=$(ulimit -Sn):$(ulimit -Hn)\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                         "fi\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                         "if [ $R = podman ] && H=$(awk '/^Max processes/ { print $4 }' /proc/self/limits) &&\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                         "        [ -n \"$H\" ] && [ \"$H\" != unlimited ]; then\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                         "    set -- \"$@\" --ulimit nproc=$H:$H\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                         "fi\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                         "if [ $" V("GPUS") " -gt 0 ]; then\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "    if ls /etc/cdi/*nvidia* /var/run/cdi/*nvidia* >/dev/null 2>&1 && [ $R = podman ]; then\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "        set -- \"$@\" --device nvidia.com/gpu=all\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "    elif [ $R = docker ] && command -v nvidia-container-runtime-hook nvidia-container-toolkit >/dev/null; then\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "        set -- \"$@\" --gpus all\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "    elif $R info --format '{{json .}}' 2>/dev/null | grep -q '\"nvidia\"'; then\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "        set -- \"$@\" --runtime nvidia -e NVIDIA_VISIBLE_DEVICES=all\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "    else\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "        for G in /dev/nvidia*; do\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "            [ -c \"$G\" ] && set -- \"$@\" --device \"$G\"\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "        done\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "    fi\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "fi\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "for G in /dev/infiniband/*; do\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "    [ -c \"$G\" ] && set -- \"$@\" --device \"$G\"\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "done\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "$R run -d \"$@\" --entrypoint /bin/sh \"$" V("IMAGE") "\" -c \\\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   "    'trap \"exit 0\" TERM; while :; do sleep 3600 & wait $!; done' >/dev/null || exit 1\n"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   "echo \"container $N runs image $" V(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                       "IMAGE") "\"\n";

static const char remove_program[] =
    "R=$" V("RUNTIME") "\n"
                       "$R inspect $" V("CONTAINER") " >/dev/null 2>&1 || exit 0\n"
                                                     "$R rm -f $" V("CONTAINER") " >/dev/null\n";

static const char sweep_program[] = "for R in docker podman; do\n"
                                    "    command -v $R >/dev/null || continue\n"
                                    "    for C in $($R ps -aq --filter label=batchaid.root=\"$" V(
                                        "ROOT") "\" 2>/dev/null); do\n"
                                                "        $R rm -f $C >/dev/null\n"
                                                "    done\n"
                                                "done\n"
                                                "exit 0\n";

/* In the container: the environment from its file, then the command in the image's bash or sh. */
static const char exec_program[] = "R=$" V(
    "RUNTIME") "\n"
               "[ -n \"$" V("USER") "\" ] && set -- --user \"$(id -u \"$" V(
                   "USER") "\"):$(id -g \"$" V("USER") "\")\"\n"
                                                       "exec $R exec \"$@\" -w \"$" V("JOB_DIR") "\" $" V(
                                                           "CONTAINER") " /bin/sh -c '\n"
                                                                        "    . \"$0\" && "
                                                                        "S=/bin/sh\n"
                                                                        "    [ -x /bin/bash ] && "
                                                                        "S=/bin/bash\n"
                                                                        "    exec $S -c \"$1\"' "
                                                                        "\"$" V(
                                                                            "ENV_FILE") "\" "
                                                                                        "\"$" V(
                                                                                            "CO"
                                                                                            "MM"
                                                                                            "AN"
                                                                                            "D") "\"\n";

/* Everything in the container but the process that keeps it. */
static const char signal_program[] = "exec $" V("RUNTIME") " exec --user 0 $" V(
    "CONTAINER") " /bin/sh -c \"kill -$" V("SIGNAL") " -1\"\n";

const char *container_runtime(const struct site *site, const char *node_runtimes)
{
    static const char *const usual[] = {"docker", "podman"};
    bool told = site && site->n_container_runtimes > 0;
    const char *const *order = told ? site->container_runtimes : usual;
    size_t n = told ? site->n_container_runtimes : sizeof usual / sizeof usual[0];
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

/* The image with its registry before it, unless it says it itself. Without one podman would look
 * through a list of registries; what is meant is docker's. */
static const char *image_name(struct arena *a, const struct container *c)
{
    const char *image = c->spec->image, *server = c->spec->server;
    size_t first = strcspn(image, "/");
    bool has_host = image[first] && (memchr(image, '.', first) || memchr(image, ':', first) ||
                                     strncmp(image, "localhost/", 10) == 0);
    size_t n = server ? strlen(server) : 0;
    if (server && strncmp(image, server, n) == 0 && image[n] == '/')
        return image;
    if (server)
        return arena_printf(a, "%s/%s", server, image);
    if (has_host || strcmp(c->runtime, "podman") != 0)
        return image;
    return arena_printf(a, image[first] ? "docker.io/%s" : "docker.io/library/%s", image);
}

static const char *env_file(struct arena *a, const struct container *c)
{
    return arena_printf(a, "%s/.environment", c->job_dir);
}

static void set_number(struct env *v, const char *name, long long n)
{
    env_set(v, name, arena_printf(v->a, "%lld", n));
}

static void set_common(struct env *v, struct arena *a, const struct container *c)
{
    env_init(v, a);
    env_set(v, V("RUNTIME"), c->runtime);
    env_set(v, V("CONTAINER"), c->name);
    env_set(v, V("ROOT"), c->root);
    env_set(v, V("JOB_DIR"), c->job_dir);
    env_set(v, V("IMAGE"), image_name(a, c));
}

static void set_registry(struct env *v, const struct container *c)
{
    const struct container_spec *s = c->spec;
    env_set(v, V("SERVER"), s->server ? s->server : "");
    env_set(v, V("REGISTRY_USER"), s->user ? s->user : "");
    const struct kv password = {
        .name = V("REGISTRY_PASSWORD"), .value = s->password ? s->password : "", .is_secret = true};
    env_add(v, &password, 1);
}

static void set_start(struct env *v, const struct container *c)
{
    env_set(v, V("SHM_SIZE"), c->spec->shm_size ? c->spec->shm_size : "");
    set_number(v, V("MEMORY"), c->limits.memory_bytes);
    set_number(v, V("CPUS"), c->limits.cpus);
    set_number(v, V("PROCESSES"), c->limits.processes);
    set_number(v, V("OPEN_FILES"), c->limits.open_files);
    set_number(v, V("GPUS"), c->gpus);
}

static void add_program(struct script *sc, struct arena *a, const struct container *c,
                        const struct script_label *label, const char *id, const char *program,
                        const struct env *v, int timeout_s)
{
    const struct task_spec task = {
        .id = id,
        .command_line = program,
        .cwd = c->job_dir,
        .env = v->items,
        .n_env = v->n,
        .stdout_path = c->log_path,
        .stderr_path = arena_printf(a, "%s/stderr-container.txt", c->job_dir),
        .step = label->what,
        .timeout_s = timeout_s,
    };
    script_command(sc, label, &task, false);
}

/* For `.` in the container's shell. */
static const char *env_text(struct arena *a, const struct env *env)
{
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < env->n; i++) {
        strbuf_printf(&b, "export %s='", env->items[i].name);
        for (const char *p = env->items[i].value ? env->items[i].value : ""; *p; p++)
            strbuf_puts(&b, *p == '\'' ? "'\\''" : (const char[]){*p, '\0'});
        strbuf_puts(&b, "'\n");
    }
    const char *text = arena_strdup(a, b.s ? b.s : "");
    if (b.s)
        explicit_bzero(b.s, b.len);
    strbuf_free(&b);
    return text;
}

void container_add_start(struct script *sc, struct arena *a, const struct container *c,
                         const char *prefix, const struct env *env)
{
    const struct script_label write = {.code = START_CODE, .what = "write environment file"};
    const struct script_label pull = {
        .code = PULL_CODE,
        .what = arena_printf(a, "pull of container image %s", image_name(a, c)),
        .remedy = "see that the image's name is right, that the node reaches the registry, and "
                  "that the credentials of imageSourceRegistry are those of its serverUrl"};
    const struct script_label start = {
        .code = START_CODE,
        .what = arena_printf(a, "start of a container of image %s", image_name(a, c)),
        .remedy = "the image needs /bin/sh, and the node a container runtime that works"};
    struct env v, w;
    script_write_file(sc, &write, c->user, env_file(a, c), env_text(a, env), 0600);
    set_common(&v, a, c);
    set_registry(&v, c);
    add_program(sc, a, c, &pull, arena_printf(a, "%spull", prefix), pull_program, &v, 0);
    set_common(&w, a, c);
    set_start(&w, c);
    add_program(sc, a, c, &start, arena_printf(a, "%scontainer", prefix), start_program, &w,
                START_TIMEOUT_S);
}

void container_add_removal(struct script *sc, struct arena *a, const struct container *c,
                           const char *prefix)
{
    const struct script_label remove = {
        .code = START_CODE, .what = "remove container", .may_fail = true};
    struct env v;
    set_common(&v, a, c);
    add_program(sc, a, c, &remove, arena_printf(a, "%sremove", prefix), remove_program, &v,
                REMOVE_TIMEOUT_S);
}

void container_add_sweep(struct script *sc, struct arena *a, const char *root, const char *id)
{
    const struct script_label sweep = {.code = "NodePreparationFailed",
                                       .what = "remove containers of earlier jobs"};
    struct env v;
    env_init(&v, a);
    env_set(&v, V("ROOT"), root);
    const struct task_spec task = {
        .id = id,
        .command_line = sweep_program,
        .cwd = root,
        .env = v.items,
        .n_env = v.n,
        .stdout_path = "/dev/null",
        .stderr_path = arena_printf(a, "%s/sweep-stderr.txt", root),
        .step = sweep.what,
        .timeout_s = REMOVE_TIMEOUT_S,
    };
    script_command(sc, &sweep, &task, false);
}

void container_wrap(struct arena *a, const struct container *c, struct task_spec *task)
{
    struct env v;
    set_common(&v, a, c);
    env_set(&v, V("USER"), c->user ? c->user : "");
    env_set(&v, V("ENV_FILE"), env_file(a, c));
    env_set(&v, V("COMMAND"), task->command_line);
    task->env = v.items;
    task->n_env = v.n;
    task->command_line = exec_program;
    task->signal_command = signal_program;
    task->user = NULL; /* the runtime is spoken to as the agent */
    task->limits = (struct task_limits){0};
}
