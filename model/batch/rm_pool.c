/* SPDX-License-Identifier: MIT
 *
 * Pools as the resource manager speaks of them: names, words and versions of properties. Their
 * canonical names are the data plane's, whose tables (tables_pool.c) check what is in them; only
 * the levels between are others here, and rm_words.c turns one into the other.
 */
#include "model/batch/rm.h"
#include "model/batch/tables.h"
#include "model/schema/tables.h"

/* Numbers are these tables' own: documents have words. */
static const struct enum_name elevations[] = {{1, "NonAdmin"}, {2, "Admin"}, {0, NULL}};
static const struct enum_name scopes[] = {{1, "Task"}, {2, "Pool"}, {0, NULL}};
static const struct enum_name work_dirs[] = {
    {1, "TaskWorkingDirectory"}, {2, "ContainerImageDefault"}, {0, NULL}};
static const struct enum_name logins[] = {{1, "Batch"}, {2, "Interactive"}, {0, NULL}};
static const struct enum_name container_types[] = {
    {1, "DockerCompatible"}, {2, "CriCompatible"}, {1, "docker"}, {0, NULL}};
static const struct enum_name cachings[] = {
    {1, "None"}, {2, "ReadOnly"}, {3, "ReadWrite"}, {0, NULL}};
static const struct enum_name disk_types[] = {
    {1, "Standard_LRS"}, {2, "Premium_LRS"}, {3, "StandardSSD_LRS"}, {0, NULL}};
static const struct enum_name visibilities[] = {
    {1, "StartTask"}, {2, "Task"}, {3, "RemoteUser"}, {0, NULL}};
static const struct enum_name targets[] = {{1, "OsDisk"}, {2, "TemporaryDisk"}, {0, NULL}};
static const struct enum_name placements[] = {{1, "Regional"}, {2, "Zonal"}, {0, NULL}};
static const struct enum_name disk_placements[] = {{1, "CacheDisk"}, {0, NULL}};
static const struct enum_name securities[] = {
    {1, "trustedLaunch"}, {2, "confidentialVM"}, {0, NULL}};
static const struct enum_name disk_securities[] = {
    {1, "NonPersistedTPM"}, {2, "VMGuestStateOnly"}, {0, NULL}};
static const struct enum_name protocols[] = {{1, "TCP"}, {2, "UDP"}, {0, NULL}};
static const struct enum_name accesses[] = {{1, "Allow"}, {2, "Deny"}, {0, NULL}};
static const struct enum_name assignments[] = {{1, "none"}, {2, "job"}, {0, NULL}};
static const struct enum_name provisions[] = {
    {1, "BatchManaged"}, {2, "UserManaged"}, {3, "NoPublicIPAddresses"}, {0, NULL}};
static const struct enum_name fills[] = {{1, "Spread"}, {2, "Pack"}, {0, NULL}};
static const struct enum_name stores[] = {{1, "CurrentUser"}, {2, "LocalMachine"}, {0, NULL}};
static const struct enum_name communications[] = {
    {1, "Default"}, {2, "Classic"}, {3, "Simplified"}, {0, NULL}};
static const struct enum_name internode[] = {{1, "Enabled"}, {2, "Disabled"}, {0, NULL}};
static const struct enum_name deallocations[] = {
    {1, "Requeue"}, {2, "Terminate"}, {3, "TaskCompletion"}, {4, "RetainedData"}, {0, NULL}};
static const struct enum_name upgrades[] = {
    {1, "automatic"}, {2, "manual"}, {3, "rolling"}, {0, NULL}};
static const struct enum_name identities[] = {{1, "None"}, {0, NULL}};

/* A row: its name here, its canonical one, the versions that have it (0: all). */
#define ROW(label, own, sort, known)                                                               \
    .name = (label), .canon = (own), .kind = (sort), .versions = (known)
#define TEXT(label)                                                                                \
    {                                                                                              \
        ROW(label, NULL, FIELD_STRING, 0)                                                          \
    }
