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

#include "solver.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Vectors of four floats are native on every processor we build for; elsewhere a vector is one float.
 * UNROLL of them run side by side, so that the running maxima do not wait for each other. */
#if defined(__GNUC__)
typedef float floats __attribute__((vector_size(16), aligned(4)));
typedef int ints __attribute__((vector_size(16), aligned(4)));
#define EVERY(x) ((floats){(x), (x), (x), (x)})
#define EVERY_INT(x) ((ints){(x), (x), (x), (x)})
#define CHOOSE(mask, a, b) ((floats)(((mask) & (ints)(a)) | (~(mask) & (ints)(b))))
#define CHOOSE_INT(mask, a, b) (((mask) & (a)) | (~(mask) & (b)))
#define LANE(v, k) ((v)[k])
#else
typedef float floats;
typedef int ints;
#define EVERY(x) (x)
#define EVERY_INT(x) (x)
#define CHOOSE(mask, a, b) ((mask) ? (a) : (b))
#define CHOOSE_INT(mask, a, b) ((mask) ? (a) : (b))
#define LANE(v, k) (v)
#endif

enum {
    WIDTH = sizeof(floats) / sizeof(float),
    UNROLL = 4,
    BLOCK = WIDTH * UNROLL,
    STOP_EVERY = 1024, /* iterations between looks at the stop flag */
    ROUNDS = 40,       /* of descent and a gradient summed afresh before the rule is given up */
    TIGHTER = 8,       /* times, the tolerance that follows one at which the gap is too wide */
    BUDGET = 50,       /* steps a document between looks at the duality gap */
};

/* Above this C the duality gap decides. With noisy labels the loss dwarfs the tolerance, and the last
 * steps to it would take nearly all the time and change nothing; where the classes can be told apart, C
 * times a slack within the tolerance may be more than all the rest of the objective. */
static const double LARGE_C = 10, GAP = 5e-4;

static const float TINY = 1e-12f; /* the curvature of a pair of identical documents */

struct state {
    size_t n;
    const float *gram;
    float *gradient; /* y - K beta - bias */
    float *diagonal; /* K_ii, contiguous */
    float *rise;     /* 0 where beta_i < upper_i, -inf elsewhere */
    float *fall;     /* 0 where beta_i > lower_i, +inf elsewhere */
    double *sums;    /* K beta, in double */
};

static const float *row(const struct state *s, size_t i) { return s->gram + i * s->n; }

static floats load(const float *at) { return *(const floats *)at; }

/* gradient -= t (K_i - K_j), and the first index of the largest gradient that may rise.
 * Invariant: each lane holds the maximum, and its block, of the documents it has seen so far. */
static size_t step_and_pick_rising(struct state *s, float t, const float *ki, const float *kj) {
    floats best[UNROLL];
    ints block[UNROLL];
    float *g = s->gradient;
    const float *rise = s->rise;
    const size_t whole = s->n - s->n % BLOCK;
    const floats step = EVERY(t);
    for (int u = 0; u < UNROLL; u++) {
        best[u] = EVERY(-INFINITY);
        block[u] = EVERY_INT(0);
    }
    for (size_t b = 0; b < whole; b += BLOCK) {
        const ints here = EVERY_INT((int)b);
        for (int u = 0; u < UNROLL; u++) {
            const size_t at = b + (size_t)u * WIDTH;
            floats value = load(g + at) - step * (load(ki + at) - load(kj + at));
            *(floats *)(g + at) = value;
            value += load(rise + at);
            ints better = value > best[u];
            best[u] = CHOOSE(better, value, best[u]);
            block[u] = CHOOSE_INT(better, here, block[u]);
        }
    }
    float top = -INFINITY;
    size_t found = s->n;
    for (int k = 0; k < BLOCK; k++) {
        const float value = LANE(best[k / WIDTH], k % WIDTH);
        const size_t index = (size_t)LANE(block[k / WIDTH], k % WIDTH) + (size_t)k;
        if (value > top || (value == top && value > -INFINITY && index < found)) {
            top = value;
            found = index;
        }
    }
    for (size_t i = whole; i < s->n; i++) {
        g[i] -= t * (ki[i] - kj[i]);
        if (g[i] + rise[i] > top) {
            top = g[i] + rise[i];
            found = i;
        }
    }
    return found;
}

