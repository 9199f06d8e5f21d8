#include "rule.h"
#include "loops.h"

#include <float.h>
#include <math.h>

enum { TIGHTER = 8, TIMES = 12 }; /* how much, and how often, the tolerance is tightened for the gap */

static const double GAP = 8e-4, USUAL = 1e-3; /* and the tolerance it belongs to: where that is wider, it is too */

struct problem problem_of(const struct family *f, size_t fold, double *beta, double *sums) {
    const double gap = f->tolerance > USUAL ? GAP * (f->tolerance / USUAL) : GAP;
    const int by_gap = f->C > LARGE_C || f->tolerance > USUAL;
    const double usual = fold ? fmax(f->tolerance, f->fold_tolerance) : f->tolerance;
    return (struct problem){
        .n = f->n,
        .signs = f->signs,
        .active = f->active + fold * f->n,
        .C = f->C,
        .beta = beta,
        .sums = sums,
        .by_gap = by_gap,
        .tolerance = by_gap ? fmin(f->tolerance, 0.8 * gap) : usual,
        .gap = gap,
        .near = f->tolerance < NEAR ? NEAR : INFINITY,
    };
}

int has_one_class(struct problem *p) {
    int positive = 0, negative = 0;
    for (size_t i = 0; i < p->n; i++) {
        const int active = p->active[i] != 0;
        positive |= active & (p->signs[i] > 0);
        negative |= active & (p->signs[i] < 0);
    }
    if (positive && negative) return 0;
    p->bias = positive ? 1 : -1;
    for (size_t i = 0; i < p->n; i++) p->beta[i] = p->sums[i] = 0;
    return 1;
}

double violation_of(struct problem *p) {
    const struct findings found = loops()->look(p);
    if (!isfinite(found.total)) return NAN;
    p->outside = found.outside;
    p->bias = found.between ? found.sum / (double)found.between : (found.top + found.bottom) / 2;
    return found.top - found.bottom;
}

void settle_bias(struct problem *p) {
    const double margin = ROUNDING * p->C;
    double top = -INFINITY, bottom = INFINITY;
    for (size_t i = 0; i < p->n; i++) {
        const double g = p->signs[i] - p->sums[i], b = p->beta[i];
        const int rises = b < upper_bound(p, i) - margin, falls = b > lower_bound(p, i) + margin;
        if (rises && falls) return;
        if (rises && g > top) top = g;
        if (falls && g < bottom) bottom = g;
    }
    if (isfinite(top) && isfinite(bottom)) p->bias = (top + bottom) / 2;
}

/* The two terms of the dual objective and the largest coefficient. */
struct terms {
    double linear, quadratic, largest;
};

static struct terms terms_of(const struct problem *p) {
    struct terms t = {0, 0, 0};
    for (size_t i = 0; i < p->n; i++) {
        t.linear += p->signs[i] * p->beta[i];
        t.quadratic += p->beta[i] * p->sums[i];
        if (fabs(p->beta[i]) > t.largest) t.largest = fabs(p->beta[i]);
    }
    return t;
}

/* (primal - dual) / primal, with hinge losses of max(0, 1 - y_i ((K beta)_i + bias)). */
static double relative_gap(const struct problem *p) {
    const struct terms t = terms_of(p);
    double loss = 0;
    for (size_t i = 0; i < p->n; i++) {
        const double hinge = 1 - p->signs[i] * (p->sums[i] + p->bias);
        loss += ((p->active[i] != 0) & (hinge > 0)) ? hinge : 0;
    }
    const double primal = t.quadratic / 2 + p->C * loss;
    return (primal - (t.linear - t.quadratic / 2)) / (primal > DBL_MIN ? primal : DBL_MIN);
}

static void scale(struct problem *p, double factor) {
    for (size_t i = 0; i < p->n; i++) {
        p->beta[i] *= factor;
        p->sums[i] *= factor;
    }
}

/* Where no document is at its bound, the classes can be separated, but C times the slack that the
 * tolerance leaves is more than all the rest of the objective. Stretching the solution until no slack is
 * left, by a factor that differs from 1 by about half the tolerance, closes the gap without another step.
 * Returns whether it did; the bias is stretched along. */
static int widen_margin(struct problem *p) {
    const struct terms t = terms_of(p);
    double worst = 0;
    for (size_t i = 0; i < p->n; i++) {
        const double slack = 1 - p->signs[i] * (p->sums[i] + p->bias);
        if (p->active[i] && slack > worst) worst = slack;
    }
    const double factor = 1 / (1 - worst);
    const double gap = 2 * (1 - t.linear / t.quadratic / factor); /* without slack the primal is quadratic / 2 */
    if (!(worst < 0.5) || !(factor * t.largest < p->C) || !(gap < p->gap)) return 0;
    scale(p, factor);
    p->bias *= factor;
    return 1;
}

int is_solved(struct problem *p, double violation) {
    if (p->outside) return 0;
    if (!p->by_gap) return violation < p->tolerance;
    if (violation < p->near && relative_gap(p) < p->gap) return 1;
    if (p->C <= LARGE_C && violation < USUAL) return 1; /* rough, and as good as any */
    if (violation < p->tolerance) {
        if (widen_margin(p)) return 1;
        p->tolerance /= TIGHTER;
        if (++p->tightened > TIMES) return 1; /* as near as the arithmetic gets */
    }
    return 0;
}

void stretch(struct problem *p) {
    const struct terms t = terms_of(p);
    if (!(t.quadratic > 0) || t.linear <= t.quadratic || t.largest >= p->C) return;
    const double best = t.linear / t.quadratic, most = p->C / t.largest;
    for (size_t i = 0; i < p->n; i++) {
        const int bounded = fabs(p->beta[i]) == t.largest && best >= most;
        p->sums[i] *= best < most ? best : most;
        p->beta[i] *= best < most ? best : most;
        if (bounded) p->beta[i] = p->beta[i] > 0 ? p->C : -p->C;
    }
}

void write_scores(const struct problem *p, float *scores) {
    for (size_t i = 0; i < p->n; i++) scores[i] = (float)(p->sums[i] + p->bias);
}
