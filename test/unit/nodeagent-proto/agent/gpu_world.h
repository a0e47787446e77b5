/* SPDX-License-Identifier: MIT
 *
 * A program `nvidia-smi` that says what a test wants, found first in PATH.
 */
#ifndef TEST_UNIT_NODEAGENT_PROTO_AGENT_GPU_WORLD_H
#define TEST_UNIT_NODEAGENT_PROTO_AGENT_GPU_WORLD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/fs.h"
#include "nodeagent-proto/agent/gpu_watch.h"
#include "nodeagent-proto/agent/monotonic.h"
#include "test/unit/support/tests.h"

#define UUID_0 "GPU-6e1f9a28-0000-4b1d-12f4-f40849ab93fe"
#define UUID_1 "GPU-6e1f9a28-1111-4b1d-12f4-f40849ab93fe"

struct gpu_world {
    struct gpu_watch watch;
    char dir[64], old_path[4096];
};

/* `lasting` and `listing` are shell programs. */
static inline void gpu_program_is(const struct gpu_world *w, const char *lasting,
                                  const char *listing)
{
    char path[128];
    snprintf(path, sizeof path, "%s/nvidia-smi", w->dir);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fprintf(f,
            "#!/bin/sh\necho \"$*\" >>%s/calls\ncase \"$1\" in\n--query-gpu*) %s ;;\n"
            "*) %s ;;\nesac\n",
            w->dir, lasting, listing);
    fclose(f);
    assert_int_equal(chmod(path, 0755), 0);
}

static inline struct gpu_world *gpu_world_new(void)
{
    struct gpu_world *w = calloc(1, sizeof *w);
    snprintf(w->dir, sizeof w->dir, "/tmp/batchai-gpus-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    snprintf(w->old_path, sizeof w->old_path, "%s", getenv("PATH"));
    setenv("PATH", w->dir, 1);
    return w;
}

static inline void gpu_world_free(struct gpu_world *w)
{
    gpu_watch_stop(&w->watch);
    setenv("PATH", w->old_path, 1);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    assert_int_equal(fs_remove_tree(w->dir, NULL), 0);
    free(w);
}

static inline char *gpu_calls(const struct gpu_world *w)
{
    char *path = fs_join(w->dir, "calls"), *text = NULL;
    assert_int_equal(fs_read(path, 1 << 20, &text, NULL, NULL), 0);
    free(path);
    return text;
}

/* Serves the loop until `is` holds. */
static inline void gpu_until(struct gpu_world *w, bool (*is)(const struct gpu_watch *w))
{
    int64_t limit = monotonic_ms() + 60000;
    while (!is(&w->watch)) {
        struct pollfd p[GPU_WATCH_POLL];
        int wait = gpu_watch_poll_timeout(&w->watch);
        assert_true(monotonic_ms() < limit);
        gpu_watch_poll_fill(&w->watch, p);
        poll(p, GPU_WATCH_POLL, wait < 0 || wait > 100 ? 100 : wait);
        gpu_watch_poll_act(&w->watch, p);
    }
}

/* The program that was ended last may take a moment to die. */
static inline void gpu_want_again(struct gpu_world *w)
{
    int64_t limit = monotonic_ms() + 60000;
    do
        gpu_watch_want(&w->watch);
    while (!w->watch.lasting.pid && monotonic_ms() < limit);
    assert_true(w->watch.lasting.pid > 0);
}

#endif
