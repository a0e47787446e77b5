/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "model/batch/schedule_rows.h"

const struct enum_name batch_schedule_state_names[] = {
    {BATCH_SCHEDULE_ACTIVE, "active"},     {BATCH_SCHEDULE_COMPLETED, "completed"},
    {BATCH_SCHEDULE_DISABLED, "disabled"}, {BATCH_SCHEDULE_TERMINATING, "terminating"},
    {BATCH_SCHEDULE_DELETING, "deleting"}, {0, NULL}};
const struct enum_name batch_certificate_state_names[] = {
    {BATCH_CERTIFICATE_ACTIVE, "active"},
    {BATCH_CERTIFICATE_DELETING, "deleting"},
    {BATCH_CERTIFICATE_DELETE_FAILED, "deletefailed"},
    {0, NULL}};
