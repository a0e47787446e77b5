# All of Batch, storage and vaults that azurerm makes, with its defaults.
terraform {
  required_providers {
    azurerm = { source = "hashicorp/azurerm" }
  }
}

provider "azurerm" {
  features {
    key_vault {
      purge_soft_delete_on_destroy    = true
      recover_soft_deleted_key_vaults = true
    }
  }
}

variable "generation" {
  type    = number
  default = 1
}

data "azurerm_client_config" "me" {}
data "azurerm_subscription" "mine" {}

resource "azurerm_resource_group" "g" {
  name     = "tf"
  location = "eastus"
  tags     = { generation = var.generation }
}

resource "azurerm_storage_account" "s" {
  name                     = "tfstore"
  resource_group_name      = azurerm_resource_group.g.name
  location                 = azurerm_resource_group.g.location
  account_tier             = "Standard"
  account_replication_type = "LRS"
  tags                     = { generation = var.generation }
}

resource "azurerm_storage_container" "c" {
  name               = "packages"
  storage_account_id = azurerm_storage_account.s.id
  metadata           = { generation = var.generation }
}

resource "azurerm_storage_blob" "b" {
  name                 = "hello.txt"
  storage_container_id = azurerm_storage_container.c.id
  type                 = "Block"
  source_content       = "hello"
  content_type         = var.generation == 1 ? "text/plain" : "text/html"
}

resource "azurerm_storage_share" "f" {
  name               = "data"
  storage_account_id = azurerm_storage_account.s.id
  quota              = 4 + var.generation
}

resource "azurerm_batch_account" "a" {
  name                                = "tfbatch"
  resource_group_name                 = azurerm_resource_group.g.name
  location                            = azurerm_resource_group.g.location
  pool_allocation_mode                = "BatchService"
  storage_account_id                  = azurerm_storage_account.s.id
  storage_account_authentication_mode = "StorageKeys"
  tags                                = { generation = var.generation }
}

resource "azurerm_batch_application" "app" {
  name                = "tool"
  resource_group_name = azurerm_resource_group.g.name
  account_name        = azurerm_batch_account.a.name
  display_name        = "tool ${var.generation}"
}

resource "azurerm_batch_pool" "fixed" {
  name                = "fixed"
  resource_group_name = azurerm_resource_group.g.name
  account_name        = azurerm_batch_account.a.name
  display_name        = "Fixed"
  vm_size             = "STANDARD_A1"
  max_tasks_per_node  = 2
  node_agent_sku_id   = "batch.node.debian 12"

  fixed_scale {
    target_dedicated_nodes = var.generation
    resize_timeout         = "PT15M"
  }
  storage_image_reference {
    publisher = "debian"
    offer     = "debian-12"
    sku       = "12"
    version   = "latest"
  }
  start_task {
    command_line                  = "/bin/sh -c 'echo ready > started'"
    task_retry_maximum            = 1
    wait_for_success              = true
    common_environment_properties = { GENERATION = var.generation }
    user_identity {
      auto_user {
        elevation_level = "NonAdmin"
        scope           = "Task"
      }
    }
    resource_file {
      auto_storage_container_name = azurerm_storage_container.c.name
    }
  }
  mount {
    azure_file_share {
      account_name        = azurerm_storage_account.s.name
      account_key         = azurerm_storage_account.s.primary_access_key
      azure_file_url      = azurerm_storage_share.f.url
      relative_mount_path = "data"
    }
  }
  metadata = { owner = "tf" }
}

resource "azurerm_batch_pool" "scaled" {
  name                = "scaled"
  resource_group_name = azurerm_resource_group.g.name
  account_name        = azurerm_batch_account.a.name
  vm_size             = "FAKE"
  node_agent_sku_id   = "batch.node.ubuntu 20.04"
  auto_scale {
    evaluation_interval = "PT15M"
    formula             = "$TargetDedicatedNodes = ${var.generation - 1};"
  }
  storage_image_reference {
    publisher = "microsoft-azure-batch"
    offer     = "ubuntu-server-container"
    sku       = "20-04-lts"
    version   = "latest"
  }
  container_configuration {
    type                  = "DockerCompatible"
    container_image_names = ["debian:12"]
    container_registries {
      registry_server = "registry.example"
      user_name       = "puller"
      password        = "secret"
    }
  }
}

resource "azurerm_batch_job" "j" {
  name                          = "job1"
  batch_pool_id                 = azurerm_batch_pool.scaled.id
  display_name                  = "Job"
  priority                      = 10 * var.generation
  task_retry_maximum            = 1
  common_environment_properties = { A = "b" }
}

resource "azurerm_key_vault" "v" {
  name                       = "tfvault"
  resource_group_name        = azurerm_resource_group.g.name
  location                   = azurerm_resource_group.g.location
  tenant_id                  = data.azurerm_client_config.me.tenant_id
  sku_name                   = "standard"
  rbac_authorization_enabled = false
  soft_delete_retention_days = 7
  access_policy {
    tenant_id          = data.azurerm_client_config.me.tenant_id
    object_id          = data.azurerm_client_config.me.object_id
    secret_permissions = ["Get", "List", "Set", "Delete", "Purge", "Recover"]
  }
  tags = { generation = var.generation }
}

resource "azurerm_key_vault_secret" "s" {
  name         = "password"
  value        = "secret ${var.generation}"
  key_vault_id = azurerm_key_vault.v.id
  content_type = "text/plain"
}

resource "azurerm_role_assignment" "r" {
  scope                = azurerm_storage_account.s.id
  role_definition_name = "Storage Blob Data Reader"
  principal_id         = data.azurerm_client_config.me.object_id
  description          = "of generation ${var.generation}"
}
