/* SPDX-License-Identifier: MIT
 *
 * The machines of pools of Azure Batch: images, disks, networks, mounts.
 */
#include "model/batch/tables_vm.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/strbuf.h"
#include "model/batch/images.h"
#include "model/batch/pool_spec.h"
#include "model/batch/tables.h"
#include "model/batch/tables_pool.h"
#include "model/schema/tables.h"

#define NEWEST BATCH_SINCE(BATCH_2025_06)
#define OLDER  BATCH_UNTIL(BATCH_20_0)

#define MAX_DISKS     64
#define MAX_DISK_GB   32768
#define MAX_NAT_POOLS 5
#define MAX_RULES     25
#define MAX_PORT      65535

/* If a value has several names, replies contain the first one in the table. */
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
static const struct enum_name disk_placement_names[] = {{1, "cachedisk"}, {0, NULL}},
                              old_disk_placement_names[] = {{1, "CacheDisk"}, {0, NULL}};
static const struct enum_name security_names[] = {
    {1, "trustedLaunch"}, {2, "confidentialvm"}, {0, NULL}};
static const struct enum_name old_security_names[] = {
    {1, "trustedLaunch"}, {2, "confidentialVM"}, {0, NULL}};
static const struct enum_name upgrade_names[] = {
    {1, "automatic"}, {2, "manual"}, {3, "rolling"}, {0, NULL}};
static const struct enum_name identity_names[] = {{1, "UserAssigned"}, {2, "None"}, {0, NULL}};
static const struct enum_name disk_security_names[] = {
    {1, "NonPersistedTPM"}, {2, "VMGuestStateOnly"}, {3, "DiskWithVMGuestState"}, {0, NULL}};
static const struct enum_name old_disk_security_names[] = {
    {1, "NonPersistedTPM"}, {2, "VMGuestStateOnly"}, {0, NULL}};
static const struct enum_name agent_mode_names[] = {{1, "Audit"}, {2, "Enforce"}, {0, NULL}};
static const struct enum_name ip_family_names[] = {{1, "IPv4"}, {2, "IPv6"}, {0, NULL}};

/* --- images ---------------------------------------------------------------------------------- */

/* Extensions are never installed. A pool may name only these extensions, whose absence no task
 * notices: drivers, because the machine has its own, and agents that report to a monitoring service
 * of Azure. All other extensions are refused, because the node would lack them. Settings of
 * extensions are refused, because nothing would use them. */
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
    return err_set(
        e, ERR_INVALID_PROPERTY, path,
        "%s is the extension \"%.100s\" of \"%.100s\"; nodes run no extensions; only extensions "
        "for drivers and for monitoring by Azure are accepted, and they have no effect",
        path, type ? type : "", publisher ? publisher : "");
}

int batch_check_extension_settings(const json_t *settings, const char *path, struct err *e)
{
    if (json_object_size(settings) == 0)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s is not empty; nodes run no extensions, so it would have no effect", path);
}

/* Checks the resource id of an image in a subscription, or in a gallery of a subscription. */
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
    TEXT("publisher", .max = 256),
    TEXT("offer", .max = 256),
    TEXT("sku", .max = 256),
    TEXT("version", .max = 256),
    TEXT("virtualMachineImageId", .max = MAX_ID_BYTES, .check = check_image_id),
    TEXT("exactVersion", READONLY, .versions = BATCH_SINCE(BATCH_14_0)),
    TEXT("sharedGalleryImageId", .versions = BATCH_SINCE(BATCH_20_0), .max = MAX_ID_BYTES),
    TEXT("communityGalleryImageId", .versions = BATCH_SINCE(BATCH_20_0), .max = MAX_ID_BYTES),
};

static const char *text_of(const json_t *obj, const char *name)
{
    const char *s = json_string_value(json_object_get(obj, name));
    return s ? s : "";
}

/* Sets an error whose message lists the SKUs of the offer, or says where the list of images is. */
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
            skus.len ? skus.s : "`az batch pool supported-images list` lists the images.");
    strbuf_free(&skus);
    return -1;
}

/* Checks that the body names either an image of the table in images.c, or one custom image by its
 * id; nothing is known about the content of custom images. */
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

