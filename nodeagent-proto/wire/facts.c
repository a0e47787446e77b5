/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/wire/facts.h"

#include <stdlib.h>
#include <string.h>

#include "lib/jsontext.h"
#include "model/sample/sample.h"
#include "nodeagent-proto/wire/message.h"

char *node_facts_text(const struct node_facts *f)
{
    json_t *j = message_facts(f);
    char *text = j ? jsontext(j) : xstrdup("{}");
    json_decref(j);
    return text;
}

int node_facts_parse(struct arena *a, const char *text, struct node_facts *out, struct err *e)
{
    json_error_t je;
    json_t *j = json_loads(text, JSON_REJECT_DUPLICATES, &je);
    if (!j)
        return err_set(e, ERR_PROTOCOL, NULL, "the recorded facts of the node cannot be read: %s",
                       je.text);
    int rc = message_facts_read(j, a, out, e);
    if (rc == 0)
        message_facts_keep(out, a);
    json_decref(j);
    return rc;
}

const char *node_fake_gpus(struct arena *a, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(
            list, json_pack("{s:i, s:s, s:b}", "index", i, "model", "fake GPU", "fake", 1));
    char *text = jsontext(list);
    const char *copy = arena_strdup(a, text);
    free(text);
    json_decref(list);
    return copy;
}

bool node_gpus_are_fake(const char *gpus)
{
    json_t *list = gpus ? json_loads(gpus, 0, NULL) : NULL;
    bool fake = json_is_true(json_object_get(json_array_get(list, 0), "fake"));
    json_decref(list);
    return fake;
}

bool node_gpus_are_amd(const char *gpus)
{
    json_t *list = gpus ? json_loads(gpus, 0, NULL) : NULL;
    const char *vendor = json_string_value(json_object_get(json_array_get(list, 0), "vendor"));
    bool amd = vendor && strcmp(vendor, "amd") == 0;
    json_decref(list);
    return amd;
}

/* The GPU's device file below /dev; NULL: not known. If an NVIDIA driver does not report the minor
 * number, the GPU's number in the list is used. */
static const char *device_of(struct arena *a, const json_t *gpu, int index)
{
    const char *vendor = json_string_value(json_object_get(gpu, "vendor"));
    const json_t *minor = json_object_get(gpu, "minor"), *render = json_object_get(gpu, "render");
    if (vendor && strcmp(vendor, "amd") == 0)
        return json_is_integer(render)
                   ? arena_printf(a, "dri/renderD%lld", (long long)json_integer_value(render))
                   : NULL;
    return arena_printf(a, "nvidia%lld",
                        json_is_integer(minor) ? (long long)json_integer_value(minor) : index);
}

const char *node_gpu_devices(struct arena *a, const char *gpus, const char *numbers)
{
    json_t *list = gpus ? json_loads(gpus, 0, NULL) : NULL, *gpu;
    const char *text = "";
    size_t i;
    json_array_foreach(list, i, gpu) {
        const json_t *index = json_object_get(gpu, "index");
        int number = json_is_integer(index) ? (int)json_integer_value(index) : (int)i;
        const char *device = device_of(a, gpu, number);
        if (device && (!numbers || gpu_is_among(numbers, number)))
            text = arena_concat(a, text, *text ? " " : "", device);
    }
    json_decref(list);
    return text;
}
