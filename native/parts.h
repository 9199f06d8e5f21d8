/* One problem solved part by part; see parts.c. */

#ifndef FUNNELLING_PARTS_H
#define FUNNELLING_PARTS_H

#include "kernel.h"
#include "rule.h"

/* `p` has a start whose sum is 0, and the sums that follow from it. */
enum solver_status solve_by_parts(const struct family *f, const struct kernel *k, struct problem *p);

#endif
