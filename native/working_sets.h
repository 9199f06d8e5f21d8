/* One problem solved by working sets; see working_sets.c. */

#ifndef FUNNELLING_WORKING_SETS_H
#define FUNNELLING_WORKING_SETS_H

#include "kernel.h"
#include "rule.h"

/* `p` has a start whose sum is 0, and the sums that follow from it. */
enum solver_status solve_by_working_sets(const struct family *f, const struct kernel *k, struct problem *p);

#endif
