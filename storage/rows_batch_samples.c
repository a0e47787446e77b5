/* SPDX-License-Identifier: MIT
 *
 * The rows of samples of Azure Batch's pools; see rows.h.
 */
#include "model/batch/sample.h"
#include "storage/columns.h"

DOMAIN(tally, 0, INT64_C(1) << 50, 0);

#define ROW struct batch_sample
static const struct st_column batch_sample_columns[] = {
    FROM_INT64("bsa.at_us", at_us, instant),
    FROM_TEXT("bsa.vals", vals),
};
#undef ROW
ROW_OF(batch_sample_row, struct batch_sample, batch_sample, NULL, "bsa");

#define ROW struct batch_pool_tasks
static const struct st_column batch_pool_tasks_columns[] = {
    FROM_INT64("coalesce(sum(bc.active + bc.off), 0)", active, tally),
    FROM_INT64("coalesce(sum(bc.running), 0)", running, tally),
    FROM_INT64("coalesce(sum(bc.succeeded), 0)", succeeded, tally),
    FROM_INT64("coalesce(sum(bc.failed), 0)", failed, tally),
};
#undef ROW
ROW_OF(batch_pool_tasks_row, struct batch_pool_tasks, batch_pool_tasks, NULL, "bc");
