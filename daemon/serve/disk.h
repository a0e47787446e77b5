/* SPDX-License-Identifier: MIT
 *
 * The storage as the disk that replies wait for.
 */
#ifndef DAEMON_SERVE_DISK_H
#define DAEMON_SERVE_DISK_H

#include "api/http/http.h"

struct storage;

struct api_disk disk_of(struct storage *st);

#endif
