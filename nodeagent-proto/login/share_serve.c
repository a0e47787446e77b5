/* SPDX-License-Identifier: MIT
 *
 * The steps: read the key's file, find the files of sftp-server, enter a namespace, enter Landlock,
 * give up root, execute. The process has one thread and ends with the session, so it frees nothing.
 */
#include "nodeagent-proto/login/share_serve.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/confine.h"
#include "lib/fs.h"
#include "lib/strbuf.h"

/* The new root is mounted over this existing directory; other processes still see the directory
 * itself. */
#define ROOT_AT           "/proc"
#define FOLDERS           "/shares"
#define KEY_FILE_MAX      (1U << 20)
#define TRACE_MAX         65536
#define PROGRAM_FILES_MAX 64
#define NOBODY            65534

struct share_serving {
    struct arena a;
    const char *key_file, *storage;
    unsigned account;
    const char **folders; /* relative to `storage` */
    size_t n_folders;
    /* sftp-server (first), its loader and its libraries */
    const char *files[PROGRAM_FILES_MAX];
    size_t n_files;
    struct strbuf libraries; /* the directories of the libraries, for the loader */
    bool has_root;           /* the process is in a namespace with a new root */
    bool landlocked, is_root;
};

/* --- the key's file --------------------------------------------------------------------------- */

static const char *value_of(const char *line, const char *name)
{
    size_t n = strlen(name);
    return strncmp(line, name, n) == 0 ? line + n : NULL;
}

static int take_line(struct share_serving *s, const char *line, struct err *e)
{
    const char *value;
    if ((value = value_of(line, SHARE_STORAGE)))
        s->storage = value;
    else if ((value = value_of(line, SHARE_ACCOUNT)))
        s->account = (unsigned)strtoul(value, NULL, 10);
    else if ((value = value_of(line, SHARE_FOLDER)) && fs_path_is_safe(value))
        s->folders[s->n_folders++] = value;
    else if (value)
        return err_set(e, ERR_INVALID_PATH, NULL, "'%s' is not a path below the storage directory",
                       value);
    return 0;
}

static int read_key_file(struct share_serving *s, struct err *e)
{
    char *text, *save = NULL;
    if (fs_read(s->key_file, KEY_FILE_MAX, &text, NULL, e) < 0)
        return err_prefix(e, "this key was taken back");
    size_t lines = 1;
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    s->folders = arena_alloc(&s->a, lines * sizeof *s->folders);
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        if (take_line(s, line, e) < 0)
            return -1;
    if (!s->storage)
        return err_set(e, ERR_IO, NULL, "%s names no storage directory", s->key_file);
    return 0;
}

/* --- sftp-server and its libraries ------------------------------------------------------------ */

static int run_trace(int out, const char *program)
{
    char *const argv[] = {(char *)(uintptr_t)program, NULL};
    char *const env[] = {(char *)(uintptr_t) "LD_TRACE_LOADED_OBJECTS=1", NULL};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 ||
        dup2(out, STDOUT_FILENO) < 0)
        return 1;
    execve(program, argv, env);
    return 1;
}

/* Returns the loader's list of the libraries that the program needs, as ldd(1) prints it; the
 * program is not started. */
static char *trace(struct share_serving *s, const char *program)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return NULL;
    pid_t pid = fork();
    if (pid == 0)
        _exit(run_trace(ends[1], program));
    close(ends[1]);
    char *text = arena_alloc(&s->a, TRACE_MAX);
    size_t len = 0;
    ssize_t n = 0;
    while (pid > 0 && len < TRACE_MAX - 1 &&
           ((n = read(ends[0], text + len, TRACE_MAX - 1 - len)) > 0 || (n < 0 && errno == EINTR)))
        len += n > 0 ? (size_t)n : 0;
    close(ends[0]);
    if (pid > 0)
        (void)waitpid(pid, NULL, 0);
    return text;
}

static void add_library(struct share_serving *s, const char *path)
{
    char *folder = fs_folder(path);
    strbuf_printf(&s->libraries, "%s%s", s->libraries.len ? ":" : "", folder);
    free(folder);
    s->files[s->n_files++] = path;
}

