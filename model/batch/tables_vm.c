/* SPDX-License-Identifier: MIT
 *
 * What pools of Azure Batch say of their machines: images, disks, networks, mounts.
 */
#include "model/batch/tables_vm.h"

#include <string.h>
#include <strings.h>

#include "lib/strbuf.h"
#include "model/batch/images.h"
#include "model/batch/pool_spec.h"
#include "model/batch/tables.h"
#include "model/batch/tables_pool.h"

#define MAX_DISKS     64
#define MAX_DISK_GB   32768
#define MAX_NAT_POOLS 5
#define MAX_RULES     25
#define MAX_PORT      65535

#define ENUM_ROW(label, names, given)                                                              \
    {                                                                                              \
        .name = (label), .kind = FIELD_ENUM, .values = (names), .fallback = (given)                \
    }
#define ENUM_REQUIRED(label, names)                                                                \
    {                                                                                              \
        .name = (label), .kind = FIELD_ENUM, .flags = FIELD_REQUIRED, .values = (names)            \
    }
#define BOOL_ROW(label)                                                                            \
    {                                                                                              \
        .name = (label), .kind = FIELD_BOOL                                                        \
    }
#define INT_ROW(label, bits, least, most)                                                          \
    {                                                                                              \
        .name = (label), .kind = FIELD_INT, .flags = (bits), .min = (least), .max = (most)         \
    }
#define OBJECT_ROW(label, table, known)                                                            \
    {                                                                                              \
        .name = (label), .kind = FIELD_OBJECT, .versions = (known), .sub = &(table)                \
    }
#define TEXTS_ROW(label, bits, most)                                                               \
    {                                                                                              \
        .name = (label), .kind = FIELD_STRINGS, .flags = (bits), .max = (most)                     \
    }

/* Of several names the first is the version's own. */
const struct enum_name batch_container_type_names[] = {{BATCH_DOCKER, "dockerCompatible"},
                                                       {BATCH_CRI, "criCompatible"},
                                                       {BATCH_DOCKER, "docker"},
                                                       {0, NULL}};
static const struct enum_name old_container_type_names[] = {
    {BATCH_DOCKER, "docker"}, {BATCH_DOCKER, "dockerCompatible"}, {0, NULL}};
static const struct enum_name caching_names[] = {
    {1, "none"}, {2, "readonly"}, {3, "readwrite"}, {0, NULL}};
static const struct enum_name disk_type_names[] = {
    {1, "standard_lrs"}, {2, "premium_lrs"}, {3, "standardssd_lrs"}, {0, NULL}};
static const struct enum_name protocol_names[] = {{1, "tcp"}, {2, "udp"}, {0, NULL}};
static const struct enum_name access_names[] = {{1, "allow"}, {2, "deny"}, {0, NULL}};
static const struct enum_name assignment_names[] = {{1, "none"}, {2, "job"}, {0, NULL}};
static const struct enum_name provision_names[] = {
    {1, "batchmanaged"}, {2, "usermanaged"}, {3, "nopublicipaddresses"}, {0, NULL}};
static const struct enum_name target_names[] = {{1, "osdisk"}, {2, "temporarydisk"}, {0, NULL}};
static const struct enum_name placement_names[] = {{1, "regional"}, {2, "zonal"}, {0, NULL}};
static const struct enum_name disk_placement_names[] = {{1, "CacheDisk"}, {0, NULL}};
static const struct enum_name security_names[] = {
    {1, "trustedLaunch"}, {2, "confidentialVM"}, {0, NULL}};
static const struct enum_name upgrade_names[] = {
    {1, "automatic"}, {2, "manual"}, {3, "rolling"}, {0, NULL}};
static const struct enum_name identity_names[] = {{1, "UserAssigned"}, {2, "None"}, {0, NULL}};
static const struct enum_name disk_security_names[] = {
    {1, "NonPersistedTPM"}, {2, "VMGuestStateOnly"}, {0, NULL}};

/* --- images ---------------------------------------------------------------------------------- */

