/* SPDX-License-Identifier: MIT
 *
 * Whether a request counts as a read, a write or a delete in the rate limits of a subscription.
 */
#ifndef API_ARM_LIMITS_H
#define API_ARM_LIMITS_H

struct request;

enum arm_counter { ARM_READS, ARM_WRITES, ARM_DELETES, ARM_COUNTERS };
enum arm_counter arm_counter(const struct request *r);

#endif
