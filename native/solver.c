/* The solver: one binary C-SVM over a shared Gram matrix.
 *
 * Problem. With signs y and the dual variable's sign folded in, beta_i = y_i alpha_i,
 *
 *     maximise   sum_i y_i beta_i - 1/2 beta' K beta
 *     subject to sum_i beta_i = 0  and  lower_i <= beta_i <= upper_i,
 *
 * where [lower, upper] is [0, C] for y = +1, [-C, 0] for y = -1 and [0, 0] for a document held out.
 * This is libsvm's problem: hinge loss, unpenalised bias.
 *
 * Update. The gradient is g_i = y_i - (K beta)_i. A pair (i, j) takes a step t along e_i - e_j:
 * i is the document with the largest g among those that may rise, j the one among those that may
 * fall whose step gains most by the second-order model, (g_i - g_j)^2 / (K_ii + K_jj - 2 K_ij)
 * (Fan, Chen and Lin 2005, their WSS 2). The step is clipped to the box.
 *
 * Stop. When max g over those that may rise - min g over those that may fall < tolerance; for C > 10
 * when the duality gap is below 5e-4 of the primal objective, for which the tolerance is tightened where
 * need be.
 *
 * The gradient is kept in single precision while the loop runs, because the loop is bound by the
 * bytes it reads. Rounding drifts with large C, so at the stop it is summed afresh in double; the loop
 * goes on where the true gradient still violates the rule. What is kept is the gradient less the bias,
 * which no step can tell from the gradient: next to the optimum it is about 0 for the documents that
 * matter, and there single precision is fine enough for any tolerance. The fresh sum is also the answer:
 * the score of every document, held out or not, is (K beta)_i + bias.
 */

#include "state.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 40, /* of descent and a gradient summed afresh before the rule is given up */
    TIGHTER = 8, /* times, the tolerance that follows one at which the gap is too wide */
};

/* Above this C the duality gap decides. With noisy labels the loss dwarfs the tolerance, and the last
 * steps to it would take nearly all the time and change nothing; where the classes can be told apart, C
 * times a slack within the tolerance may be more than all the rest of the objective. */
static const double LARGE_C = 10, GAP = 5e-4;

/* The mean gradient of the free documents; without any, libsvm's midpoint of the two ends. */
static double bias_of(const struct state *s, const struct problem *p) {
    double sum = 0, top = -INFINITY, bottom = INFINITY;
    size_t free_ones = 0;
    for (size_t i = 0; i < s->n; i++) {
        double g = p->signs[i] - s->sums[i];
        int rises = s->rise[i] == 0, falls = s->fall[i] == 0;
        if (rises && falls) {
            sum += g;
            free_ones++;
        }
        if (rises && g > top) top = g;
        if (falls && g < bottom) bottom = g;
    }
    if (free_ones) return sum / (double)free_ones;
    return (top + bottom) / 2;
}

void add_row(struct state *s, size_t i, double weight) {
    const float *ki = row(s, i);
    for (size_t k = 0; k < s->n; k++) s->sums[k] += weight * ki[k];
}

void derive_gradient(struct state *s, const struct problem *p) {
    const double bias = bias_of(s, p);
    for (size_t i = 0; i < s->n; i++) s->gradient[i] = (float)(p->signs[i] - s->sums[i] - bias);
}

static void refresh(struct state *s, const struct problem *p, const double *beta) {
    memset(s->sums, 0, s->n * sizeof *s->sums);
    for (size_t i = 0; i < s->n; i++) {
        if (beta[i] != 0) add_row(s, i, beta[i]);
    }
    derive_gradient(s, p);
}

/* The two terms of the dual objective and the largest coefficient. */
struct terms {
    double linear, quadratic, largest;
};

static struct terms terms_of(const struct state *s, const struct problem *p, const double *beta) {
    struct terms t = {0, 0, 0};
    for (size_t i = 0; i < s->n; i++) {
        t.linear += p->signs[i] * beta[i];
        t.quadratic += beta[i] * s->sums[i];
        if (fabs(beta[i]) > t.largest) t.largest = fabs(beta[i]);
    }
    return t;
}

/* A start of a smaller C, stretched as far as the box allows and the objective gains: documents at the
 * old bound are mostly at the new one too. */
static void stretch(struct state *s, const struct problem *p, double *beta) {
    const struct terms t = terms_of(s, p, beta);
    if (!(t.quadratic > 0) || t.linear <= t.quadratic) return;
    const double best = t.linear / t.quadratic, most = p->C / t.largest;
    for (size_t i = 0; i < s->n; i++) {
        const int bounded = fabs(beta[i]) == t.largest;
        beta[i] *= best < most ? best : most;
        if (bounded && best >= most) beta[i] = beta[i] > 0 ? p->C : -p->C;
        mark(s, p, beta, i);
    }
    refresh(s, p, beta);
}

/* A document set without one of the two classes has a constant score, libsvm's rule. */
static int only_one_class(const struct problem *p, double *only) {
    int positive = 0, negative = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (p->active[i]) *(p->signs[i] > 0 ? &positive : &negative) = 1;
    }
    *only = positive ? 1 : -1;
    return !(positive && negative);
}