SCHEMA(schema_batch_image, image_rows, "ImageReference", .check = check_image_reference);

/* --- machines -------------------------------------------------------------------------------- */

static const struct field windows_rows[] = {BOOL("enableAutomaticUpdates")};
static SCHEMA(schema_windows, windows_rows, "WindowsConfiguration");

static const struct field ephemeral_rows[] = {
    ENUM("placement", 0, old_disk_placement_names, .versions = OLDER),
    ENUM("placement", 0, disk_placement_names, .versions = NEWEST),
};
static SCHEMA(schema_ephemeral, ephemeral_rows, "DiffDiskSettings");
static const struct field encryption_set_rows[] = {TEXT("id", REQUIRED, 1, MAX_ID_BYTES)};
static SCHEMA(schema_encryption_set, encryption_set_rows, "DiskEncryptionSetParameters");
static const struct field disk_security_rows[] = {
    ENUM("securityEncryptionType", 0, old_disk_security_names, .versions = OLDER),
    ENUM("securityEncryptionType", 0, disk_security_names, .versions = NEWEST),
    OBJECT("diskEncryptionSet", 0, schema_encryption_set, .versions = BATCH_MANAGED | BATCH_SEEDED),
};
static SCHEMA(schema_disk_security, disk_security_rows, "VMDiskSecurityProfile");
static const struct field managed_rows[] = {
    ENUM("storageAccountType", 0, disk_type_names),
    OBJECT("securityProfile", 0, schema_disk_security, .versions = BATCH_SINCE(BATCH_20_0)),
    OBJECT("diskEncryptionSet", 0, schema_encryption_set, .versions = NEWEST),
};
static SCHEMA(schema_managed, managed_rows, "ManagedDisk");

static const struct field data_disk_rows[] = {
    INT("lun", REQUIRED, .max = 63),
    ENUM("caching", 0, caching_names, .fallback = "\"none\""),
    INT("diskSizeGB", REQUIRED, 1, MAX_DISK_GB),
    ENUM("storageAccountType", 0, disk_type_names, .versions = OLDER,
         .fallback = "\"standard_lrs\""),
    ENUM("storageAccountType", INPUT_ONLY, disk_type_names, .versions = BATCH_SEEDED),
    OBJECT("managedDisk", 0, schema_managed, .versions = NEWEST),
};

/* Writes the type of the disk into the document twice: in the form of older versions and in the
 * present form. */
static int keep_both_types(json_t *disk, const char *path, struct err *e)
{
    const json_t *managed = json_object_get(disk, "managedDisk");
    json_t *type = json_object_get(disk, "storageAccountType");
    (void)path;
    (void)e;
    if (type && !managed)
        json_object_set_new_nocheck(disk, "managedDisk",
                                    json_pack("{s:O}", "storageAccountType", type));
    else if (!type && json_object_get(managed, "storageAccountType"))
        json_object_set_nocheck(disk, "storageAccountType",
                                json_object_get(managed, "storageAccountType"));
    else if (!type)
        json_object_set_new_nocheck(disk, "storageAccountType", json_string("standard_lrs"));
    return 0;
}

static SCHEMA(schema_data_disk, data_disk_rows, "DataDisk", .check = keep_both_types);

#define MAX_IMAGE_BYTES 1024

/* Checks each image with check_image(). */
static int check_images(const json_t *list, const char *path, struct err *e)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        char at[160]; /* the size of err.target */
        snprintf(at, sizeof at, "%.*s[%zu]", (int)sizeof at - 24, path, i);
        size_t n = json_string_length(one);
        if (n == 0 || n > MAX_IMAGE_BYTES)
            return err_set(e, ERR_INVALID_PROPERTY, at,
                           "%s has %zu bytes; the name of an image has 1 to %d", at, n,
                           MAX_IMAGE_BYTES);
        if (check_image(one, at, e) < 0)
            return -1;
    }
    return 0;
}

/* clang-format off */
#define CONTAINER_ROWS(names)                                                                      \
    ENUM("type", REQUIRED, names),                                                                 \
    TEXTS("containerImageNames", .max = MAX_ITEMS, .check = check_images),                         \
    LIST("containerRegistries", 0, schema_batch_registry, .max = 100,                              \
         INTO_LIST(batch_pool_containers, registries, n_registries))
