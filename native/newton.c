/* Newton steps over the members of a working set that are between their bounds.
 *
 * With a large C steps of pairs crawl: the kernel of the members that are neither at 0 nor at C is
 * nearly singular. Their optimum can be had at once, by Cholesky's factorisation of
 *
 *     (K + ridge) d + A lambda = g,   A' d = 0,
 *
 * where the first column of A has ones, for the sum must not change. The step goes as far as the first bound.
 * The member that meets it stays there: its unit vector becomes the next column of A, and the step goes on
 * from there. K is factorised once, and a column of A costs two triangles.
 */

#include "working_set.h"

#include <math.h>
#include <string.h>

static const double RIDGE = 1e-7; /* times the diagonal: below, a kernel value in single precision is noise */
static const double NEW = 3e-7;   /* of the diagonal: a member is left out that adds less to the others */

/* Four sums side by side, so that they do not wait for each other. */
static double dot(const double *x, const double *y, size_t n) {
    double sums[4] = {0};
    size_t k = 0;
    for (; k + 4 <= n; k += 4) {
        for (int s = 0; s < 4; s++) sums[s] += x[k + s] * y[k + s];
    }
    for (; k < n; k++) sums[0] += x[k] * y[k];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static void solve_triangles(const double *a, size_t n, double *x) {
    for (size_t i = 0; i < n; i++) {
        x[i] = (x[i] - dot(a + i * CAPACITY, x, i)) / a[i * CAPACITY + i];
    }
    for (size_t i = n; i-- > 0;) {
        x[i] /= a[i * CAPACITY + i];
        for (size_t k = 0; k < i; k++) x[k] -= a[i * CAPACITY + k] * x[i];
    }
}

struct newton {
    size_t n;                  /* members that move */
    uint32_t members[CAPACITY];
    double *factor;            /* CAPACITY * CAPACITY: Cholesky's, of their K */
    double goal[CAPACITY];     /* K^-1 g: how far the members would go without A */
    double moved[CAPACITY];    /* how far they went */
    size_t columns;            /* of A */
    uint32_t held[HELD];       /* which member a column holds; the first holds the sum of all */
    double *inverse;           /* HELD * CAPACITY: K^-1 A, column by column */
    double schur[HELD * HELD]; /* Cholesky's factor of A' K^-1 A */
};

/* Lets a member move, unless its kernel values are next to a sum of those of the others. */
static void free_member(struct newton *s, const struct working_set *q, uint32_t member) {
    const float *values = q->gram + member * STRIDE;
    double *row = s->factor + s->n * CAPACITY;
    for (size_t j = 0; j < s->n; j++) {
        const double *other = s->factor + j * CAPACITY;
        row[j] = (values[s->members[j]] - dot(row, other, j)) / other[j];
    }
    const double left = values[member] * (1 + RIDGE) - dot(row, row, s->n);
    if (!(left > NEW * values[member])) return;
    row[s->n] = sqrt(left);
    s->goal[s->n] = q->up[member];
    s->moved[s->n] = 0;
    s->members[s->n++] = member;
}

/* A column of A times x. */
static double along(const struct newton *s, size_t column, const double *x) {
    if (column) return x[s->held[column]];
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) sum += x[i];
    return sum;
}

/* Adds a column to A; returns 0 where it says what others say already. */
static int hold(struct newton *s, size_t member) {
    const size_t c = s->columns;
    double *x = s->inverse + c * CAPACITY, *row = s->schur + c * HELD;
    for (size_t i = 0; i < s->n; i++) x[i] = c ? i == member : 1;
    s->held[c] = (uint32_t)member;
    solve_triangles(s->factor, s->n, x);
    const double whole = along(s, c, x);
    for (size_t k = 0; k <= c; k++) {
        const double sum = along(s, k, x) - dot(row, s->schur + k * HELD, k);
        if (k < c) row[k] = sum / s->schur[k * HELD + k];
        else if (!(sum > 1e-9 * whole)) return 0;
        else row[c] = sqrt(sum);
    }
    s->columns++;
    return 1;
}

