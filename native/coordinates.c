/* Problems over vectors, solved coordinate by coordinate, all folds of a label at once.
 *
 * A visit to document i moves its beta_i to where its gradient is 0, or to its bound. With the weights
 * w = sum beta_j x_j at hand that costs two passes over the non-zeros of x_i, and the passes serve LANES
 * problems: the folds of a label train on nearly the same documents, so a document that matters to one
 * mostly matters to all. Documents that rest at a bound, away from the margin, are left out of the next
 * sweep. No Gram is needed, and on sparse texts this is several times faster than with one.
 *
 * The bias stays unpenalised: the constraint sum beta = 0 is kept by the method of multipliers. The
 * objective loses `offset` times the sum and a penalty on its square, and offset += penalty * sum after
 * each sweep converges to the bias. At the end of a round what is left of the sum is taken from documents
 * within their bounds, the weights are summed afresh in double, and the rule is checked on all documents.
 */

#include "loops.h"
#include "working_sets.h"
#include "rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SWEEPS = 40,  /* between looks at all documents */
    LOOKS = 8,    /* between checks in double */
    PATIENCE = 3, /* checks in which the violation falls by less than half, until working sets take over */
    VISITS = 10,  /* which take as long as a step of a pair, or less */
};

static const float RELAXATION = 1.3f; /* a step goes that much further than to gradient 0 */
static const float CLOSER = 0.15f;    /* what sweeps bring a violation down to, before the next look */
static const float RESTING = 0.01f;   /* the gradient that keeps a document at its bound out of a first sweep */

struct work {
    struct sweep sweep;
    double *weights; /* width * LANES */
    double *sums;    /* LANES * n */
    uint32_t *live;  /* n */
    float *floats;
};

static int allocate(struct work *w, size_t n, size_t width) {
    w->weights = malloc((width * LANES + n * LANES) * sizeof *w->weights);
    w->floats = malloc((width * LANES + 2 * n * LANES + 2 * n) * sizeof *w->floats);
    w->live = malloc(n * sizeof *w->live);
    if (!w->weights || !w->floats || !w->live) return 0;
    w->sums = w->weights + width * LANES;
    w->sweep.weights = w->floats;
    w->sweep.beta = w->sweep.weights + width * LANES;
    return 1;
}

static void release(struct work *w) {
    free(w->weights);
    free(w->floats);
    free(w->live);
}

/* The length of a document's step over its gradient, and the penalty, in the scale of the kernel. */
static void set_pace(struct work *w, const struct vectors *v, size_t n, float *pace, float *slow) {
    double mean = 0;
    for (size_t i = 0; i < n; i++) {
        const struct row r = row_of(v, i);
        float squares = 0;
        for (size_t at = 0; at < r.length; at++) squares += r.values[at] * r.values[at];
        slow[i] = squares;
        mean += squares / (double)n;
    }
    w->sweep.penalty = mean > 0 ? (float)(0.05 * mean) : 1.0f;
    for (size_t i = 0; i < n; i++) {
        slow[i] = (slow[i] + w->sweep.penalty) / RELAXATION;
        pace[i] = 1 / slow[i];
    }
    w->sweep.pace = pace;
    w->sweep.slow = slow;
}

/* The weights and the sums of all lanes, in double, from the coefficients. */
static void sum_afresh(struct work *w, const struct vectors *v, struct problem *problems, size_t lanes) {
    double values[LANES] = {0};
    memset(w->weights, 0, v->width * LANES * sizeof *w->weights);
    for (size_t i = 0; i < problems->n; i++) {
        int any = 0;
        for (size_t l = 0; l < lanes; l++) {
            values[l] = problems[l].beta[i];
            any |= values[l] != 0;
        }
        if (any) loops()->weigh(v, i, values, w->weights);
    }
    for (size_t i = 0; i < problems->n; i++) {
        loops()->measure(v, i, w->weights, values);
        for (size_t l = 0; l < lanes; l++) problems[l].sums[i] = values[l];
    }
}

/* Moves beta_i by `amount`, or as far as the bounds allow; returns what is left. */
static double move(struct problem *p, size_t i, double amount) {
    const double lower = lower_bound(p, i), upper = upper_bound(p, i), goal = p->beta[i] + amount;
    const double reached = goal < lower ? lower : goal > upper ? upper : goal;
    amount -= reached - p->beta[i];
    p->beta[i] = reached;
    return amount;
}

/* Brings the sum of beta to 0 by moving documents between their bounds; where those do not suffice, the ones
 * next to the margin. */
static void balance(struct problem *p) {
    const double rounding = 1e-12 * p->C; /* must not take a document off its bound */
    double lacking = 0;
    for (size_t i = 0; i < p->n; i++) lacking -= p->beta[i];
    for (size_t i = 0; i < p->n && fabs(lacking) > rounding; i++) {
        if (p->beta[i] > lower_bound(p, i) && p->beta[i] < upper_bound(p, i)) lacking = move(p, i, lacking);
    }
    while (fabs(lacking) > rounding) {
        double best = -INFINITY;
        size_t found = p->n;
        for (size_t i = 0; i < p->n; i++) {
            const double g = p->signs[i] - p->sums[i];
            const int moves = lacking > 0 ? p->beta[i] < upper_bound(p, i) : p->beta[i] > lower_bound(p, i);
            if (moves && (lacking > 0 ? g : -g) > best) {
                best = lacking > 0 ? g : -g;
                found = i;
            }
        }
        if (found == p->n) return;
        lacking = move(p, found, lacking);
    }
}

