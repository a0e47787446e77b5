/* SPDX-License-Identifier: MIT
 *
 * config_checks.c checks each setting when it is read. The checks here need several settings, or
 * files that settings name.
 */
#include "daemon/config/site.h"

#include <assert.h>
#include <ctype.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "daemon/config/hostlist.h"
#include "lib/confine.h"
#include "lib/fs.h"
#include "model/enums.h"

#define MIB (1024 * 1024)

enum { MAX_PASSWORD_FILE = 1024 };

/* Sets the error, beginning with the place in the configuration. Returns -1. */
__attribute__((format(printf, 3, 4))) static int blame(const struct config *c, struct err *e,
                                                       const char *fmt, ...)
{
    char path[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(path, sizeof path, fmt, args);
    va_end(args);
    return config_place_blame(&c->places, path, e);
}

static const char *or_null(const char *text)
{
    return *text ? text : NULL;
}

/* --- groups --------------------------------------------------------------------------------- */

/* Refuses a file of a key or password that is not a regular file, or that others can read. */
static int check_private(const char *path, struct err *e)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return err_errno(e, ERR_CONFIG, "cannot use %s", path);
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_CONFIG, NULL, "%s is not a regular file", path);
    if (st.st_mode & 077)
        return err_set(e, ERR_CONFIG, NULL,
                       "%s is open to others (mode %04o); close it with: chmod 600 %s", path,
                       (unsigned)st.st_mode & 07777, path);
    if (access(path, R_OK) < 0)
        return err_errno(e, ERR_CONFIG, "cannot read %s", path);
    return 0;
}

int config_read_secret(const char *path, char **out, struct err *e)
{
    if (check_private(path, e) < 0)
        return -1;
    size_t len;
    if (fs_read(path, MAX_PASSWORD_FILE, out, &len, e) < 0) {
        e->code = ERR_CONFIG;
        return -1;
    }
    size_t n = strcspn(*out, "\r\n");
    bool one_line = n + strspn(*out + n, "\r\n") == len;
    (*out)[n] = '\0';
    if (n > 0 && one_line)
        return 0;
    explicit_bzero(*out, len);
    free(*out);
    *out = NULL;
    return err_set(e, ERR_CONFIG, NULL,
                   n ? "%s has more than one line; write only the secret"
                     : "%s is empty; write the secret into it",
                   path);
}

static const char *const *upper_case(struct arena *a, const struct config_list *l)
{
    char **copy = arena_alloc(a, (l->n + 1) * sizeof *copy);
    for (size_t i = 0; i < l->n; i++) {
        copy[i] = arena_strdup(a, l->items[i]);
        for (char *p = copy[i]; *p; p++)
            *p = (char)toupper((unsigned char)*p);
    }
    return (const char *const *)copy;
}

/* The prefix with which the agent's command runs as root; NULL: none. `sudo` gets -n, because
 * nobody could type a password. */
static const char *become_command(const char *become)
{
    if (strcmp(become, "none") == 0)
        return NULL;
    return strcmp(become, "sudo") == 0 ? "sudo -n" : become;
}

static int set_user(struct daemon_site *s, const struct config *c, size_t i, struct err *e)
{
    const struct config_group *from = (struct config_group *)c->inventory.items + i;
    struct site_group *g = &s->groups[i];
    g->user = or_null(from->user);
    if (!g->user) {
        const struct passwd *own = getpwuid(geteuid());
        if (!own) {
            err_set(e, ERR_CONFIG, NULL,
                    "the daemon's own account (uid %ld) has no name; write "
                    "the account to log in as",
                    (long)geteuid());
            return blame(c, e, "inventory[%zu].user", i);
        }
        g->user = arena_strdup(&s->texts, own->pw_name);
    }
    g->become = become_command(from->become);
    g->run_user = or_null(from->job_user);
    if (!g->run_user || g->become || strcmp(g->user, "root") == 0)
        return 0;
    err_set(e, ERR_CONFIG, NULL,
            "jobs cannot run as '%s' where root is not reached; add become: sudo, or log in as "
            "user: root",
            g->run_user);
    return blame(c, e, "inventory[%zu].job_user", i);
}

