/* SPDX-License-Identifier: MIT
 *
 * The account of storage emulators, whose name and key are built into all clients
 * (UseDevelopmentStorage=true). It exists if a port serves a single storage service. Its key is
 * public, so it is valid at such ports only.
 * https://learn.microsoft.com/azure/storage/common/storage-use-azurite#well-known-storage-account-and-key
 */
#ifndef API_PLANE_STORAGE_DEVSTORE_H
#define API_PLANE_STORAGE_DEVSTORE_H

#include <stdint.h>

#include "lib/err.h"
#include "model/resource.h"

#define DEVSTORE_ACCOUNT "devstoreaccount1"

struct storage;

/* Creates the account's row if there is none. */
int devstore_open(struct storage *st, const char *subscription, const char *principal,
                  int64_t now_us, struct err *e) MUST_CHECK;
void devstore_key(unsigned char out[ACCOUNT_KEY_BYTES]);

#endif
