/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/tasklog.h"

#include <string.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/strbuf.h"
#include "lib/timefmt.h"

void tasklog_note(const struct tasklog *l, int64_t when_us, const char *text)
{
    const struct task_spec *t = l->spec;
    /* An account that does not exist has no rights, so the file cannot be opened. */
    if (!t->log_path || ((t->user || t->files_as) && !l->outputs.account))
        return;
    char stamp[TIMEFMT_SIZE];
    timefmt_fixed(when_us, stamp);
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "%s %s: ", stamp, t->step);
    for (; *text; text++)
        strbuf_puts(&b, *text == '\n' ? "\\n" : (const char[]){*text, '\0'});
    strbuf_putc(&b, '\n');
    int fd = outputs_open_log(&l->outputs, t->log_path);
    if (fd >= 0) {
        int ignored = fs_write_all(fd, b.s, b.len);
        (void)ignored;
        close(fd);
    }
    strbuf_free(&b);
}

void tasklog_start(const struct tasklog *l, int64_t when_us, pid_t command)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "started on %s, pid %d", l->hostname, (int)command);
    if (l->spec->user)
        strbuf_printf(&b, ", as %s", l->outputs.account->name);
    strbuf_printf(&b, ": %s", l->spec->title ? l->spec->title : l->spec->command_line);
    tasklog_note(l, when_us, b.s);
    strbuf_free(&b);
}

void tasklog_end(const struct tasklog *l, const struct task_status *t, int killed)
{
    struct strbuf b = STRBUF_INIT;
    if (t->state == TASK_FAILED_TO_START)
        strbuf_printf(&b, "could not be started on %s", l->hostname);
    else if (t->signal)
        strbuf_printf(&b, "killed by signal %d (%s)", t->signal, strsignal(t->signal));
    else
        strbuf_printf(&b, "exited with code %d", t->exit_code);
    if (t->why)
        strbuf_printf(&b, ": %s", t->why);
    if (killed == 1)
        strbuf_puts(&b, "; 1 process it left behind was killed");
    else if (killed > 1)
        strbuf_printf(&b, "; %d processes it left behind were killed", killed);
    tasklog_note(l, t->ended_us, b.s);
    strbuf_free(&b);
}