static bool is_public(const char *path)
{
    size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".pub") == 0;
}

static int set_identity(struct daemon_site *s, const struct config *c, const struct state *st,
                        size_t i, struct err *e)
{
    const struct config_group *from = (struct config_group *)c->inventory.items + i;
    struct site_group *g = &s->groups[i];
    char *password = NULL;
    g->agent_socket = or_null(from->agent_socket);
    if (*from->password_file && config_read_secret(from->password_file, &password, e) < 0)
        return blame(c, e, "inventory[%zu].password_file", i);
    g->password = password;
    g->identity = or_null(from->identity);
    bool by_default = !g->identity && !g->agent_socket && !g->password;
    if (by_default)
        g->identity = arena_printf(&s->texts, "%s/id_ed25519", st->dir);
    if (!g->identity)
        return 0;
    if (is_public(g->identity))
        err_set(e, ERR_CONFIG, NULL,
                "%s is the public half of a key; name the private one, without .pub", g->identity);
    else if (check_private(g->identity, e) == 0)
        return 0;
    else if (access(g->identity, F_OK) < 0)
        err_set(e, ERR_CONFIG, NULL, "there is no key %s; make it with: batchaid keygen %s%s",
                g->identity, g->identity,
                by_default ? ", or give identity, password_file or agent_socket" : "");
    return blame(c, e, "inventory[%zu].identity", i);
}

static int load_groups(struct daemon_site *s, const struct config *c, const struct state *st,
                       struct err *e)
{
    s->n_groups = c->inventory.n;
    s->groups = xcalloc(s->n_groups + 1, sizeof *s->groups);
    for (size_t i = 0; i < s->n_groups; i++) {
        const struct config_group *from = (struct config_group *)c->inventory.items + i;
        struct site_group *g = &s->groups[i];
        g->node_root = from->node_root;
        g->vm_sizes = upper_case(&s->texts, &from->vm_sizes);
        g->priority = (enum vm_priority)enum_from_name(vm_priority_names, from->priority);
        g->capacity =
            (struct site_capacity){.slots = (int)from->slots, .fake_gpus = (int)from->fake_gpus};
        g->health_command = or_null(from->health_command);
        g->health_interval_s = (int)from->health_interval_s;
        if (set_user(s, c, i, e) < 0 || set_identity(s, c, st, i, e) < 0)
            return -1;
    }
    return 0;
}

/* --- machines ------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const struct site_machine *const *m = a, *const *n = b;
    int order = strcasecmp((*m)->name, (*n)->name);
    return order ? order : (*m > *n) - (*m < *n);
}

static int check_unique(const struct daemon_site *s, const struct config *c, struct err *e)
{
    size_t n = s->site.n_machines;
    const struct site_machine **sorted = xcalloc(n + 1, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[i] = &s->machines[i];
    qsort(sorted, n, sizeof *sorted, by_name);
    size_t at = 1;
    while (at < n && strcasecmp(sorted[at - 1]->name, sorted[at]->name) != 0)
        at++;
    int rc = 0;
    if (at < n) {
        size_t first = (size_t)(sorted[at - 1]->group - s->groups);
        size_t second = (size_t)(sorted[at]->group - s->groups);
        char path[64];
        snprintf(path, sizeof path, "inventory[%zu].hosts", first);
        if (first == second)
            err_set(e, ERR_CONFIG, NULL, "%s is listed twice", sorted[at]->name);
        else
            err_set(e, ERR_CONFIG, NULL,
                    "%s is in %s (line %d) too; a machine may be in one entry only",
                    sorted[at]->name, path, config_place_line(&c->places, path));
        rc = blame(c, e, "inventory[%zu].hosts", second);
    }
    free(sorted);
    return rc;
}

/* Adds the hosts of all groups to `l`; ends[i] is the number of hosts up to and including group i.
 */
static int expand_hosts(const struct config *c, struct hostlist *l, size_t *ends, struct err *e)
{
    const struct config_group *groups = c->inventory.items;
    for (size_t i = 0; i < c->inventory.n; i++) {
        for (size_t k = 0; k < groups[i].hosts.n; k++)
            if (hostlist_add(l, groups[i].hosts.items[k], e) < 0)
                return blame(c, e, "inventory[%zu].hosts[%zu]", i, k);
        ends[i] = l->n;
    }
    return 0;
}

