/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/wire/codes.h"

#include <stddef.h>
#include <string.h>

static const struct {
    enum err_code code;
    const char *name;
} codes[] = {
    {ERR_INVALID_PROPERTY, "InvalidParameter"},
    {ERR_INVALID_PATH, "InvalidPath"},
    {ERR_CONFLICT, "Conflict"},
    {ERR_RESOURCE_NOT_FOUND, "ResourceNotFound"},
    {ERR_FILE_NOT_FOUND, "FileNotFound"},
    {ERR_UNAVAILABLE, "ServiceUnavailable"},
    {ERR_NOT_SUPPORTED, "FeatureNotSupported"},
    {ERR_INTERNAL, "InternalServerError"},
    {ERR_NODE, "NodeFailure"},
    {ERR_NODE_LOST, "NodeLost"},
    {ERR_PROTOCOL, "NodeProtocolError"},
    {ERR_IO, "IoError"},
    {ERR_QUOTA, "QuotaExceeded"},
    {ERR_BODY_TOO_LARGE, "RequestEntityTooLarge"},
};
#define N_CODES (sizeof codes / sizeof codes[0])

const char *wire_code_name(enum err_code code)
{
    for (size_t i = 0; i < N_CODES; i++)
        if (codes[i].code == code)
            return codes[i].name;
    return wire_code_name(ERR_NODE);
}

enum err_code wire_code_find(const char *name)
{
    for (size_t i = 0; i < N_CODES; i++)
        if (strcmp(codes[i].name, name) == 0)
            return codes[i].code;
    return ERR_NODE;
}
