/* SPDX-License-Identifier: MIT
 *
 * The processes of the share server: sshd, which makes itself a daemon, and its sessions. Both are
 * found by paths in /proc/PID/cmdline: for sshd the path of its configuration, for a session the
 * path of its key's file (share_serve.c).
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/login/login_priv.h"
#include "nodeagent-proto/login/share_server_priv.h"

#define CONFIG_MAX 65536
#define LOG_SHOWN  400
/* sshd makes itself a daemon before it listens; it may take some seconds on a busy machine. */
#define TRIES    500
#define PAUSE_MS 20

/* The name that libnss-wrapper gives the account. */
#define USER "shares"

/* --- processes -------------------------------------------------------------------------------- */

static void pause_a_moment(void)
{
    const struct timespec t = {.tv_nsec = PAUSE_MS * 1000000L};
    nanosleep(&t, NULL);
}

/* Runs a program without input and output, and waits for its end. Returns its exit status, or -1.
 */
static int run(char *const *argv, char *const *env)
{
    pid_t pid;
    int status;
    posix_spawn_file_actions_t null;
    posix_spawn_file_actions_init(&null);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        posix_spawn_file_actions_addopen(&null, fd, "/dev/null", O_RDWR, 0);
    int rc = posix_spawn(&pid, argv[0], &null, NULL, argv, env);
    posix_spawn_file_actions_destroy(&null);
    if (rc != 0)
        return -1;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The command line of a process, with blanks between the words; NULL: there is none. */
static char *command_line(const char *pid)
{
    struct strbuf path = STRBUF_INIT;
    char *text = NULL;
    size_t n = 0;
    strbuf_printf(&path, "/proc/%s/cmdline", pid);
    if (fs_read(path.s, CONFIG_MAX, &text, &n, NULL) == 0)
        for (size_t i = 0; i + 1 < n; i++)
            text[i] = text[i] ? text[i] : ' ';
    strbuf_free(&path);
    return text;
}

/* Whether `text` contains `word`, not followed by a character that an id may contain. */
static bool names(const char *text, const char *word)
{
    for (const char *at = text; (at = strstr(at, word)); at++) {
        unsigned char next = (unsigned char)at[strlen(word)];
        if (!isalnum(next) && (!next || !strchr("._-", next)))
            return true;
    }
    return false;
}

/* The pid of sshd; 0: it does not run. */
static pid_t running(const struct share_place *p)
{
    char *file = fs_join(p->dir, "sshd.pid"), *config = fs_join(p->dir, "sshd_config");
    char *text = NULL, *line = NULL;
    pid_t pid = 0;
    if (fs_read(file, 64, &text, NULL, NULL) == 0) {
        text[strcspn(text, "\n")] = '\0';
        line = command_line(text);
        if (line && names(line, config))
            pid = (pid_t)strtol(text, NULL, 10);
    }
    free(line);
    free(text);
    free(config);
    free(file);
    return pid;
}

void share_sshd_stop(const struct share_place *p)
{
    pid_t pid = running(p);
    if (pid > 1 && kill(pid, SIGTERM) == 0)
        for (int i = 0; i < TRIES && running(p); i++)
            pause_a_moment();
}

void share_sessions_end(const struct share_place *p, const char *id)
{
    char *word = fs_join(p->keys, id);
    struct dirent *de;
    DIR *d = opendir("/proc");
    while (d && (de = readdir(d))) {
        pid_t pid = (pid_t)strtol(de->d_name, NULL, 10);
        char *line = pid > 1 && pid != getpid() ? command_line(de->d_name) : NULL;
        if (line && names(line, word) && strstr(line, "share-serve "))
            kill(pid, SIGKILL);
        free(line);
    }
    if (d)
        closedir(d);
    free(word);
}

/* --- the files -------------------------------------------------------------------------------- */

static bool has_nss_wrapper(void)
{
    static const char *const places[] = {"/usr/lib/x86_64-linux-gnu/libnss_wrapper.so",
                                         "/usr/lib/aarch64-linux-gnu/libnss_wrapper.so",
                                         "/usr/lib64/libnss_wrapper.so",
                                         "/usr/lib/libnss_wrapper.so"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (access(places[i], R_OK) == 0)
            return true;
    return false;
}

/* libnss-wrapper gives this process's account a name, a shell and an empty home: files in its real
 * home could disturb the sessions. Without libnss-wrapper the account must have a name and a
 * shell. */
static int find_user(struct share_place *p, struct err *e)
{
    char texts[4096];
    struct passwd entry, *own = NULL;
    (void)getpwuid_r(geteuid(), &entry, texts, sizeof texts, &own);
    const char *shell = own ? strrchr(own->pw_shell, '/') : NULL;
    if (has_nss_wrapper())
        p->user = xstrdup(USER);
    else if (shell && strcmp(shell, "/nologin") != 0 && strcmp(shell, "/false") != 0)
        p->user = xstrdup(own->pw_name);
    else
        return err_set(e, ERR_NODE, NULL,
                       "the daemon's account cannot log in, as it has no shell; install "
                       "libnss-wrapper");
    return 0;
}

static void put_config(const struct share_place *p, struct strbuf *b)
{
    strbuf_printf(b, "Port %d\nHostKey \"%s/host_key\"\n", p->port, p->dir);
    strbuf_printf(b, "AuthorizedKeysFile \"%s/authorized_keys\"\nPidFile \"%s/sshd.pid\"\n", p->dir,
                  p->dir);
    strbuf_printf(b, "AllowUsers \"%s\"\n", p->user);
    strbuf_puts(b, "AuthenticationMethods publickey\nPasswordAuthentication no\n"
                   "KbdInteractiveAuthentication no\nUsePAM no\nStrictModes no\n"
                   "PermitRootLogin forced-commands-only\nPermitTTY no\nPermitUserRC no\n"
                   /* never run: each key has a command, which sshd runs instead */
                   "Subsystem sftp /bin/false\n"
                   "DisableForwarding yes\nX11Forwarding no\nPrintMotd no\nPrintLastLog no\n"
                   "Compression no\nUseDNS no\nLogLevel ERROR\nMaxSessions 1\n"
                   /* a group of machines may mount all its shares at once */
                   "MaxStartups 200:30:1000\nLoginGraceTime 30\n"
                   "ClientAliveInterval 15\nClientAliveCountMax 4\n");
}

/* A newer sshd refuses an address after failed logins (PerSourcePenalties). This is turned off: a
 * machine whose key was removed tries again and again, and other machines may have the same
 * address. An older sshd does not know the setting, so a trial decides. */
static void put_penalties(const struct share_place *p, struct strbuf *b)
{
    size_t len = b->len;
    char *trial = fs_join(p->dir, "sshd_config.trial");
    char *const argv[] = {(char *)(uintptr_t)SSHD_PATH, (char *)(uintptr_t) "-t",
                          (char *)(uintptr_t) "-f", trial, NULL};
    char *const env[] = {NULL};
    strbuf_puts(b, "PerSourcePenalties no\n");
    if (login_write_in(p->dir, "sshd_config.trial", b, NULL) < 0 || run(argv, env) != 0)
        strbuf_cut(b, len);
    unlink(trial);
    free(trial);
}

static bool is_same(const char *path, const struct strbuf *text)
{
    char *now = NULL;
    size_t n = 0;
    bool same = fs_read(path, CONFIG_MAX, &now, &n, NULL) == 0 && n == text->len &&
                memcmp(now, text->s, n) == 0;
    free(now);
    return same;
}

/* Writes the files of sshd. *changed: sshd_config changed, so sshd must read it again. */
static int write_files(struct share_place *p, bool *changed, struct err *e)
{
    struct strbuf b = STRBUF_INIT;
    struct login_files f = {.dir = p->dir, .name = p->user, .home = fs_join(p->dir, "home")};
    char *config = fs_join(p->dir, "sshd_config");
    int rc = login_make_empty_folder(e) < 0 || fs_mkdirs(f.home, 0700, e) < 0 ||
                     login_make_host_key(&f, e) < 0 || login_write_accounts(&f, e) < 0
                 ? -1
                 : 0;
    if (rc == 0) {
        put_config(p, &b);
        put_penalties(p, &b);
        *changed = !is_same(config, &b);
        rc = *changed ? login_write_in(p->dir, "sshd_config", &b, e) : 0;
    }
    strbuf_free(&b);
    free(config);
    free(f.home);
    return rc;
}

int share_host_key(const struct share_place *p, char **line, struct err *e)
{
    char *path = fs_join(p->dir, "host_key.pub");
    int rc = fs_read(path, CONFIG_MAX, line, NULL, e);
    free(path);
    if (rc < 0)
        return -1;
    char *end = strchr(*line, ' '); /* the comment comes after the second blank */
    end = end ? strchr(end + 1, ' ') : NULL;
    if (end)
        *end = '\0';
    return 0;
}

/* --- its start -------------------------------------------------------------------------------- */

static int try_confinement(struct share_place *p, struct err *e)
{
    char account[16];
    char *const argv[] = {p->program, (char *)(uintptr_t) "share-serve",
                          (char *)(uintptr_t) "--try", account, NULL};
    char *const env[] = {NULL};
    snprintf(account, sizeof account, "%u", p->account);
    if (!p->tried && run(argv, env) != 0)
        return err_set(e, ERR_NOT_SUPPORTED, NULL,
                       "this machine cannot confine a server for shares: it needs sftp-server, and "
                       "Landlock (Linux 5.13) or mount namespaces");
    p->tried = true;
    return 0;
}

static bool gave_up(const char *log)
{
    char *text = NULL;
    bool gave_up = fs_read(log, CONFIG_MAX, &text, NULL, NULL) == 0 && strstr(text, "Cannot bind");
    free(text);
    return gave_up;
}

static int say_log(const struct share_place *p, const char *log, struct err *e)
{
    char *text = NULL;
    size_t n = 0;
    if (fs_read(log, CONFIG_MAX, &text, &n, NULL) < 0)
        text = xstrdup("");
    while (n > 0 && strchr("\r\n", text[n - 1]))
        text[--n] = '\0';
    for (char *c = text; *c; c++)
        *c = (char)(*c == '\n' ? ';' : *c == '\r' ? ' ' : *c);
    err_set(e, ERR_IO, NULL, "sshd for shares does not listen on port %d: %s", p->port,
            n > LOG_SHOWN ? text + n - LOG_SHOWN : text);
    free(text);
    return -1;
}

static int start(const struct share_place *p, struct err *e)
{
    char *config = fs_join(p->dir, "sshd_config"), *log = fs_join(p->dir, "sshd.log");
    char *pid = fs_join(p->dir, "sshd.pid");
    struct strbuf passwd = STRBUF_INIT, group = STRBUF_INIT;
    strbuf_printf(&passwd, "NSS_WRAPPER_PASSWD=%s/passwd", p->dir);
    strbuf_printf(&group, "NSS_WRAPPER_GROUP=%s/group", p->dir);
    bool wraps = has_nss_wrapper();
    char *const argv[] = {(char *)(uintptr_t)SSHD_PATH,
                          (char *)(uintptr_t) "-f",
                          config,
                          (char *)(uintptr_t) "-E",
                          log,
                          NULL};
    char *const env[] = {(char *)(uintptr_t) "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                         wraps ? (char *)(uintptr_t) "LD_PRELOAD=libnss_wrapper.so" : NULL,
                         passwd.s, group.s, NULL};
    unlink(pid);
    unlink(log);
    bool listens = run(argv, env) == 0;
    for (int i = 0; listens && i < TRIES && !running(p) && !gave_up(log); i++)
        pause_a_moment();
    int rc = running(p) ? 0 : say_log(p, log, e);
    strbuf_free(&passwd);
    strbuf_free(&group);
    free(config);
    free(log);
    free(pid);
    return rc;
}

int share_sshd_run(struct share_place *p, struct err *e)
{
    bool changed;
    if (access(SSHD_PATH, X_OK) != 0)
        return err_set(e, ERR_NODE, NULL, "sshd is not installed here; install openssh-server");
    if (try_confinement(p, e) < 0 || (!p->user && find_user(p, e) < 0) ||
        write_files(p, &changed, e) < 0)
        return -1;
    if (running(p) && !changed)
        return 0;
    share_sshd_stop(p);
    return start(p, e);
}
