/* SPDX-License-Identifier: MIT
 *
 * Linked into every unit test program: when it ends, what its agents left running is killed, and
 * named. Tasks outlive their agents by design, so those of a test that failed would stay.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK "BATCHAID_UNIT_TEST_PROGRAM"

static char mark[64]; /* NAME=VALUE, as an environment has it */

__attribute__((constructor)) static void mark_what_is_started(void)
{
    char pid[16];
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    snprintf(mark, sizeof mark, MARK "=%s", pid);
    setenv(MARK, pid, 1);
}

static size_t slurp(const char *pid, const char *name, char *out, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, out, size - 1) : 0;
    if (fd >= 0)
        close(fd);
    n = n > 0 ? n : 0;
    out[n] = '\0';
    return (size_t)n;
}

static bool is_marked(const char *pid)
{
    char text[65536];
    size_t n = slurp(pid, "environ", text, sizeof text);
    for (size_t at = 0; at < n; at += strlen(text + at) + 1)
        if (strcmp(text + at, mark) == 0)
            return true;
    return false;
}

/* A supervisor's task is not marked: it has an environment of its own. */
static void kill_tree(const char *pid)
{
    char name[64], list[4096], *save = NULL;
    snprintf(name, sizeof name, "task/%.20s/children", pid);
    (void)slurp(pid, name, list, sizeof list);
    for (char *child = strtok_r(list, " ", &save); child; child = strtok_r(NULL, " ", &save))
        kill_tree(child);
    kill(atoi(pid), SIGKILL);
}

static int find_all(bool say, void (*act)(const char *pid))
{
    DIR *d = opendir("/proc");
    struct dirent *de;
    int n = 0;
    while (d && (de = readdir(d))) {
        char words[512];
        pid_t pid = isdigit((unsigned char)de->d_name[0]) ? atoi(de->d_name) : 0;
        if (pid <= 0 || pid == getpid() || !is_marked(de->d_name))
            continue;
        n++;
        size_t len = slurp(de->d_name, "cmdline", words, sizeof words);
        for (size_t i = 0; i + 1 < len; i++)
            words[i] = words[i] ? words[i] : ' ';
        if (say)
            fprintf(stderr, "left behind and killed: %ld %s\n", (long)pid, words);
        if (act)
            act(de->d_name);
    }
    if (d)
        closedir(d);
    return n;
}

__attribute__((destructor)) static void end_what_is_left(void)
{
    char own[16];
    snprintf(own, sizeof own, "%ld", (long)getpid());
    if (!getenv(MARK) || strcmp(getenv(MARK), own) != 0)
        return; /* a child of the test program that ends by exit() */
    /* Agents whose link was just closed are about to go. */
    for (int i = 0; i < 100 && find_all(false, NULL) > 0; i++)
        usleep(20000);
    for (int i = 0; i < 100 && find_all(i == 0, kill_tree) > 0; i++)
        usleep(20000);
}
