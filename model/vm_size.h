/* SPDX-License-Identifier: MIT
 *
 * Names of sizes of virtual machines. Local nodes serve any name; one that Azure cannot have had is
 * probably a slip.
 */
#ifndef MODEL_VM_SIZE_H
#define MODEL_VM_SIZE_H

#include <stdbool.h>

/* Whether a name is built like Azure's, "Standard_NC24ads_A100_v4", of a family that there is or
 * was, in any case. Source: "Azure VM sizes naming conventions" of the guide. */
bool vm_size_is_published(const char *name);

#endif