/* clang-format on */

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
static SCHEMA(schema_containers, containers_rows, "ContainerConfiguration",
              FILLS(batch_pool_containers), .finish = finish_containers);
static const struct field old_containers_rows[] = {CONTAINER_ROWS(old_container_type_names)};
static SCHEMA(schema_old_containers, old_containers_rows, "ContainerConfiguration",
              FILLS(batch_pool_containers), .finish = finish_containers);

static const struct field key_identity_rows[] = {TEXT("resourceId", .max = MAX_ID_BYTES)};
static SCHEMA(schema_key_identity, key_identity_rows, "BatchPoolIdentityReference");
static const struct field disk_key_rows[] = {
    OBJECT("identityReference", 0, schema_key_identity),
    TEXT("keyUrl", .max = BATCH_MAX_URL),
    BOOL("rotationToLatestKeyVersionEnabled"),
};

/* Refuses an encryption key for disks: Azure reads it with a managed identity of the pool, and
 * these pools have none. */
static int refuse_disk_key(json_t *obj, const char *path, struct err *e)
{
    (void)obj;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s is for pools with a managed identity, and pools here have none; disks are "
                   "encrypted by their machine",
                   path);
}

static SCHEMA(schema_disk_key, disk_key_rows, "DiskCustomerManagedKey", .check = refuse_disk_key);
static const struct field encryption_rows[] = {
    OBJECT("customerManagedKey", 0, schema_disk_key, .versions = NEWEST),
    TEXTS("targets", .max = 2, .values = target_names),
};
static SCHEMA(schema_encryption, encryption_rows, "DiskEncryptionConfiguration");

static const struct field placement_rows[] = {
    ENUM("policy", 0, placement_names, .fallback = "\"regional\""),
};
static SCHEMA(schema_placement, placement_rows, "NodePlacementConfiguration");

static const struct field extension_rows[] = {
    TEXT("name", REQUIRED, 1, 256),
    TEXT("publisher", REQUIRED, 1, 256),
    TEXT("type", REQUIRED, 1, 256),
    TEXT("typeHandlerVersion", .max = 64),
    BOOL("autoUpgradeMinorVersion"),
    BOOL("enableAutomaticUpgrade", .versions = BATCH_SINCE(BATCH_17_0)),
    FREE("settings", .check = batch_check_extension_settings),
    FREE("protectedSettings", .check = batch_check_extension_settings),
    TEXTS("provisionAfterExtensions", .max = 100),
};
static SCHEMA(schema_extension, extension_rows, "VMExtension", .check = batch_check_extension);

static const struct field os_disk_rows[] = {
    ENUM("caching", 0, caching_names, .versions = BATCH_UNTIL(BATCH_7_0),
         .fallback = "\"readwrite\""),
    ENUM("caching", 0, caching_names, .versions = BATCH_SINCE(BATCH_8_0)),
    OBJECT("ephemeralOSDiskSettings", 0, schema_ephemeral, .versions = BATCH_SINCE(BATCH_14_0)),
    INT("diskSizeGB", 0, 1, MAX_DISK_GB, .versions = BATCH_SINCE(BATCH_18_0)),
    OBJECT("managedDisk", 0, schema_managed, .versions = BATCH_SINCE(BATCH_18_0)),
    BOOL("writeAcceleratorEnabled", .versions = BATCH_SINCE(BATCH_18_0)),
};
static SCHEMA(schema_os_disk, os_disk_rows, "OSDisk");

static const struct field uefi_rows[] = {BOOL("secureBootEnabled"), BOOL("vTpmEnabled")};
static SCHEMA(schema_uefi, uefi_rows, "UefiSettings");

static const struct field host_endpoint_rows[] = {
    ENUM("mode", 0, agent_mode_names),
    TEXT("inVMAccessControlProfileReferenceId", .max = MAX_ID_BYTES),
};

