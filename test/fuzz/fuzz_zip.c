/* SPDX-License-Identifier: MIT
 *
 * An archive of a stranger's, read whole. The paths of one that is accepted stay below the
 * directory, and its files are as long as it says, within the limits.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "lib/fs.h"
#include "nodeagent-proto/agent/zip/zip.h"
#include "test/fuzz/fuzz.h"

static const struct zip_limits limits = {1 << 20, 64};

static int count(void *ctx, const void *bytes, size_t n, struct err *e)
{
    (void)bytes, (void)e;
    *(uint64_t *)ctx += n;
    return 0;
}

static void read_all(struct zip *z)
{
    uint64_t total = 0;
    struct err e;
    CLAIM(zip_entries(z) <= limits.entries);
    for (size_t i = 0; i < zip_entries(z); i++) {
        const struct zip_entry *x = zip_entry(z, i);
        uint64_t n = 0;
        CLAIM(fs_path_is_safe(x->path));
        int rc = zip_read(z, i, count, &n, &e);
        CLAIM(n <= x->size && (rc < 0 || n == x->size));
        total += n;
    }
    CLAIM(total <= limits.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zip *z;
    struct err e = {0};
    int fd = memfd_create("archive", MFD_CLOEXEC);
    CLAIM(fd >= 0 && fs_write_all(fd, data, size) == 0);
    int rc = zip_open(fd, &limits, &z, &e);
    tell("archive", rc, e.msg);
    if (rc == 0)
        read_all(z);
    zip_close(z);
    close(fd);
    return 0;
}
