/* SPDX-License-Identifier: MIT
 *
 * Seeds, YAML or JSON. What is read as a tree is the same tree when it is written as JSON and read
 * again; each step has a place in the text; and files have bytes as far as they were found good.
 */
#include <jansson.h>

#include "api/testing/seed/steps.h"
#include "lib/jsontext.h"
#include "test/fuzz/fuzz.h"

static void look_at_files(const json_t *files, enum seed_files what)
{
    struct err e = {0};
    const char *path;
    json_t *v;
    if (seed_files_check(files, what, &e) < 0) {
        CLAIM(e.msg[0]);
        return;
    }
    json_object_foreach((json_t *)files, path, v) {
        size_t n;
        char *bytes = seed_file_bytes(v, &n);
        CLAIM(bytes);
        json_t *back = seed_file_value(bytes, n);
        size_t again;
        char *same = seed_file_bytes(back, &again);
        CLAIM(same && again == n && memcmp(same, bytes, n) == 0);
        json_decref(back);
        free(same);
        free(bytes);
    }
}

static void look_at_steps(const char *text, size_t size, const json_t *tree)
{
    struct seed_steps steps;
    struct arena a;
    struct err e = {0};
    size_t line, column;
    arena_init(&a);
    int rc = seed_steps_read(&a, tree, "11111111-2222-4333-8444-555555555555", &steps, &e);
    tell("seed", rc, e.msg);
    CLAIM(rc == 0 || e.msg[0]);
    if (rc < 0)
        (void)seed_doc_place(text, size, &steps.at, &line, &column);
    for (size_t i = 0; rc == 0 && i < steps.n; i++) {
        const struct seed_step *s = &steps.items[i];
        if (i < 10 && seed_doc_place(text, size, &s->at, &line, &column))
            CLAIM(line > 0 && column > 0);
        if (s->kind->late)
            look_at_files(json_object_get(s->given, s->kind->own[0]), SEED_BLOBS);
        if (s->kind == &seed_kinds[SEED_BATCH_TASK])
            look_at_files(json_object_get(s->given, "files"), SEED_TASK_FILES);
    }
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct err e = {0};
    json_t *tree, *again;
    if (seed_doc_read(text, size, &tree, &e) < 0) {
        tell("text", -1, e.msg);
        CLAIM(e.msg[0]);
        return 0;
    }
    char *json = jsontext(tree);
    CLAIM(seed_doc_read(json, strlen(json), &again, &e) == 0);
    char *same = jsontext(again);
    CLAIM(strcmp(json, same) == 0);
    look_at_steps(text, size, tree);
    free(json);
    free(same);
    json_decref(tree);
    json_decref(again);
    return 0;
}
