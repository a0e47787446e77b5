/* SPDX-License-Identifier: MIT
 *
 * Denies processes access to a directory, and tracing, by Landlock (Linux 5.13 and later). A
 * confined process, and all its children, can neither read, write, make nor remove files below the
 * directory, except in listed parts; only names can be listed. It cannot trace processes that are
 * not confined with it, read their /proc/PID or, from Linux 6.12 on, signal them. It cannot gain
 * rights by running programs (sudo), and cannot mount. Landlock rules can only allow, so files that
 * are later created in a parent of the hidden directory cannot be reached, either. Linux before 6.2
 * does not prevent truncate(2) of files of the same user.
 *
 * https://docs.kernel.org/userspace-api/landlock.html
 */
#ifndef LIB_CONFINE_H
#define LIB_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/err.h"

/* Whether the kernel supports it. */
bool confine_works(void);
/* Makes rules that hide `dir`, except the parts of it in `reach`. Returns a descriptor that may be
 * used several times; the caller closes it. */
int confine_open(const char *dir, const char *const *reach, size_t n, struct err *e) MUST_CHECK;
/* A file, or a directory with everything below it. */
struct confine_part {
    const char *path;
    bool writable;
};
/* Makes the rules that allow nothing but these parts: no other file can be read, executed or
 * changed, and no other directory listed. Parts that do not exist are left out. Of other files,
 * names, sizes and modes can still be read, and the owner can change their mode (chmod). */
int confine_open_only(const struct confine_part *parts, size_t n, struct err *e) MUST_CHECK;
/* Confines this thread and its future children. If a thread is confined twice, it can no longer
 * trace processes that are confined once. */
int confine_enter(int rules, struct err *e) MUST_CHECK;

#endif
