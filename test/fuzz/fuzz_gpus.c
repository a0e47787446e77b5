/* SPDX-License-Identifier: MIT
 *
 * What nvidia-smi prints, line by line, and the bytes of a sample in the history. Whatever they
 * are, a value is unknown or within its bounds, and what is packed is read again as it was.
 */
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/gpu_lines.h"
#include "storage/history/history_priv.h"
#include "test/fuzz/fuzz.h"

static void check(const struct gpu_sample *g)
{
#define BOUNDED(member, name, most) CLAIM(g->member >= SAMPLE_UNKNOWN && g->member <= (most));
    SAMPLE_GPU_VALUES(BOUNDED)
#undef BOUNDED
    CLAIM(g->index >= 0 && g->index < SAMPLE_GPUS);
    CLAIM(memchr(g->uuid, '\0', sizeof g->uuid));
}

static void read_lines(const uint8_t *data, size_t size)
{
    struct pieces in = {(const char *)data, (const char *)data + size};
    while (in.p < in.end) {
        char *line = next_line(&in), uuid[SAMPLE_UUID_SIZE];
        struct gpu_sample g;
        struct gpu_process p;
        if (gpu_line_read(line, &g)) {
            tell("gpu", 0, NULL);
            check(&g);
        }
        if (gpu_app_read(line, uuid, &p)) {
            tell("process", 0, NULL);
            CLAIM(p.pid > 0 && p.memory >= SAMPLE_UNKNOWN);
        }
        free(line);
    }
}

static void unpack(const uint8_t *data, size_t size)
{
    struct node_sample s, again;
    struct strbuf b = STRBUF_INIT;
    if (sample_unpack(data, size, &s) < 0)
        return;
    tell("sample", 0, NULL);
    for (int i = 0; i < s.n_gpus; i++)
        check(&s.gpus[i]);
    sample_pack(&s, &b);
    CLAIM(sample_unpack(b.s, b.len, &again) == 0);
    CLAIM(again.n_gpus == s.n_gpus && again.cpu_permille == s.cpu_permille);
    strbuf_free(&b);
    sample_free(&again);
    sample_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_lines(data, size);
    unpack(data, size);
    return 0;
}