/* An image of a subscription, or of a gallery there. */
static int check_image_id(const json_t *value, const char *path, struct err *e)
{
    static const char provider[] = "/providers/Microsoft.Compute/";
    const char *id = json_string_value(value), *found = strcasestr(id, provider);
    const char *type = found ? found + strlen(provider) : "";
    if (strncasecmp(id, "/subscriptions/", 15) == 0 &&
        (strncasecmp(type, "images/", 7) == 0 ||
         (strncasecmp(type, "galleries/", 10) == 0 && strcasestr(type, "/images/"))))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s is '%.200s', but must be the id of an image, as /subscriptions/ID/"
                   "resourceGroups/NAME/providers/Microsoft.Compute/images/NAME or "
                   ".../galleries/NAME/images/NAME",
                   path, id);
}

static const struct field image_rows[] = {
    {BATCH_TEXT("publisher", 0, 0, 256)},
    {BATCH_TEXT("offer", 0, 0, 256)},
    {BATCH_TEXT("sku", 0, 0, 256)},
    {BATCH_TEXT("version", 0, 0, 256)},
    {BATCH_TEXT("virtualMachineImageId", 0, 0, MAX_ID_BYTES), .check = check_image_id},
    {.name = "exactVersion",
     .kind = FIELD_STRING,
     .flags = FIELD_READONLY,
     .versions = BATCH_SINCE(BATCH_14_0)},
    {BATCH_TEXT("sharedGalleryImageId", 0, 0, MAX_ID_BYTES), .versions = BATCH_SINCE(BATCH_20_0)},
    {BATCH_TEXT("communityGalleryImageId", 0, 0, MAX_ID_BYTES),
     .versions = BATCH_SINCE(BATCH_20_0)},
};

static const char *text_of(const json_t *obj, const char *name)
{
    const char *s = json_string_value(json_object_get(obj, name));
    return s ? s : "";
}

/* With the skus that the offer has, or where to look. */
static int refuse_image(const char *path, const char *publisher, const char *offer, const char *sku,
                        struct err *e)
{
    struct strbuf skus = STRBUF_INIT;
    size_t n;
    const struct batch_image *all = batch_images(&n);
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(all[i].publisher, publisher) == 0 && strcasecmp(all[i].offer, offer) == 0)
            strbuf_printf(&skus, "%s%s", skus.len ? ", " : "", all[i].sku);
    err_set(e, ERR_INVALID_PROPERTY, path,
            "The specified imageReference with publisher %.100s offer %.100s sku %.100s is not "
            "supported. %s%s",
            publisher, offer, sku, skus.len ? "Of this offer there are: " : "",
            skus.len ? skus.s : "`az batch pool supported-images list` says which images are.");
    strbuf_free(&skus);
    return -1;
}

/* An image of the list, or one of somebody's own by its id, of which nothing is known here. */
static int check_image_reference(json_t *obj, const char *path, struct err *e)
{
    const char *publisher = text_of(obj, "publisher"), *offer = text_of(obj, "offer"),
               *sku = text_of(obj, "sku");
    int ids = has(obj, "virtualMachineImageId") + has(obj, "sharedGalleryImageId") +
              has(obj, "communityGalleryImageId");
    bool listed = *publisher || *offer || *sku;
    if (ids + listed != 1)
        return err_set(e, ERR_INVALID_PROPERTY, path,
                       "%s must have publisher, offer and sku, or else the id of one image", path);
    if (ids)
        return 0;
    if (!batch_image_find(publisher, offer, sku))
        return refuse_image(path, publisher, offer, sku, e);
    if (!has(obj, "version"))
        json_object_set_new(obj, "version", json_string("latest"));
    return 0;
}

SCHEMA(schema_batch_image, "ImageReference", image_rows, check_image_reference);

/* --- machines -------------------------------------------------------------------------------- */

static const struct field windows_rows[] = {BOOL_ROW("enableAutomaticUpdates")};
static SCHEMA(schema_windows, "WindowsConfiguration", windows_rows, NULL);