/* OpenSSH's sftp-server of this machine; NULL: it is not installed. Static. */
static const char *sftp_server(void)
{
    /* Debian; Fedora; Alpine and Arch; SUSE */
    static const char *const places[] = {
        "/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server",
        "/usr/lib/ssh/sftp-server", "/usr/libexec/ssh/sftp-server"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (access(places[i], X_OK) == 0)
            return places[i];
    return NULL;
}

/* Finds sftp-server, and its libraries in lines such as "libc.so.6 =>
 * /lib/x86_64-linux-gnu/libc.so.6 (0x...)" and "/lib64/ld-linux-x86-64.so.2 (0x...)". */
static int find_program(struct share_serving *s, struct err *e)
{
    const char *program = sftp_server();
    char *save = NULL;
    if (!program)
        return err_set(e, ERR_NODE, NULL, "sftp-server is not installed; install openssh-server");
    s->files[s->n_files++] = program;
    char *text = trace(s, program);
    for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line;
         line = strtok_r(NULL, "\n", &save)) {
        char *path = strchr(line, '/');
        if (!path || s->n_files == PROGRAM_FILES_MAX)
            continue;
        path[strcspn(path, " ")] = '\0';
        add_library(s, path);
    }
    if (s->n_files < 2)
        return err_set(e, ERR_NODE, NULL, "cannot list the libraries of %s", program);
    return 0;
}

/* --- the namespace ---------------------------------------------------------------------------- */

static int write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    int rc = fd < 0 ? -1 : fs_write_all(fd, text, strlen(text));
    if (fd >= 0)
        close(fd);
    return rc;
}

/* In the user namespace, the ids have the same numbers as outside, so files keep their owners.
 * After execve() the process has no capabilities there. */
static int map_ids(struct arena *a, uid_t uid, gid_t gid)
{
    const char *uids = arena_printf(a, "%u %u 1", (unsigned)uid, (unsigned)uid);
    const char *gids = arena_printf(a, "%u %u 1", (unsigned)gid, (unsigned)gid);
    return write_text("/proc/self/setgroups", "deny") == 0 &&
                   write_text("/proc/self/uid_map", uids) == 0 &&
                   write_text("/proc/self/gid_map", gids) == 0
               ? 0
               : -1;
}

static int make_parents(const char *path)
{
    char *folder = fs_folder(path);
    int rc = fs_mkdirs(folder, 0755, NULL);
    free(folder);
    return rc;
}

/* Mounts the file `from` at the path `to` of the new root. */
static int bind_file(struct share_serving *s, const char *from, const char *to)
{
    const char *at = arena_concat(&s->a, ROOT_AT, to);
    return make_parents(at) == 0 && write_text(at, "") == 0 &&
                   mount(from, at, NULL, MS_BIND, NULL) == 0
               ? 0
               : -1;
}

/* Mounts a folder of the key in the new root, with the site's mounts inside the folder. A folder
 * that was deleted meanwhile is left out. */
static int bind_folder(struct share_serving *s, const char *folder)
{
    const char *from = arena_concat(&s->a, s->storage, "/", folder);
    const char *at = arena_concat(&s->a, ROOT_AT FOLDERS "/", folder);
    if (access(from, F_OK) < 0 && errno == ENOENT)
        return 0;
    return fs_mkdirs(at, 0755, NULL) == 0 && mount(from, at, NULL, MS_BIND | MS_REC, NULL) == 0
               ? 0
               : -1;
}

/* Writes the account's line, because sftp-server looks up its account's name. */
static int write_passwd(struct share_serving *s, uid_t uid)
{
    const char *line =
        arena_printf(&s->a, "shares:x:%u:%u::/:/bin/sh\n", (unsigned)uid, (unsigned)uid);
    return fs_mkdirs(ROOT_AT "/etc", 0755, NULL) == 0 &&
                   write_text(ROOT_AT "/etc/passwd", line) == 0
               ? 0
               : -1;
}

static int fill_root(struct share_serving *s, uid_t uid)
{
    (void)umask(022);
    if (mount("shares", ROOT_AT, "tmpfs", MS_NOSUID | MS_NODEV, "size=256k,mode=755") < 0 ||
        fs_mkdirs(ROOT_AT FOLDERS, 0755, NULL) < 0 || write_passwd(s, uid) < 0 ||
        bind_file(s, "/dev/null", "/dev/null") < 0)
        return -1;
    for (size_t i = 0; i < s->n_files; i++)
        if (bind_file(s, s->files[i], s->files[i]) < 0)
            return -1;
    for (size_t i = 0; i < s->n_folders; i++)
        if (bind_folder(s, s->folders[i]) < 0)
            return -1;
    return mount(NULL, ROOT_AT, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV,
                 NULL);
}

