/* SPDX-License-Identifier: MIT
 *
 * What a file of a simulated disk holds, and what it held before each write since its last sync.
 */
#ifndef TEST_SIM_CONTENT_H
#define TEST_SIM_CONTENT_H

#include <stdbool.h>
#include <stdint.h>

/* What a write that is not synced has replaced. */
struct undo {
    struct undo *older;
    int64_t at, n;    /* `bytes` stood there */
    int64_t old_size; /* of the file */
    char *bytes;
};

/* Of one file. Zeroed: there is none. */
struct content {
    bool exists;
    char *bytes;
    int64_t n, cap;
    struct undo *newest;
    int n_undo;
};

/* What is added has any bytes. */
void content_resize(struct content *c, int64_t n);
/* Of what may be lost yet, nothing is noted in the copy. */
void content_copy(struct content *to, const struct content *from);
/* Before what stands at `at` is written over or cut off. */
void content_note(struct content *c, int64_t at, int64_t n);
/* Nothing that was written can be lost any more. */
void content_synced(struct content *c);
/* Takes the newest `n` writes to `from` back from a copy of it. */
void content_take_back(struct content *to, const struct content *from, int n);
void content_clear(struct content *c);

#endif