static void shuffle(uint32_t *list, size_t count, uint32_t *seed) {
    for (size_t k = count; k > 1; k--) {
        *seed = *seed * 1664525u + 1013904223u;
        const size_t other = (size_t)(((uint64_t)*seed * k) >> 32);
        const uint32_t last = list[k - 1];
        list[k - 1] = list[other];
        list[other] = last;
    }
}

/* Sweeps until the largest gradient followed is below the tolerance. Returns the number of visits. */
static size_t sweep(struct work *w, const struct family *f, size_t count, float tolerance, uint32_t *seed) {
    struct sweep *s = &w->sweep;
    float resting = RESTING;
    size_t visits = 0;
    s->quiet = 0.1f * tolerance;
    for (int k = 0; k < SWEEPS && !*f->stop; k++) {
        shuffle(w->live, count, seed);
        visits += count;
        resting = loops()->visit(s, w->live, &count, resting);
        for (int l = 0; l < LANES; l++) s->offset[l] += s->penalty * s->excess[l];
        if (!(resting >= tolerance)) break;
    }
    return visits;
}

static void load_lanes(struct work *w, const struct vectors *v, const struct problem *problems, size_t lanes) {
    struct sweep *s = &w->sweep;
    for (size_t at = 0; at < v->width * LANES; at++) s->weights[at] = (float)w->weights[at];
    memset(s->excess, 0, sizeof s->excess);
    for (size_t l = 0; l < lanes; l++) {
        const struct problem *p = &problems[l];
        s->offset[l] = (float)p->bias;
        for (size_t i = 0; i < p->n; i++) s->beta[i * LANES + l] = (float)p->beta[i];
    }
}

/* The coefficients in double: a bound that was met is met exactly. */
static void read_lane(const struct work *w, struct problem *p, size_t l) {
    const float C = (float)p->C;
    for (size_t i = 0; i < p->n; i++) {
        const float beta = w->sweep.beta[i * LANES + l];
        p->beta[i] = beta == C ? p->C : beta == -C ? -p->C : beta;
    }
    balance(p);
}

/* Checks the rule of all lanes that are going, on sums in double, and stops those that meet it. Returns the
 * largest violation of the others, 0 where there are none, NaN where sums are not finite. */
static double check(struct work *w, const struct vectors *v, struct problem *problems, size_t lanes) {
    double worst = 0;
    sum_afresh(w, v, problems, lanes);
    for (size_t l = 0; l < lanes; l++) {
        if (!w->sweep.going[l]) continue;
        const double violation = violation_of(&problems[l]);
        if (isnan(violation)) return NAN;
        w->sweep.going[l] = !is_solved(&problems[l], violation);
        if (w->sweep.going[l] && violation > worst) worst = violation;
    }
    load_lanes(w, v, problems, lanes);
    return worst;
}

/* Solves the lanes that are still going one after the other, by steps of pairs: on problems of few dimensions
 * and a large C, single coordinates stall. */
static enum solver_status finish_by_working_sets(const struct work *w, const struct family *f, const struct vectors *v,
                                          struct problem *problems, size_t lanes) {
    struct kernel k;
    enum solver_status worst = SOLVER_DONE;
    if (!kernel_over_vectors(&k, f->n, v)) worst = SOLVER_OUT_OF_MEMORY;
    for (size_t l = 0; l < lanes && worst != SOLVER_OUT_OF_MEMORY && worst != SOLVER_STOPPED; l++) {
        if (!w->sweep.going[l]) continue;
        const enum solver_status status = solve_by_working_sets(f, &k, &problems[l]);
        if (status > worst) worst = status;
    }
    kernel_release(&k);
    return worst;
}

/* Brings the coefficients of a start inside the bounds, and to the scale of C. Where there are none, begins
 * with the bias that suits a document without words, so that only the smaller class moves at first. */
static void start(struct work *w, const struct vectors *v, struct problem *problems, size_t lanes) {
    int any = 0;
    for (size_t l = 0; l < lanes; l++) {
        struct problem *p = &problems[l];
        double signs = 0, documents = 0;
        memset(p->sums, 0, p->n * sizeof *p->sums);
        for (size_t i = 0; i < p->n; i++) {
            move(p, i, 0);
            any |= p->beta[i] != 0;
            signs += p->active[i] ? p->signs[i] : 0;
            documents += p->active[i] != 0;
        }
        p->bias = signs / documents;
        balance(p);
    }
    if (any) {
        sum_afresh(w, v, problems, lanes);
        for (size_t l = 0; l < lanes; l++) stretch(&problems[l]);
        sum_afresh(w, v, problems, lanes);
        for (size_t l = 0; l < lanes; l++) violation_of(&problems[l]);
    } else {
        memset(w->weights, 0, v->width * LANES * sizeof *w->weights);
    }
    load_lanes(w, v, problems, lanes);
}

