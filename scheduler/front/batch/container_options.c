/* SPDX-License-Identifier: MIT
 *
 * containerRunOptions: the options of `docker create`, each in one table with its permission. Only
 * administrators may use options that escape the container. Nobody may use options that would break
 * the daemon's control of the container, such as an option that shows it the machine's processes.
 * An option without a row, such as an option of podman, is for administrators.
 */
#include <string.h>

#include "model/batch/argv.h"
#include "model/batch/spec.h"
#include "scheduler/front/batch/front_priv.h"

enum whose {
    EVERYBODY,
    ADMINS,
    NEVER,
    OURS, /* always set here, or without effect here: accepted and ignored */
};

/* Whether a value gives no access to anything outside of the container. */
typedef bool value_check(const char *value);

static bool is_one_of(const char *value, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(value, list[i]) == 0)
            return true;
    return false;
}

/* False for a network of another container, or a network namespace by path. */
static bool is_plain_network(const char *value)
{
    return !strpbrk(value, ":/");
}

/* Whether the value means a separate IPC namespace, not the namespace of the host or of another
 * container. */
static bool is_own_ipc(const char *value)
{
    static const char *const own[] = {"", "none", "private", "shareable"};
    return is_one_of(value, own, sizeof own / sizeof own[0]);
}

/* Whether the value means separate processes. Other values are dangerous, because a task's signals
 * are sent to all processes that its container sees. */
static bool is_own_pid(const char *value)
{
    static const char *const own[] = {"", "private"};
    return is_one_of(value, own, sizeof own / sizeof own[0]);
}