/* The partner of i that gains most; *violation is g_i - min g over those that may fall.
 * Gains are compared by cross-multiplication: a division a document costs more than all the rest. */
static size_t pick_falling(const struct state *s, size_t i, float *violation) {
    floats gain[UNROLL], curve[UNROLL], widest[UNROLL];
    ints block[UNROLL];
    const float *ki = row(s, i), *g = s->gradient, *fall = s->fall, *diagonal = s->diagonal;
    const size_t whole = s->n - s->n % BLOCK;
    const floats gi = EVERY(g[i]), kii = EVERY(diagonal[i]), tiny = EVERY(TINY), zero = EVERY(0.0f);
    for (int u = 0; u < UNROLL; u++) {
        gain[u] = zero;
        curve[u] = EVERY(1.0f);
        widest[u] = EVERY(-INFINITY);
        block[u] = EVERY_INT(0);
    }
    for (size_t b = 0; b < whole; b += BLOCK) {
        const ints here = EVERY_INT((int)b);
        for (int u = 0; u < UNROLL; u++) {
            const size_t at = b + (size_t)u * WIDTH;
            const floats gap = gi - (load(g + at) + load(fall + at));
            const floats k = load(ki + at);
            floats eta = kii + load(diagonal + at) - (k + k);
            eta = CHOOSE(eta > tiny, eta, tiny);
            widest[u] = CHOOSE(gap > widest[u], gap, widest[u]);
            const floats reach = CHOOSE(gap > zero, gap, zero);
            const floats squared = reach * reach;
            const ints better = squared * curve[u] > gain[u] * eta;
            gain[u] = CHOOSE(better, squared, gain[u]);
            curve[u] = CHOOSE(better, eta, curve[u]);
            block[u] = CHOOSE_INT(better, here, block[u]);
        }
    }
    float best = 0, top = -INFINITY;
    size_t found = s->n;
    for (int k = 0; k < BLOCK; k++) {
        const int u = k / WIDTH, lane = k % WIDTH;
        const float value = LANE(gain[u], lane) / LANE(curve[u], lane);
        const size_t index = (size_t)LANE(block[u], lane) + (size_t)k;
        if (LANE(widest[u], lane) > top) top = LANE(widest[u], lane);
        if (value > best || (value == best && value > 0 && index < found)) {
            best = value;
            found = index;
        }
    }
    for (size_t j = whole; j < s->n; j++) {
        const float gap = g[i] - (g[j] + fall[j]);
        float eta = diagonal[i] + diagonal[j] - 2 * ki[j];
        eta = eta > TINY ? eta : TINY;
        if (gap > top) top = gap;
        if (gap > 0 && gap * gap / eta > best) {
            best = gap * gap / eta;
            found = j;
        }
    }
    *violation = top;
    return found;
}

static double lower_bound(const struct problem *p, size_t i) {
    return p->active[i] && p->signs[i] < 0 ? -p->C : 0;
}

static double upper_bound(const struct problem *p, size_t i) {
    return p->active[i] && p->signs[i] > 0 ? p->C : 0;
}

static void mark(struct state *s, const struct problem *p, const double *beta, size_t i) {
    s->rise[i] = beta[i] < upper_bound(p, i) ? 0 : -INFINITY;
    s->fall[i] = beta[i] > lower_bound(p, i) ? 0 : INFINITY;
}

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

static void add_row(struct state *s, size_t i, double weight) {
    const float *ki = row(s, i);
    for (size_t k = 0; k < s->n; k++) s->sums[k] += weight * ki[k];
}

