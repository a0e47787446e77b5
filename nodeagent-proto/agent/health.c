/* SPDX-License-Identifier: MIT
 *
 * Checks the free space, the kernel's log and the GPUs, and writes a byte to the disk if the
 * request wants that. Each call reads a bounded number of log records, and no record is read twice;
 * health_open() skips the records of earlier times. The agent owns the state. Never blocks.
 */
#include "nodeagent-proto/agent/health.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/timefmt.h"
#include "nodeagent-proto/agent/gpus.h"

#define TRIED       ".writable" /* a file below the node's root */
#define GPU_TROUBLE "NVRM: Xid"
#define ERRORS_MAX  2000U /* the most bytes of kernel errors in a report */
/* How many records a call reads at most, so that a log that grows without end does not block the
 * agent. */
#define RECORDS_MAX 10000

void health_open(struct agent_health *h)
{
    *h = (struct agent_health){.kernel_log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    if (h->kernel_log >= 0)
        (void)lseek(h->kernel_log, 0, SEEK_END);
}

void health_close(struct agent_health *h)
{
    if (h->kernel_log >= 0)
        close(h->kernel_log);
    strbuf_free(&h->errors);
}

/* A record is "6,339,5140900,-;NVRM: Xid (PCI:0000:65:00): 79, ...\n KEY=value\n". */
static void take_record(struct agent_health *h, char *record)
{
    char *text = strchr(record, ';');
    if (!text || strncmp(text + 1, GPU_TROUBLE, strlen(GPU_TROUBLE)) != 0)
        return;
    text++;
    size_t n = strcspn(text, "\n");
    if (h->errors.len + n > ERRORS_MAX)
        return;
    if (h->errors.len)
        strbuf_puts(&h->errors, "; ");
    strbuf_add(&h->errors, text, n);
}

static void read_kernel_log(struct agent_health *h)
{
    char record[8192];
    strbuf_reset(&h->errors);
    for (int i = 0; h->kernel_log >= 0 && i < RECORDS_MAX; i++) {
        ssize_t n = read(h->kernel_log, record, sizeof record - 1);
        if (n < 0 && errno == EPIPE)
            continue; /* the kernel overwrote some records before they were read */
        if (n <= 0)
            return;
        record[n] = '\0';
        take_record(h, record);
    }
}

/* Tries to write a file, and sets h->disk_error to the reason if that fails, otherwise to "". The
 * file is not synced, because a sync might take long. */
static void try_to_write(struct agent_health *h, const char *root)
{
    char *path = fs_join(root, TRIED);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool written = fd >= 0 && write(fd, "", 1) == 1;
    int why = errno;
    h->disk_error[0] = '\0';
    if (!written)
        snprintf(h->disk_error, sizeof h->disk_error, "%s", strerror(why));
    if (fd >= 0) {
        close(fd);
        (void)unlink(path);
    }
    free(path);
}

void health_look(struct agent_health *h, const char *root, bool tries, struct node_health *out)
{
    struct statvfs v;
    memset(out, 0, sizeof *out);
    if (tries)
        try_to_write(h, root);
    if (statvfs(root, &v) == 0) {
        out->disk_free_bytes = (int64_t)v.f_bavail * (int64_t)v.f_frsize;
        out->disk_total_bytes = (int64_t)v.f_blocks * (int64_t)v.f_frsize;
    }
    read_kernel_log(h);
    out->time_us = time_now_us();
    out->gpus = gpus_count();
    out->disk_error = h->disk_error;
    out->gpu_errors = h->errors.len ? h->errors.s : "";
}
