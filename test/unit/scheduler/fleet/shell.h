/* SPDX-License-Identifier: MIT
 *
 * Commands for /bin/sh, as tests give them.
 */
#ifndef TEST_SCHEDULER_SHELL_H
#define TEST_SCHEDULER_SHELL_H

#include <fcntl.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

/* Its exit code. What it says goes to the file `out`; NULL: nowhere. */
static inline int shell(const char *command, const char *out)
{
    extern char **environ;
    char *const argv[] = {"/bin/sh", "-c", (char *)command, NULL};
    posix_spawn_file_actions_t files;
    pid_t pid;
    int status;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, out ? out : "/dev/null",
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    int rc = posix_spawn(&pid, argv[0], &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (rc != 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Root, and allowed to mount: not everywhere, as in a container. */
static inline int may_mount(void)
{
    return geteuid() == 0 && shell("unshare -m mount -t tmpfs none /mnt", NULL) == 0;
}

#endif