#define TEXT_IN(label, known)                                                                      \
    {                                                                                              \
        ROW(label, NULL, FIELD_STRING, known)                                                      \
    }
#define TEXT_AS(label, own)                                                                        \
    {                                                                                              \
        ROW(label, own, FIELD_STRING, 0)                                                           \
    }
#define SECRET(label)                                                                              \
    {                                                                                              \
        ROW(label, NULL, FIELD_STRING, 0), .flags = FIELD_SECRET                                   \
    }
#define NUMBER(label)                                                                              \
    {                                                                                              \
        ROW(label, NULL, FIELD_INT, 0), .min = INT32_MIN                                           \
    }
#define TRUTH(label)                                                                               \
    {                                                                                              \
        ROW(label, NULL, FIELD_BOOL, 0)                                                            \
    }
#define TRUTH_IN(label, known)                                                                     \
    {                                                                                              \
        ROW(label, NULL, FIELD_BOOL, known)                                                        \
    }
#define WORD(label, names)                                                                         \
    {                                                                                              \
        ROW(label, NULL, FIELD_ENUM, 0), .values = (names)                                         \
    }
#define WORD_IN(label, names, in)                                                                  \
    {                                                                                              \
        ROW(label, NULL, FIELD_ENUM, in), .values = (names)                                        \
    }
#define TEXTS(label)                                                                               \
    {                                                                                              \
        ROW(label, NULL, FIELD_STRINGS, 0)                                                         \
    }
#define OBJECT(label, table, known)                                                                \
    {                                                                                              \
        ROW(label, NULL, FIELD_OBJECT, known), .sub = &(table)                                     \
    }
#define LIST(label, table, known)                                                                  \
    {                                                                                              \
        ROW(label, NULL, FIELD_ARRAY, known), .sub = &(table)                                      \
    }
#define SHOWN(label, sort)                                                                         \
    {                                                                                              \
        ROW(label, NULL, sort, 0), .flags = FIELD_READONLY                                         \
    }

/* --- start tasks, files, containers ----------------------------------------------------------- */

static const struct field identity_reference_rows[] = {TEXT("resourceId")};
static SCHEMA(identity_reference, "ComputeNodeIdentityReference", identity_reference_rows, NULL);
#define IDENTITY_REFERENCE OBJECT("identityReference", identity_reference, RM_SINCE(RM_2021_06))

static const struct field registry_rows[] = {
    TEXT("registryServer"),
    TEXT("username"),
    SECRET("password"),
    IDENTITY_REFERENCE,
};
static SCHEMA(registry, "ContainerRegistry", registry_rows, NULL);

static const struct field bind_mount_rows[] = {TEXT("source"), TRUTH("isReadOnly")};
static SCHEMA(bind_mount, "ContainerHostBatchBindMountEntry", bind_mount_rows, NULL);

static const struct field container_rows[] = {
    TEXT("containerRunOptions"),
    TEXT("imageName"),
    OBJECT("registry", registry, 0),
    WORD_IN("workingDirectory", work_dirs, RM_SINCE(RM_2019_08)),
    LIST("containerHostBatchBindMounts", bind_mount, RM_SINCE(RM_2024_07)),
};
static SCHEMA(container, "TaskContainerSettings", container_rows, NULL);

static const struct field resource_file_rows[] = {
    {ROW("blobSource", "httpUrl", FIELD_STRING, RM_2017_09)},
    TEXT_IN("autoStorageContainerName", RM_SINCE(RM_2018_12)),
    TEXT_IN("storageContainerUrl", RM_SINCE(RM_2018_12)),
    TEXT_IN("httpUrl", RM_SINCE(RM_2018_12)),
    TEXT_IN("blobPrefix", RM_SINCE(RM_2018_12)),
    TEXT("filePath"),
    TEXT("fileMode"),
    IDENTITY_REFERENCE,
};
static SCHEMA(resource_file, "ResourceFile", resource_file_rows, NULL);

