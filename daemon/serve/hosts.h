/* SPDX-License-Identifier: MIT
 *
 * The host names of services. Below each name H of the daemon: ACCOUNT.blob.core.H and similar
 * names, NAME.vault.H and ACCOUNT.REGION.batch.H. The same below the suffixes that the site
 * configures.
 */
#ifndef DAEMON_SERVE_HOSTS_H
#define DAEMON_SERVE_HOSTS_H

#include "api/services.h"
#include "daemon/config/config.h"

#define HOSTS_SUFFIXES 3
struct hosts {
    char **of[API_HOSTS]; /* NULL-terminated patterns (struct served); of[HOSTS_ANY] is NULL */
    struct api_suffix suffixes[HOSTS_SUFFIXES]; /* the site's suffixes first; texts are borrowed */
};

void hosts_make(const char *const *names, size_t n_names, const struct config *c,
                struct hosts *out);
void hosts_free(struct hosts *h);

/* The names for certificates: those in `tls`, and the suffixes. The caller frees the list; its
 * texts are borrowed from the configuration. */
struct config_list hosts_certified(const struct config *c);

#endif
