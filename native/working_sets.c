/* Problems solved by working sets, over a Gram matrix or over vectors.
 *
 * Most documents never matter to a problem. Those that violate the rule most, by rising or by falling, make up
 * a working set whose kernel values fit into cache. A round solves the problem over these members by steps of
 * pairs, then brings the sums of all documents up to date. Members that rest leave the set, and documents that
 * now violate the rule join it.
 *
 * A pair (i, j) steps along e_i - e_j: i is the member with the largest gradient among those that may rise, j
 * the one whose step gains most (Fan, Chen and Lin 2005, their WSS 2). Within a working set the gradient is kept
 * in single precision, for the loop is bound by the bytes it reads; the sums are kept in double, and every round
 * starts from them.
 *
 * Each problem after the first starts from the first one's solution and working set; the coefficients of the
 * documents that it holds out are handed over to the members that lose least by it. One that holds out most of
 * them starts from nothing.
 */

#include "working_sets.h"
#include "loops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    QUOTA = 32,   /* documents of each kind that may join in a round */
    BUDGET = 50,  /* steps per member in a round */
};

/* The largest values, as a heap with the smallest of them on top. */
struct heap {
    size_t size;
    double value[QUOTA];
    uint32_t index[QUOTA];
};

static void offer(struct heap *h, double value, uint32_t index) {
    size_t at;
    if (h->size < QUOTA) {
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

struct work {
    const struct kernel *kernel;
    struct working_set set;
    int32_t *position; /* n: of a document in the working set, -1 outside */
    uint32_t *changed; /* n + CAPACITY / 2 */
    double *change;    /* n */
};

static int allocate(struct work *w, size_t n) {
    w->change = malloc((n + 5 * CAPACITY + (CAPACITY + HELD) * CAPACITY) * sizeof *w->change);
    w->position = malloc((2 * n + CAPACITY + CAPACITY / 2) * sizeof *w->position);
    w->set.gram = calloc(CAPACITY * STRIDE + 3 * CAPACITY, sizeof *w->set.gram);
    if (!w->change || !w->position || !w->set.gram) return 0;
    w->set.beta = w->change + n;
    w->set.lower = w->set.beta + CAPACITY;
    w->set.upper = w->set.lower + CAPACITY;
    w->set.first_beta = w->set.upper + CAPACITY;
    w->set.first_gradient = w->set.first_beta + CAPACITY;
    w->set.scratch = w->set.first_gradient + CAPACITY;
    w->changed = (uint32_t *)w->position + n;
    w->set.members = w->changed + n + CAPACITY / 2;
    w->set.diagonal = w->set.gram + CAPACITY * STRIDE;
    w->set.up = w->set.diagonal + CAPACITY;
    w->set.down = w->set.up + CAPACITY;
    for (size_t i = 0; i < n; i++) w->position[i] = -1;
    return 1;
}

static void release(struct work *w) {
    free(w->change);
    free(w->position);
    free(w->set.gram);
}

/* Adds documents to the members. */
static void join(struct work *w, const uint32_t *documents, size_t count) {
    struct working_set *q = &w->set;
    const size_t first = q->size;
    for (size_t k = 0; k < count; k++) {
        const size_t a = q->size++;
        q->members[a] = documents[k];
        w->position[documents[k]] = (int32_t)a;
        kernel_values(w->kernel, documents[k], q->members, q->size, q->gram + a * STRIDE);
        q->diagonal[a] = q->gram[a * STRIDE + a];
    }
    for (size_t b = 0; b < q->size; b++) { /* row by row: each element of a column is in another cache line */
        for (size_t a = b < first ? first : b + 1; a < q->size; a++) q->gram[b * STRIDE + a] = q->gram[a * STRIDE + b];
    }
}

/* Removes all members but those that stay. */
static void keep(struct work *w, const unsigned char *stays) {
    struct working_set *q = &w->set;
    int32_t from[CAPACITY];
    size_t kept = 0, whole = 0; /* so many at the front stay where they are */
    for (size_t a = 0; a < q->size; a++) {
        w->position[q->members[a]] = -1;
        if (!stays[a]) continue;
        whole += whole == a;
        from[kept] = (int32_t)a;
        q->diagonal[kept] = q->diagonal[a];
        q->members[kept] = q->members[a];
        w->position[q->members[kept]] = (int32_t)kept;
        kept++;
    }
    if (whole < kept) loops()->close_up(q->gram, from, whole, kept);
    q->size = kept;
}

/* Makes room in the working set: the members between their bounds stay, the newest first. */
static void make_room(struct work *w, const struct problem *p, size_t room) {
    unsigned char stays[CAPACITY] = {0};
    size_t kept = 0;
    if (w->set.size + room <= CAPACITY) return;
    for (size_t a = w->set.size; a-- > 0 && kept < CAPACITY - room;) {
        const size_t i = w->set.members[a];
        stays[a] = p->beta[i] > lower_bound(p, i) && p->beta[i] < upper_bound(p, i);
        kept += stays[a];
    }
    keep(w, stays);
}

/* Removes the members at 0 that are held out or beyond the margin, to make steps cheaper; one that is needed
 * after all comes back as a violator. */
static void dismiss(struct work *w, const struct problem *p) {
    unsigned char stays[CAPACITY] = {0};
    for (size_t a = 0; a < w->set.size; a++) {
        const size_t i = w->set.members[a];
        const double margin = p->signs[i] * (p->sums[i] + p->bias);
        stays[a] = p->beta[i] != 0 || (p->active[i] && margin < 1);
    }
    keep(w, stays);
}

/* Lists documents that are outside their bounds and not members yet, up to half the capacity. */
static size_t list_outside(struct work *w, const struct problem *p) {
    size_t count = 0;
    for (size_t i = 0; i < p->n && p->outside && count < CAPACITY / 2; i++) {
        const int outside = p->beta[i] < lower_bound(p, i) || p->beta[i] > upper_bound(p, i);
        if (outside && w->position[i] < 0) w->changed[count++] = (uint32_t)i;
    }
    return count;
}

/* Lets the worst violators join, and the documents outside their bounds together with the best partners for
 * the way back. */
static void grow(struct work *w, const struct problem *p) {
    struct heap rising = {0}, falling = {0};
    dismiss(w, p);
    const size_t outside = list_outside(w, p);
    const double least = p->outside ? -INFINITY : 0;
    uint32_t *candidates = w->changed + outside;
    const size_t count = loops()->movable(p, w->position, least, candidates);
    for (size_t k = 0; k < count; k++) {
        const uint32_t i = candidates[k];
        const double g = p->signs[i] - p->sums[i] - p->bias, b = p->beta[i];
        const double lower = lower_bound(p, i), upper = upper_bound(p, i);
        const int rises = (b < upper) & (g >= least), falls = (b > lower) & (-g >= least);
        if (!(rises | falls) || b < lower || b > upper) continue;
        if (rises && (g >= 0 || !falls)) offer(&rising, g, i);
        else offer(&falling, -g, i);
    }
    make_room(w, p, outside + rising.size + falling.size);
    join(w, w->changed, outside);
    join(w, rising.index, rising.size);
    join(w, falling.index, falling.size);
}

static size_t improve(struct work *w, struct problem *p, double tolerance, const volatile unsigned char *stop) {
    struct working_set *q = &w->set;
    size_t count = 0;
    for (size_t a = 0; a < q->size; a++) {
        const size_t i = q->members[a];
        const float g = (float)(p->signs[i] - p->sums[i] - p->bias);
        q->beta[a] = p->beta[i];
        q->lower[a] = lower_bound(p, i);
        q->upper[a] = upper_bound(p, i);
        q->up[a] = q->beta[a] < q->upper[a] ? g : -INFINITY;
        q->down[a] = q->beta[a] > q->lower[a] ? g : INFINITY;
    }
    const size_t steps = loops()->descend(q, tolerance, BUDGET * CAPACITY, stop);
    for (size_t a = 0; a < q->size; a++) {
        const uint32_t i = q->members[a];
        if (q->beta[a] == p->beta[i]) continue;
        w->changed[count] = i;
        w->change[count++] = q->beta[a] - p->beta[i];
        p->beta[i] = q->beta[a];
    }
    kernel_add(w->kernel, p->sums, w->changed, w->change, count);
    return steps;
}

static enum solver_status solve_problem(struct work *w, const struct family *f, struct problem *p) {
    for (size_t steps = 0;;) {
        const double violation = violation_of(p);
        if (!isfinite(violation)) return SOLVER_NOT_FINITE;
        if (is_solved(p, violation)) return SOLVER_DONE;
        if (steps >= f->max_steps) return SOLVER_EXHAUSTED;
        if (*f->stop) return SOLVER_STOPPED;
        grow(w, p);
        const double inner = 0.1 * violation;
        steps += 1 + improve(w, p, inner > 0.8 * p->tolerance ? inner : 0.8 * p->tolerance, f->stop);
    }
}

enum solver_status solve_by_working_sets(const struct family *f, const struct kernel *k, struct problem *p) {
    struct work w = {.kernel = k};
    const enum solver_status status = allocate(&w, p->n) ? solve_problem(&w, f, p) : SOLVER_OUT_OF_MEMORY;
    release(&w);
    return status;
}

static void sum_afresh(struct work *w, struct problem *p) {
    size_t count = 0;
    memset(p->sums, 0, p->n * sizeof *p->sums);
    for (size_t i = 0; i < p->n; i++) {
        if (p->beta[i] == 0) continue;
        w->changed[count] = (uint32_t)i;
        w->change[count++] = p->beta[i];
    }
    kernel_add(w->kernel, p->sums, w->changed, w->change, count);
}

/* Whether a problem holds out so much of a start that zeros are a better one. */
static int is_mostly_held_out(const struct problem *p, const double *start) {
    size_t all = 0, left = 0;
    for (size_t i = 0; i < p->n; i++) {
        all += start[i] != 0;
        left += start[i] != 0 && p->active[i];
    }
    return 4 * left < all;
}

enum solver_status solve_gram(const struct family *f, const float *gram, double *beta, float *scores, double *bias) {
    const struct kernel kernel = {.n = f->n, .gram = gram};
    struct work w = {.kernel = &kernel};
    enum solver_status worst = SOLVER_DONE;
    double *first = malloc(f->n * sizeof *first), *sums = malloc(f->n * sizeof *sums);
    if (!allocate(&w, f->n) || !first || !sums) worst = SOLVER_OUT_OF_MEMORY;
    for (size_t fold = 0; fold < f->folds && worst != SOLVER_OUT_OF_MEMORY && worst != SOLVER_STOPPED; fold++) {
        struct problem p = problem_of(f, fold, beta + fold * f->n, sums);
        if (!has_one_class(&p)) {
            if (fold == 0) {
                sum_afresh(&w, &p);
                stretch(&p);
            } else if (is_mostly_held_out(&p, beta)) {
                memset(p.beta, 0, f->n * sizeof *beta);
                memset(p.sums, 0, f->n * sizeof *sums);
            } else {
                memcpy(p.beta, beta, f->n * sizeof *beta);
                memcpy(p.sums, first, f->n * sizeof *first);
            }
            const enum solver_status status = solve_problem(&w, f, &p);
            if (status > worst) worst = status;
            settle_bias(&p);
        }
        if (fold == 0) memcpy(first, p.sums, f->n * sizeof *first);
        bias[fold] = p.bias;
        write_scores(&p, scores + fold * f->n);
    }
    free(first);
    free(sums);
    release(&w);
    return worst;
}
