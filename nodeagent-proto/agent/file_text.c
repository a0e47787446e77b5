/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/file_text.h"

#include <stdlib.h>

#include "lib/fs.h"

#define TEXT_MAX (1024U * 1024) /* enough for mountinfo on a machine with very many mounts */

char *file_text(const char *dir, const char *name)
{
    char *path = fs_join(dir, name), *text = NULL;
    if (fs_read(path, TEXT_MAX, &text, NULL, NULL) < 0)
        text = NULL;
    free(path);
    return text;
}

int64_t file_number(const char *dir, const char *name, int64_t otherwise)
{
    char *text = file_text(dir, name), *end = text;
    int64_t n = text ? strtoll(text, &end, 10) : 0;
    n = end == text ? otherwise : n;
    free(text);
    return n;
}