static const struct field auto_user_rows[] = {
    WORD("scope", scopes),
    WORD("elevationLevel", elevations),
};
static SCHEMA(auto_user, "AutoUserSpecification", auto_user_rows, NULL);
static const struct field user_rows[] = {
    TEXT_AS("userName", "username"),
    OBJECT("autoUser", auto_user, 0),
};
static SCHEMA(user, "UserIdentity", user_rows, NULL);

static const struct field env_rows[] = {TEXT("name"), TEXT("value")};
static SCHEMA(env, "EnvironmentSetting", env_rows, NULL);
static SCHEMA(metadata, "MetadataItem", env_rows, NULL);

static const struct field start_task_rows[] = {
    TEXT("commandLine"),
    LIST("resourceFiles", resource_file, 0),
    LIST("environmentSettings", env, 0),
    OBJECT("userIdentity", user, 0),
    NUMBER("maxTaskRetryCount"),
    TRUTH("waitForSuccess"),
    OBJECT("containerSettings", container, RM_SINCE(RM_2018_12)),
};
static SCHEMA(start_task, "StartTask", start_task_rows, NULL);

/* --- users and references --------------------------------------------------------------------- */

static const struct field linux_user_rows[] = {
    NUMBER("uid"),
    NUMBER("gid"),
    SECRET("sshPrivateKey"),
};
static SCHEMA(linux_user, "LinuxUserConfiguration", linux_user_rows, NULL);
static const struct field windows_user_rows[] = {WORD("loginMode", logins)};
static SCHEMA(windows_user, "WindowsUserConfiguration", windows_user_rows, NULL);
static const struct field user_account_rows[] = {
    TEXT("name"),
    SECRET("password"),
    WORD("elevationLevel", elevations),
    OBJECT("linuxUserConfiguration", linux_user, 0),
    OBJECT("windowsUserConfiguration", windows_user, RM_SINCE(RM_2018_12)),
};
static SCHEMA(user_account, "UserAccount", user_account_rows, NULL);

/* By the ids of resources. */
static const struct field certificate_rows[] = {
    {ROW("id", NULL, FIELD_STRING, 0), .flags = FIELD_REQUIRED, .max = MAX_ID_BYTES},
    WORD("storeLocation", stores),
    TEXT("storeName"),
    {ROW("visibility", NULL, FIELD_STRINGS, 0), .values = visibilities},
};
static SCHEMA(certificate, "CertificateReference", certificate_rows, NULL);
static const struct field package_rows[] = {
    {ROW("id", NULL, FIELD_STRING, 0), .flags = FIELD_REQUIRED, .max = MAX_ID_BYTES},
    TEXT("version"),
};
static SCHEMA(package, "ApplicationPackageReference", package_rows, NULL);

/* --- machines --------------------------------------------------------------------------------- */

static const struct field image_rows[] = {
    TEXT("publisher"),
    TEXT("offer"),
    TEXT("sku"),
    TEXT("version"),
    TEXT_AS("id", "virtualMachineImageId"),
    TEXT_IN("sharedGalleryImageId", RM_SINCE(RM_2024_07)),
    TEXT_IN("communityGalleryImageId", RM_SINCE(RM_2024_07)),
};
static SCHEMA(image, "ImageReference", image_rows, NULL);
static const struct field windows_rows[] = {TRUTH("enableAutomaticUpdates")};
static SCHEMA(windows, "WindowsConfiguration", windows_rows, NULL);
static const struct field data_disk_rows[] = {
    NUMBER("lun"),
    WORD("caching", cachings),
    NUMBER("diskSizeGB"),
    WORD("storageAccountType", disk_types),
};
static SCHEMA(data_disk, "DataDisk", data_disk_rows, NULL);
static const struct field containers_rows[] = {
    WORD("type", container_types),
    TEXTS("containerImageNames"),
    LIST("containerRegistries", registry, 0),
};
static SCHEMA(containers, "ContainerConfiguration", containers_rows, NULL);
static const struct field encryption_rows[] = {
    {ROW("targets", NULL, FIELD_STRINGS, 0), .values = targets}};
