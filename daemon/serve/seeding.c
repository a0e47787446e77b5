/* SPDX-License-Identifier: MIT
 *
 * Starts `batchaid seed` as a child, and reports how the child ended. The child sends the seed to
 * this daemon. On the loop's thread.
 */
#include "daemon/serve/seeding.h"

#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#include "daemon/serve/exit_code.h"

#define SELF "/proc/self/exe"

static void on_exit(uv_process_t *process, int64_t status, int signal)
{
    struct seeding *s = process->data;
    s->running = false;
    uv_close((uv_handle_t *)process, NULL);
    bool left_out = status == EXIT_LEFT_OUT && signal == 0;
    if (left_out)
        LOG_ERROR(s->log, "daemon.seed_skipped", LF_STR("seed", s->file),
                  LF_STR("why", "an earlier daemon crashed while it applied this file"),
                  LF_STR("remedy", "`batchaid refused` lists such files and can allow them again"));
    s->done(s->ctx, left_out || (status == EXIT_DONE && signal == 0));
}

int seeding_begin(struct seeding *s, uv_loop_t *loop, const char *state_dir, const char *file,
                  struct err *e)
{
    const char *const args[] = {"batchaid", "seed", "--state-dir", state_dir, file, NULL};
    uv_stdio_container_t stdio[] = {
        {.flags = UV_IGNORE},
        {.flags = UV_IGNORE}, /* only the daemon itself may write to standard output */
        {.flags = UV_INHERIT_FD, .data.fd = STDERR_FILENO}};
    const uv_process_options_t how = {.exit_cb = on_exit,
                                      .file = SELF,
                                      .args = (char **)(uintptr_t)args,
                                      .stdio = stdio,
                                      .stdio_count = 3};
    s->process.data = s;
    s->file = file;
    int rc = uv_spawn(loop, &s->process, &how);
    if (rc < 0) {
        uv_close((uv_handle_t *)&s->process, NULL);
        return err_set(e, ERR_INTERNAL, NULL, "the seed cannot be applied: %s", uv_strerror(rc));
    }
    s->running = true;
    return 0;
}

void seeding_stop(struct seeding *s)
{
    if (s->running)
        uv_process_kill(&s->process, SIGTERM);
}
