/* SPDX-License-Identifier: MIT
 *
 * What the targets share. A target is one file fuzz_NAME.c with the one function below, its seeds
 * are the files of corpus/NAME/. It must hold for any bytes: nothing crashes, and the claims it
 * makes with CLAIM() are true. Everything it allocates is freed, or libFuzzer calls it a leak.
 */
#ifndef TEST_FUZZ_FUZZ_H
#define TEST_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CLAIM(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);                     \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* For whoever writes a seed: with FUZZ_TELL in the environment, what became of it. */
static inline void tell(const char *what, int rc, const char *why)
{
    if (getenv("FUZZ_TELL"))
        fprintf(stderr, "%s: %s\n", what, rc == 0 ? "accepted" : why);
}

/* Takes the input apart: pieces that end with a newline, and what is left. */
struct pieces {
    const char *p, *end;
};

/* The next line as a text of its own (caller frees); without the NULs that no text has. */
static inline char *next_line(struct pieces *in)
{
    const char *nl = in->p < in->end ? memchr(in->p, '\n', (size_t)(in->end - in->p)) : NULL;
    const char *stop = nl ? nl : in->end;
    char *text = malloc((size_t)(stop - in->p) + 1), *out = text;
    for (; in->p < stop; in->p++)
        if (*in->p)
            *out++ = *in->p;
    *out = '\0';
    in->p = nl ? nl + 1 : in->end;
    return text;
}

#endif