static const struct option {
    const char *name; /* without its dashes */
    char letter;
    bool has_value;
    enum whose whose;
    value_check *fits; /* values that everybody may use; NULL: all values are treated alike */
} options[] = {
    {"add-host", 0, true, EVERYBODY, NULL},
    {"annotation", 0, true, ADMINS, NULL},
    {"attach", 'a', true, OURS, NULL},
    {"blkio-weight", 0, true, EVERYBODY, NULL},
    {"blkio-weight-device", 0, true, EVERYBODY, NULL},
    {"cap-add", 0, true, ADMINS, NULL},
    {"cap-drop", 0, true, EVERYBODY, NULL},
    {"cgroup-parent", 0, true, ADMINS, NULL},
    {"cgroupns", 0, true, ADMINS, NULL},
    {"cidfile", 0, true, NEVER, NULL},
    {"cpu-count", 0, true, OURS, NULL},
    {"cpu-percent", 0, true, OURS, NULL},
    {"cpu-period", 0, true, EVERYBODY, NULL},
    {"cpu-quota", 0, true, EVERYBODY, NULL},
    {"cpu-rt-period", 0, true, ADMINS, NULL},
    {"cpu-rt-runtime", 0, true, ADMINS, NULL},
    {"cpu-shares", 'c', true, EVERYBODY, NULL},
    {"cpus", 0, true, EVERYBODY, NULL},
    {"cpuset-cpus", 0, true, EVERYBODY, NULL},
    {"cpuset-mems", 0, true, EVERYBODY, NULL},
    {"detach", 'd', false, OURS, NULL},
    {"detach-keys", 0, true, OURS, NULL},
    {"device", 0, true, ADMINS, NULL},
    {"device-cgroup-rule", 0, true, ADMINS, NULL},
    {"device-read-bps", 0, true, EVERYBODY, NULL},
    {"device-read-iops", 0, true, EVERYBODY, NULL},
    {"device-write-bps", 0, true, EVERYBODY, NULL},
    {"device-write-iops", 0, true, EVERYBODY, NULL},
    {"disable-content-trust", 0, false, OURS, NULL},
    {"dns", 0, true, EVERYBODY, NULL},
    {"dns-opt", 0, true, EVERYBODY, NULL},
    {"dns-option", 0, true, EVERYBODY, NULL},
    {"dns-search", 0, true, EVERYBODY, NULL},
    {"domainname", 0, true, EVERYBODY, NULL},
    {"entrypoint", 0, true, EVERYBODY, NULL},
    {"env", 'e', true, EVERYBODY, NULL},
    {"env-file", 0, true, ADMINS, NULL},
    {"expose", 0, true, EVERYBODY, NULL},
    {"gpus", 0, true, OURS, NULL},
    {"group-add", 0, true, ADMINS, NULL},
    {"health-cmd", 0, true, OURS, NULL},
    {"health-interval", 0, true, OURS, NULL},
    {"health-retries", 0, true, OURS, NULL},
    {"health-start-interval", 0, true, OURS, NULL},
    {"health-start-period", 0, true, OURS, NULL},
    {"health-timeout", 0, true, OURS, NULL},
    {"help", 0, false, NEVER, NULL},
    {"hostname", 'h', true, EVERYBODY, NULL},
    {"init", 0, false, EVERYBODY, NULL},
    {"interactive", 'i', false, OURS, NULL},
    {"io-maxbandwidth", 0, true, OURS, NULL},
    {"io-maxiops", 0, true, OURS, NULL},
    {"ip", 0, true, EVERYBODY, NULL},
    {"ip6", 0, true, EVERYBODY, NULL},
    {"ipc", 0, true, ADMINS, is_own_ipc},
    {"isolation", 0, true, OURS, NULL},
    {"kernel-memory", 0, true, EVERYBODY, NULL},
    {"label", 'l', true, EVERYBODY, NULL},
    {"label-file", 0, true, ADMINS, NULL},
    {"link", 0, true, ADMINS, NULL},
    {"link-local-ip", 0, true, EVERYBODY, NULL},
    {"log-driver", 0, true, ADMINS, NULL},
    {"log-opt", 0, true, ADMINS, NULL},
    {"mac-address", 0, true, EVERYBODY, NULL},
    {"memory", 'm', true, EVERYBODY, NULL},
    {"memory-reservation", 0, true, EVERYBODY, NULL},
    {"memory-swap", 0, true, EVERYBODY, NULL},
    {"memory-swappiness", 0, true, EVERYBODY, NULL},
    {"mount", 0, true, ADMINS, NULL},
    {"name", 0, true, OURS, NULL},
    {"net", 0, true, ADMINS, is_plain_network},
    {"net-alias", 0, true, EVERYBODY, NULL},
    {"network", 0, true, ADMINS, is_plain_network},
    {"network-alias", 0, true, EVERYBODY, NULL},
    {"no-healthcheck", 0, false, OURS, NULL},
    {"oom-kill-disable", 0, false, ADMINS, NULL},
    {"oom-score-adj", 0, true, ADMINS, NULL},
    {"pid", 0, true, NEVER, is_own_pid},
    {"pids-limit", 0, true, EVERYBODY, NULL},
    {"platform", 0, true, OURS, NULL},
    {"privileged", 0, false, ADMINS, NULL},
    {"publish", 'p', true, ADMINS, NULL},
    {"publish-all", 'P', false, ADMINS, NULL},
    {"pull", 0, true, OURS, NULL},
    {"quiet", 'q', false, OURS, NULL},
    {"read-only", 0, false, EVERYBODY, NULL},
    {"restart", 0, true, NEVER, NULL},
    {"rm", 0, false, OURS, NULL},
    {"runtime", 0, true, ADMINS, NULL},
    {"security-opt", 0, true, ADMINS, NULL},
    {"shm-size", 0, true, EVERYBODY, NULL},
    {"sig-proxy", 0, false, OURS, NULL},
    {"stop-signal", 0, true, EVERYBODY, NULL},
    {"stop-timeout", 0, true, EVERYBODY, NULL},
    {"storage-opt", 0, true, ADMINS, NULL},
    {"sysctl", 0, true, ADMINS, NULL},
    {"tmpfs", 0, true, EVERYBODY, NULL},
    {"tty", 't', false, OURS, NULL},
    {"ulimit", 0, true, EVERYBODY, NULL},
    {"use-api-socket", 0, false, NEVER, NULL},
    /* container.c checks whether this user could escape the container */
    {"user", 'u', true, EVERYBODY, NULL},
    {"userns", 0, true, ADMINS, NULL},
    {"uts", 0, true, ADMINS, NULL},
    {"volume", 'v', true, ADMINS, NULL},
    {"volume-driver", 0, true, ADMINS, NULL},
    {"volumes-from", 0, true, ADMINS, NULL},
    {"workdir", 'w', true, EVERYBODY, NULL},
};
#define N_OPTIONS (sizeof options / sizeof options[0])