static int check_host_endpoint(json_t *obj, const char *path, struct err *e)
{
    if (!has(obj, "mode") || !has(obj, "inVMAccessControlProfileReferenceId"))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s has a mode and an inVMAccessControlProfileReferenceId; it must have one",
                   path);
}

static SCHEMA(schema_host_endpoint, host_endpoint_rows, "HostEndpointSettings",
              .check = check_host_endpoint);
static const struct field proxy_agent_rows[] = {
    BOOL("enabled", .fallback = "false"),
    OBJECT("imds", 0, schema_host_endpoint),
    OBJECT("wireServer", 0, schema_host_endpoint),
};
static SCHEMA(schema_proxy_agent, proxy_agent_rows, "ProxyAgentSettings");
static const struct field security_rows[] = {
    ENUM("securityType", 0, old_security_names, .versions = OLDER),
    ENUM("securityType", 0, security_names, .versions = NEWEST),
    BOOL("encryptionAtHost"),
    OBJECT("uefiSettings", 0, schema_uefi),
    OBJECT("proxyAgentSettings", 0, schema_proxy_agent, .versions = NEWEST),
};
static SCHEMA(schema_security, security_rows, "SecurityProfile");
static const struct field artifact_rows[] = {TEXT("id", REQUIRED, 1, MAX_ID_BYTES)};
static SCHEMA(schema_artifact, artifact_rows, "ServiceArtifactReference");

static const struct field vm_rows[] = {
    OBJECT("imageReference", REQUIRED, schema_batch_image),
    TEXT("nodeAgentSKUId", REQUIRED, 1, 256),
    OBJECT("windowsConfiguration", 0, schema_windows),
    LIST("dataDisks", 0, schema_data_disk, .max = MAX_DISKS),
    TEXT("licenseType", .max = 64),
    OBJECT("containerConfiguration", POINTER, schema_old_containers,
           .versions = BATCH_UNTIL(BATCH_6_1), INTO(batch_pool_spec, containers)),
    OBJECT("containerConfiguration", POINTER, schema_containers, .versions = BATCH_SINCE(BATCH_7_0),
           INTO(batch_pool_spec, containers)),
    OBJECT("diskEncryptionConfiguration", 0, schema_encryption,
           .versions = BATCH_SINCE(BATCH_11_0)),
    OBJECT("nodePlacementConfiguration", 0, schema_placement, .versions = BATCH_SINCE(BATCH_14_0)),
    LIST("extensions", 0, schema_extension, .versions = BATCH_SINCE(BATCH_14_0), .max = 32),
    OBJECT("osDisk", 0, schema_os_disk),
    OBJECT("securityProfile", 0, schema_security, .versions = BATCH_SINCE(BATCH_18_0)),
    OBJECT("serviceArtifactReference", 0, schema_artifact, .versions = BATCH_SINCE(BATCH_18_0)),
};

/* Checks that the agent is the agent of the image. With a custom image, any batch.node agent is
 * permitted. */
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

SCHEMA(schema_batch_vm, vm_rows, "VirtualMachineConfiguration", .check = check_vm,
       FILLS(batch_pool_spec));

static const struct field cloud_rows[] = {
    TEXT("osFamily", REQUIRED, 1, 8),
    TEXT("targetOSVersion", .canon = "osVersion", .versions = BATCH_UNTIL(BATCH_7_0), .max = 64,
         .fallback = "\"*\""),
    TEXT("currentOSVersion", READONLY, .versions = BATCH_UNTIL(BATCH_7_0)),
    TEXT("osVersion", .versions = BATCH_SINCE(BATCH_8_0), .max = 64, .fallback = "\"*\""),
};
SCHEMA(schema_batch_cloud_service, cloud_rows, "CloudServiceConfiguration");

/* --- networks -------------------------------------------------------------------------------- */

static const struct field rule_rows[] = {
    INT("priority", REQUIRED, 150, 4096),
    ENUM("access", REQUIRED, access_names),
    TEXT("sourceAddressPrefix", REQUIRED, 1, 256),
    TEXTS("sourcePortRanges", .versions = BATCH_SINCE(BATCH_9_0), .max = 100,
          .fallback = "[\"*\"]"),
};
static SCHEMA(schema_rule, rule_rows, "NetworkSecurityGroupRule");