static void stop_held(const struct newton *s, double *d) {
    for (size_t c = 1; c < s->columns; c++) d[s->held[c]] = 0;
}

/* The way to the optimum: d = goal - K^-1 A lambda with A' d = 0. */
static void direct(const struct newton *s, double *d) {
    double lambda[HELD];
    memcpy(d, s->goal, s->n * sizeof *d);
    for (size_t c = 0; c < s->columns; c++) {
        const double *row = s->schur + c * HELD;
        lambda[c] = (along(s, c, s->goal) - dot(row, lambda, c)) / row[c];
    }
    for (size_t c = s->columns; c-- > 0;) {
        lambda[c] /= s->schur[c * HELD + c];
        for (size_t k = 0; k < c; k++) lambda[k] -= s->schur[c * HELD + k] * lambda[c];
        for (size_t i = 0; i < s->n; i++) d[i] -= lambda[c] * s->inverse[c * CAPACITY + i];
    }
    stop_held(s, d);
    const double drift = along(s, 0, d) / (double)(s->n + 1 - s->columns); /* of the sum, by rounding */
    for (size_t i = 0; i < s->n; i++) d[i] -= drift;
    stop_held(s, d);
}

/* Goes as far as the first bound; returns the member that meets it, n where none does. */
static size_t go(struct newton *s, struct working_set *q, const double *d) {
    double length = 1;
    size_t hit = s->n;
    for (size_t i = 0; i < s->n; i++) {
        const uint32_t m = s->members[i];
        const double room = d[i] > 0 ? q->upper[m] - q->beta[m] : q->beta[m] - q->lower[m];
        if (!isfinite(d[i])) return s->n;
        if (d[i] != 0 && fabs(d[i]) * length > room) {
            length = room / fabs(d[i]);
            hit = i;
        }
    }
    for (size_t i = 0; i < s->n; i++) {
        const uint32_t m = s->members[i];
        s->goal[i] -= length * d[i];
        s->moved[i] += length * d[i];
        const double beta = q->beta[m] + length * d[i];
        if (i == hit) q->beta[m] = d[i] > 0 ? q->upper[m] : q->lower[m];
        else q->beta[m] = fmin(fmax(beta, q->lower[m]), q->upper[m]); /* two may meet theirs at once */
    }
    return hit;
}

/* From bound to bound to the optimum of the members, or until too many are held. */
static void walk(struct working_set *q, struct newton *s) {
    double d[CAPACITY];
    solve_triangles(s->factor, s->n, s->goal);
    for (size_t hit = 0; hit < s->n && s->columns < HELD && hold(s, hit);) {
        direct(s, d);
        hit = go(s, q, d);
    }
    for (size_t m = 0; m < q->size; m++) {
        const float *row = q->gram + m * STRIDE;
        double change = 0;
        for (size_t i = 0; i < s->n; i++) change += s->moved[i] * row[s->members[i]];
        set_gradient(q, m, (float)(gradient_at(q, m) - change));
    }
}

/* The gradient afresh from where the descent began, in double: steps of a large C leave rounding behind. */
static void refresh(struct working_set *q) {
    double change[CAPACITY];
    for (size_t a = 0; a < q->size; a++) change[a] = q->beta[a] - q->first_beta[a];
    for (size_t m = 0; m < q->size; m++) {
        const float *row = q->gram + m * STRIDE;
        double sums[4] = {0};
        for (size_t a = 0; a < q->size; a++) sums[a % 4] += change[a] * row[a];
        set_gradient(q, m, (float)(q->first_gradient[m] - ((sums[0] + sums[1]) + (sums[2] + sums[3]))));
    }
}

size_t take_newton_steps(struct working_set *q) {
    struct newton s = {.factor = q->scratch, .inverse = q->scratch + CAPACITY * CAPACITY};
    refresh(q);
    for (uint32_t m = 0; m < q->size; m++) {
        if (q->up[m] == q->down[m]) free_member(&s, q, m);
    }
    if (s.n >= 2) walk(q, &s);
    return 128 + s.n * s.n * s.n / 8192;
}
