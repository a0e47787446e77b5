/* SPDX-License-Identifier: MIT
 *
 * Names of sizes of virtual machines. Local nodes accept any name, but a name that cannot be one of
 * Azure's is probably a typing error.
 */
#ifndef MODEL_VM_SIZE_H
#define MODEL_VM_SIZE_H

#include <stdbool.h>

/* True: a name has the form of Azure's names, such as "Standard_NC24ads_A100_v4", and one of
 * Azure's families, in upper or lower case. Source: "Azure VM sizes naming conventions" in Azure's
 * documentation. */
bool vm_size_is_published(const char *name);

#endif