static SCHEMA(encryption, "DiskEncryptionConfiguration", encryption_rows, NULL);
static const struct field placement_rows[] = {WORD("policy", placements)};
static SCHEMA(placement, "NodePlacementConfiguration", placement_rows, NULL);

/* Settings are not kept, as the data plane keeps none. */
static const struct field extension_rows[] = {
    TEXT("name"),
    TEXT("publisher"),
    TEXT("type"),
    TEXT("typeHandlerVersion"),
    TRUTH("autoUpgradeMinorVersion"),
    TRUTH_IN("enableAutomaticUpgrade", RM_SINCE(RM_2023_05)),
    {ROW("settings", NULL, FIELD_FREE, 0), .flags = FIELD_DISCARD},
    {ROW("protectedSettings", NULL, FIELD_FREE, 0), .flags = FIELD_DISCARD},
    TEXTS("provisionAfterExtensions"),
};
static SCHEMA(extension, "VMExtension", extension_rows, NULL);

static const struct field ephemeral_rows[] = {WORD("placement", disk_placements)};
static SCHEMA(ephemeral, "DiffDiskSettings", ephemeral_rows, NULL);
static const struct field disk_security_rows[] = {WORD("securityEncryptionType", disk_securities)};
static SCHEMA(disk_security, "VMDiskSecurityProfile", disk_security_rows, NULL);
static const struct field managed_rows[] = {
    WORD("storageAccountType", disk_types),
    OBJECT("securityProfile", disk_security, RM_SINCE(RM_2024_07)),
};
static SCHEMA(managed, "ManagedDisk", managed_rows, NULL);
static const struct field os_disk_rows[] = {
    OBJECT("ephemeralOSDiskSettings", ephemeral, RM_SINCE(RM_2021_06)),
    WORD("caching", cachings),
    OBJECT("managedDisk", managed, RM_SINCE(RM_2023_11)),
    {ROW("diskSizeGB", NULL, FIELD_INT, RM_SINCE(RM_2023_11))},
    TRUTH_IN("writeAcceleratorEnabled", RM_SINCE(RM_2023_11)),
};
static SCHEMA(os_disk, "OSDisk", os_disk_rows, NULL);

static const struct field uefi_rows[] = {TRUTH("secureBootEnabled"), TRUTH("vTpmEnabled")};
static SCHEMA(uefi, "UefiSettings", uefi_rows, NULL);
static const struct field security_rows[] = {
    WORD("securityType", securities),
    TRUTH("encryptionAtHost"),
    OBJECT("uefiSettings", uefi, 0),
};
static SCHEMA(security, "SecurityProfile", security_rows, NULL);
static const struct field artifact_rows[] = {TEXT("id")};
static SCHEMA(artifact, "ServiceArtifactReference", artifact_rows, NULL);

static const struct field vm_rows[] = {
    OBJECT("imageReference", image, 0),
    TEXT_AS("nodeAgentSkuId", "nodeAgentSKUId"),
    OBJECT("windowsConfiguration", windows, 0),
    LIST("dataDisks", data_disk, 0),
    TEXT("licenseType"),
    OBJECT("containerConfiguration", containers, RM_SINCE(RM_2018_12)),
    OBJECT("diskEncryptionConfiguration", encryption, RM_SINCE(RM_2020_03)),
    OBJECT("nodePlacementConfiguration", placement, RM_SINCE(RM_2021_01)),
    LIST("extensions", extension, RM_SINCE(RM_2021_01)),
    OBJECT("osDisk", os_disk, 0),
    OBJECT("securityProfile", security, RM_SINCE(RM_2023_11)),
    OBJECT("serviceArtifactReference", artifact, RM_SINCE(RM_2023_11)),
};
static SCHEMA(vm, "VirtualMachineConfiguration", vm_rows, NULL);

static const struct field cloud_rows[] = {
    TEXT("osFamily"),
    {ROW("targetOSVersion", "osVersion", FIELD_STRING, RM_2017_09)},
    {ROW("currentOSVersion", NULL, FIELD_STRING, RM_2017_09), .flags = FIELD_READONLY},
    TEXT_IN("osVersion", RM_SINCE(RM_2018_12)),
};
static SCHEMA(cloud, "CloudServiceConfiguration", cloud_rows, NULL);

