# SPDX-License-Identifier: MIT
RESOURCE_GROUP_PARAM = "resource_group"
