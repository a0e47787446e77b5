/* SPDX-License-Identifier: MIT
 *
 * The table of images, grouped by their agents, and the search in it. Static and constant; any
 * thread.
 */
#include "model/batch/images.h"

#include <jansson.h>
#include <string.h>
#include <strings.h>

#define LINUX(version) "batch.node." version, "Canonical"
#define UBUNTU         "DockerCompatible,NvidiaTeslaDriverInstalled"
#define RDMA           "DockerCompatible,NvidiaTeslaDriverInstalled,IntelMPIRuntimeInstalled"
#define WINDOWS(sku)                                                                               \
    {                                                                                              \
        "batch.node.windows amd64", "MicrosoftWindowsServer", "WindowsServer", sku, true, true,    \
            NULL, NULL                                                                             \
    }
#define WINDOWS_CONTAINERS(sku)                                                                    \
    {                                                                                              \
        "batch.node.windows amd64", "MicrosoftWindowsServer", "WindowsServer", sku, true, true,    \
            "DockerCompatible", NULL                                                               \
    }

/* Sources: the pages "Provision Linux nodes in Batch pools" (publishers, offers and agents, from
 * 2018 on) and "Ubuntu-HPC and AlmaLinux-HPC VM images" of learn.microsoft.com; for the names of
 * plans, the Azure Marketplace. */