static const struct field deployment_rows[] = {
    OBJECT("cloudServiceConfiguration", cloud, RM_UNTIL(RM_2024_02)),
    OBJECT("virtualMachineConfiguration", vm, 0),
};
static SCHEMA(deployment, "DeploymentConfiguration", deployment_rows, NULL);

/* --- networks and mounts ---------------------------------------------------------------------- */

static const struct field rule_rows[] = {
    NUMBER("priority"),
    WORD("access", accesses),
    TEXT("sourceAddressPrefix"),
    {ROW("sourcePortRanges", NULL, FIELD_STRINGS, RM_SINCE(RM_2019_08))},
};
static SCHEMA(rule, "NetworkSecurityGroupRule", rule_rows, NULL);
static const struct field nat_rows[] = {
    TEXT("name"),
    WORD("protocol", protocols),
    NUMBER("backendPort"),
    NUMBER("frontendPortRangeStart"),
    NUMBER("frontendPortRangeEnd"),
    LIST("networkSecurityGroupRules", rule, 0),
};
static SCHEMA(nat, "InboundNatPool", nat_rows, NULL);
static const struct field endpoint_rows[] = {
    {ROW("inboundNatPools", "inboundNATPools", FIELD_ARRAY, 0), .sub = &nat},
};
static SCHEMA(endpoint, "PoolEndpointConfiguration", endpoint_rows, NULL);
static const struct field public_ip_rows[] = {
    WORD("provision", provisions),
    TEXTS("ipAddressIds"),
};
static SCHEMA(public_ip, "PublicIPAddressConfiguration", public_ip_rows, NULL);
static const struct field network_rows[] = {
    TEXT("subnetId"),
    {ROW("dynamicVNetAssignmentScope", NULL, FIELD_ENUM, RM_WITHIN(RM_2022_01, RM_2022_06)),
     .values = assignments},
    {ROW("dynamicVnetAssignmentScope", "dynamicVNetAssignmentScope", FIELD_ENUM,
         RM_SINCE(RM_2022_10)),
     .values = assignments},
    OBJECT("endpointConfiguration", endpoint, 0),
    {ROW("publicIPs", NULL, FIELD_STRINGS, RM_2019_08)},
    OBJECT("publicIPAddressConfiguration", public_ip, RM_SINCE(RM_2020_03)),
    TRUTH_IN("enableAcceleratedNetworking", RM_SINCE(RM_2023_05)),
};
static SCHEMA(network, "NetworkConfiguration", network_rows, NULL);

static const struct field blob_mount_rows[] = {
    TEXT("accountName"),     TEXT("containerName"),     SECRET("accountKey"), SECRET("sasKey"),
    TEXT("blobfuseOptions"), TEXT("relativeMountPath"), IDENTITY_REFERENCE,
};
static SCHEMA(blob_mount, "AzureBlobFileSystemConfiguration", blob_mount_rows, NULL);
static const struct field nfs_mount_rows[] = {
    TEXT("source"),
    TEXT("relativeMountPath"),
    TEXT("mountOptions"),
};
static SCHEMA(nfs_mount, "NFSMountConfiguration", nfs_mount_rows, NULL);
static const struct field cifs_mount_rows[] = {
    TEXT_IN("username", RM_UNTIL(RM_2022_06)),
    {ROW("userName", "username", FIELD_STRING, RM_SINCE(RM_2022_10))},
    TEXT("source"),
    TEXT("relativeMountPath"),
    TEXT("mountOptions"),
    SECRET("password"),
};
static SCHEMA(cifs_mount, "CIFSMountConfiguration", cifs_mount_rows, NULL);
static const struct field file_mount_rows[] = {
    TEXT("accountName"),       TEXT("azureFileUrl"), SECRET("accountKey"),
    TEXT("relativeMountPath"), TEXT("mountOptions"),
};
static SCHEMA(file_mount, "AzureFileShareConfiguration", file_mount_rows, NULL);
static const struct field mount_rows[] = {
    OBJECT("azureBlobFileSystemConfiguration", blob_mount, 0),
    OBJECT("nfsMountConfiguration", nfs_mount, 0),
    OBJECT("cifsMountConfiguration", cifs_mount, 0),
    OBJECT("azureFileShareConfiguration", file_mount, 0),
};
static SCHEMA(mount, "MountConfiguration", mount_rows, NULL);

