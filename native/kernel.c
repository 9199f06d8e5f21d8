#include "kernel.h"
#include "loops.h"

#include <stdlib.h>
#include <string.h>

struct row {
    size_t length;
    const float *values;
    const int32_t *columns; /* NULL where they are 0, 1, 2, … */
};

static struct row row_of(const struct vectors *v, size_t i) {
    if (!v->columns) return (struct row){v->width, v->values + i * v->width, NULL};
    return (struct row){(size_t)(v->starts[i + 1] - v->starts[i]), v->values + v->starts[i],
                        v->columns + v->starts[i]};
}

int kernel_over_vectors(struct kernel *k, size_t n, const struct vectors *v) {
    *k = (struct kernel){.n = n, .vectors = v};
    k->spread = calloc(v->width + 1, sizeof *k->spread);
    k->weights = malloc((v->width + 1) * sizeof *k->weights);
    return k->spread && k->weights;
}

void kernel_release(struct kernel *k) {
    free(k->spread);
    free(k->weights);
}

void kernel_values(const struct kernel *k, size_t i, const uint32_t *documents, size_t count, float *values) {
    if (k->gram) {
        const float *row = k->gram + i * k->n;
        for (size_t b = 0; b < count; b++) values[b] = row[documents[b]];
        return;
    }
    const struct row x = row_of(k->vectors, i);
    for (size_t at = 0; at < x.length; at++) k->spread[x.columns ? (size_t)x.columns[at] : at] += x.values[at];
    for (size_t b = 0; b < count; b++) {
        const struct row y = row_of(k->vectors, documents[b]);
        double dot = 0;
        for (size_t at = 0; at < y.length; at++)
            dot += (double)k->spread[y.columns ? (size_t)y.columns[at] : at] * y.values[at];
        values[b] = (float)dot;
    }
    for (size_t at = 0; at < x.length; at++) k->spread[x.columns ? (size_t)x.columns[at] : at] = 0;
}

void kernel_add(const struct kernel *k, double *sums, const uint32_t *documents, const double *change, size_t count) {
    if (k->gram) {
        loops()->add_rows(sums, k->n, k->gram, documents, change, count);
        return;
    }
    memset(k->weights, 0, k->vectors->width * sizeof *k->weights);
    for (size_t a = 0; a < count; a++) {
        const struct row x = row_of(k->vectors, documents[a]);
        for (size_t at = 0; at < x.length; at++)
            k->weights[x.columns ? (size_t)x.columns[at] : at] += change[a] * x.values[at];
    }
    for (size_t i = 0; i < k->n; i++) {
        const struct row x = row_of(k->vectors, i);
        double dot = 0;
        for (size_t at = 0; at < x.length; at++)
            dot += k->weights[x.columns ? (size_t)x.columns[at] : at] * x.values[at];
        sums[i] += dot;
    }
}
