/* SPDX-License-Identifier: MIT
 *
 * The GPUs of a machine, read from files of the kernel's drivers: no program is run and no library
 * loaded.
 */
#ifndef NODEAGENT_PROTO_AGENT_GPUS_H
#define NODEAGENT_PROTO_AGENT_GPUS_H

#include <stddef.h>
#include <sys/types.h>

#define NVIDIA_GPUS "/proc/driver/nvidia/gpus" /* contains a directory for each GPU */
#define DRM         "/sys/class/drm"

/* Returns the text of a JSON array; the caller frees it. First come the NVIDIA GPUs in the driver's
 * order (by their places on the bus), with index, vendor, bus, model, uuid, driver and minor. Then
 * come the AMD GPUs, also numbered from 0, with index, vendor, model, memory_bytes, render (the
 * number of /dev/dri/renderD...) and uuid. Unknown fields are left out. */
char *gpus_list(void);
/* How many GPUs there are now. */
int gpus_count(void);
/* Writes to `out` the devices of the GPUs in `list`, except the GPUs with the given numbers
 * ("0,2"); at most `max`. Finds their device files in the directory `dev` (/dev). Returns how many
 * devices were written. */
size_t gpus_others(const char *list, const char *numbers, const char *dev, dev_t *out, size_t max);

#endif