/* (primal - dual) / primal, where with f = K beta + b the hinge loss of i is max(0, y_i (g_i - b)). What
 * was taken from all gradients alike goes with b, and out of the sums, for beta sums to 0. */
static double relative_gap(const struct state *s, const struct problem *p, const double *beta) {
    double top = -INFINITY, bottom = INFINITY, linear = 0, quadratic = 0, loss = 0;
    for (size_t i = 0; i < s->n; i++) {
        const double g = s->gradient[i];
        if (s->rise[i] == 0 && g > top) top = g;
        if (s->fall[i] == 0 && g < bottom) bottom = g;
        linear += p->signs[i] * beta[i];
        quadratic += beta[i] * (p->signs[i] - g);
    }
    const double b = (top + bottom) / 2;
    for (size_t i = 0; i < s->n; i++) {
        const double hinge = p->signs[i] * (s->gradient[i] - b);
        if (p->active[i] && hinge > 0) loss += hinge;
    }
    const double primal = quadratic / 2 + p->C * loss;
    return (primal - (linear - quadratic / 2)) / (primal > DBL_MIN ? primal : DBL_MIN);
}

/* Where no document is at its bound, the classes can be told apart, but C times the slack that the
 * tolerance leaves is more than all the rest of the objective. Stretching the solution until no slack is
 * left, by a factor that differs from 1 by about half the tolerance, closes the gap without another step.
 * Returns whether it did; the bias is stretched along. */
static int widen_margin(struct state *s, const struct problem *p, double *beta, double *bias) {
    const struct terms t = terms_of(s, p, beta);
    const double b = bias_of(s, p);
    double worst = 0;
    for (size_t i = 0; i < s->n; i++) {
        const double slack = 1 - p->signs[i] * (s->sums[i] + b);
        if (p->active[i] && slack > worst) worst = slack;
    }
    const double factor = 1 / (1 - worst);
    const double gap = 2 * (1 - t.linear / t.quadratic / factor); /* without slack the primal is quadratic / 2 */
    if (!(worst < 0.5) || !(factor * t.largest < p->C) || !(gap < GAP)) return 0;
    for (size_t i = 0; i < s->n; i++) {
        beta[i] *= factor;
        s->sums[i] *= factor;
    }
    *bias = b * factor;
    return 1;
}

int close_enough(const struct state *s, const struct problem *p, const double *beta) {
    return p->C > LARGE_C && relative_gap(s, p, beta) < GAP;
}

/* The problem as a whole, with a look at the duality gap now and then. */
static enum solver_status descend_whole(struct state *s, const struct problem *p, double *beta,
                                        size_t *steps) {
    const size_t budget = BUDGET * s->n;
    for (;;) {
        const size_t before = *steps;
        enum solver_status status = descend(s, p, beta, steps, budget);
        if (status != SOLVER_DONE || *steps - before < budget || close_enough(s, p, beta)) return status;
    }
}

enum solver_status solve(const struct problem *p, double *beta, float *scores, double *bias) {
    size_t n = p->n;
    if (only_one_class(p, bias)) {
        for (size_t i = 0; i < n; i++) {
            beta[i] = 0;
            scores[i] = (float)*bias;
        }
        return SOLVER_DONE;
    }
    float *floats = malloc(4 * n * sizeof *floats);
    double *doubles = malloc(n * sizeof *doubles);
    if (!floats || !doubles) {
        free(floats);
        free(doubles);
        return SOLVER_OUT_OF_MEMORY;
    }
    struct state s = {n, p->gram, floats, floats + n, floats + 2 * n, floats + 3 * n, doubles};
    for (size_t i = 0; i < n; i++) {
        s.diagonal[i] = row(&s, i)[i];
        mark(&s, p, beta, i);
    }
    enum solver_status status = SOLVER_DONE;
    struct problem tightened = *p;
    size_t steps = 0;
    int widened = 0;
    if (p->C > LARGE_C && p->tolerance > 0.8 * GAP) tightened.tolerance = 0.8 * GAP;
    refresh(&s, p, beta);
    stretch(&s, p, beta);
    for (int round = 0; status == SOLVER_DONE; round++) {
        const size_t before = steps;
        status = (n > WHOLE ? descend_by_parts : descend_whole)(&s, &tightened, beta, &steps);
        if (steps > before) refresh(&s, p, beta);
        if (p->C > LARGE_C) {
            if (relative_gap(&s, p, beta) < GAP) break;
            widened = widen_margin(&s, p, beta, bias);
            if (widened) break;
            if (steps == before) tightened.tolerance /= TIGHTER;
        } else if (steps == before) {
            break;
        }
        if (status == SOLVER_DONE && round == ROUNDS) status = SOLVER_EXHAUSTED;
    }
    if (!widened) *bias = bias_of(&s, p);
    for (size_t i = 0; i < n; i++) scores[i] = (float)(s.sums[i] + *bias);
    free(floats);
    free(doubles);
    return status;
}
