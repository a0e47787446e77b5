/* SPDX-License-Identifier: MIT
 *
 * Gathers the facts of a node. facts_refresh() gathers again the facts that may change while the
 * agent runs; the incarnation is read from ROOT, or made there once. struct facts owns its texts.
 */
#include "nodeagent-proto/agent/facts.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "lib/timefmt.h"
#include "lib/version.h"
#include "nodeagent-proto/agent/gpus.h"
#include "nodeagent-proto/agent/program.h"

#define DOCKER_SOCKET "/var/run/docker.sock"

#define PASSWD_MAX (16U * 1024 * 1024)

static int cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    return (int)sysconf(_SC_NPROCESSORS_ONLN); /* sched_getaffinity() fails above 1024 CPUs */
}

static int64_t disk_free(const char *root)
{
    struct statvfs v;
    return statvfs(root, &v) == 0 ? (int64_t)v.f_bavail * (int64_t)v.f_frsize : 0;
}

static void read_guid(const char *path, char out[GUID_SIZE])
{
    char *text = NULL;
    out[0] = '\0';
    if (fs_read(path, 256, &text, NULL, NULL) == 0)
        snprintf(out, GUID_SIZE, "%.*s", (int)strcspn(text, "\n"), text);
    free(text);
}

static int read_incarnation(const char *root, bool looking, char out[GUID_SIZE], struct err *e)
{
    char *path = fs_join(root, "incarnation");
    int rc = 0;
    read_guid(path, out);
    if (!guid_valid(out) && looking) {
        out[0] = '\0';
    } else if (!guid_valid(out)) {
        guid_new(out);
        rc = fs_write_atomic(path, out, strlen(out), 0644, e);
    }
    free(path);
    return rc;
}

/* True: a process listens on the socket. That the file exists is not enough, because it remains
 * after the daemon has ended. */
static bool socket_answers(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof to.sun_path)
        return false;
    memcpy(to.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    /* EAGAIN also means that the daemon is running: too many other connections are waiting. */
    bool up =
        fd >= 0 && (connect(fd, (const struct sockaddr *)&to, sizeof to) == 0 || errno == EAGAIN);
    if (fd >= 0)
        close(fd);
    return up;
}

/* A remote docker daemon (tcp://, ssh://) is assumed to answer, because asking could take long. */
static bool docker_answers(void)
{
    const char *host = getenv("DOCKER_HOST");
    if (!host || !*host)
        return socket_answers(DOCKER_SOCKET);
    return strncmp(host, "unix://", 7) != 0 || socket_answers(host + 7);
}

static bool has_program(const char *name)
{
    char *path = program_find(name);
    bool has = path != NULL;
    free(path);
    return has;
}

static char *runtimes(void)
{
    struct strbuf b = STRBUF_INIT;
    if (has_program("docker") && docker_answers())
        strbuf_puts(&b, "docker");
    if (has_program("podman"))
        strbuf_puts(&b, b.len ? " podman" : "podman");
    return strbuf_take(&b);
}

/* Returns the account of the agent: the name of its uid in /etc/passwd, or the uid if it has no
 * name there. */
static char *own_name(void)
{
    char *text, *name = NULL, *save = NULL, uid[24];
    snprintf(uid, sizeof uid, "%u", (unsigned)geteuid());
    if (fs_read("/etc/passwd", PASSWD_MAX, &text, NULL, NULL) < 0)
        return xstrdup(uid);
    for (char *line = strtok_r(text, "\n", &save); line && !name;
         line = strtok_r(NULL, "\n", &save)) {
        char *password = strchr(line, ':'), *id = password ? strchr(password + 1, ':') : NULL;
        if (id && strncmp(id + 1, uid, strlen(uid)) == 0 && id[1 + strlen(uid)] == ':')
            name = strndup(line, (size_t)(password - line));
    }
    free(text);
    return name ? name : xstrdup(uid);
}

void facts_refresh(struct facts *f)
{
    free(f->runtimes);
    free(f->mpi);
    f->runtimes = runtimes();
    f->mpi = program_in_path("mpirun");
    f->node.runtimes = f->runtimes;
    f->node.mpi = f->mpi ? f->mpi : "";
    f->node.disk_free_bytes = disk_free(f->root);
    f->node.time_us = time_now_us();
}

int facts_read(struct facts *f, const char *root, bool looking, struct err *e)
{
    memset(f, 0, sizeof *f);
    if (read_incarnation(root, looking, f->incarnation, e) < 0)
        return -1;
    if (uname(&f->uname) < 0)
        return err_errno(e, ERR_NODE, "cannot determine the operating system");
    read_guid("/proc/sys/kernel/random/boot_id", f->boot_id);
    f->gpus = gpus_list();
    f->user = own_name();
    f->root = root;
    f->node = (struct node_facts){
        .agent_version = BATCHAID_VERSION,
        .hostname = f->uname.nodename,
        .os = f->uname.sysname,
        .arch = f->uname.machine,
        .incarnation = f->incarnation,
        .boot_id = f->boot_id,
        .cpus = cpu_count(),
        .memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE),
        .gpus = f->gpus,
        .user = f->user,
        .is_root = geteuid() == 0,
    };
    facts_refresh(f);
    return 0;
}

void facts_free(struct facts *f)
{
    free(f->gpus);
    free(f->user);
    free(f->runtimes);
    free(f->mpi);
    memset(f, 0, sizeof *f);
}