static void derive_gradient(struct state *s, const struct problem *p) {
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

/* A start of a smaller C, stretched as far as the box allows and the objective gains: documents at the
 * old bound are mostly at the new one too. */
static void stretch(struct state *s, const struct problem *p, double *beta) {
    double linear = 0, quadratic = 0, largest = 0;
    for (size_t i = 0; i < s->n; i++) {
        linear += p->signs[i] * beta[i];
        quadratic += beta[i] * s->sums[i];
        if (fabs(beta[i]) > largest) largest = fabs(beta[i]);
    }
    if (!(quadratic > 0) || linear <= quadratic) return;
    const double best = linear / quadratic, most = p->C / largest;
    for (size_t i = 0; i < s->n; i++) {
        const int bounded = fabs(beta[i]) == largest;
        beta[i] *= best < most ? best : most;
        if (bounded && best >= most) beta[i] = beta[i] > 0 ? p->C : -p->C;
        mark(s, p, beta, i);
    }
    refresh(s, p, beta);
}

/* The pair's step, clipped to the box; a bound that is hit is met exactly. */
static float take_step(struct state *s, const struct problem *p, double *beta, size_t i, size_t j) {
    double eta = (double)s->diagonal[i] + s->diagonal[j] - 2.0 * row(s, i)[j];
    double room_i = upper_bound(p, i) - beta[i], room_j = beta[j] - lower_bound(p, j);
    double t = ((double)s->gradient[i] - s->gradient[j]) / (eta > TINY ? eta : TINY);
    if (t > room_i) t = room_i;
    if (t > room_j) t = room_j;
    beta[i] = t == room_i ? upper_bound(p, i) : beta[i] + t;
    beta[j] = t == room_j ? lower_bound(p, j) : beta[j] - t;
    mark(s, p, beta, i);
    mark(s, p, beta, j);
    return (float)t;
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

/* The `most` largest values, as a heap with the smallest of them on top. */
struct heap {
    size_t size, most;
    float *value;
    size_t *index;
};

static void offer(struct heap *h, float value, size_t index) {
    size_t at;
    if (h->size < h->most) {
        at = h->size++;
        while (at > 0 && h->value[(at - 1) / 2] > value) {
            h->value[at] = h->value[(at - 1) / 2];
            h->index[at] = h->index[(at - 1) / 2];
            at = (at - 1) / 2;
        }
    } else {
        if (value <= h->value[0]) return;
        at = 0;
        for (size_t child = 1; child < h->size; child = 2 * at + 1) {
            if (child + 1 < h->size && h->value[child + 1] < h->value[child]) child++;
            if (h->value[child] >= value) break;
            h->value[at] = h->value[child];
            h->index[at] = h->index[child];
            at = child;
        }
    }
    h->value[at] = value;
    h->index[at] = index;
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
    double linear = 0, quadratic = 0, largest = 0, worst = 0;
    const double b = bias_of(s, p);
    for (size_t i = 0; i < s->n; i++) {
        const double slack = 1 - p->signs[i] * (s->sums[i] + b);
        if (p->active[i] && slack > worst) worst = slack;
        if (fabs(beta[i]) > largest) largest = fabs(beta[i]);
        linear += p->signs[i] * beta[i];
        quadratic += beta[i] * s->sums[i];
    }
    const double factor = 1 / (1 - worst);
    if (!(worst < 0.5) || !(factor * largest < p->C) || !(2 * (1 - linear / quadratic / factor) < GAP)) return 0;
    for (size_t i = 0; i < s->n; i++) {
        beta[i] *= factor;
        s->sums[i] *= factor;
    }
    *bias = b * factor;
    return 1;
}

static int close_enough(const struct state *s, const struct problem *p, const double *beta) {
    return p->C > LARGE_C && relative_gap(s, p, beta) < GAP;
}

/* Takes up to `budget` steps; fewer if the rule is met on the running gradient before. */
static enum solver_status descend(struct state *s, const struct problem *p, double *beta, size_t *steps,
                                  size_t budget) {
    float violation;
    size_t i = step_and_pick_rising(s, 0, s->gram, s->gram);
    for (size_t taken = 0; taken < budget && i < s->n; taken++) {
        size_t j = pick_falling(s, i, &violation);
        if (violation < p->tolerance || j == s->n) break;
        if (*steps >= p->max_iterations) return SOLVER_EXHAUSTED;
        if ((*steps)++ % STOP_EVERY == 0 && *p->stop) return SOLVER_STOPPED;
        float t = take_step(s, p, beta, i, j);
        i = step_and_pick_rising(s, t, row(s, i), row(s, j));
    }
    return SOLVER_DONE;
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

/* Most documents never matter to a problem. Past this many, the documents that violate the rule most,
 * half of them by rising and half by falling, are solved as a problem of their own whose Gram fits
 * into cache; then the gradient of all documents follows the change, and the next ones are chosen. */
enum { WHOLE = 2048, PART = 512 };

struct part {
    struct state state;
    struct problem problem;
    struct heap rising, falling;
    double *beta;
    size_t *members, *last;
    unsigned char *taken;
};

static int allocate_part(struct part *q, const struct problem *p) {
    *q = (struct part){.problem = *p};
    q->beta = malloc(PART * sizeof *q->beta);
    q->members = malloc(4 * PART * sizeof *q->members);
    q->state.gradient = malloc((PART * PART + 6 * PART) * sizeof(float));
    q->taken = calloc(p->n + 2 * PART, 1);
    if (!q->beta || !q->members || !q->state.gradient || !q->taken) return 0;
    float *floats = q->state.gradient;
    q->state.diagonal = floats + PART;
    q->state.rise = floats + 2 * PART;
    q->state.fall = floats + 3 * PART;
    q->last = q->members + 3 * PART;
    q->rising = (struct heap){0, PART / 4, floats + 4 * PART, q->members + PART};
    q->falling = (struct heap){0, PART / 4, floats + 5 * PART, q->members + 2 * PART};
    q->state.gram = floats + 6 * PART;
    q->problem.active = q->taken + p->n;
    q->problem.signs = (signed char *)q->taken + p->n + PART;
    return 1;
}

static void free_part(struct part *q) {
    free(q->beta);
    free(q->members);
    free(q->state.gradient);
    free(q->taken);
}

/* Fills the heaps; returns how far the whole problem is from the rule. */
static float pick_members(struct part *q, const struct state *s) {
    float top = -INFINITY, bottom = INFINITY;
    q->rising.size = q->falling.size = 0;
    for (size_t i = 0; i < s->n; i++) {
        const float g = s->gradient[i];
        if (s->rise[i] == 0) {
            offer(&q->rising, g, i);
            if (g > top) top = g;
        }
        if (s->fall[i] == 0) {
            offer(&q->falling, -g, i);
            if (g < bottom) bottom = g;
        }
    }
    return top - bottom;
}

static void add_members(struct part *q, const size_t *index, size_t available, size_t *count) {
    for (size_t k = 0; k < available && *count < PART; k++) {
        if (!q->taken[index[k]]) {
            q->taken[index[k]] = 1;
            q->members[(*count)++] = index[k];
        }
    }
}

static void copy_members(struct part *q, const struct state *s, const struct problem *p, const double *beta) {
    float *gram = q->state.gradient + 6 * PART;
    unsigned char *active = q->taken + p->n;
    signed char *signs = (signed char *)active + PART;
    const size_t n = q->state.n;
    for (size_t a = 0; a < n; a++) {
        const size_t i = q->members[a];
        const float *ki = row(s, i);
        for (size_t b = 0; b < n; b++) gram[a * n + b] = ki[q->members[b]];
        q->state.gradient[a] = s->gradient[i];
        q->state.diagonal[a] = s->diagonal[i];
        q->state.rise[a] = s->rise[i];
        q->state.fall[a] = s->fall[i];
        q->beta[a] = beta[i];
        active[a] = p->active[i];
        signs[a] = p->signs[i];
    }
}

static enum solver_status descend_by_parts(struct state *s, const struct problem *p, double *beta,
                                           size_t *steps) {
    struct part q;
    enum solver_status status = SOLVER_DONE;
    if (!allocate_part(&q, p)) status = SOLVER_OUT_OF_MEMORY;
    while (status == SOLVER_DONE) {
        const float violation = pick_members(&q, s);
        if (violation < p->tolerance || close_enough(s, p, beta)) break;
        size_t count = 0;
        memcpy(q.last, q.members, q.state.n * sizeof *q.last);
        add_members(&q, q.rising.index, q.rising.size, &count);
        add_members(&q, q.falling.index, q.falling.size, &count);
        add_members(&q, q.last, q.state.n, &count);
        q.state.n = q.problem.n = count;
        q.problem.tolerance = 0.1 * violation > p->tolerance ? 0.1 * violation : p->tolerance;
        copy_members(&q, s, p, beta);
        q.problem.gram = q.state.gram;
        const size_t before = *steps;
        status = descend(&q.state, &q.problem, q.beta, steps, BUDGET * PART);
        if (*steps == before) break; /* kernel values that are not finite */
        for (size_t a = 0; a < count; a++) {
            const size_t i = q.members[a];
            q.taken[i] = 0;
            if (q.beta[a] != beta[i]) {
                add_row(s, i, q.beta[a] - beta[i]);
                beta[i] = q.beta[a];
                mark(s, p, beta, i);
            }
        }
        derive_gradient(s, p);
    }
    free_part(&q);
    return status;
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