static const struct batch_image images[] = {
    {LINUX("ubuntu 16.04"), "UbuntuServer", "16.04-LTS", false, true, NULL, NULL},
    {"batch.node.ubuntu 16.04", "microsoft-azure-batch", "ubuntu-server-container", "16-04-lts",
     false, true, UBUNTU, NULL},
    {"batch.node.ubuntu 16.04", "microsoft-azure-batch", "ubuntu-server-container-rdma",
     "16-04-lts", false, true, RDMA, NULL},
    {LINUX("ubuntu 18.04"), "UbuntuServer", "18.04-LTS", false, true, NULL, NULL},
    {"batch.node.ubuntu 18.04", "microsoft-dsvm", "ubuntu-1804", "1804", false, true, UBUNTU, NULL},
    {LINUX("ubuntu 20.04"), "0001-com-ubuntu-server-focal", "20_04-lts", false, true, NULL, NULL},
    {LINUX("ubuntu 20.04"), "0001-com-ubuntu-server-focal", "20_04-lts-gen2", false, true, NULL,
     NULL},
    {"batch.node.ubuntu 20.04", "microsoft-azure-batch", "ubuntu-server-container", "20-04-lts",
     false, true, UBUNTU, NULL},
    {"batch.node.ubuntu 20.04", "microsoft-azure-batch", "ubuntu-server-container-rdma",
     "20-04-lts", false, true, RDMA, NULL},
    {"batch.node.ubuntu 20.04", "microsoft-dsvm", "ubuntu-hpc", "2004", false, true, RDMA, NULL},
    {LINUX("ubuntu 22.04"), "0001-com-ubuntu-server-jammy", "22_04-lts", false, true, NULL, NULL},
    {LINUX("ubuntu 22.04"), "0001-com-ubuntu-server-jammy", "22_04-lts-gen2", false, true, NULL,
     NULL},
    {"batch.node.ubuntu 22.04", "microsoft-dsvm", "ubuntu-hpc", "2204", false, true, RDMA, NULL},
    {LINUX("ubuntu 24.04"), "ubuntu-24_04-lts", "server", false, true, NULL, NULL},
    {LINUX("ubuntu 24.04"), "ubuntu-24_04-lts", "server-gen1", false, true, NULL, NULL},
    {"batch.node.ubuntu 24.04", "microsoft-dsvm", "ubuntu-hpc", "2404", false, true, RDMA, NULL},
    {"batch.node.debian 8", "credativ", "Debian", "8", false, true, NULL, NULL},
    {"batch.node.debian 9", "credativ", "Debian", "9", false, true, NULL, NULL},
    {"batch.node.debian 10", "Debian", "debian-10", "10", false, true, NULL, NULL},
    {"batch.node.debian 11", "Debian", "debian-11", "11", false, true, NULL, NULL},
    {"batch.node.debian 12", "Debian", "debian-12", "12", false, true, NULL, NULL},
    {"batch.node.centos 7", "OpenLogic", "CentOS", "7.4", false, true, NULL, NULL},
    {"batch.node.centos 7", "OpenLogic", "CentOS", "7_9", false, true, NULL, NULL},
    {"batch.node.centos 7", "OpenLogic", "CentOS-HPC", "7.4", false, true,
     "IntelMPIRuntimeInstalled", NULL},
    {"batch.node.centos 7", "microsoft-azure-batch", "centos-container", "7-4", false, true, UBUNTU,
     NULL},
    {"batch.node.centos 7", "microsoft-azure-batch", "centos-container-rdma", "7-4", false, true,
     RDMA, NULL},
    {"batch.node.el 8", "almalinux", "almalinux-x86_64", "8-gen1", false, true, NULL, NULL},
    {"batch.node.el 8", "almalinux", "almalinux-x86_64", "8-gen2", false, true, NULL, NULL},
    {"batch.node.el 8", "almalinux", "almalinux-hpc", "8_5-hpc-gen2", false, true, RDMA, NULL},
    {"batch.node.el 8", "almalinux", "almalinux-hpc", "8_7-hpc-gen2", false, true, RDMA, NULL},
    {"batch.node.el 9", "almalinux", "almalinux-x86_64", "9-gen1", false, true, NULL, NULL},
    {"batch.node.el 9", "almalinux", "almalinux-x86_64", "9-gen2", false, true, NULL, NULL},
    {"batch.node.el 9", "almalinux", "almalinux-hpc", "9-hpc-gen2", false, true, RDMA, NULL},
    WINDOWS("2008-R2-SP1"),
    WINDOWS("2012-Datacenter"),
    WINDOWS("2012-R2-Datacenter"),
    WINDOWS("2016-Datacenter"),
    WINDOWS_CONTAINERS("2016-Datacenter-with-Containers"),
    WINDOWS("2016-Datacenter-smalldisk"),
    WINDOWS("2019-Datacenter"),
    WINDOWS_CONTAINERS("2019-Datacenter-with-Containers"),
    WINDOWS("2019-Datacenter-smalldisk"),
    WINDOWS("2022-Datacenter"),
    WINDOWS("2022-Datacenter-smalldisk"),
};

const struct batch_image *batch_images(size_t *n)
{
    *n = sizeof images / sizeof images[0];
    return images;
}

const struct batch_image *batch_image_find(const char *publisher, const char *offer,
                                           const char *sku)
{
    for (size_t i = 0; i < sizeof images / sizeof images[0]; i++)
        if (strcasecmp(images[i].publisher, publisher) == 0 &&
            strcasecmp(images[i].offer, offer) == 0 && strcasecmp(images[i].sku, sku) == 0)
            return &images[i];
    return NULL;
}

bool batch_agent_is_windows(const char *agent)
{
    return strcasestr(agent, "windows") != NULL;
}

bool batch_pool_is_windows(const char *doc)
{
    /* Most documents contain neither text and need not be parsed. */
    if (!strcasestr(doc, "batch.node.windows") && !strstr(doc, "cloudServiceConfiguration"))
        return false;
    json_t *pool = json_loads(doc, 0, NULL);
    json_t *vm = json_object_get(pool, "virtualMachineConfiguration");
    const char *agent = json_string_value(json_object_get(vm, "nodeAgentSKUId"));
    bool windows = json_object_get(pool, "cloudServiceConfiguration") ||
                   (agent && batch_agent_is_windows(agent));
    json_decref(pool);
    return windows;
}
