/* SPDX-License-Identifier: MIT
 *
 * A fuzz target without a fuzzer: runs it on nothing, and on each file of the folders that are
 * named. So what was broken once is tried with every compiler and sanitizer that builds the tests.
 */
#include <dirent.h>

#include "lib/fs.h"
#include "test/fuzz/fuzz.h"

#define INPUT_MAX (1 << 20)

static int replay_file(const char *path)
{
    char *data;
    size_t n;
    struct err e;
    if (fs_read(path, INPUT_MAX, &data, &n, &e) < 0) {
        fprintf(stderr, "%s\n", e.msg);
        return -1;
    }
    /* A copy of exactly this size, so that a read past its end is found. */
    uint8_t *exact = malloc(n ? n : 1);
    memcpy(exact, data, n);
    (void)LLVMFuzzerTestOneInput(exact, n);
    free(exact);
    free(data);
    return 0;
}

static int replay_folder(const char *path, size_t *n)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    int rc = dir ? 0 : -1;
    if (!dir)
        fprintf(stderr, "%s cannot be opened\n", path);
    while (rc == 0 && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.')
            continue;
        char *file = fs_join(path, entry->d_name);
        rc = replay_file(file);
        free(file);
        ++*n;
    }
    if (dir)
        closedir(dir);
    return rc;
}

int main(int argc, char **argv)
{
    size_t n = 0;
    int rc = 0;
    (void)LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; rc == 0 && i < argc; i++)
        rc = replay_folder(argv[i], &n);
    if (rc == 0 && n == 0) {
        fprintf(stderr, "there is no input to replay\n");
        rc = -1;
    }
    printf("replayed %zu inputs\n", n);
    return rc == 0 ? 0 : 1;
}