static const struct field data_disk_rows[] = {
    INT_ROW("lun", FIELD_REQUIRED, 0, 63),
    ENUM_ROW("caching", caching_names, "\"none\""),
    INT_ROW("diskSizeGB", FIELD_REQUIRED, 1, MAX_DISK_GB),
    ENUM_ROW("storageAccountType", disk_type_names, "\"standard_lrs\""),
};
static SCHEMA(schema_data_disk, "DataDisk", data_disk_rows, NULL);

#define CONTAINER_ROWS(names)                                                                      \
    ENUM_REQUIRED("type", names), TEXTS_ROW("containerImageNames", 0, MAX_ITEMS),                  \
    {                                                                                              \
        .name = "containerRegistries", .kind = FIELD_ARRAY, .sub = &schema_batch_registry,         \
        .max = 100, INTO_LIST(struct batch_pool_containers, registries, n_registries)              \
    }

static void finish_containers(struct arena *a, const json_t *obj, void *into)
{
    struct batch_pool_containers *c = into;
    const json_t *list = json_object_get(obj, "containerImageNames");
    const char **images = arena_alloc(a, (json_array_size(list) + 1) * sizeof *images);
    for (size_t i = 0; i < json_array_size(list); i++)
        images[c->n_images++] = arena_strdup(a, json_string_value(json_array_get(list, i)));
    c->images = images;
}

static const struct field containers_rows[] = {CONTAINER_ROWS(batch_container_type_names)};
static SCHEMA_INTO(schema_containers, "ContainerConfiguration", containers_rows, NULL,
                   struct batch_pool_containers, finish_containers);
static const struct field old_containers_rows[] = {CONTAINER_ROWS(old_container_type_names)};
static SCHEMA_INTO(schema_old_containers, "ContainerConfiguration", old_containers_rows, NULL,
                   struct batch_pool_containers, finish_containers);

static const struct field encryption_rows[] = {
    {.name = "targets", .kind = FIELD_STRINGS, .values = target_names, .max = 2}};
static SCHEMA(schema_encryption, "DiskEncryptionConfiguration", encryption_rows, NULL);

static const struct field placement_rows[] = {ENUM_ROW("policy", placement_names, "\"regional\"")};
static SCHEMA(schema_placement, "NodePlacementConfiguration", placement_rows, NULL);

/* Nothing runs an extension here; its settings are not kept, as they may be secret. */
static const struct field extension_rows[] = {
    {BATCH_TEXT("name", FIELD_REQUIRED, 1, 256)},
    {BATCH_TEXT("publisher", FIELD_REQUIRED, 1, 256)},
    {BATCH_TEXT("type", FIELD_REQUIRED, 1, 256)},
    {BATCH_TEXT("typeHandlerVersion", 0, 0, 64)},
    BOOL_ROW("autoUpgradeMinorVersion"),
    {.name = "enableAutomaticUpgrade", .kind = FIELD_BOOL, .versions = BATCH_SINCE(BATCH_17_0)},
    {.name = "settings", .kind = FIELD_FREE, .flags = FIELD_DISCARD},
    {.name = "protectedSettings", .kind = FIELD_FREE, .flags = FIELD_DISCARD},
    TEXTS_ROW("provisionAfterExtensions", 0, 100),
};
static SCHEMA(schema_extension, "VMExtension", extension_rows, NULL);

static const struct field ephemeral_rows[] = {ENUM_ROW("placement", disk_placement_names, NULL)};
static SCHEMA(schema_ephemeral, "DiffDiskSettings", ephemeral_rows, NULL);
static const struct field disk_security_rows[] = {
    ENUM_ROW("securityEncryptionType", disk_security_names, NULL)};
static SCHEMA(schema_disk_security, "VMDiskSecurityProfile", disk_security_rows, NULL);
static const struct field managed_rows[] = {
    ENUM_ROW("storageAccountType", disk_type_names, NULL),
    OBJECT_ROW("securityProfile", schema_disk_security, BATCH_SINCE(BATCH_20_0)),
};
static SCHEMA(schema_managed, "ManagedDisk", managed_rows, NULL);

