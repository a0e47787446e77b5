/* SPDX-License-Identifier: MIT
 *
 * Names of sizes of virtual machines. Local nodes serve any name; a name that Azure cannot have had
 * is probably a typing error.
 */
#ifndef MODEL_VM_SIZE_H
#define MODEL_VM_SIZE_H

#include <stdbool.h>

/* Whether a name has Azure's form, "Standard_NC24ads_A100_v4", and a family of Azure, in any case.
 * Source: "Azure VM sizes naming conventions" of the guide. */
bool vm_size_is_published(const char *name);

#endif