static const struct field nat_rows[] = {
    TEXT("name", REQUIRED, 1, 77),
    ENUM("protocol", REQUIRED, protocol_names),
    INT("backendPort", REQUIRED, 1, MAX_PORT),
    INT("frontendPortRangeStart", REQUIRED, 1, MAX_PORT),
    INT("frontendPortRangeEnd", REQUIRED, 1, MAX_PORT),
    LIST("networkSecurityGroupRules", 0, schema_rule, .max = MAX_RULES),
};
static SCHEMA(schema_nat, nat_rows, "InboundNATPool");

static const struct field endpoint_rows[] = {
    LIST("inboundNATPools", REQUIRED, schema_nat, .max = MAX_NAT_POOLS),
};
static SCHEMA(schema_endpoint, endpoint_rows, "PoolEndpointConfiguration");

static const struct field ip_tag_rows[] = {TEXT("ipTagType", .max = 256), TEXT("tag", .max = 256)};
static SCHEMA(schema_ip_tag, ip_tag_rows, "IPTag");
static const struct field public_ip_rows[] = {
    ENUM("provision", 0, provision_names, .fallback = "\"batchmanaged\""),
    TEXTS("ipFamilies", .versions = NEWEST, .max = 2, .values = ip_family_names),
    TEXTS("ipAddressIds", .max = 100),
    LIST("ipTags", 0, schema_ip_tag, .versions = NEWEST, .max = 100),
};
static SCHEMA(schema_public_ip, public_ip_rows, "PublicIPAddressConfiguration");

static const struct field network_rows[] = {
    TEXT("subnetId", .max = MAX_ID_BYTES),
    ENUM("dynamicVNetAssignmentScope", 0, assignment_names, .versions = BATCH_SINCE(BATCH_8_0),
         .fallback = "\"none\""),
    OBJECT("endpointConfiguration", 0, schema_endpoint),
    TEXTS("publicIPs", .versions = BATCH_10_0, .max = 100),
    OBJECT("publicIPAddressConfiguration", 0, schema_public_ip,
           .versions = BATCH_SINCE(BATCH_11_0)),
    BOOL("enableAcceleratedNetworking", .versions = BATCH_SINCE(BATCH_17_0)),
};
SCHEMA(schema_batch_network, network_rows, "NetworkConfiguration");

/* --- mounts ---------------------------------------------------------------------------------- */

#define MOUNT_PATH                                                                                 \
    TEXT("relativeMountPath", REQUIRED, 1, 1024, .check = check_mount_path, INTO(batch_mount, path))
#define MOUNT_ACCOUNT                                                                              \
    TEXT("accountName", REQUIRED, 1, ACCOUNT_NAME_MAX, .check = check_account_name,                \
         INTO(batch_mount, account))