static const struct field os_disk_rows[] = {
    {.name = "caching",
     .kind = FIELD_ENUM,
     .versions = BATCH_UNTIL(BATCH_7_0),
     .values = caching_names,
     .fallback = "\"readwrite\""},
    {.name = "caching",
     .kind = FIELD_ENUM,
     .versions = BATCH_SINCE(BATCH_8_0),
     .values = caching_names},
    OBJECT_ROW("ephemeralOSDiskSettings", schema_ephemeral, BATCH_SINCE(BATCH_14_0)),
    {.name = "diskSizeGB",
     .kind = FIELD_INT,
     .versions = BATCH_SINCE(BATCH_18_0),
     .min = 1,
     .max = MAX_DISK_GB},
    OBJECT_ROW("managedDisk", schema_managed, BATCH_SINCE(BATCH_18_0)),
    {.name = "writeAcceleratorEnabled", .kind = FIELD_BOOL, .versions = BATCH_SINCE(BATCH_18_0)},
};
static SCHEMA(schema_os_disk, "OSDisk", os_disk_rows, NULL);

static const struct field uefi_rows[] = {BOOL_ROW("secureBootEnabled"), BOOL_ROW("vTpmEnabled")};
static SCHEMA(schema_uefi, "UefiSettings", uefi_rows, NULL);
static const struct field security_rows[] = {
    ENUM_ROW("securityType", security_names, NULL),
    BOOL_ROW("encryptionAtHost"),
    OBJECT_ROW("uefiSettings", schema_uefi, 0),
};
static SCHEMA(schema_security, "SecurityProfile", security_rows, NULL);
static const struct field artifact_rows[] = {{BATCH_TEXT("id", FIELD_REQUIRED, 1, MAX_ID_BYTES)}};
static SCHEMA(schema_artifact, "ServiceArtifactReference", artifact_rows, NULL);

#define CONTAINERS_ROW(table, known)                                                               \
    {                                                                                              \
        .name = "containerConfiguration", .kind = FIELD_OBJECT, .flags = FIELD_POINTER,            \
        .versions = (known), .sub = &(table), INTO_POINTER(struct batch_pool_spec, containers)     \
    }
static const struct field vm_rows[] = {
    {.name = "imageReference",
     .kind = FIELD_OBJECT,
     .flags = FIELD_REQUIRED,
     .sub = &schema_batch_image},
    {BATCH_TEXT("nodeAgentSKUId", FIELD_REQUIRED, 1, 256)},
    OBJECT_ROW("windowsConfiguration", schema_windows, 0),
    {.name = "dataDisks", .kind = FIELD_ARRAY, .sub = &schema_data_disk, .max = MAX_DISKS},
    {BATCH_TEXT("licenseType", 0, 0, 64)},
    CONTAINERS_ROW(schema_old_containers, BATCH_UNTIL(BATCH_6_1)),
    CONTAINERS_ROW(schema_containers, BATCH_SINCE(BATCH_7_0)),
    OBJECT_ROW("diskEncryptionConfiguration", schema_encryption, BATCH_SINCE(BATCH_11_0)),
    OBJECT_ROW("nodePlacementConfiguration", schema_placement, BATCH_SINCE(BATCH_14_0)),
    {.name = "extensions",
     .kind = FIELD_ARRAY,
     .versions = BATCH_SINCE(BATCH_14_0),
     .sub = &schema_extension,
     .max = 32},
    OBJECT_ROW("osDisk", schema_os_disk, 0),
    OBJECT_ROW("securityProfile", schema_security, BATCH_SINCE(BATCH_18_0)),
    OBJECT_ROW("serviceArtifactReference", schema_artifact, BATCH_SINCE(BATCH_18_0)),
};

