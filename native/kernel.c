#include "kernel.h"
#include "loops.h"
#include "rows.h"

#include <stdlib.h>
#include <string.h>

/* Eight sums side by side where the row is dense, so that they do not wait for each other. */
static double dot(const struct row *r, const double *weights) {
    double sums[8] = {0}, rest = 0;
    size_t at = 0;
    if (!r->columns) {
        for (; at + 8 <= r->length; at += 8) {
            for (int s = 0; s < 8; s++) sums[s] += weights[at + s] * r->values[at + s];
        }
    }
    for (; at < r->length; at++) rest += weights[column_of(r, at)] * r->values[at];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7])) + rest;
}

/* weights = the vectors of the documents listed, each times its factor. */
static void sum_vectors(const struct kernel *k, const uint32_t *documents, const double *factors, size_t count) {
    memset(k->weights, 0, k->vectors->width * sizeof *k->weights);
    for (size_t a = 0; a < count; a++) {
        const struct row r = row_of(k->vectors, documents[a]);
        for (size_t at = 0; at < r.length; at++) k->weights[column_of(&r, at)] += factors[a] * r.values[at];
    }
}

int kernel_over_vectors(struct kernel *k, size_t n, const struct vectors *v) {
    *k = (struct kernel){.n = n, .vectors = v, .weights = malloc((v->width + 1) * sizeof *k->weights)};
    return k->weights != NULL;
}

void kernel_release(struct kernel *k) { free(k->weights); }

void kernel_values(const struct kernel *k, size_t i, const uint32_t *documents, size_t count, float *values) {
    if (k->gram) {
        const float *row = k->gram + i * k->n;
        for (size_t b = 0; b < count; b++) values[b] = row[documents[b]];
        return;
    }
    const uint32_t only = (uint32_t)i;
    const double one = 1;
    sum_vectors(k, &only, &one, 1);
    for (size_t b = 0; b < count; b++) {
        const struct row r = row_of(k->vectors, documents[b]);
        values[b] = (float)dot(&r, k->weights);
    }
}

void kernel_add(const struct kernel *k, double *sums, const uint32_t *documents, const double *change, size_t count) {
    if (k->gram) {
        loops()->add_rows(sums, k->n, k->gram, documents, change, count);
        return;
    }
    sum_vectors(k, documents, change, count);
    for (size_t i = 0; i < k->n; i++) {
        const struct row r = row_of(k->vectors, i);
        sums[i] += dot(&r, k->weights);
    }
}

/* The first place in a sorted row whose column is not before i. */
static size_t place_from(const struct row *r, size_t i) {
    size_t low = 0, high = r->length;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if ((size_t)r->columns[middle] < i) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void add_dots(float *dots, size_t first, size_t last, size_t n, const struct vectors *rows,
              const struct vectors *columns) {
    for (size_t i = first; i < last; i++) {
        float *of_row = dots + (i - first) * (n - first);
        const struct row r = row_of(rows, i);
        for (size_t at = 0; at < r.length; at++) {
            const struct row c = row_of(columns, (size_t)r.columns[at]);
            const float value = r.values[at];
            for (size_t b = place_from(&c, i); b < c.length; b++) {
                of_row[(size_t)c.columns[b] - first] += value * c.values[b];
            }
        }
    }
}

void mirror(float *gram, size_t n, size_t first, size_t last) {
    enum { TILE = 16 }; /* floats of a cache line */
    for (size_t j = first; j < n; j += TILE) {
        const size_t right = j + TILE < n ? j + TILE : n;
        for (size_t i = first; i < last; i += TILE) {
            const size_t bottom = i + TILE < last ? i + TILE : last;
            for (size_t column = j; column < right; column++) {
                for (size_t row = i; row < bottom && row < column; row++) gram[column * n + row] = gram[row * n + column];
            }
        }
    }
}

void sum_weights(float *weights, double *sums, size_t first, size_t last, size_t labels,
                 const struct vectors *columns, const struct coefficients *of_documents) {
    for (size_t column = first; column < last; column++) {
        const struct row c = row_of(columns, column);
        memset(sums, 0, labels * sizeof *sums);
        for (size_t at = 0; at < c.length; at++) {
            const double value = c.values[at];
            const int64_t end = of_documents->starts[c.columns[at] + 1];
            for (int64_t b = of_documents->starts[c.columns[at]]; b < end; b++) {
                sums[of_documents->labels[b]] += value * of_documents->values[b];
            }
        }
        float *of_column = weights + (column - first) * labels;
        for (size_t label = 0; label < labels; label++) of_column[label] = (float)sums[label];
    }
}