/* --- sizes ------------------------------------------------------------------------------------ */

static const struct field fixed_rows[] = {
    TEXT("resizeTimeout"),
    NUMBER("targetDedicatedNodes"),
    NUMBER("targetLowPriorityNodes"),
    WORD("nodeDeallocationOption", deallocations),
};
static SCHEMA(fixed_scale, "FixedScaleSettings", fixed_rows, NULL);
static const struct field auto_rows[] = {
    {ROW("formula", NULL, FIELD_STRING, 0), .flags = FIELD_REQUIRED},
    TEXT("evaluationInterval"),
};
static SCHEMA(auto_scale, "AutoScaleSettings", auto_rows, NULL);
static int check_scale(json_t *obj, const char *path, struct err *e)
{
    if (json_object_size(obj) <= 1)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s has both fixedScale and autoScale; it must have one", path);
}
static const struct field scale_rows[] = {
    OBJECT("fixedScale", fixed_scale, 0),
    OBJECT("autoScale", auto_scale, 0),
};
static SCHEMA(scale, "ScaleSettings", scale_rows, check_scale);

static const struct field detail_rows[] = {TEXT_AS("code", "name"), TEXT_AS("message", "value")};
static SCHEMA(detail, "ErrorDetail", detail_rows, NULL);
static const struct field error_rows[] = {
    TEXT("code"),
    TEXT("message"),
    {ROW("details", "values", FIELD_ARRAY, 0), .sub = &detail},
};
static SCHEMA(resize_error, "ResizeError", error_rows, NULL);
static SCHEMA(run_error, "AutoScaleRunError", error_rows, NULL);
static const struct field run_rows[] = {
    {ROW("evaluationTime", "timestamp", FIELD_TIME, 0)},
    TEXT("results"),
    OBJECT("error", run_error, 0),
};
static SCHEMA(run, "AutoScaleRun", run_rows, NULL);
static const struct field resizing_rows[] = {
    NUMBER("targetDedicatedNodes"),
    NUMBER("targetLowPriorityNodes"),
    TEXT("resizeTimeout"),
    WORD("nodeDeallocationOption", deallocations),
    {ROW("startTime", NULL, FIELD_TIME, 0)},
    LIST("errors", resize_error, 0),
};
static SCHEMA(resizing, "ResizeOperationStatus", resizing_rows, NULL);

/* --- upgrades --------------------------------------------------------------------------------- */

static const struct field automatic_rows[] = {
    TRUTH("disableAutomaticRollback"),
    TRUTH("enableAutomaticOSUpgrade"),
    TRUTH("useRollingUpgradePolicy"),
    TRUTH("osRollingUpgradeDeferral"),
};
static SCHEMA(automatic, "AutomaticOSUpgradePolicy", automatic_rows, NULL);
static const struct field rolling_rows[] = {
    TRUTH("enableCrossZoneUpgrade"),
    NUMBER("maxBatchInstancePercent"),
    NUMBER("maxUnhealthyInstancePercent"),
    NUMBER("maxUnhealthyUpgradedInstancePercent"),
    TEXT("pauseTimeBetweenBatches"),
    TRUTH("prioritizeUnhealthyInstances"),
    TRUTH("rollbackFailedInstancesOnPolicyBreach"),
};
static SCHEMA(rolling, "RollingUpgradePolicy", rolling_rows, NULL);
static const struct field upgrade_rows[] = {
    WORD("mode", upgrades),
    OBJECT("automaticOSUpgradePolicy", automatic, 0),
    OBJECT("rollingUpgradePolicy", rolling, 0),
};
static SCHEMA(upgrade, "UpgradePolicy", upgrade_rows, NULL);

