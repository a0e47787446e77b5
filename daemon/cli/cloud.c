/* SPDX-License-Identifier: MIT */
#include "daemon/cli/cloud.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/jsontext.h"
#include "lib/strbuf.h"

/* The settings of the cloud. az accepts as JSON those endpoints for which it has no options. */
static const struct {
    const char *group, *name; /* in --cloud-config */
    const char *key;          /* in clouds.config */
    const char *before, *after;
    bool host; /* the value is HOST:PORT, not the whole endpoint */
} rows[] = {
    {"endpoints", "resourceManager", "endpoint_resource_manager", "", "", false},
    {"endpoints", "management", "endpoint_management", "", "", false},
    {"endpoints", "activeDirectory", "endpoint_active_directory", "", "/" CLOUD_TENANT, false},
    {"endpoints", "activeDirectoryResourceId", "endpoint_active_directory_resource_id", "", "",
     false},
    {"endpoints", "activeDirectoryGraphResourceId", "endpoint_active_directory_graph_resource_id",
     "", "", false},
    {"endpoints", "microsoftGraphResourceId", "endpoint_microsoft_graph_resource_id", "", "",
     false},
    {"endpoints", "batchResourceId", "endpoint_batch_resource_id", "", "", false},
    {"endpoints", "gallery", "endpoint_gallery", "", "", false},
    {"suffixes", "storageEndpoint", "suffix_storage_endpoint", "core.", "", true},
    {"suffixes", "keyvaultDns", "suffix_keyvault_dns", ".vault.", "", true},
};

size_t cloud_settings(void)
{
    return sizeof rows / sizeof rows[0];
}

const char *cloud_key(size_t i)
{
    return rows[i].key;
}

char *cloud_value(size_t i, const char *endpoint)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_concat(&b, rows[i].before, rows[i].host ? endpoint + strlen("https://") : endpoint,
                  rows[i].after);
    return strbuf_take(&b);
}

char *cloud_config(const char *endpoint)
{
    json_t *config = json_object();
    for (size_t i = 0; i < cloud_settings(); i++) {
        json_t *group = json_object_get(config, rows[i].group);
        if (!group)
            json_object_set_new(config, rows[i].group, group = json_object());
        char *value = cloud_value(i, endpoint);
        json_object_set_new(group, rows[i].name, json_string(value));
        free(value);
    }
    char *text = jsontext(config);
    json_decref(config);
    return text;
}