/* The image decides which agents can be. */
static int check_vm(json_t *obj, const char *path, struct err *e)
{
    const json_t *i = json_object_get(obj, "imageReference");
    const char *agent = text_of(obj, "nodeAgentSKUId");
    const struct batch_image *image =
        batch_image_find(text_of(i, "publisher"), text_of(i, "offer"), text_of(i, "sku"));
    char target[PLACE_SIZE];
    path_join(target, path, "nodeAgentSKUId");
    if (strncasecmp(agent, "batch.node.", strlen("batch.node.")) != 0)
        return err_set(e, ERR_INVALID_PROPERTY, target,
                       "%s is \"%s\"; it must be one of those that images are listed with", target,
                       agent);
    if (!image || strcasecmp(agent, image->agent) == 0)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, target,
                   "The specified nodeAgentSKUId %s cannot be used with the image %s %s %s; it has "
                   "%s.",
                   agent, image->publisher, image->offer, image->sku, image->agent);
}

SCHEMA_INTO(schema_batch_vm, "VirtualMachineConfiguration", vm_rows, check_vm,
            struct batch_pool_spec, NULL);

static const struct field cloud_rows[] = {
    {BATCH_TEXT("osFamily", FIELD_REQUIRED, 1, 8)},
    {BATCH_TEXT("targetOSVersion", 0, 0, 64), .canon = "osVersion",
     .versions = BATCH_UNTIL(BATCH_7_0), .fallback = "\"*\""},
    {.name = "currentOSVersion",
     .kind = FIELD_STRING,
     .flags = FIELD_READONLY,
     .versions = BATCH_UNTIL(BATCH_7_0)},
    {BATCH_TEXT("osVersion", 0, 0, 64), .versions = BATCH_SINCE(BATCH_8_0), .fallback = "\"*\""},
};
SCHEMA(schema_batch_cloud_service, "CloudServiceConfiguration", cloud_rows, NULL);

/* --- networks -------------------------------------------------------------------------------- */

static const struct field rule_rows[] = {
    INT_ROW("priority", FIELD_REQUIRED, 150, 4096),
    ENUM_REQUIRED("access", access_names),
    {BATCH_TEXT("sourceAddressPrefix", FIELD_REQUIRED, 1, 256)},
    {.name = "sourcePortRanges",
     .kind = FIELD_STRINGS,
     .versions = BATCH_SINCE(BATCH_9_0),
     .max = 100,
     .fallback = "[\"*\"]"},
};
static SCHEMA(schema_rule, "NetworkSecurityGroupRule", rule_rows, NULL);

static const struct field nat_rows[] = {
    {BATCH_TEXT("name", FIELD_REQUIRED, 1, 77)},
    ENUM_REQUIRED("protocol", protocol_names),
    INT_ROW("backendPort", FIELD_REQUIRED, 1, MAX_PORT),
    INT_ROW("frontendPortRangeStart", FIELD_REQUIRED, 1, MAX_PORT),
    INT_ROW("frontendPortRangeEnd", FIELD_REQUIRED, 1, MAX_PORT),
    {.name = "networkSecurityGroupRules",
     .kind = FIELD_ARRAY,
     .sub = &schema_rule,
     .max = MAX_RULES},
};
static SCHEMA(schema_nat, "InboundNATPool", nat_rows, NULL);

static const struct field endpoint_rows[] = {
    {.name = "inboundNATPools",
     .kind = FIELD_ARRAY,
     .flags = FIELD_REQUIRED,
     .sub = &schema_nat,
     .max = MAX_NAT_POOLS},
};
static SCHEMA(schema_endpoint, "PoolEndpointConfiguration", endpoint_rows, NULL);

static const struct field public_ip_rows[] = {
    ENUM_ROW("provision", provision_names, "\"batchmanaged\""),
    TEXTS_ROW("ipAddressIds", 0, 100),
};
static SCHEMA(schema_public_ip, "PublicIPAddressConfiguration", public_ip_rows, NULL);