/* Looks and sweeps by turns until the rule seems to be met; a problem that is `hard` is not checked early.
 * Returns the number of visits. */
static size_t approach(struct work *w, const struct family *f, const struct problem *problems, size_t lanes,
                       int hard, uint32_t *seed) {
    size_t visits = 0;
    for (int look = 0; look < LOOKS && !*f->stop; look++) {
        float violation[LANES], worst = 0, tolerance = INFINITY;
        const size_t count = loops()->survey(&w->sweep, f->n, w->live, RESTING, violation);
        for (size_t l = 0; l < lanes; l++) {
            if (!w->sweep.going[l]) continue;
            if (!(violation[l] <= worst)) worst = violation[l];
            if (problems[l].tolerance < tolerance) tolerance = (float)problems[l].tolerance;
        }
        visits += count + sweep(w, f, count, fmaxf(CLOSER * worst, 0.6f * tolerance), seed);
        if (!(CLOSER * worst > tolerance)) break;
        if (problems->by_gap && worst < problems->near && !hard) break; /* the gap may already do */
    }
    return visits + 1;
}

/* Whether a lane has more documents between its bounds than a working set holds: where C is large and labels
 * are noisy thousands of them, of which sets would solve a part after another to no end. */
static int is_crowded(const struct work *w, const struct problem *problems, size_t lanes) {
    for (size_t l = 0; l < lanes; l++) {
        const struct problem *p = &problems[l];
        size_t between = 0;
        for (size_t i = 0; i < p->n && w->sweep.going[l]; i++) {
            between += p->beta[i] > lower_bound(p, i) && p->beta[i] < upper_bound(p, i);
        }
        if (between > CAPACITY) return 1;
    }
    return 0;
}

/* Up to LANES problems, none of them with one class. */
static enum solver_status solve_lanes(struct work *w, const struct family *f, const struct vectors *v,
                                      struct problem *problems, size_t lanes) {
    const size_t n = f->n;
    float *open = w->sweep.beta + n * LANES, *pace = open + n * LANES;
    uint32_t seed = 1;
    set_pace(w, v, n, pace, pace + n);
    w->sweep.open = open;
    w->sweep.vectors = v;
    w->sweep.signs = f->signs;
    w->sweep.C = (float)f->C;
    memset(w->sweep.beta, 0, n * LANES * sizeof *w->sweep.beta);
    memset(w->sweep.offset, 0, sizeof w->sweep.offset);
    for (size_t l = 0; l < LANES; l++) {
        w->sweep.going[l] = l < lanes;
        for (size_t i = 0; i < n; i++) open[i * LANES + l] = l < lanes && problems[l].active[i];
    }
    start(w, v, problems, lanes);
    double last = INFINITY;
    size_t visits = 0, stalls = 0;
    for (;;) {
        visits += approach(w, f, problems, lanes, stalls > PATIENCE, &seed);
        if (*f->stop) return SOLVER_STOPPED;
        for (size_t l = 0; l < lanes; l++) {
            if (w->sweep.going[l]) read_lane(w, &problems[l], l);
        }
        const double worst = check(w, v, problems, lanes);
        if (isnan(worst)) return SOLVER_NOT_FINITE;
        if (worst == 0) return SOLVER_DONE;
        stalls += worst > last / 2;
        last = worst;
        if (stalls <= PATIENCE) {
            if (visits >= f->max_steps) return SOLVER_EXHAUSTED;
        } else if (f->C <= LARGE_C || !is_crowded(w, problems, lanes)) {
            return finish_by_working_sets(w, f, v, problems, lanes);
        } else if (visits / VISITS >= f->max_steps) {
            return SOLVER_EXHAUSTED;
        }
    }
}

enum solver_status solve_vectors(const struct family *f, const struct vectors *v, double *beta, float *scores,
                                 double *bias) {
    struct work w = {0};
    enum solver_status worst = SOLVER_DONE;
    if (!allocate(&w, f->n, v->width)) worst = SOLVER_OUT_OF_MEMORY;
    for (size_t fold = 0; fold < f->folds && worst != SOLVER_OUT_OF_MEMORY && worst != SOLVER_STOPPED;) {
        struct problem problems[LANES];
        size_t folds[LANES], lanes = 0;
        for (; fold < f->folds && lanes < LANES; fold++) {
            problems[lanes] = problem_of(f, fold, beta + fold * f->n, w.sums + lanes * f->n);
            if (has_one_class(&problems[lanes])) {
                bias[fold] = problems[lanes].bias;
                write_scores(&problems[lanes], scores + fold * f->n);
            } else {
                folds[lanes++] = fold;
            }
        }
        if (!lanes) continue;
        const enum solver_status status = solve_lanes(&w, f, v, problems, lanes);
        if (status > worst) worst = status;
        for (size_t l = 0; l < lanes; l++) {
            settle_bias(&problems[l]);
            bias[folds[l]] = problems[l].bias;
            write_scores(&problems[l], scores + folds[l] * f->n);
        }
    }
    release(&w);
    return worst;
}
