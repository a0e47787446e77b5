# What main.tf leaves to defaults, data sources, tokens instead of keys, and the providers that azurerm 4 registers.
terraform {
  required_providers {
    azurerm = { source = "hashicorp/azurerm" }
  }
}

provider "azurerm" {
  features {}
  storage_use_azuread             = true
  resource_provider_registrations = "legacy"
}

variable "generation" {
  type    = number
  default = 1
}
data "azurerm_client_config" "me" {}
resource "azurerm_resource_group" "g" {
  name     = "tf2"
  location = "West Europe"
}
resource "azurerm_storage_account" "s" {
  name                              = "tfstore2"
  resource_group_name               = azurerm_resource_group.g.name
  location                          = azurerm_resource_group.g.location
  account_tier                      = "Standard"
  account_replication_type          = "GRS"
  infrastructure_encryption_enabled = true
  queue_encryption_key_type         = "Account"
  table_encryption_key_type         = "Account"
  access_tier                       = "Cool"
  shared_access_key_enabled         = true
  local_user_enabled                = false
  min_tls_version                   = "TLS1_2"
  large_file_share_enabled          = true
  allow_nested_items_to_be_public   = true
  blob_properties {
    versioning_enabled  = true
    change_feed_enabled = var.generation == 1
    delete_retention_policy { days = 6 + var.generation }
    container_delete_retention_policy { days = 7 }
    cors_rule {
      allowed_headers    = ["*"]
      allowed_methods    = ["GET"]
      allowed_origins    = ["*"]
      exposed_headers    = ["*"]
      max_age_in_seconds = 10
    }
  }
  share_properties {
    retention_policy { days = 6 + var.generation }
  }
  network_rules {
    default_action = "Allow"
    ip_rules       = ["1.2.3.4"]
  }
  sas_policy {
    expiration_period = "10.00:00:00"
  }
  routing {
    choice = "MicrosoftRouting"
  }
}
resource "azurerm_storage_container" "c" {
  name                  = "public"
  storage_account_id    = azurerm_storage_account.s.id
  container_access_type = var.generation == 1 ? "blob" : "private"
}
resource "azurerm_storage_blob" "append" {
  name                 = "append"
  storage_container_id = azurerm_storage_container.c.id
  type                 = "Append"
  metadata             = { generation = var.generation }
}
resource "azurerm_storage_blob" "source" {
  name                 = "source"
  storage_container_id = azurerm_storage_container.c.id
  type                 = "Block"
  source_content       = "x"
}
resource "azurerm_storage_blob" "copied" {
  name                 = "copied"
  storage_container_id = azurerm_storage_container.c.id
  type                 = "Block"
  source_uri           = azurerm_storage_blob.source.url
}
resource "azurerm_storage_share" "f" {
  name               = "data"
  storage_account_id = azurerm_storage_account.s.id
  quota              = 5
  access_tier        = var.generation == 1 ? "Hot" : "Cool"
  acl {
    id = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI"
    access_policy {
      permissions = "rwdl"
      start       = "2026-07-02T09:38:21Z"
      expiry      = "2027-07-02T10:38:21Z"
    }
  }
}
resource "azurerm_storage_share_directory" "d" {
  name              = "dir"
  storage_share_url = azurerm_storage_share.f.url
}
resource "azurerm_key_vault" "v" {
  name                          = "tfvault2"
  resource_group_name           = azurerm_resource_group.g.name
  location                      = azurerm_resource_group.g.location
  tenant_id                     = data.azurerm_client_config.me.tenant_id
  sku_name                      = "standard"
  rbac_authorization_enabled    = true
  public_network_access_enabled = false
  purge_protection_enabled      = false
  network_acls {
    default_action = "Deny"
    bypass         = "AzureServices"
    ip_rules       = ["1.2.3.4/32"]
  }
}
resource "azurerm_role_assignment" "officer" {
  scope                = azurerm_key_vault.v.id
  role_definition_name = "Key Vault Secrets Officer"
  principal_id         = data.azurerm_client_config.me.object_id
}
resource "azurerm_key_vault_secret" "s" {
  name            = "password"
  value           = "x"
  key_vault_id    = azurerm_key_vault.v.id
  expiration_date = "2030-01-02T03:04:05Z"
  tags            = { generation = var.generation }
  depends_on      = [azurerm_role_assignment.officer]
}
resource "azurerm_batch_account" "a" {
  name                          = "tfbatch2"
  resource_group_name           = azurerm_resource_group.g.name
  location                      = azurerm_resource_group.g.location
  public_network_access_enabled = true
  allowed_authentication_modes  = ["AAD", "SharedKey"]
}
resource "azurerm_batch_pool" "p" {
  name                     = "pool"
  resource_group_name      = azurerm_resource_group.g.name
  account_name             = azurerm_batch_account.a.name
  vm_size                  = "STANDARD_A1"
  node_agent_sku_id        = "batch.node.ubuntu 22.04"
  inter_node_communication = "Disabled"
  fixed_scale {
    node_deallocation_method  = "TaskCompletion"
    target_dedicated_nodes    = 0
    target_low_priority_nodes = 0
  }
  storage_image_reference {
    publisher = "canonical"
    offer     = "0001-com-ubuntu-server-jammy"
    sku       = "22_04-lts"
    version   = "latest"
  }
  task_scheduling_policy { node_fill_type = "Spread" }
  user_accounts {
    name            = "worker"
    password        = "Passw0rd!"
    elevation_level = "NonAdmin"
    linux_user_configuration {
      uid = 5000
      gid = 5000
    }
  }
  mount {
    azure_blob_file_system {
      account_name        = azurerm_storage_account.s.name
      account_key         = azurerm_storage_account.s.primary_access_key
      container_name      = azurerm_storage_container.c.name
      relative_mount_path = "blobs"
    }
  }
  start_task {
    command_line = "/bin/true"
    user_identity { user_name = "worker" }
    container {
      image_name  = "debian:12"
      run_options = "--rm"
    }
  }
  data_disks {
    lun          = 20
    disk_size_gb = 10
  }
  node_placement { policy = "Regional" }
  container_configuration { type = "DockerCompatible" }
  network_configuration {
    public_address_provisioning_type = "BatchManaged"
    endpoint_configuration {
      name                = "SSH"
      protocol            = "TCP"
      backend_port        = 22
      frontend_port_range = "4000-4100"
      network_security_group_rules {
        access                = "Deny"
        priority              = 1001
        source_address_prefix = "*"
      }
    }
  }
  metadata = { generation = var.generation }
}
data "azurerm_resource_group" "g" { name = azurerm_resource_group.g.name }
data "azurerm_storage_account" "s" {
  name                = azurerm_storage_account.s.name
  resource_group_name = azurerm_resource_group.g.name
}
data "azurerm_storage_container" "c" {
  name               = azurerm_storage_container.c.name
  storage_account_id = azurerm_storage_account.s.id
}
data "azurerm_storage_containers" "c" { storage_account_id = azurerm_storage_account.s.id }
data "azurerm_storage_share" "f" {
  name               = azurerm_storage_share.f.name
  storage_account_id = azurerm_storage_account.s.id
}
data "azurerm_storage_blob" "b" {
  name                 = azurerm_storage_blob.append.name
  storage_container_id = azurerm_storage_container.c.id
}
data "azurerm_batch_account" "a" {
  name                = azurerm_batch_account.a.name
  resource_group_name = azurerm_resource_group.g.name
}
data "azurerm_batch_pool" "p" {
  name                = azurerm_batch_pool.p.name
  account_name        = azurerm_batch_account.a.name
  resource_group_name = azurerm_resource_group.g.name
}
data "azurerm_key_vault" "v" {
  name                = azurerm_key_vault.v.name
  resource_group_name = azurerm_resource_group.g.name
}
data "azurerm_key_vault_secret" "s" {
  name         = azurerm_key_vault_secret.s.name
  key_vault_id = azurerm_key_vault.v.id
}
data "azurerm_key_vault_secrets" "all" {
  key_vault_id = azurerm_key_vault.v.id
  depends_on   = [azurerm_key_vault_secret.s]
}
data "azurerm_role_definition" "r" { name = "Contributor" }
data "azurerm_role_assignments" "r" {
  scope      = azurerm_key_vault.v.id
  depends_on = [azurerm_role_assignment.officer]
}
data "azurerm_subscriptions" "all" {}
data "azurerm_resources" "all" { resource_group_name = azurerm_resource_group.g.name }
data "azurerm_storage_account_sas" "sas" {
  connection_string = azurerm_storage_account.s.primary_connection_string
  https_only        = true
  start             = "2026-01-01"
  expiry            = "2027-01-01"
  resource_types {
    service   = true
    container = true
    object    = true
  }
  services {
    blob  = true
    queue = false
    table = false
    file  = false
  }
  permissions {
    read    = true
    write   = false
    delete  = false
    list    = true
    add     = false
    create  = false
    update  = false
    process = false
    tag     = false
    filter  = false
  }
}
output "endpoint" { value = data.azurerm_batch_account.a.account_endpoint }
output "connection" {
  value     = data.azurerm_storage_account.s.primary_connection_string
  sensitive = true
}
