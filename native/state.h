/* What the files of the solver share: a problem in the making, and the steps that change it. */

#ifndef FUNNELLING_STATE_H
#define FUNNELLING_STATE_H

#include "solver.h"

enum {
    WHOLE = 2048, /* documents; a larger problem is solved by parts */
    BUDGET = 50,  /* steps a document between looks at the duality gap */
};

struct state {
    size_t n;
    const float *gram;
    float *gradient; /* y - K beta - bias */
    float *diagonal; /* K_ii, contiguous */
    float *rise;     /* 0 where beta_i < upper_i, -inf elsewhere */
    float *fall;     /* 0 where beta_i > lower_i, +inf elsewhere */
    double *sums;    /* K beta, in double */
};

static inline const float *row(const struct state *s, size_t i) { return s->gram + i * s->n; }

static inline double lower_bound(const struct problem *p, size_t i) {
    return p->active[i] && p->signs[i] < 0 ? -p->C : 0;
}

static inline double upper_bound(const struct problem *p, size_t i) {
    return p->active[i] && p->signs[i] > 0 ? p->C : 0;
}

/* Note whether document i may rise and fall. */
void mark(struct state *s, const struct problem *p, const double *beta, size_t i);

/* Take up to `budget` pair steps; fewer if the rule is met on the running gradient before. */
enum solver_status descend(struct state *s, const struct problem *p, double *beta, size_t *steps, size_t budget);

/* The same for a problem too large to look at whole in each step. */
enum solver_status descend_by_parts(struct state *s, const struct problem *p, double *beta, size_t *steps);

/* sums += weight K_i, and the gradient that follows from the sums. */
void add_row(struct state *s, size_t i, double weight);
void derive_gradient(struct state *s, const struct problem *p);

/* Whether C is large and the duality gap small enough to stop. */
int close_enough(const struct state *s, const struct problem *p, const double *beta);

#endif
