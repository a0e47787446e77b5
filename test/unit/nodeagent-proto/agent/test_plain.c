/* SPDX-License-Identifier: MIT
 *
 * Command lines that need no shell: what they print, their environment and their exit code are what
 * bash makes of them, and all others are left to bash.
 */
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/simple_command.h"
#include "test/unit/support/tests.h"

#define LEFT_TO_BASH 199

struct plain_place {
    char dir[64], path[128];
};

struct plain_result {
    int code;
    struct strbuf out;
};

typedef void (*exec_fn)(const char *line, char **env, struct arena *a);

static void by_bash(const char *line, char **env, struct arena *a)
{
    (void)a;
    char *argv[] = {(char *)(uintptr_t) "bash", (char *)(uintptr_t) "-c", (char *)(uintptr_t)line,
                    NULL};
    execve("/bin/bash", argv, env);
}

static void run(exec_fn exec, const char *line, char **env, struct plain_result *r)
{
    int fds[2], status;
    assert_int_equal(pipe(fds), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(fds[1], STDOUT_FILENO);
        dup2(fds[1], STDERR_FILENO);
        close(fds[0]);
        close(fds[1]);
        struct arena a;
        arena_init(&a);
        exec(line, env, &a);
        _exit(LEFT_TO_BASH);
    }
    close(fds[1]);
    char block[4096];
    strbuf_reset(&r->out);
    for (ssize_t n; (n = read(fds[0], block, sizeof block)) > 0;)
        strbuf_add(&r->out, block, (size_t)n);
    close(fds[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    r->code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void write_program(const char *dir, const char *name, const char *text, mode_t mode)
{
    char path[192];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(chmod(path, mode), 0);
}

static int set_up(void **state)
{
    struct plain_place *p = calloc(1, sizeof *p);
    *state = p;
    snprintf(p->dir, sizeof p->dir, "/tmp/batchai-plain-XXXXXX");
    if (!mkdtemp(p->dir) || chdir(p->dir) < 0)
        return -1;
    snprintf(p->path, sizeof p->path, "PATH=%s:/usr/bin:/bin", p->dir);
    write_program(
        p->dir, "show",
        "#!/bin/sh\nprintf '<%s>' \"$0\" \"$@\"; tr '\\0' '\\n' </proc/$$/environ | sort\n"
        "exit 7\n",
        0755);
    write_program(p->dir, "headless", "echo no first line\n", 0755);
    write_program(p->dir, "closed", "#!/bin/sh\necho closed\n", 0644);
    write_program(p->dir, "lost", "#!/no/such/interpreter\n", 0755);
    write_program(p->dir, "killed", "#!/bin/sh\nkill -9 $$\n", 0755);
    write_program(p->dir, "echo", "#!/bin/sh\nprintf 'not the shell'\"'\"'s'\n", 0755);
    return 0;
}

static int take_down(void **state)
{
    struct plain_place *p = *state;
    int rc = chdir("/") < 0 ? -1 : fs_remove_tree(p->dir, NULL);
    free(p);
    return rc;
}

static const char *text_of(const struct plain_result *r)
{
    return r->out.s ? r->out.s : "";
}

static void compare(const char *line, char **env, bool plain)
{
    struct plain_result ours = {.out = STRBUF_INIT}, bash = {.out = STRBUF_INIT};
    run(plain_exec, line, env, &ours);
    run(by_bash, line, env, &bash);
    if ((ours.code != LEFT_TO_BASH) != plain)
        fail_msg("'%s' was %s", line, plain ? "left to bash" : "executed");
    if (plain) {
        assert_string_equal(text_of(&ours), text_of(&bash));
        assert_int_equal(ours.code, bash.code);
    }
    strbuf_free(&ours.out);
    strbuf_free(&bash.out);
}

#define PLACE_TEST(name) TEST_IN(name, struct plain_place *p, *state, set_up, take_down)

PLACE_TEST(test_words_alone_need_no_shell)
{
    char *env[] = {p->path, (char *)(uintptr_t) "A=1", (char *)(uintptr_t) "HOME=/", NULL};
    static const char *const lines[] = {
        "true",
        "false",
        "show",
        "  show  a\tb ",
        "./show --x=1",
        "killed",
        "show A=2 a:b,c@d%e+f",

        "/bin/ls /none",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        compare(lines[i], env, true);
}

PLACE_TEST(test_what_a_shell_reads_is_left_to_it)
{
    char *env[] = {p->path, NULL};
    static const char *const lines[] = {
        "",           "   ",          "echo a",
        "show > x",   "show; show",   "show $A",
        "show 'a'",   "show ~",       "show *",
        "show a\\ b", "show # no",    "A=1 show",
        "show {a,b}", "show a\nshow", "! true",
        "show &",     "(show)",       "exec show",
        ". show",     ": show",       "show a\xc3\xa9",
        "time show",  "show `id`",    "show ?",
        "show [a]",   "test a",       "show a^b",
        "show \"a\"", "show a|show",  "no-such-program",
        "closed",     "./closed",     "headless",
        "lost",       "./none",       "/tmp",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        compare(lines[i], env, false);
}

PLACE_TEST(test_an_environment_that_shells_heed_is_left_to_them)
{
    static const char *const pairs[] = {"BASH_ENV=./show",
                                        "BASH_FUNC_show%%=() { echo f; }",
                                        "SHELLOPTS=xtrace",
                                        "SHLVL=4",
                                        "PWD=/",
                                        "OLDPWD=/",
                                        "_=x",
                                        "PATH=/usr/bin::/bin",
                                        "PATH=relative:/usr/bin"};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *env[] = {(char *)(uintptr_t)pairs[i], p->path, NULL};
        compare("show", env, false);
    }
    char *without[] = {(char *)(uintptr_t) "A=1", NULL};
    compare("show", without, false);
}

/* The list of the shell's own words is that of the bash that is here. */
PLACE_TEST(test_every_word_of_bash_is_left_to_it)
{
    char *env[] = {p->path, NULL};
    struct plain_result words = {.out = STRBUF_INIT};
    int n = 0;
    run(by_bash, "compgen -b; compgen -k", env, &words);
    char *at = NULL;
    for (char *word = strtok_r(words.out.s, "\n", &at); word; word = strtok_r(NULL, "\n", &at)) {
        write_program(p->dir, strcmp(word, ".") == 0 ? "dot" : word, "#!/bin/sh\nexit 3\n", 0755);
        if (strcmp(word, "true") != 0 && strcmp(word, "false") != 0)
            compare(word, env, false);
        n++;
    }
    assert_true(n > 60);
    strbuf_free(&words.out);
}