static int load_machines(struct daemon_site *s, const struct config *c, struct err *e)
{
    struct hostlist l = {0};
    size_t *ends = xcalloc(s->n_groups + 1, sizeof *ends);
    int rc = expand_hosts(c, &l, ends, e);
    s->machines = xcalloc(l.n + 1, sizeof *s->machines);
    s->site.n_machines = l.n;
    for (size_t i = 0, g = 0; rc == 0 && i < l.n; i++) {
        while (i >= ends[g])
            g++;
        s->machines[i] = (struct site_machine){.name = arena_strdup(&s->texts, l.items[i].name),
                                               .host = arena_strdup(&s->texts, l.items[i].host),
                                               .port = l.items[i].port,
                                               .group = &s->groups[g]};
    }
    hostlist_free(&l);
    free(ends);
    return rc < 0 ? -1 : check_unique(s, c, e);
}

/* --- rules ---------------------------------------------------------------------------------- */

static enum site_mount_type mount_type(const char *name)
{
    static const char *const names[] = {
        [SITE_MOUNT_LOCAL] = "local", [SITE_MOUNT_BIND] = "bind",
        [SITE_MOUNT_NFS] = "nfs",     [SITE_MOUNT_CIFS] = "cifs",
        [SITE_MOUNT_SSHFS] = "sshfs", [SITE_MOUNT_BLOBFUSE2] = "blobfuse2",
    };
    static_assert(sizeof names / sizeof names[0] == SITE_MOUNT_COMMAND, "a name for each other");
    size_t i = 0;
    while (i < sizeof names / sizeof names[0] && strcmp(names[i], name) != 0)
        i++;
    return i < sizeof names / sizeof names[0] ? (enum site_mount_type)i : SITE_MOUNT_COMMAND;
}

static void load_mounts(struct daemon_site *s, const struct config *c)
{
    s->mounts = xcalloc(c->mounts.n + 1, sizeof *s->mounts);
    for (size_t i = 0; i < c->mounts.n; i++) {
        const struct config_mount *from = (struct config_mount *)c->mounts.items + i;
        const char *slash = strchr(from->match, '/');
        assert(slash); /* config_check_match() has checked it */
        s->mounts[i] = (struct site_mount_rule){
            .account = arena_strndup(&s->texts, from->match, (size_t)(slash - from->match)),
            .share = slash + 1,
            .files = strcmp(from->kind, "blobs") != 0,
            .blobs = strcmp(from->kind, "files") != 0,
            .type = mount_type(from->type),
            .source = or_null(from->source),
            .options = or_null(from->options),
            .command = or_null(from->command),
            .unmount = or_null(from->unmount)};
    }
    s->site.mounts = s->mounts;
    s->site.n_mounts = c->mounts.n;
}

/* Returns NULL if no machine has this name. */
static const struct site_machine *find_machine(const struct daemon_site *s, const char *name)
{
    for (size_t i = 0; i < s->site.n_machines; i++)
        if (strcasecmp(s->machines[i].name, name) == 0)
            return &s->machines[i];
    return NULL;
}

static int load_file_servers(struct daemon_site *s, const struct config *c, struct err *e)
{
    s->file_servers = xcalloc(c->file_servers.n + 1, sizeof *s->file_servers);
    for (size_t i = 0; i < c->file_servers.n; i++) {
        const struct config_file_server *from =
            (struct config_file_server *)c->file_servers.items + i;
        const struct site_machine *m = find_machine(s, from->machine);
        if (*from->machine && !m) {
            err_set(e, ERR_CONFIG, NULL,
                    "'%s' is not a machine of the inventory; write a name as `batchaid "
                    "check-config` shows it",
                    from->machine);
            return blame(c, e, "file_servers[%zu].machine", i);
        }
        s->file_servers[i] = (struct site_file_server_rule){.name = from->name,
                                                            .nfs = or_null(from->nfs),
                                                            .machine = m ? m->name : NULL,
                                                            .directory = or_null(from->directory),
                                                            .options = or_null(from->options)};
    }
    s->site.file_servers = s->file_servers;
    s->site.n_file_servers = c->file_servers.n;
    return 0;
}

