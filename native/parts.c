/* Large problems: the documents that matter most, solved as a problem of their own, over and over.
 *
 * Most documents never matter to a problem. The ones that violate the rule most, by rising or by falling,
 * and those chosen last time, make a part whose Gram fits into cache; it is solved by pair steps; then the
 * gradient of all documents follows the change, and the next part is chosen. Without the members of last
 * time the parts would undo each other's work.
 */

#include "state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 512 };

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
    q->state.gram = q->problem.gram = floats + 6 * PART;
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

enum solver_status descend_by_parts(struct state *s, const struct problem *p, double *beta, size_t *steps) {
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