static const struct field blob_mount_rows[] = {
    MOUNT_ACCOUNT,
    TEXT("containerName", REQUIRED, 1, 63, INTO(batch_mount, container)),
    TEXT("accountKey", SECRET, .max = 4096, INTO(batch_mount, key)),
    TEXT("sasKey", SECRET, .max = BATCH_MAX_URL, INTO(batch_mount, sas)),
    TEXT("blobfuseOptions", .max = 4096, .check = check_clean_text, INTO(batch_mount, options)),
    MOUNT_PATH,
    OBJECT("identityReference", 0, schema_batch_identity, .versions = BATCH_SINCE(BATCH_14_0)),
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

static SCHEMA(schema_blob_mount, blob_mount_rows, "AzureBlobFileSystemConfiguration",
              .check = check_blob_mount, FILLS(batch_mount));

static const struct field file_mount_rows[] = {
    MOUNT_ACCOUNT,
    TEXT("azureFileUrl", REQUIRED, 1, MAX_URL_BYTES, .check = check_share_url,
         INTO(batch_mount, url)),
    TEXT("accountKey", REQUIRED | SECRET, .max = 4096, INTO(batch_mount, key)),
    MOUNT_PATH,
    TEXT("mountOptions", .max = 4096, .check = check_clean_text, INTO(batch_mount, options)),
};
static SCHEMA(schema_file_mount, file_mount_rows, "AzureFileShareConfiguration",
              FILLS(batch_mount));

static const struct field nfs_mount_rows[] = {
    TEXT("source", REQUIRED, 1, MAX_PATH_BYTES, .check = check_clean_text, INTO(batch_mount, nfs)),
    MOUNT_PATH,
    TEXT("mountOptions", .max = 4096, .check = check_clean_text, INTO(batch_mount, options)),
};
static SCHEMA(schema_nfs_mount, nfs_mount_rows, "NFSMountConfiguration", FILLS(batch_mount));

static const struct field cifs_mount_rows[] = {
    TEXT("username", REQUIRED, 1, 256, .check = check_clean_text, INTO(batch_mount, user)),
    TEXT("source", REQUIRED, 1, MAX_PATH_BYTES, .check = check_clean_text, INTO(batch_mount, cifs)),
    MOUNT_PATH,
    TEXT("mountOptions", .max = 4096, .check = check_clean_text, INTO(batch_mount, options)),
    TEXT("password", REQUIRED | SECRET, .max = 4096, INTO(batch_mount, password)),
};
static SCHEMA(schema_cifs_mount, cifs_mount_rows, "CIFSMountConfiguration", FILLS(batch_mount));

static int check_mount(json_t *obj, const char *path, struct err *e)
{
    if (json_object_size(obj) == 1)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s has %zu mounts; it must have one of azureBlobFileSystemConfiguration, "
                   "azureFileShareConfiguration, nfsMountConfiguration and cifsMountConfiguration",
                   path, json_object_size(obj));
}

static const struct field mount_rows[] = {
    OBJECT("azureBlobFileSystemConfiguration", 0, schema_blob_mount, INTO_SAME),
    OBJECT("nfsMountConfiguration", 0, schema_nfs_mount, INTO_SAME),
    OBJECT("cifsMountConfiguration", 0, schema_cifs_mount, INTO_SAME),
    OBJECT("azureFileShareConfiguration", 0, schema_file_mount, INTO_SAME),
};
SCHEMA(schema_batch_mount, mount_rows, "MountConfiguration", .check = check_mount,
       FILLS(batch_mount));

/* --- upgrades and identities ----------------------------------------------------------------- */

static const struct field automatic_rows[] = {
    BOOL("disableAutomaticRollback"),
    BOOL("enableAutomaticOSUpgrade"),
    BOOL("useRollingUpgradePolicy"),
    BOOL("osRollingUpgradeDeferral"),
};
static SCHEMA(schema_automatic, automatic_rows, "AutomaticOSUpgradePolicy");

static const struct field rolling_rows[] = {
    BOOL("enableCrossZoneUpgrade"),
    INT("maxBatchInstancePercent", 0, 5, 100),
    INT("maxUnhealthyInstancePercent", 0, 5, 100),
    INT("maxUnhealthyUpgradedInstancePercent", .max = 100),
    SPAN("pauseTimeBetweenBatches"),
    BOOL("prioritizeUnhealthyInstances"),
    BOOL("rollbackFailedInstancesOnPolicyBreach"),
};
static SCHEMA(schema_rolling, rolling_rows, "RollingUpgradePolicy");

static const struct field upgrade_rows[] = {
    ENUM("mode", REQUIRED, upgrade_names),
    OBJECT("automaticOSUpgradePolicy", 0, schema_automatic),
    OBJECT("rollingUpgradePolicy", 0, schema_rolling),
};
SCHEMA(schema_batch_upgrade_policy, upgrade_rows, "UpgradePolicy");

static const struct field user_identity_rows[] = {
    TEXT("resourceId", REQUIRED, 1, MAX_ID_BYTES),
    TEXT("clientId", READONLY),
    TEXT("principalId", READONLY),
};
static SCHEMA(schema_user_identity, user_identity_rows, "UserAssignedIdentity");

static const struct field pool_identity_rows[] = {
    ENUM("type", REQUIRED, identity_names),
    LIST("userAssignedIdentities", 0, schema_user_identity, .max = 100),
};
SCHEMA(schema_batch_pool_identity, pool_identity_rows, "BatchPoolIdentity");