/* --- the rest ------------------------------------------------------------------------------- */

/* Whether the configured user ids for jobs exist here. In a user namespace only some ids exist,
 * which `map` lists in lines of "INSIDE OUTSIDE COUNT". */
static bool has_ids(const char *map, const struct config *c)
{
    char *text, *save = NULL;
    bool has = false;
    if (fs_read(map, 65536, &text, NULL, NULL) < 0)
        return false;
    for (char *line = strtok_r(text, "\n", &save); line && !has;
         line = strtok_r(NULL, "\n", &save)) {
        char *at = line;
        int64_t first = strtoll(at, &at, 10);
        (void)strtoll(at, &at, 10);
        int64_t n = strtoll(at, &at, 10);
        has = first <= c->first_uid && c->first_uid + c->n_uids <= first + n;
    }
    free(text);
    return has;
}

static bool wants_accounts(const struct config *c)
{
    return geteuid() == 0 && c->n_uids > 0 && has_ids("/proc/self/uid_map", c) &&
           has_ids("/proc/self/gid_map", c);
}

int site_open_place(struct daemon_site *s, const struct config *c, struct state *st, bool ephemeral,
                    struct err *e)
{
    char *there = open_place_of(st->dir);
    if (wants_accounts(c))
        /* the accounts of jobs must be able to enter the parents of nodes and shares */
        (void)umask(022);
    char *closed = wants_accounts(c) && c->nodes > 0 ? open_place_closed(st->dir) : NULL;
    int rc = there || closed ? open_place_make(st, ephemeral, &s->open_place, e) : 0;
    free(there);
    free(closed);
    return rc;
}

void site_decide_accounts(struct daemon_site *s, const struct config *c, const struct state *st)
{
    s->site.local_accounts = wants_accounts(c);
    s->site.hidden = geteuid() != 0 && confine_works() ? st->dir : NULL;
    s->site.first_alone = !s->site.local_accounts && !s->site.hidden && !c->local_shared_user;
}

static int load_numbers(struct daemon_site *s, const struct config *c, const struct state *st,
                        struct err *e)
{
    struct site *t = &s->site;
    t->container_runtimes = (const char *const *)c->runtimes.items;
    t->n_container_runtimes = c->runtimes.n;
    t->image_users = strcmp(c->container_user, "image") == 0;
    t->limits = (struct task_limits){.memory_bytes = c->job_memory_mb * MIB,
                                     .cpus = (int)c->job_cpus,
                                     .processes = (int)c->job_processes,
                                     .open_files = (int)c->job_open_files};
    t->local_capacity = (struct site_capacity){.slots = (int)c->local_slots,
                                               .cores = (int)c->local_cores,
                                               .memory = c->local_memory_mb * MIB,
                                               .fake_gpus = (int)c->local_fake_gpus};
    t->shared_dir = *c->shared_directory ? c->shared_directory : NULL;
    t->reclaim = c->reclaim;
    t->shares_address = or_null(c->shares_address);
    t->shares_port = (int)c->shares_port;
    t->first_uid = c->first_uid;
    t->n_uids = c->n_uids;
    t->admin_is_root = c->batch_admin_is_root;
    t->foreign_urls = c->batch_foreign_urls;
    t->known_hosts =
        *c->known_hosts ? c->known_hosts : arena_printf(&s->texts, "%s/known_hosts", st->dir);
    t->strict_host_keys = c->strict_host_keys;
    t->connect_limit = (int)c->connect_limit;
    t->connect_timeout_s = (int)c->connect_timeout_s;
    t->keepalive_s = (int)c->keepalive_s;
    t->dead_after_s = (int)c->dead_after_s;
    t->gpu_runs_dir = *c->gpu_jobs_dir ? c->gpu_jobs_dir : NULL;
    t->unusable_after_s = (int)c->unusable_after_s;
    t->health_interval_s = (int)c->health_interval_s;
    t->min_free_disk_bytes = c->min_free_disk_mb * MIB;
    t->local_min_free_bytes = c->local_min_free_disk_mb * MIB;
    t->max_clock_skew_s = (int)c->max_clock_skew_s;
    if (t->n_uids > 0 &&
        (t->n_uids < NODE_UIDS_MIN || t->first_uid + t->n_uids > NODE_UID_HIGHEST)) {
        err_set(e, ERR_CONFIG, NULL,
                "%lld account numbers from %lld on are not a valid range; use at least %d numbers, "
                "all below %lld, or 0 for no accounts",
                (long long)t->n_uids, (long long)t->first_uid, NODE_UIDS_MIN, NODE_UID_HIGHEST);
        return blame(c, e, "jobs.uids");
    }
    if (t->dead_after_s > t->keepalive_s)
        return 0;
    err_set(e, ERR_CONFIG, NULL,
            "%d is not more than keepalive_s, which is %d: a machine would count as dead before it "
            "is asked",
            t->dead_after_s, t->keepalive_s);
    return blame(c, e, "ssh.dead_after_s");
}