/* Makes ROOT_AT the root. The process can reach nothing of the old root any more. */
static int change_root(void)
{
    return chdir(ROOT_AT) == 0 && syscall(SYS_pivot_root, ".", ".") == 0 &&
                   umount2(".", MNT_DETACH) == 0 && chdir(FOLDERS) == 0
               ? 0
               : -1;
}

static int enter_namespace(struct share_serving *s)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();
    if (unshare(CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0)) < 0 ||
        (uid && map_ids(&s->a, uid, gid) < 0) ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return -1;
    return fill_root(s, uid          ? uid
                        : s->account ? s->account
                                     : NOBODY) == 0 &&
                   change_root() == 0
               ? 0
               : -1;
}

/* --- the end ---------------------------------------------------------------------------------- */

static int enter_landlock(struct share_serving *s, struct err *e)
{
    const char *base = s->has_root ? FOLDERS : s->storage;
    size_t n = 0, most = s->n_files + s->n_folders + 4;
    struct confine_part *parts = arena_alloc(&s->a, most * sizeof *parts);
    for (size_t i = 0; i < s->n_files; i++)
        parts[n++].path = s->files[i];
    parts[n++].path = "/etc/passwd";
    parts[n++].path = "/etc/nsswitch.conf";
    parts[n++] = (struct confine_part){"/dev/null", true};
    if (s->has_root)
        parts[n++].path = FOLDERS;
    for (size_t i = 0; i < s->n_folders; i++)
        parts[n++] = (struct confine_part){arena_concat(&s->a, base, "/", s->folders[i]), true};
    int rules = confine_open_only(parts, n, e);
    return rules < 0 ? -1 : confine_enter(rules, e);
}

static int confine(struct share_serving *s, struct err *e)
{
    s->has_root = enter_namespace(s) == 0;
    int why = errno;
    s->landlocked = confine_works();
    if (s->landlocked && enter_landlock(s, e) < 0)
        return -1;
    if (s->has_root || s->landlocked)
        return 0;
    return err_set(e, ERR_NOT_SUPPORTED, NULL,
                   "this machine can confine no server for shares: it has neither Landlock (Linux "
                   "5.13) nor mount namespaces for this account (%s)",
                   strerror(why));
}

/* If the process is root, changes to the account of the sessions. Without a new root, NOBODY is
 * used if the account has no name. */
static int give_up_root(const struct share_serving *s, struct err *e)
{
    uid_t to = s->account && (s->has_root || getpwuid(s->account)) ? s->account : NOBODY;
    if (!s->is_root ||
        (setgroups(0, NULL) == 0 && setresgid(to, to, to) == 0 && setresuid(to, to, to) == 0))
        return 0;
    return err_errno(e, ERR_IO, "cannot become account %u", (unsigned)to);
}

static int prepare(struct share_serving *s, struct err *e)
{
    arena_init(&s->a);
    s->is_root = geteuid() == 0;
    return find_program(s, e);
}

/* The process's name (argv[0]) contains the path of the key's file, so that the sessions of a key
 * can be found and ended. */
static int become_server(struct share_serving *s, struct err *e)
{
    /* Landlock does not cover the attributes of files that belong to the daemon's user. */
    bool without_attributes = !s->has_root && !s->is_root;
    char *argv[] = {arena_concat(&s->a, "share-serve ", s->key_file),
                    without_attributes ? (char *)(uintptr_t) "-P" : NULL,
                    (char *)(uintptr_t) "setstat,lsetstat", NULL};
    char *env[] = {arena_concat(&s->a, "LD_LIBRARY_PATH=", s->libraries.s), NULL};
    execve(s->files[0], argv, env);
    return err_errno(e, ERR_NODE, "cannot run %s", s->files[0]);
}

int share_serve(const char *key_file, struct err *e)
{
    struct share_serving s = {.key_file = key_file};
    if (prepare(&s, e) < 0 || read_key_file(&s, e) < 0 || confine(&s, e) < 0)
        return -1;
    if (!s.has_root && chdir(s.storage) < 0)
        return err_errno(e, ERR_IO, "cannot enter %s", s.storage);
    return give_up_root(&s, e) < 0 ? -1 : become_server(&s, e);
}

int share_serve_try(unsigned account, struct err *e)
{
    struct share_serving s = {.key_file = "", .storage = "/", .account = account};
    return prepare(&s, e) < 0 || confine(&s, e) < 0 || give_up_root(&s, e) < 0 ? -1 : 0;
}
