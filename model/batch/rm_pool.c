/* SPDX-License-Identifier: MIT
 *
 * Pools in the resource manager: the names of properties, the words of their enums, and their
 * versions. The canonical names are the names in the data plane. The data plane's tables
 * (tables_pool.c) check the values, so numbers have no bounds here (.min = INT32_MIN). Only the
 * nesting differs, and rm_words.c converts it.
 */
#include "model/batch/rm.h"

#include "model/batch/tables.h"
#include "model/batch/tables_vm.h"
#include "model/schema/tables.h"

/* Only these tables use the numbers: documents contain the words. */
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
static const struct enum_name agent_modes[] = {{1, "Audit"}, {2, "Enforce"}, {0, NULL}};
static const struct enum_name ip_families[] = {{1, "IPv4"}, {2, "IPv6"}, {0, NULL}};
static const struct enum_name job_orders[] = {{1, "None"}, {2, "CreationTime"}, {0, NULL}};
static const struct enum_name securities[] = {
    {1, "trustedLaunch"}, {2, "confidentialVM"}, {0, NULL}};
static const struct enum_name disk_securities[] = {
    {1, "NonPersistedTPM"}, {2, "VMGuestStateOnly"}, {3, "DiskWithVMGuestState"}, {0, NULL}};
static const struct enum_name old_disk_securities[] = {
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

#define NEWEST RM_SINCE(RM_2025_06)
#define OLDER  RM_UNTIL(RM_2024_07)

/* --- start tasks, files, containers ----------------------------------------------------------- */

static const struct field identity_reference_rows[] = {TEXT("resourceId")};
static SCHEMA(identity_reference, identity_reference_rows, "ComputeNodeIdentityReference");
#define IDENTITY_REFERENCE                                                                         \
    OBJECT("identityReference", 0, identity_reference, .versions = RM_SINCE(RM_2021_06))

static const struct field registry_rows[] = {
    TEXT("registryServer"),
    TEXT("username"),
    TEXT("password", SECRET),
    IDENTITY_REFERENCE,
};
static SCHEMA(registry, registry_rows, "ContainerRegistry");

static const struct field bind_mount_rows[] = {TEXT("source"), BOOL("isReadOnly")};
static SCHEMA(bind_mount, bind_mount_rows, "ContainerHostBatchBindMountEntry");

static const struct field container_rows[] = {
    TEXT("containerRunOptions"),
    TEXT("imageName"),
    OBJECT("registry", 0, registry),
    ENUM("workingDirectory", 0, work_dirs, .versions = RM_SINCE(RM_2019_08)),
    LIST("containerHostBatchBindMounts", 0, bind_mount, .versions = RM_SINCE(RM_2024_07)),
};
static SCHEMA(container, container_rows, "TaskContainerSettings");

static const struct field resource_file_rows[] = {
    TEXT("blobSource", .canon = "httpUrl", .versions = RM_2017_09),
    TEXT("autoStorageContainerName", .versions = RM_SINCE(RM_2018_12)),
    TEXT("storageContainerUrl", .versions = RM_SINCE(RM_2018_12)),
    TEXT("httpUrl", .versions = RM_SINCE(RM_2018_12)),
    TEXT("blobPrefix", .versions = RM_SINCE(RM_2018_12)),
    TEXT("filePath"),
    TEXT("fileMode"),
    IDENTITY_REFERENCE,
};
static SCHEMA(resource_file, resource_file_rows, "ResourceFile");

static const struct field auto_user_rows[] = {
    ENUM("scope", 0, scopes),
    ENUM("elevationLevel", 0, elevations),
};
static SCHEMA(auto_user, auto_user_rows, "AutoUserSpecification");
static const struct field user_rows[] = {
    TEXT("userName", .canon = "username"),
    OBJECT("autoUser", 0, auto_user),
};
static SCHEMA(user, user_rows, "UserIdentity");

static const struct field env_rows[] = {TEXT("name"), TEXT("value")};
static SCHEMA(env, env_rows, "EnvironmentSetting");
static SCHEMA(metadata, env_rows, "MetadataItem");

static const struct field start_task_rows[] = {
    TEXT("commandLine"),
    LIST("resourceFiles", 0, resource_file),
    LIST("environmentSettings", 0, env),
    OBJECT("userIdentity", 0, user),
    INT("maxTaskRetryCount", .min = INT32_MIN),
    BOOL("waitForSuccess"),
    OBJECT("containerSettings", 0, container, .versions = RM_SINCE(RM_2018_12)),
};
static SCHEMA(start_task, start_task_rows, "StartTask");

/* --- users and references --------------------------------------------------------------------- */

static const struct field linux_user_rows[] = {
    INT("uid", .min = INT32_MIN),
    INT("gid", .min = INT32_MIN),
    TEXT("sshPrivateKey", SECRET),
};
static SCHEMA(linux_user, linux_user_rows, "LinuxUserConfiguration");
static const struct field windows_user_rows[] = {ENUM("loginMode", 0, logins)};
static SCHEMA(windows_user, windows_user_rows, "WindowsUserConfiguration");
static const struct field user_account_rows[] = {
    TEXT("name"),
    TEXT("password", SECRET),
    ENUM("elevationLevel", 0, elevations),
    OBJECT("linuxUserConfiguration", 0, linux_user),
    OBJECT("windowsUserConfiguration", 0, windows_user, .versions = RM_SINCE(RM_2018_12)),
};
static SCHEMA(user_account, user_account_rows, "UserAccount");

/* The resource manager names a certificate by its resource id. */
static const struct field certificate_rows[] = {
    TEXT("id", REQUIRED, .max = MAX_ID_BYTES),
    ENUM("storeLocation", 0, stores),
    TEXT("storeName"),
    TEXTS("visibility", .values = visibilities),
};
static SCHEMA(certificate, certificate_rows, "CertificateReference");
static const struct field package_rows[] = {
    TEXT("id", REQUIRED, .max = MAX_ID_BYTES),
    TEXT("version"),
};
static SCHEMA(package, package_rows, "ApplicationPackageReference");

/* --- machines --------------------------------------------------------------------------------- */

static const struct field image_rows[] = {
    TEXT("publisher"),
    TEXT("offer"),
    TEXT("sku"),
    TEXT("version"),
    TEXT("id", .canon = "virtualMachineImageId"),
    TEXT("sharedGalleryImageId", .versions = RM_SINCE(RM_2024_07)),
    TEXT("communityGalleryImageId", .versions = RM_SINCE(RM_2024_07)),
};
static SCHEMA(image, image_rows, "ImageReference");
static const struct field windows_rows[] = {BOOL("enableAutomaticUpdates")};
static SCHEMA(windows, windows_rows, "WindowsConfiguration");
static const struct field encryption_set_rows[] = {TEXT("id")};
static SCHEMA(encryption_set, encryption_set_rows, "DiskEncryptionSetParameters");
static const struct field disk_security_rows[] = {
    ENUM("securityEncryptionType", 0, old_disk_securities, .versions = OLDER),
    ENUM("securityEncryptionType", 0, disk_securities, .versions = NEWEST),
    OBJECT("diskEncryptionSet", 0, encryption_set, .versions = NEWEST),
};
static SCHEMA(disk_security, disk_security_rows, "VMDiskSecurityProfile");
static const struct field managed_rows[] = {
    ENUM("storageAccountType", 0, disk_types),
    OBJECT("securityProfile", 0, disk_security, .versions = RM_SINCE(RM_2024_07)),
    OBJECT("diskEncryptionSet", 0, encryption_set, .versions = NEWEST),
};
static SCHEMA(managed, managed_rows, "ManagedDisk");
static const struct field data_disk_rows[] = {
    INT("lun", .min = INT32_MIN),
    ENUM("caching", 0, cachings),
    INT("diskSizeGB", .min = INT32_MIN),
    ENUM("storageAccountType", 0, disk_types, .versions = OLDER),
    OBJECT("managedDisk", 0, managed, .versions = NEWEST),
};
static SCHEMA(data_disk, data_disk_rows, "DataDisk");
static const struct field containers_rows[] = {
    ENUM("type", 0, container_types),
    TEXTS("containerImageNames"),
    LIST("containerRegistries", 0, registry),
};
static SCHEMA(containers, containers_rows, "ContainerConfiguration");
static const struct field disk_key_rows[] = {
    OBJECT("identityReference", 0, identity_reference),
    TEXT("keyUrl"),
    BOOL("rotationToLatestKeyVersionEnabled"),
};
static SCHEMA(disk_key, disk_key_rows, "DiskCustomerManagedKey");
static const struct field encryption_rows[] = {
    OBJECT("customerManagedKey", 0, disk_key, .versions = NEWEST),
    TEXTS("targets", .values = targets),
};
static SCHEMA(encryption, encryption_rows, "DiskEncryptionConfiguration");
static const struct field placement_rows[] = {ENUM("policy", 0, placements)};
static SCHEMA(placement, placement_rows, "NodePlacementConfiguration");

static const struct field extension_rows[] = {
    TEXT("name"),
    TEXT("publisher"),
    TEXT("type"),
    TEXT("typeHandlerVersion"),
    BOOL("autoUpgradeMinorVersion"),
    BOOL("enableAutomaticUpgrade", .versions = RM_SINCE(RM_2023_05)),
    FREE("settings", .check = batch_check_extension_settings),
    FREE("protectedSettings", .check = batch_check_extension_settings),
    TEXTS("provisionAfterExtensions"),
};
static SCHEMA(extension, extension_rows, "VMExtension", .check = batch_check_extension);

static const struct field ephemeral_rows[] = {ENUM("placement", 0, disk_placements)};
static SCHEMA(ephemeral, ephemeral_rows, "DiffDiskSettings");
static const struct field os_disk_rows[] = {
    OBJECT("ephemeralOSDiskSettings", 0, ephemeral, .versions = RM_SINCE(RM_2021_06)),
    ENUM("caching", 0, cachings),
    OBJECT("managedDisk", 0, managed, .versions = RM_SINCE(RM_2023_11)),
    INT("diskSizeGB", .versions = RM_SINCE(RM_2023_11)),
    BOOL("writeAcceleratorEnabled", .versions = RM_SINCE(RM_2023_11)),
};
static SCHEMA(os_disk, os_disk_rows, "OSDisk");

static const struct field uefi_rows[] = {BOOL("secureBootEnabled"), BOOL("vTpmEnabled")};
static SCHEMA(uefi, uefi_rows, "UefiSettings");
static const struct field host_endpoint_rows[] = {
    ENUM("mode", 0, agent_modes),
    TEXT("inVMAccessControlProfileReferenceId"),
};
static SCHEMA(host_endpoint, host_endpoint_rows, "HostEndpointSettings");
static const struct field proxy_agent_rows[] = {
    BOOL("enabled"),
    OBJECT("imds", 0, host_endpoint),
    OBJECT("wireServer", 0, host_endpoint),
};
static SCHEMA(proxy_agent, proxy_agent_rows, "ProxyAgentSettings");
static const struct field security_rows[] = {
    ENUM("securityType", 0, securities),
    BOOL("encryptionAtHost"),
    OBJECT("uefiSettings", 0, uefi),
    OBJECT("proxyAgentSettings", 0, proxy_agent, .versions = NEWEST),
};
static SCHEMA(security, security_rows, "SecurityProfile");
static const struct field artifact_rows[] = {TEXT("id")};
static SCHEMA(artifact, artifact_rows, "ServiceArtifactReference");

static const struct field vm_rows[] = {
    OBJECT("imageReference", 0, image),
    TEXT("nodeAgentSkuId", .canon = "nodeAgentSKUId"),
    OBJECT("windowsConfiguration", 0, windows),
    LIST("dataDisks", 0, data_disk),
    TEXT("licenseType"),
    OBJECT("containerConfiguration", 0, containers, .versions = RM_SINCE(RM_2018_12)),
    OBJECT("diskEncryptionConfiguration", 0, encryption, .versions = RM_SINCE(RM_2020_03)),
    OBJECT("nodePlacementConfiguration", 0, placement, .versions = RM_SINCE(RM_2021_01)),
    LIST("extensions", 0, extension, .versions = RM_SINCE(RM_2021_01)),
    OBJECT("osDisk", 0, os_disk),
    OBJECT("securityProfile", 0, security, .versions = RM_SINCE(RM_2023_11)),
    OBJECT("serviceArtifactReference", 0, artifact, .versions = RM_SINCE(RM_2023_11)),
};
static SCHEMA(vm, vm_rows, "VirtualMachineConfiguration");

static const struct field cloud_rows[] = {
    TEXT("osFamily"),
    TEXT("targetOSVersion", .canon = "osVersion", .versions = RM_2017_09),
    TEXT("currentOSVersion", READONLY, .versions = RM_2017_09),
    TEXT("osVersion", .versions = RM_SINCE(RM_2018_12)),
};
static SCHEMA(cloud, cloud_rows, "CloudServiceConfiguration");

static const struct field deployment_rows[] = {
    OBJECT("cloudServiceConfiguration", 0, cloud, .versions = RM_UNTIL(RM_2024_02)),
    OBJECT("virtualMachineConfiguration", 0, vm),
};
static SCHEMA(deployment, deployment_rows, "DeploymentConfiguration");

/* --- networks and mounts ---------------------------------------------------------------------- */

static const struct field rule_rows[] = {
    INT("priority", .min = INT32_MIN),
    ENUM("access", 0, accesses),
    TEXT("sourceAddressPrefix"),
    TEXTS("sourcePortRanges", .versions = RM_SINCE(RM_2019_08)),
};
static SCHEMA(rule, rule_rows, "NetworkSecurityGroupRule");
static const struct field nat_rows[] = {
    TEXT("name"),
    ENUM("protocol", 0, protocols),
    INT("backendPort", .min = INT32_MIN),
    INT("frontendPortRangeStart", .min = INT32_MIN),
    INT("frontendPortRangeEnd", .min = INT32_MIN),
    LIST("networkSecurityGroupRules", 0, rule),
};
static SCHEMA(nat, nat_rows, "InboundNatPool");
static const struct field endpoint_rows[] = {
    LIST("inboundNatPools", 0, nat, .canon = "inboundNATPools"),
};
static SCHEMA(endpoint, endpoint_rows, "PoolEndpointConfiguration");
static const struct field ip_tag_rows[] = {TEXT("ipTagType"), TEXT("tag")};
static SCHEMA(ip_tag, ip_tag_rows, "IPTag");
static const struct field public_ip_rows[] = {
    ENUM("provision", 0, provisions),
    TEXTS("ipFamilies", .versions = NEWEST, .values = ip_families),
    TEXTS("ipAddressIds"),
    LIST("ipTags", 0, ip_tag, .versions = NEWEST),
};
static SCHEMA(public_ip, public_ip_rows, "PublicIPAddressConfiguration");
static const struct field network_rows[] = {
    TEXT("subnetId"),
    ENUM("dynamicVNetAssignmentScope", 0, assignments,
         .versions = RM_WITHIN(RM_2022_01, RM_2022_06)),
    ENUM("dynamicVnetAssignmentScope", 0, assignments, .canon = "dynamicVNetAssignmentScope",
         .versions = RM_SINCE(RM_2022_10)),
    OBJECT("endpointConfiguration", 0, endpoint),
    TEXTS("publicIPs", .versions = RM_2019_08),
    OBJECT("publicIPAddressConfiguration", 0, public_ip, .versions = RM_SINCE(RM_2020_03)),
    BOOL("enableAcceleratedNetworking", .versions = RM_SINCE(RM_2023_05)),
};
static SCHEMA(network, network_rows, "NetworkConfiguration");

/* clang-format off */
static const struct field blob_mount_rows[] = {
    TEXT("accountName"),
    TEXT("containerName"),
    TEXT("accountKey", SECRET),
    TEXT("sasKey", SECRET),
    TEXT("blobfuseOptions"),
    TEXT("relativeMountPath"),
    IDENTITY_REFERENCE,
};
/* clang-format on */
static SCHEMA(blob_mount, blob_mount_rows, "AzureBlobFileSystemConfiguration");
static const struct field nfs_mount_rows[] = {
    TEXT("source"),
    TEXT("relativeMountPath"),
    TEXT("mountOptions"),
};
static SCHEMA(nfs_mount, nfs_mount_rows, "NFSMountConfiguration");
static const struct field cifs_mount_rows[] = {
    TEXT("username", .versions = RM_UNTIL(RM_2022_06)),
    TEXT("userName", .canon = "username", .versions = RM_SINCE(RM_2022_10)),
    TEXT("source"),
    TEXT("relativeMountPath"),
    TEXT("mountOptions"),
    TEXT("password", SECRET),
};
static SCHEMA(cifs_mount, cifs_mount_rows, "CIFSMountConfiguration");
/* clang-format off */
static const struct field file_mount_rows[] = {
    TEXT("accountName"),
    TEXT("azureFileUrl"),
    TEXT("accountKey", SECRET),
    TEXT("relativeMountPath"),
    TEXT("mountOptions"),
};
/* clang-format on */
static SCHEMA(file_mount, file_mount_rows, "AzureFileShareConfiguration");
static const struct field mount_rows[] = {
    OBJECT("azureBlobFileSystemConfiguration", 0, blob_mount),
    OBJECT("nfsMountConfiguration", 0, nfs_mount),
    OBJECT("cifsMountConfiguration", 0, cifs_mount),
    OBJECT("azureFileShareConfiguration", 0, file_mount),
};
static SCHEMA(mount, mount_rows, "MountConfiguration");

/* --- sizes ------------------------------------------------------------------------------------ */

static const struct field fixed_rows[] = {
    TEXT("resizeTimeout"),
    INT("targetDedicatedNodes", .min = INT32_MIN),
    INT("targetLowPriorityNodes", .min = INT32_MIN),
    ENUM("nodeDeallocationOption", 0, deallocations),
};
static int check_fixed(json_t *obj, const char *path, struct err *e)
{
    if (json_object_get(obj, "targetDedicatedNodes") ||
        json_object_get(obj, "targetLowPriorityNodes"))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s must have targetDedicatedNodes or targetLowPriorityNodes", path);
}
static SCHEMA(fixed_scale, fixed_rows, "FixedScaleSettings", .check = check_fixed);
static const struct field auto_rows[] = {TEXT("formula", REQUIRED), TEXT("evaluationInterval")};
static SCHEMA(auto_scale, auto_rows, "AutoScaleSettings");
static int check_scale(json_t *obj, const char *path, struct err *e)
{
    if (json_object_size(obj) <= 1)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, path,
                   "%s has both fixedScale and autoScale; it must have one", path);
}
static const struct field scale_rows[] = {
    OBJECT("fixedScale", 0, fixed_scale),
    OBJECT("autoScale", 0, auto_scale),
};
static SCHEMA(scale, scale_rows, "ScaleSettings", .check = check_scale);