int site_load(const struct config *c, const struct state *s, struct daemon_site *out, struct err *e)
{
    arena_init(&out->texts);
    if (load_numbers(out, c, s, e) < 0 || load_groups(out, c, s, e) < 0 ||
        load_machines(out, c, e) < 0)
        return -1;
    out->site.machines = out->machines;
    load_mounts(out, c);
    return load_file_servers(out, c, e);
}

/* The path of the program for an architecture: NAME-ARCH beside the agent; arch NULL: NAME. */
static const char *beside(struct daemon_site *s, const char *agent_path, const char *name,
                          const char *arch)
{
    int dir = (int)(strrchr(agent_path, '/') - agent_path);
    return arena_printf(&s->texts, "%.*s/%s%s%s", dir, agent_path, name, arch ? "-" : "",
                        arch ? arch : "");
}

int site_load_agents(struct daemon_site *s, const char *agent_path, bool windows_commands,
                     struct err *e)
{
    static const char *const known[] = {"x86_64", "aarch64"};
    enum { N_KNOWN = sizeof known / sizeof known[0] };
    struct node_agent_file files[N_KNOWN + 1];
    struct utsname own;
    assert(*agent_path == '/');
    if (s->site.n_machines == 0)
        return 0;
    if (uname(&own) < 0)
        return err_errno(e, ERR_CONFIG, "uname");
    size_t n = 0;
    files[n++] = (struct node_agent_file){own.machine, agent_path,
                                          beside(s, agent_path, "batchai-cmd", NULL)};
    for (size_t i = 0; i < N_KNOWN; i++) {
        const char *path = beside(s, agent_path, "batchai-node", known[i]);
        if (strcmp(known[i], own.machine) != 0 && access(path, R_OK) == 0)
            files[n++] = (struct node_agent_file){known[i], path,
                                                  beside(s, agent_path, "batchai-cmd", known[i])};
    }
    for (size_t i = 0; i < n && !windows_commands; i++)
        files[i].cmd_path = NULL;
    int rc = node_agents_load(files, n, &s->agents, e);
    s->site.agents = s->agents;
    return rc;
}

void site_keep(struct daemon_site *s, const struct daemon_site *running)
{
    const struct site *r = &running->site;
    s->site.local_accounts = r->local_accounts;
    s->site.hidden = r->hidden;
    s->site.first_alone = r->first_alone;
    s->site.first_uid = r->first_uid;
    s->site.n_uids = r->n_uids;
    s->site.shared_dir = r->shared_dir;
    s->site.agents = r->agents;
}

void site_free(struct daemon_site *s)
{
    for (size_t i = 0; s->groups && i < s->n_groups; i++) {
        char *password = (char *)s->groups[i].password;
        if (password)
            explicit_bzero(password, strlen(password));
        free(password);
    }
    free(s->groups);
    free(s->machines);
    free(s->mounts);
    free(s->file_servers);
    node_agents_free(s->agents);
    open_place_free(&s->open_place);
    arena_free(&s->texts);
    *s = (struct daemon_site){.groups = NULL};
}
