/* SPDX-License-Identifier: MIT
 *
 * Memory of the simulation, in the place of the C library's: a sixth of a history went there. One
 * thread alone runs histories, so that what is freed waits in a list of its size, and the last
 * freed, which is still in the processor's cache, is the first to be given again. Nothing goes back
 * to the system. Left out where a sanitizer has an own.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if !defined __SANITIZE_ADDRESS__

#define STEP      32u   /* between sizes of small pieces */
#define SMALL_MAX 2048u /* above it, sizes are powers of two */
#define SMALL_LOG 11
#define N_SMALL   (SMALL_MAX / STEP + 1)
#define N_SIZES   (N_SMALL + 64 - SMALL_LOG)
#define CHUNK     ((size_t)4 << 20) /* asked of the system at a time */

struct memory_head {
    size_t size_index, room;
};
_Static_assert(sizeof(struct memory_head) == _Alignof(max_align_t), "what follows it is aligned");

/* A piece that is free. */
struct piece {
    struct memory_head head;
    struct piece *next;
};

static struct {
    struct piece *unused[N_SIZES];
    char *at, *end; /* of the chunk that is being cut up */
} all;

static size_t size_index(size_t n, size_t *room)
{
    if (n <= SMALL_MAX) {
        size_t i = n == 0 ? 1 : (n + STEP - 1) / STEP;
        *room = i * STEP;
        return i;
    }
    unsigned bits = 64 - (unsigned)__builtin_clzl(n - 1);
    *room = (size_t)1 << bits;
    return N_SMALL + bits - SMALL_LOG;
}

static struct memory_head *cut(size_t index, size_t room)
{
    size_t need = sizeof(struct memory_head) + room;
    if ((size_t)(all.end - all.at) < need) {
        size_t size = need > CHUNK ? need : CHUNK;
        char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            return NULL;
        all.at = p;
        all.end = p + size;
    }
    struct memory_head *h = (struct memory_head *)(void *)all.at;
    all.at += need;
    *h = (struct memory_head){index, room};
    return h;
}

static void *take(size_t n)
{
    if (n > PTRDIFF_MAX) {
        errno = ENOMEM;
        return NULL;
    }
    size_t room, index = size_index(n, &room);
    struct piece *p = all.unused[index];
    struct memory_head *h = p ? &p->head : cut(index, room);
    if (p)
        all.unused[index] = p->next;
    return h ? h + 1 : NULL;
}

static void give_back(void *mem)
{
    struct piece *p = (struct piece *)(void *)((struct memory_head *)mem - 1);
    p->next = all.unused[p->head.size_index];
    all.unused[p->head.size_index] = p;
}

void *malloc(size_t n)
{
    return take(n);
}

void free(void *mem)
{
    if (mem)
        give_back(mem);
}

void *calloc(size_t n, size_t size)
{
    size_t sum;
    void *mem = __builtin_mul_overflow(n, size, &sum) ? NULL : take(sum);
    return mem ? memset(mem, 0, sum) : NULL;
}

void *realloc(void *mem, size_t n)
{
    size_t room = mem ? ((struct memory_head *)mem - 1)->room : 0;
    if (mem && n <= room)
        return mem;
    void *more = take(n);
    if (more && mem) {
        memcpy(more, mem, room);
        give_back(mem);
    }
    return more;
}

/* Nothing here asks for more than any piece has. */
static void *aligned(size_t alignment, size_t n)
{
    if (alignment > sizeof(struct memory_head)) {
        static const char why[] = "sim: memory of such an alignment is not to be had\n";
        fwrite(why, 1, sizeof why - 1, stderr);
        abort();
    }
    return take(n);
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return aligned(alignment, n);
}

int posix_memalign(void **out, size_t alignment, size_t n)
{
    *out = aligned(alignment, n);
    return *out ? 0 : ENOMEM;
}

#endif
