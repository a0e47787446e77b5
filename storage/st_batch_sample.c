/* SPDX-License-Identifier: MIT
 *
 * Samples of the metrics of Azure Batch's pools.
 */
#include "storage/batch_samples.h"

#include "storage/storage_priv.h"

int st_batch_sample_add(struct storage *st, int64_t pool_id, const struct batch_sample *s,
                        int64_t forget_us, struct err *e)
{
    return st_batch_sample_put(st, pool_id, s, e) < 0
               ? -1
               : st_batch_sample_forget(st, pool_id, forget_us, e);
}
