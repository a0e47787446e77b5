/* SPDX-License-Identifier: MIT
 *
 * The GPUs of a machine, as the kernel's drivers show them: no program is run and no library
 * loaded.
 */
#ifndef NODEAGENT_PROTO_AGENT_GPUS_H
#define NODEAGENT_PROTO_AGENT_GPUS_H

#include <stddef.h>
#include <sys/types.h>

#define NVIDIA_GPUS "/proc/driver/nvidia/gpus" /* a directory for each */

/* JSON array text, which the caller frees: NVIDIA's with index, vendor, bus, model, uuid, driver
 * and minor, by their places on the bus, as the driver numbers them; then AMD's, numbered from 0
 * too, with index, vendor, model, memory_bytes and render (the number of /dev/dri/renderD...). What
 * a driver does not say is left out. */
char *gpus_list(void);
/* How many there are now. */
int gpus_count(void);
/* The devices by which the GPUs of such a list are opened, without those of the given numbers
 * ("0,2"), as nodes in `dev` (/dev) say: at most `max`. How many there are in `out`. */
size_t gpus_others(const char *list, const char *numbers, const char *dev, dev_t *out, size_t max);

#endif
