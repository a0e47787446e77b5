/* SPDX-License-Identifier: MIT
 *
 * What a job did on each of its nodes: its preparation and release tasks.
 */
#ifndef API_PLANE_BATCH_JOB_NODES_H
#define API_PLANE_BATCH_JOB_NODES_H

#include "api/plane/batch/batch.h"

struct replied *batch_job_nodes_list(struct request *r);

#define BATCH_JOB_NODE_ROUTES                                                                      \
    {"GET",                                                                                        \
     "/jobs/{jobId}/jobpreparationandreleasetaskstatus",                                           \
     BATCH_ALL,                                                                                    \
     0,                                                                                            \
     batch_job_nodes_list,                                                                         \
     "Job_ListPreparationAndReleaseTaskStatus"},

#endif