static const struct field network_rows[] = {
    {BATCH_TEXT("subnetId", 0, 0, MAX_ID_BYTES)},
    {.name = "dynamicVNetAssignmentScope",
     .kind = FIELD_ENUM,
     .versions = BATCH_SINCE(BATCH_8_0),
     .values = assignment_names,
     .fallback = "\"none\""},
    OBJECT_ROW("endpointConfiguration", schema_endpoint, 0),
    {.name = "publicIPs", .kind = FIELD_STRINGS, .versions = BATCH_10_0, .max = 100},
    OBJECT_ROW("publicIPAddressConfiguration", schema_public_ip, BATCH_SINCE(BATCH_11_0)),
    {.name = "enableAcceleratedNetworking",
     .kind = FIELD_BOOL,
     .versions = BATCH_SINCE(BATCH_17_0)},
};
SCHEMA(schema_batch_network, "NetworkConfiguration", network_rows, NULL);

/* --- mounts ---------------------------------------------------------------------------------- */

#define MOUNT_PATH                                                                                 \
    {                                                                                              \
        BATCH_TEXT("relativeMountPath", FIELD_REQUIRED, 1, 1024),                                  \
            .check = check_mount_path, INTO_TEXT(struct batch_mount, path)                         \
    }
#define MOUNT_OPTIONS(label)                                                                       \
    {                                                                                              \
        BATCH_TEXT(label, 0, 0, 4096), .check = check_clean_text,                                  \
                                       INTO_TEXT(struct batch_mount, options)                      \
    }
#define MOUNT_ACCOUNT                                                                              \
    {                                                                                              \
        BATCH_TEXT("accountName", FIELD_REQUIRED, 1, ACCOUNT_NAME_MAX),                            \
            .check = check_account_name, INTO_TEXT(struct batch_mount, account)                    \
    }

static const struct field blob_mount_rows[] = {
    MOUNT_ACCOUNT,
    {BATCH_TEXT("containerName", FIELD_REQUIRED, 1, 63), INTO_TEXT(struct batch_mount, container)},
    {BATCH_TEXT("accountKey", FIELD_SECRET, 0, 4096), INTO_TEXT(struct batch_mount, key)},
    {BATCH_TEXT("sasKey", FIELD_SECRET, 0, BATCH_MAX_URL), INTO_TEXT(struct batch_mount, sas)},
    MOUNT_OPTIONS("blobfuseOptions"),
    MOUNT_PATH,
    OBJECT_ROW("identityReference", schema_batch_identity, BATCH_SINCE(BATCH_14_0)),
};

static int check_blob_mount(json_t *obj, const char *path, struct err *e)
{
    int keys = has(obj, "accountKey") + has(obj, "sasKey") + has(obj, "identityReference") +
               (json_object_get(obj, "identityReference") != NULL);
    if (keys <= 1)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s has more than one of accountKey, sasKey and identityReference", path);
}

static SCHEMA_INTO(schema_blob_mount, "AzureBlobFileSystemConfiguration", blob_mount_rows,
                   check_blob_mount, struct batch_mount, NULL);

static const struct field file_mount_rows[] = {
    MOUNT_ACCOUNT,
    {BATCH_TEXT("azureFileUrl", FIELD_REQUIRED, 1, MAX_URL_BYTES), .check = check_share_url,
     INTO_TEXT(struct batch_mount, url)},
    {BATCH_TEXT("accountKey", FIELD_REQUIRED | FIELD_SECRET, 0, 4096),
     INTO_TEXT(struct batch_mount, key)},
    MOUNT_PATH,
    MOUNT_OPTIONS("mountOptions"),
};
static SCHEMA_INTO(schema_file_mount, "AzureFileShareConfiguration", file_mount_rows, NULL,
                   struct batch_mount, NULL);

static const struct field nfs_mount_rows[] = {
    {BATCH_TEXT("source", FIELD_REQUIRED, 1, MAX_PATH_BYTES), .check = check_clean_text,
     INTO_TEXT(struct batch_mount, nfs)},
    MOUNT_PATH,
    MOUNT_OPTIONS("mountOptions"),
};
static SCHEMA_INTO(schema_nfs_mount, "NFSMountConfiguration", nfs_mount_rows, NULL,
                   struct batch_mount, NULL);

