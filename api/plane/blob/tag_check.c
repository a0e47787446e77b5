/* SPDX-License-Identifier: MIT
 *
 * Checks the conditions on tags that a request has in its headers.
 */
#include "api/plane/blob/handlers.h"
#include "api/plane/blob/tag_words.h"

int tags_check(struct request *r, const char *header, const struct share_item *i, int fails,
               struct err *e)
{
    const char *condition = request_header(r, header);
    struct err why;
    if (!condition)
        return 0;
    if (!grant_has(grant_of(r), 't'))
        return err_set(e, AZSTORAGE_PERMISSION, NULL,
                       "This request is not authorized to perform this operation using this "
                       "permission: %s needs the one for tags (t).",
                       header);
    json_auto_t *tags = i->tags ? json_loads(i->tags, 0, NULL) : NULL;
    int holds = tag_words_hold(condition, tags, &why);
    if (holds < 0)
        return err_set(e, AZSTORAGE_HEADER, header,
                       "The value for one of the HTTP headers is not in the correct format: %s is "
                       "'%.100s'; %s.",
                       header, condition, why.msg);
    if (holds)
        return 0;
    return err_set(e, fails, NULL,
                   "The condition specified using HTTP conditional header(s) is not met: %s.",
                   header);
}
