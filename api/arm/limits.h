/* SPDX-License-Identifier: MIT
 *
 * What requests count as for the limits of a subscription.
 */
#ifndef API_ARM_LIMITS_H
#define API_ARM_LIMITS_H

struct request;

enum arm_counter { ARM_READS, ARM_WRITES, ARM_DELETES, ARM_COUNTERS };
enum arm_counter arm_counter(const struct request *r);

#endif
