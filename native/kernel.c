#include "kernel.h"
#include "loops.h"
#include "rows.h"

#include <stdlib.h>
#include <string.h>

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
    for (size_t at = 0; at < x.length; at++) k->spread[column_of(&x, at)] += x.values[at];
    for (size_t b = 0; b < count; b++) {
        const struct row y = row_of(k->vectors, documents[b]);
        double dot = 0;
        for (size_t at = 0; at < y.length; at++)
            dot += (double)k->spread[column_of(&y, at)] * y.values[at];
        values[b] = (float)dot;
    }
    for (size_t at = 0; at < x.length; at++) k->spread[column_of(&x, at)] = 0;
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
            k->weights[column_of(&x, at)] += change[a] * x.values[at];
    }
    for (size_t i = 0; i < k->n; i++) {
        const struct row x = row_of(k->vectors, i);
        double dot = 0;
        for (size_t at = 0; at < x.length; at++)
            dot += k->weights[column_of(&x, at)] * x.values[at];
        sums[i] += dot;
    }
}