static const struct field cifs_mount_rows[] = {
    {BATCH_TEXT("username", FIELD_REQUIRED, 1, 256), .check = check_clean_text,
     INTO_TEXT(struct batch_mount, user)},
    {BATCH_TEXT("source", FIELD_REQUIRED, 1, MAX_PATH_BYTES), .check = check_clean_text,
     INTO_TEXT(struct batch_mount, cifs)},
    MOUNT_PATH,
    MOUNT_OPTIONS("mountOptions"),
    {BATCH_TEXT("password", FIELD_REQUIRED | FIELD_SECRET, 0, 4096),
     INTO_TEXT(struct batch_mount, password)},
};
static SCHEMA_INTO(schema_cifs_mount, "CIFSMountConfiguration", cifs_mount_rows, NULL,
                   struct batch_mount, NULL);

static int check_mount(json_t *obj, const char *path, struct err *e)
{
    if (json_object_size(obj) == 1)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s has %zu mounts; it must have one of azureBlobFileSystemConfiguration, "
                   "azureFileShareConfiguration, nfsMountConfiguration and cifsMountConfiguration",
                   path, json_object_size(obj));
}

#define MOUNT_KIND(label, table)                                                                   \
    {                                                                                              \
        .name = (label), .kind = FIELD_OBJECT, .sub = &(table), INTO_SAME                          \
    }
static const struct field mount_rows[] = {
    MOUNT_KIND("azureBlobFileSystemConfiguration", schema_blob_mount),
    MOUNT_KIND("nfsMountConfiguration", schema_nfs_mount),
    MOUNT_KIND("cifsMountConfiguration", schema_cifs_mount),
    MOUNT_KIND("azureFileShareConfiguration", schema_file_mount),
};
SCHEMA_INTO(schema_batch_mount, "MountConfiguration", mount_rows, check_mount, struct batch_mount,
            NULL);

/* --- upgrades and identities ----------------------------------------------------------------- */

static const struct field automatic_rows[] = {
    BOOL_ROW("disableAutomaticRollback"),
    BOOL_ROW("enableAutomaticOSUpgrade"),
    BOOL_ROW("useRollingUpgradePolicy"),
    BOOL_ROW("osRollingUpgradeDeferral"),
};
static SCHEMA(schema_automatic, "AutomaticOSUpgradePolicy", automatic_rows, NULL);

static const struct field rolling_rows[] = {
    BOOL_ROW("enableCrossZoneUpgrade"),
    INT_ROW("maxBatchInstancePercent", 0, 5, 100),
    INT_ROW("maxUnhealthyInstancePercent", 0, 5, 100),
    INT_ROW("maxUnhealthyUpgradedInstancePercent", 0, 0, 100),
    {.name = "pauseTimeBetweenBatches", .kind = FIELD_DURATION},
    BOOL_ROW("prioritizeUnhealthyInstances"),
    BOOL_ROW("rollbackFailedInstancesOnPolicyBreach"),
};
static SCHEMA(schema_rolling, "RollingUpgradePolicy", rolling_rows, NULL);

static const struct field upgrade_rows[] = {
    ENUM_REQUIRED("mode", upgrade_names),
    OBJECT_ROW("automaticOSUpgradePolicy", schema_automatic, 0),
    OBJECT_ROW("rollingUpgradePolicy", schema_rolling, 0),
};
SCHEMA(schema_batch_upgrade_policy, "UpgradePolicy", upgrade_rows, NULL);

static const struct field user_identity_rows[] = {
    {BATCH_TEXT("resourceId", FIELD_REQUIRED, 1, MAX_ID_BYTES)},
    BATCH_READ_ONLY("clientId", FIELD_STRING),
    BATCH_READ_ONLY("principalId", FIELD_STRING),
};
static SCHEMA(schema_user_identity, "UserAssignedIdentity", user_identity_rows, NULL);

static const struct field pool_identity_rows[] = {
    ENUM_REQUIRED("type", identity_names),
    {.name = "userAssignedIdentities",
     .kind = FIELD_ARRAY,
     .sub = &schema_user_identity,
     .max = 100},
};
SCHEMA(schema_batch_pool_identity, "BatchPoolIdentity", pool_identity_rows, NULL);
