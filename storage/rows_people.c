/* SPDX-License-Identifier: MIT
 *
 * The rows of the directory, of role assignments and of subscriptions; see rows.h.
 */
#include "storage/columns.h"

DOMAIN(identity_kind, IDENTITY_USER, IDENTITY_APPLICATION, 0);

#define ROW struct identity
static const struct st_column identity_columns[] = {
    OWN_ID("id", id),
    TEXT("object_id", object_id),
    TEXT("app_id", app_id),
    INT("kind", kind, identity_kind),
    TEXT("name", name),
    TEXT("display", display),
    INT64("created_us", created_us, instant),
    TEXT("created_by", created_by),
};
#undef ROW
ROW_OF(identity_row, struct identity, identity, "identity", "i");

#define ROW struct credential
static const struct st_column credential_columns[] = {
    OWN_ID("id", id),
    INT64("identity_id", identity_id, id),
    TEXT("key_id", key_id),
    TEXT("hint", hint),
    TEXT("hash", hash),
    TEXT("display", display),
    INT64("starts_us", starts_us, instant),
    INT64("ends_us", ends_us, instant),
};
#undef ROW
ROW_OF(credential_row, struct credential, credential, "credential", "y");

#define ROW struct role_assignment
static const struct st_column role_assignment_columns[] = {
    OWN_ID("id", id),
    TEXT("guid", guid),
    TEXT("scope", scope),
    TEXT("role", role),
    TEXT("principal", principal),
    INT64("created_us", created_us, instant),
    TEXT("created_by", created_by),
    TEXT("description", description),
};
#undef ROW
ROW_OF(role_assignment_row, struct role_assignment, role_assignment, "role_assignment", "ra");

#define ROW struct subscription
static const struct st_column subscription_columns[] = {
    OWN_ID("id", id),
    TEXT("guid", guid),
    TEXT("name", name),
    INT64("created_us", created_us, instant),
    TEXT("created_by", created_by),
};
#undef ROW
ROW_OF(subscription_row, struct subscription, subscription, "subscription", "u");
