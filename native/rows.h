/* The vector of one document, sparse or dense. */

#ifndef FUNNELLING_ROWS_H
#define FUNNELLING_ROWS_H

#include "solver.h"

struct row {
    size_t length;
    const float *values;
    const int32_t *columns; /* NULL where they are 0, 1, 2, … */
};

static inline struct row row_of(const struct vectors *v, size_t i) {
    if (!v->columns) return (struct row){v->width, v->values + i * v->width, NULL};
    return (struct row){(size_t)(v->starts[i + 1] - v->starts[i]), v->values + v->starts[i],
                        v->columns + v->starts[i]};
}

static inline size_t column_of(const struct row *r, size_t at) { return r->columns ? (size_t)r->columns[at] : at; }

#endif
