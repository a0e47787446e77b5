/* SPDX-License-Identifier: MIT
 *
 * What all faults have: they are counted.
 */
#include "api/testing/faults.h"

bool fault_hits(struct fault *f, const struct told *told)
{
    if ((f->times > 0 && f->hits >= f->times) || !selector_fits(&f->match, told))
        return false;
    if (f->fitted++ < f->skip)
        return false;
    f->hits++;
    return true;
}
