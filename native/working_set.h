/* A working set: the documents that matter most to a problem, their kernel values close together. */

#ifndef FUNNELLING_WORKING_SET_H
#define FUNNELLING_WORKING_SET_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CAPACITY = 512, /* members at most */
    STRIDE = 528,   /* floats per row of their kernel values; with a power of two a column would fall into few cache sets */
    HELD = 64,      /* constraints of a Newton step: their sum stays 0, and each that meets a bound stays there */
    PADDING = 32,   /* loops run over a multiple of this; what fills it up can neither rise nor fall */
};

struct working_set {
    size_t size;
    float *gram;     /* CAPACITY * STRIDE */
    float *diagonal; /* of it */
    float *up;       /* the gradient of the members that may rise, -inf for the others */
    float *down;     /* the gradient of the members that may fall, +inf for the others */
    double *beta, *lower, *upper;
    double *first_beta, *first_gradient; /* with which the descent began */
    uint32_t *members; /* which documents they are */
    double *scratch;   /* (CAPACITY + HELD) * CAPACITY, see newton.c */
};

/* The gradient of a member that may rise or fall; others have none. */
static inline float gradient_at(const struct working_set *q, size_t a) {
    return q->up[a] > -INFINITY ? q->up[a] : q->down[a];
}

static inline void set_gradient(struct working_set *q, size_t a, float g) {
    q->up[a] = q->beta[a] < q->upper[a] ? g : -INFINITY;
    q->down[a] = q->beta[a] > q->lower[a] ? g : INFINITY;
}

/* See newton.c. Returns after how many steps of pairs further Newton steps would pay. */
size_t take_newton_steps(struct working_set *q);

#endif