static const struct field detail_rows[] = {
    TEXT("code", .canon = "name"),
    TEXT("message", .canon = "value"),
};
static SCHEMA(detail, detail_rows, "ErrorDetail");
static const struct field error_rows[] = {
    TEXT("code"),
    TEXT("message"),
    LIST("details", 0, detail, .canon = "values"),
};
static SCHEMA(resize_error, error_rows, "ResizeError");
static SCHEMA(run_error, error_rows, "AutoScaleRunError");
static const struct field run_rows[] = {
    TIME("evaluationTime", .canon = "timestamp"),
    TEXT("results"),
    OBJECT("error", 0, run_error),
};
static SCHEMA(run, run_rows, "AutoScaleRun");
static const struct field resizing_rows[] = {
    INT("targetDedicatedNodes", .min = INT32_MIN),
    INT("targetLowPriorityNodes", .min = INT32_MIN),
    TEXT("resizeTimeout"),
    ENUM("nodeDeallocationOption", 0, deallocations),
    TIME("startTime"),
    LIST("errors", 0, resize_error),
};
static SCHEMA(resizing, resizing_rows, "ResizeOperationStatus");

/* --- upgrades --------------------------------------------------------------------------------- */

static const struct field automatic_rows[] = {
    BOOL("disableAutomaticRollback"),
    BOOL("enableAutomaticOSUpgrade"),
    BOOL("useRollingUpgradePolicy"),
    BOOL("osRollingUpgradeDeferral"),
};
static SCHEMA(automatic, automatic_rows, "AutomaticOSUpgradePolicy");
static const struct field rolling_rows[] = {
    BOOL("enableCrossZoneUpgrade"),
    INT("maxBatchInstancePercent", .min = INT32_MIN),
    INT("maxUnhealthyInstancePercent", .min = INT32_MIN),
    INT("maxUnhealthyUpgradedInstancePercent", .min = INT32_MIN),
    TEXT("pauseTimeBetweenBatches"),
    BOOL("prioritizeUnhealthyInstances"),
    BOOL("rollbackFailedInstancesOnPolicyBreach"),
};
static SCHEMA(rolling, rolling_rows, "RollingUpgradePolicy");
static const struct field upgrade_rows[] = {
    ENUM("mode", 0, upgrades),
    OBJECT("automaticOSUpgradePolicy", 0, automatic),
    OBJECT("rollingUpgradePolicy", 0, rolling),
};
static SCHEMA(upgrade, upgrade_rows, "UpgradePolicy");