/* --- pools ------------------------------------------------------------------------------------ */

static const struct field policy_rows[] = {WORD("nodeFillType", fills)};
static SCHEMA(policy, "TaskSchedulingPolicy", policy_rows, NULL);

/* An empty value takes away what there was. */
#define EMPTIED(label, sort, table)                                                                \
    {                                                                                              \
        ROW(label, NULL, sort, 0), .flags = FIELD_KEEP_EMPTY, .sub = &(table)                      \
    }

static const struct field properties_rows[] = {
    TEXT("displayName"),
    SHOWN("lastModified", FIELD_TIME),
    SHOWN("creationTime", FIELD_TIME),
    SHOWN("provisioningState", FIELD_STRING),
    SHOWN("provisioningStateTransitionTime", FIELD_TIME),
    SHOWN("allocationState", FIELD_STRING),
    SHOWN("allocationStateTransitionTime", FIELD_TIME),
    TEXT("vmSize"),
    OBJECT("deploymentConfiguration", deployment, 0),
    SHOWN("currentDedicatedNodes", FIELD_INT),
    SHOWN("currentLowPriorityNodes", FIELD_INT),
    OBJECT("scaleSettings", scale, 0),
    {ROW("autoScaleRun", NULL, FIELD_OBJECT, 0), .flags = FIELD_READONLY, .sub = &run},
    WORD("interNodeCommunication", internode),
    OBJECT("networkConfiguration", network, 0),
    {ROW("maxTasksPerNode", "taskSlotsPerNode", FIELD_INT, RM_UNTIL(RM_2020_05))},
    {ROW("taskSlotsPerNode", NULL, FIELD_INT, RM_SINCE(RM_2020_09))},
    OBJECT("taskSchedulingPolicy", policy, 0),
    EMPTIED("userAccounts", FIELD_ARRAY, user_account),
    EMPTIED("metadata", FIELD_ARRAY, metadata),
    EMPTIED("startTask", FIELD_OBJECT, start_task),
    EMPTIED("certificates", FIELD_ARRAY, certificate),
    EMPTIED("applicationPackages", FIELD_ARRAY, package),
    TEXTS("applicationLicenses"),
    {ROW("resizeOperationStatus", NULL, FIELD_OBJECT, 0), .flags = FIELD_READONLY,
     .sub = &resizing},
    LIST("mountConfiguration", mount, RM_SINCE(RM_2019_08)),
    WORD_IN("targetNodeCommunicationMode", communications, RM_SINCE(RM_2022_10)),
    {ROW("currentNodeCommunicationMode", NULL, FIELD_STRING, RM_SINCE(RM_2022_10)),
     .flags = FIELD_READONLY},
    OBJECT("upgradePolicy", upgrade, RM_SINCE(RM_2024_02)),
    {ROW("resourceTags", NULL, FIELD_MAP, RM_SINCE(RM_2023_11)), .max = MAX_TAGS},
};
SCHEMA(schema_rm_pool_properties, "PoolProperties", properties_rows, NULL);

/* No managed identities: only that there is none can be said. */
static const struct field pool_identity_rows[] = {WORD("type", identities)};
static SCHEMA(pool_identity, "BatchPoolIdentity", pool_identity_rows, NULL);

static const struct field pool_rows[] = {
    SHOWN("id", FIELD_STRING),
    SHOWN("name", FIELD_STRING),
    SHOWN("type", FIELD_STRING),
    SHOWN("etag", FIELD_STRING),
    OBJECT("properties", schema_rm_pool_properties, 0),
    OBJECT("identity", pool_identity, RM_SINCE(RM_2021_01)),
    {ROW("tags", NULL, FIELD_MAP, RM_SINCE(RM_2024_07)), .flags = FIELD_DISCARD, .max = MAX_TAGS},
};
SCHEMA(schema_rm_pool, "Pool", pool_rows, NULL);
