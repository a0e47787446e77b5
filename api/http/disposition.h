/* SPDX-License-Identifier: MIT
 *
 * Content-Disposition (RFC 6266): a browser saves the reply under a name.
 */
#ifndef API_HTTP_DISPOSITION_H
#define API_HTTP_DISPOSITION_H

#include "lib/arena.h"

/* attachment; filename="..."; filename*=UTF-8''... for any bytes. Characters that could hide the
 * true name (controls, marks of writing direction) and separators of paths become '_'. In the
 * arena. */
const char *disposition_attachment(struct arena *a, const char *name);

#endif
