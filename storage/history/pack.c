/* SPDX-License-Identifier: MIT
 *
 * A sample as bytes of the history: the number of values of a node and their values, the number of
 * GPUs, and for each GPU its index, the number of its values and the values. So rows of earlier
 * versions stay readable when values are added at the end of the tables. Without texts and
 * processes.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "storage/history/history_priv.h"

#define COUNT(member, name, most) +1
enum { NODE_VALUES = 0 SAMPLE_NODE_VALUES(COUNT), GPU_VALUES = 0 SAMPLE_GPU_VALUES(COUNT) };
#undef COUNT
#define VALUES_MOST 64 /* the most values that any later version writes */

static void put(struct strbuf *out, uint64_t n)
{
    unsigned char byte;
    do {
        byte = (unsigned char)((n & 127) | (n > 127 ? 128 : 0));
        strbuf_add(out, (const char *)&byte, 1);
        n >>= 7;
    } while (n > 0);
}

static void put_value(struct strbuf *out, int64_t value)
{
    put(out, value < 0 ? 0 : (uint64_t)value + 1);
}

#define PUT(member, name, most) put_value(out, g->member);

static void put_gpu(struct strbuf *out, const struct gpu_sample *g)
{
    put(out, (uint64_t)g->index);
    put(out, GPU_VALUES);
    SAMPLE_GPU_VALUES(PUT)
}

void sample_pack(const struct node_sample *s, struct strbuf *out)
{
    const struct node_sample *g = s; /* the name that the macro PUT uses */
    put(out, NODE_VALUES);
    SAMPLE_NODE_VALUES(PUT)
    put(out, (uint64_t)s->n_gpus);
    for (int i = 0; i < s->n_gpus; i++)
        put_gpu(out, &s->gpus[i]);
}

struct bytes {
    const unsigned char *at, *end;
    bool damaged;
};

static uint64_t take(struct bytes *b)
{
    uint64_t n = 0;
    for (int shift = 0; shift < 63; shift += 7) {
        if (b->at == b->end)
            break;
        unsigned char byte = *b->at++;
        n |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return n;
    }
    b->damaged = true;
    return 0;
}

/* Takes up to `n` values; skips further ones, because this version does not know them. */
static void take_values(struct bytes *b, int64_t *out, int n)
{
    uint64_t there = take(b);
    b->damaged |= there > VALUES_MOST;
    for (uint64_t i = 0; i < there && !b->damaged; i++) {
        int64_t value = (int64_t)take(b) - 1;
        if (i < (uint64_t)n)
            out[i] = value;
    }
}

#define TAKE(member, name, most) g->member = values[k++];

static void take_gpu(struct bytes *b, struct gpu_sample *g)
{
    int64_t values[GPU_VALUES];
    int k = 0;
    uint64_t index = take(b);
    gpu_sample_clear(g);
    for (int i = 0; i < GPU_VALUES; i++)
        values[i] = SAMPLE_UNKNOWN;
    b->damaged |= index >= SAMPLE_GPUS;
    g->index = b->damaged ? 0 : (int)index;
    take_values(b, values, GPU_VALUES);
    SAMPLE_GPU_VALUES(TAKE)
}

int sample_unpack(const void *from, size_t n, struct node_sample *out)
{
    struct bytes b = {from, (const unsigned char *)from + n, false};
    struct node_sample *g = out;
    int64_t values[NODE_VALUES];
    int k = 0;
    sample_clear(out);
    for (int i = 0; i < NODE_VALUES; i++)
        values[i] = SAMPLE_UNKNOWN;
    take_values(&b, values, NODE_VALUES);
    SAMPLE_NODE_VALUES(TAKE)
    uint64_t gpus = take(&b);
    if (b.damaged || gpus > SAMPLE_GPUS)
        return -1;
    out->n_gpus = (int)gpus;
    out->gpus = gpus ? xcalloc(gpus, sizeof *out->gpus) : NULL;
    for (int i = 0; i < out->n_gpus; i++)
        take_gpu(&b, &out->gpus[i]);
    sample_believe(out);
    if (b.damaged)
        sample_free(out);
    return b.damaged ? -1 : 0;
}
