/* SPDX-License-Identifier: MIT
 *
 * Checks of single values, for the tables of settings (config_table.h). Each error contains the
 * problem, the value, and the valid values.
 */
#ifndef DAEMON_CONFIG_CONFIG_CHECKS_H
#define DAEMON_CONFIG_CONFIG_CHECKS_H

#include <stdbool.h>

#include "lib/err.h"

int config_check_guid(const char *value, struct err *e) MUST_CHECK;
/* Accepts a DNS name. */
int config_check_host_name(const char *value, struct err *e) MUST_CHECK;
int config_check_not_empty(const char *value, struct err *e) MUST_CHECK;
/* Accepts a network "10.1.0.0/16", or an address. */
int config_check_network(const char *value, struct err *e) MUST_CHECK;
int config_check_vm_size(const char *value, struct err *e) MUST_CHECK;
/* The first accepts an absolute path or "", the second only an absolute path. */
int config_check_path(const char *value, struct err *e) MUST_CHECK;
int config_check_needed_path(const char *value, struct err *e) MUST_CHECK;
/* "" or the name of a machine's user account. */
int config_check_account(const char *value, struct err *e) MUST_CHECK;
int config_check_one_line(const char *value, struct err *e) MUST_CHECK;
/* A line in which {word} is a placeholder of mount rules. */
int config_check_mount_text(const char *value, struct err *e) MUST_CHECK;
/* "" or an absolute path with placeholders of file server rules. */
int config_check_server_path(const char *value, struct err *e) MUST_CHECK;
int config_check_match(const char *value, struct err *e) MUST_CHECK;
/* The first: whether it is HOST:/path; the second also accepts "". Both permit placeholders of file
 * server rules. */
bool config_is_export(const char *value);
int config_check_export(const char *value, struct err *e) MUST_CHECK;

#endif
