/* SPDX-License-Identifier: MIT */
#ifndef API_TESTING_HANDLERS_H
#define API_TESTING_HANDLERS_H

#include "api/testing/testing.h"

struct replied *seen_list(struct request *r);
struct replied *seen_forget(struct request *r);
struct replied *seen_expect(struct request *r);
struct replied *unknown_list(struct request *r);
struct replied *unknown_remove(struct request *r);
struct replied *faults_list(struct request *r);
struct replied *faults_add(struct request *r);
struct replied *faults_release(struct request *r);
struct replied *faults_remove(struct request *r);
struct replied *faults_remove_all(struct request *r);
struct replied *rules_list(struct request *r);
struct replied *rules_add(struct request *r);
struct replied *rules_release(struct request *r);
struct replied *rules_remove(struct request *r);
struct replied *rules_remove_all(struct request *r);
struct replied *strict_show(struct request *r);
struct replied *strict_set(struct request *r);
struct replied *strict_remove(struct request *r);
struct replied *clock_show(struct request *r);
struct replied *clock_change(struct request *r);
struct replied *testing_reset(struct request *r);
struct replied *testing_seed(struct request *r);
struct replied *testing_dump(struct request *r);

#endif
