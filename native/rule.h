/* One problem of a family, and when it is solved.
 *
 * With g_i = y_i - (K beta)_i the optimum has max g over the documents that may rise <= min g over those
 * that may fall. A problem is solved when the two are less than the tolerance apart, or, for C > LARGE_C and
 * where a rough solution will do, when the duality gap is below ``gap`` of the primal objective. Why the gap:
 * with noisy labels the loss dwarfs the tolerance, and the last steps to it would take nearly all the time and
 * change nothing; where the classes can be separated, C times a slack within the tolerance may be more than all
 * the rest of the objective, so the tolerance is tightened until the gap is met.
 */

#ifndef FUNNELLING_RULE_H
#define FUNNELLING_RULE_H

#include "solver.h"

#define LARGE_C 10.0   /* above, the gap decides */
#define NEAR 0.3       /* from which violation on that is looked at, unless the tolerance is wider */
#define ROUNDING 1e-12 /* of C: nearer to a bound than that is at it */

struct problem {
    size_t n;
    const signed char *signs;
    const unsigned char *active;
    double C;
    double *beta;
    double *sums; /* K beta */
    double bias;
    size_t outside; /* documents outside their bounds */
    int by_gap; /* whether the gap decides */
    double tolerance, gap;
    double near; /* the violation from which on the gap is worth a look */
    int tightened; /* times */
};

static inline double lower_bound(const struct problem *p, size_t i) {
    return p->active[i] && p->signs[i] < 0 ? -p->C : 0;
}

static inline double upper_bound(const struct problem *p, size_t i) {
    return p->active[i] && p->signs[i] > 0 ? p->C : 0;
}

struct problem problem_of(const struct family *f, size_t fold, double *beta, double *sums);

/* A problem without one of the two classes has a constant score, libsvm's rule; returns whether it has. */
int has_one_class(struct problem *p);

/* How far the problem is from the rule, NaN where sums are not finite. Notes on the way how many documents
 * are outside their bounds, and the bias: the mean gradient of the documents that may both rise and fall,
 * or, where there are none, libsvm's midpoint of the two ends. */
double violation_of(struct problem *p);

/* Where every document is as good as at a bound, all biases between the two ends solve the problem, and what
 * rounding left free is at one of them: takes the midpoint instead. */
void settle_bias(struct problem *p);

/* Whether the rule is met, given the violation. May scale the solution. */
int is_solved(struct problem *p, double violation);

/* Scale a start of a smaller C as far as the box allows and the objective gains: documents at the old
 * bound are mostly at the new one too. */
void stretch(struct problem *p);

void write_scores(const struct problem *p, float *scores);

#endif
