/* Newton steps over the members of a working set that are between their bounds.
 *
 * With a large C steps of pairs crawl: the kernel of the few members that are neither at 0 nor at C is
 * nearly singular. As they are few, their optimum can be had at once, by Cholesky's factorisation of
 *
 *     (K + ridge) d + lambda 1 = g,   1' d = 0.
 *
 * The step goes as far as the first bound; the member that meets it stays there, and the rest try again.
 */

#include "working_set.h"

#include <math.h>

enum { TRIES = 16 };

static const double RIDGE = 1e-7; /* times the diagonal: below, a kernel value in single precision is noise */

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

/* Cholesky's factor in place, in the lower half; returns 0 where the matrix is not positive definite. */
static int factorise(double *a, size_t n) {
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) {
            const double sum = a[i * FEW + j] - dot(a + i * FEW, a + j * FEW, j);
            if (i == j) {
                if (!(sum > 0)) return 0;
                a[j * FEW + j] = sqrt(sum);
            } else {
                a[i * FEW + j] = sum / a[j * FEW + j];
            }
        }
    }
    return 1;
}

static void solve_triangles(const double *a, size_t n, double *x) {
    for (size_t i = 0; i < n; i++) {
        x[i] = (x[i] - dot(a + i * FEW, x, i)) / a[i * FEW + i];
    }
    for (size_t i = n; i-- > 0;) {
        x[i] /= a[i * FEW + i];
        for (size_t k = 0; k < i; k++) x[k] -= a[i * FEW + k] * x[i];
    }
}

/* One step; returns whether a bound cut it short. */
static int step(struct working_set *q) {
    double *a = q->scratch, d[FEW], ones[FEW];
    uint32_t free_ones[FEW];
    size_t n = 0, hit = FEW;
    for (size_t m = 0; m < q->size; m++) {
        if (q->up[m] == q->down[m]) free_ones[n++] = (uint32_t)m;
    }
    if (n < 2) return 0;
    for (size_t i = 0; i < n; i++) {
        const float *row = q->gram + free_ones[i] * CAPACITY;
        for (size_t j = 0; j <= i; j++) a[i * FEW + j] = row[free_ones[j]];
        a[i * FEW + i] *= 1 + RIDGE;
        d[i] = q->up[free_ones[i]];
        ones[i] = 1;
    }
    if (!factorise(a, n)) return 0;
    solve_triangles(a, n, d);
    solve_triangles(a, n, ones);
    double above = 0, below = 0, length = 1;
    for (size_t i = 0; i < n; i++) {
        above += d[i];
        below += ones[i];
    }
    double drift = 0; /* of the sum, by rounding */
    for (size_t i = 0; i < n; i++) {
        d[i] -= above / below * ones[i];
        drift += d[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t m = free_ones[i];
        d[i] -= drift;
        const double room = d[i] > 0 ? q->upper[m] - q->beta[m] : q->beta[m] - q->lower[m];
        if (!isfinite(d[i])) return 0;
        if (fabs(d[i]) * length > room) {
            length = room / fabs(d[i]);
            hit = i;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t m = free_ones[i];
        q->beta[m] += length * d[i];
        if (i == hit) q->beta[m] = d[i] > 0 ? q->upper[m] : q->lower[m];
    }
    for (size_t m = 0; m < q->size; m++) {
        double change = 0;
        for (size_t i = 0; i < n; i++) change += d[i] * q->gram[free_ones[i] * CAPACITY + m];
        set_gradient(q, m, (float)(gradient_at(q, m) - length * change));
    }
    return hit < FEW;
}

/* The gradient afresh from where the descent began, in double: steps of a large C leave rounding behind. */
static void refresh(struct working_set *q) {
    double change[CAPACITY];
    for (size_t a = 0; a < q->size; a++) change[a] = q->beta[a] - q->first_beta[a];
    for (size_t m = 0; m < q->size; m++) {
        const float *row = q->gram + m * CAPACITY;
        double sums[4] = {0};
        for (size_t a = 0; a < q->size; a++) sums[a % 4] += change[a] * row[a];
        set_gradient(q, m, (float)(q->first_gradient[m] - ((sums[0] + sums[1]) + (sums[2] + sums[3]))));
    }
}

size_t take_newton_steps(struct working_set *q) {
    size_t n = 0;
    refresh(q);
    for (size_t m = 0; m < q->size; m++) n += q->up[m] == q->down[m];
    if (n >= 2 && n < FEW) {
        for (int k = 0; k < TRIES && step(q); k++) continue;
    }
    return 128 + n * n * n / 2048;
}
