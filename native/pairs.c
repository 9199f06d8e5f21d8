/* Steps of pairs of documents: the loop in which nearly all the time is spent. */

#include "state.h"

#include <math.h>

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
    STOP_EVERY = 1024, /* steps between looks at the stop flag */
};

static const float TINY = 1e-12f; /* the curvature of a pair of identical documents */

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

void mark(struct state *s, const struct problem *p, const double *beta, size_t i) {
    s->rise[i] = beta[i] < upper_bound(p, i) ? 0 : -INFINITY;
    s->fall[i] = beta[i] > lower_bound(p, i) ? 0 : INFINITY;
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

/* Takes up to `budget` steps; fewer if the rule is met on the running gradient before. */
enum solver_status descend(struct state *s, const struct problem *p, double *beta, size_t *steps,
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