/* The words to read, and the options read so far. */
struct option_reading {
    struct arena *a;
    const char **words;
    size_t n, at;
    bool any; /* options for administrators are allowed */
    struct place_spec *place;
    struct container_spec *out;
    const char **kept;
    size_t n_kept;
};

static bool refuse(struct option_reading *r, const char *word, const char *why)
{
    if (!r->place->refused) {
        r->place->refused = FAIL_NOT_SERVED;
        r->place->why_refused =
            arena_concat(r->a, "containerSettings.containerRunOptions has ", word, ", ", why);
    }
    return false;
}

static const struct option *by_name(const char *name, size_t n)
{
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (strncmp(options[i].name, name, n) == 0 && options[i].name[n] == '\0')
            return &options[i];
    return NULL;
}

static const struct option *by_letter(char letter)
{
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (letter && options[i].letter == letter)
            return &options[i];
    return NULL;
}

/* Records the further effects of an option. */
static void note(struct container_spec *out, const struct option *o, const char *value)
{
    if (strcmp(o->name, "workdir") == 0)
        out->in_image = true; /* the value is for the container itself */
    else if (strcmp(o->name, "entrypoint") == 0)
        out->entrypoint = value && *value ? value : NULL;
    else if (strcmp(o->name, "user") == 0)
        out->run_as = value;
}

/* Handles one option; `value` NULL: the option has no value. */
static bool take(struct option_reading *r, const char *word, const struct option *o,
                 const char *value)
{
    enum whose whose = o->whose;
    if (o->has_value && !value)
        return refuse(r, word, "which has no value");
    if (o->fits && o->fits(value))
        whose = EVERYBODY;
    if (whose == NEVER)
        return refuse(
            r, word,
            "which is never allowed: the container belongs to the task, ends with it, and "
            "has no other processes than the task's");
    if (whose == ADMINS && !r->any)
        return refuse(r, word,
                      "which escapes the container, so it is refused (it needs batch.admin_is_root "
                      "and a task with elevationLevel admin)");
    if (whose == OURS)
        return true;
    note(r->out, o, value);
    r->kept[r->n_kept++] = arena_concat(r->a, "--", o->name, value ? "=" : "", value ? value : "");
    return true;
}

static const char *next_word(struct option_reading *r)
{
    return r->at < r->n ? r->words[r->at++] : NULL;
}

static bool take_long(struct option_reading *r, const char *word)
{
    size_t n = strcspn(word + 2, "=");
    const struct option *o = by_name(word + 2, n);
    const char *value = word[2 + n] ? word + 2 + n + 1 : NULL;
    if (!o)
        return false;
    return take(r, word, o, !value && o->has_value ? next_word(r) : value);
}

/* Handles a word of one-letter options. Letters without a value may be combined; the first letter
 * with a value takes the rest of the word. */
static bool take_letters(struct option_reading *r, const char *word)
{
    for (const char *p = word + 1; *p; p++) {
        const struct option *o = by_letter(*p);
        if (!o)
            return false;
        if (o->has_value) {
            const char *rest = p[1] == '=' ? p + 2 : p[1] ? p + 1 : next_word(r);
            return take(r, word, o, rest);
        }
        if (!take(r, word, o, NULL))
            return false;
    }
    return true;
}

void batch_container_options(struct arena *a, const char *text, bool any, struct place_spec *place,
                             struct container_spec *out)
{
    struct option_reading r = {.a = a, .any = any, .place = place, .out = out};
    r.n = text ? batch_argv(a, text, &r.words) : 0;
    /* A word has at most as many options as letters. */
    r.kept = arena_alloc(a, ((text ? strlen(text) : 0) + 1) * sizeof *r.kept);
    for (const char *word; !place->refused && (word = next_word(&r));) {
        bool is_long = strncmp(word, "--", 2) == 0 && word[2];
        bool is_short = word[0] == '-' && word[1] && word[1] != '-';
        if ((is_long && take_long(&r, word)) || (is_short && take_letters(&r, word)) ||
            place->refused)
            continue;
        if (!any)
            refuse(&r, word,
                   "which is not an option of docker create, so it is refused (it needs "
                   "batch.admin_is_root and a task with elevationLevel admin)");
        else
            r.kept[r.n_kept++] = word;
    }
    out->options = r.n_kept > 0 ? r.kept : NULL;
    out->n_options = r.n_kept;
}
