/* SPDX-License-Identifier: MIT
 *
 * Job schedules: handlers.
 */
#ifndef API_PLANE_BATCH_SCHEDULES_H
#define API_PLANE_BATCH_SCHEDULES_H

#include "api/plane/batch/batch.h"

struct replied *schedules_add(struct request *r);
struct replied *schedules_list(struct request *r);
struct replied *schedules_exists(struct request *r);
struct replied *schedules_get(struct request *r);
struct replied *schedules_patch(struct request *r);
struct replied *schedules_update(struct request *r);
struct replied *schedules_delete(struct request *r);
struct replied *schedules_disable(struct request *r);
struct replied *schedules_enable(struct request *r);
struct replied *schedules_terminate(struct request *r);
struct replied *schedules_list_jobs(struct request *r);

#define SCHEDULE_PATH "/jobschedules/{jobScheduleId}"
/* clang-format off */
#define BATCH_SCHEDULE_ROUTES                                                                      \
    {"POST", "/jobschedules", BATCH_ALL, ROUTE_JSON, schedules_add, "JobSchedule_Add"},            \
    {"GET", "/jobschedules", BATCH_ALL, 0, schedules_list, "JobSchedule_List"},                    \
    {"HEAD", SCHEDULE_PATH, BATCH_ALL, 0, schedules_exists, "JobSchedule_Exists"},                 \
    {"GET", SCHEDULE_PATH, BATCH_ALL, 0, schedules_get, "JobSchedule_Get"},                        \
    {"PATCH", SCHEDULE_PATH, BATCH_ALL, ROUTE_JSON, schedules_patch, "JobSchedule_Patch"},         \
    {"PUT", SCHEDULE_PATH, BATCH_ALL, ROUTE_JSON, schedules_update, "JobSchedule_Update"},         \
    {"DELETE", SCHEDULE_PATH, BATCH_ALL, 0, schedules_delete, "JobSchedule_Delete"},               \
    {"POST", SCHEDULE_PATH "/disable", BATCH_ALL, 0, schedules_disable, "JobSchedule_Disable"},    \
    {"POST", SCHEDULE_PATH "/enable", BATCH_ALL, 0, schedules_enable, "JobSchedule_Enable"},       \
    {"POST", SCHEDULE_PATH "/terminate", BATCH_ALL, 0, schedules_terminate,                        \
     "JobSchedule_Terminate"},                                                                     \
    {"GET", SCHEDULE_PATH "/jobs", BATCH_ALL, 0, schedules_list_jobs, "Job_ListFromJobSchedule"},
/* clang-format on */

#endif