/* --- pools ------------------------------------------------------------------------------------ */

static const struct field policy_rows[] = {
    ENUM("jobDefaultOrder", 0, job_orders, .versions = NEWEST),
    ENUM("nodeFillType", 0, fills),
};
static SCHEMA(policy, policy_rows, "TaskSchedulingPolicy");

/* In rows with KEEP_EMPTY, an empty value in a request removes the old value. */
static const struct field properties_rows[] = {
    TEXT("displayName"),
    TIME("lastModified", READONLY),
    TIME("creationTime", READONLY),
    TEXT("provisioningState", READONLY),
    TIME("provisioningStateTransitionTime", READONLY),
    TEXT("allocationState", READONLY),
    TIME("allocationStateTransitionTime", READONLY),
    TEXT("vmSize"),
    OBJECT("deploymentConfiguration", 0, deployment),
    INT("currentDedicatedNodes", READONLY),
    INT("currentLowPriorityNodes", READONLY),
    OBJECT("scaleSettings", 0, scale),
    OBJECT("autoScaleRun", READONLY, run),
    ENUM("interNodeCommunication", 0, internode),
    OBJECT("networkConfiguration", 0, network),
    INT("maxTasksPerNode", .canon = "taskSlotsPerNode", .versions = RM_UNTIL(RM_2020_05)),
    INT("taskSlotsPerNode", .versions = RM_SINCE(RM_2020_09)),
    OBJECT("taskSchedulingPolicy", 0, policy),
    LIST("userAccounts", KEEP_EMPTY, user_account),
    LIST("metadata", KEEP_EMPTY, metadata),
    OBJECT("startTask", KEEP_EMPTY, start_task),
    LIST("certificates", KEEP_EMPTY, certificate, .versions = OLDER),
    LIST("applicationPackages", KEEP_EMPTY, package),
    TEXTS("applicationLicenses", .versions = OLDER),
    OBJECT("resizeOperationStatus", READONLY, resizing),
    LIST("mountConfiguration", KEEP_EMPTY, mount, .versions = RM_SINCE(RM_2019_08)),
    ENUM("targetNodeCommunicationMode", 0, communications,
         .versions = RM_WITHIN(RM_2022_10, RM_2024_07)),
    TEXT("currentNodeCommunicationMode", READONLY, .versions = RM_WITHIN(RM_2022_10, RM_2024_07)),
    OBJECT("upgradePolicy", 0, upgrade, .versions = RM_SINCE(RM_2024_02)),
    MAP("resourceTags", .versions = RM_WITHIN(RM_2023_11, RM_2024_07), .max = MAX_TAGS),
};
SCHEMA(schema_rm_pool_properties, properties_rows, "PoolProperties");

/* Managed identities are not supported: only "None" is allowed. */
static const struct field pool_identity_rows[] = {ENUM("type", 0, identities)};
static SCHEMA(pool_identity, pool_identity_rows, "BatchPoolIdentity");

static const struct field pool_rows[] = {
    TEXT("id", READONLY),
    TEXT("name", READONLY),
    TEXT("type", READONLY),
    TEXT("etag", READONLY),
    OBJECT("properties", 0, schema_rm_pool_properties),
    OBJECT("identity", 0, pool_identity, .versions = RM_SINCE(RM_2021_01)),
    MAP("tags", KEEP_EMPTY, .versions = RM_SINCE(RM_2024_07), .max = MAX_TAGS),
};
SCHEMA(schema_rm_pool, pool_rows, "Pool");
