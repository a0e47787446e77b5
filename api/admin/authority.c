/* SPDX-License-Identifier: MIT
 *
 * The certificate of the daemon's authority, open to all: a client needs it before it can trust
 * anything else here. Who fetches it over a network that is not trusted compares its fingerprint.
 */
#include "api/admin/admin.h"
#include "api/admin/routes.h"
#include "api/http/request.h"
#include "lib/arena.h"

struct replied *authority_get(struct request *r)
{
    reply_header_text(r, "Content-Disposition", "attachment; filename=\"batchaid-ca.pem\"");
    return reply_text(r, 200, "application/x-pem-file", xstrdup(admin_of(r)->authority));
}
