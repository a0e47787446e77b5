/* SPDX-License-Identifier: MIT
 *
 * The daemon installs no extensions. A pool may list extensions whose absence no task notices:
 * drivers, which the machine has, and agents of Azure's monitoring services. All others are
 * refused, because a node without them would not match the request; so are settings, which would
 * have no effect.
 */
#include "model/batch/extensions.h"

#include <strings.h>

static const struct {
    const char *publisher, *type;
} harmless[] = {
    {"Microsoft.HpcCompute", "NvidiaGpuDriverLinux"},
    {"Microsoft.HpcCompute", "AmdGpuDriverLinux"},
    {"Microsoft.HpcCompute", "InfiniBandDriverLinux"},
    {"Microsoft.Azure.Geneva", "GenevaMonitoring"},
    {"Microsoft.Azure.Monitor", "AzureMonitorLinuxAgent"},
    {"Microsoft.EnterpriseCloud.Monitoring", "OmsAgentForLinux"},
};

int batch_check_extension(json_t *extension, const char *path, struct err *e)
{
    const char *publisher = json_string_value(json_object_get(extension, "publisher"));
    const char *type = json_string_value(json_object_get(extension, "type"));
    for (size_t i = 0; publisher && type && i < sizeof harmless / sizeof *harmless; i++)
        if (strcasecmp(publisher, harmless[i].publisher) == 0 &&
            strcasecmp(type, harmless[i].type) == 0)
            return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s is the extension \"%.100s\" of \"%.100s\"; nodes run no extensions, and "
                   "only those for drivers, which machines have themselves, and for monitoring "
                   "by Azure may be named",
                   path, type ? type : "", publisher ? publisher : "");
}

int batch_check_extension_settings(const json_t *settings, const char *path, struct err *e)
{
    if (json_object_size(settings) == 0)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s is not empty; nodes run no extensions, so nothing would heed it", path);
}
