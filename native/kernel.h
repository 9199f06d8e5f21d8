/* Where kernel values come from: a Gram matrix, or vectors whose dot products they are. */

#ifndef FUNNELLING_KERNEL_H
#define FUNNELLING_KERNEL_H

#include "solver.h"

struct kernel {
    size_t n;
    const float *gram;             /* NULL where there are vectors */
    const struct vectors *vectors; /* NULL where there is a Gram */
    double *weights;               /* width: vectors summed */
};

/* What vectors need beside themselves; 0 where memory is short. */
int kernel_over_vectors(struct kernel *k, size_t n, const struct vectors *v);
void kernel_release(struct kernel *k);

/* values[b] = K(i, documents[b]). */
void kernel_values(const struct kernel *k, size_t i, const uint32_t *documents, size_t count, float *values);

/* sums += K change, where all documents but those listed have a change of 0. */
void kernel_add(const struct kernel *k, double *sums, const uint32_t *documents, const double *change, size_t count);

/* Adds dot products of n sparse vectors to rows first to last of their Gram matrix, which `dots` has from column
 * first on; what is left of the diagonal is left out. The vectors come by rows, and by columns in the order of
 * the rows. */
void add_dots(float *dots, size_t first, size_t last, size_t n, const struct vectors *rows,
              const struct vectors *columns);

/* Copies rows first to last of an n × n matrix, right of the diagonal, to the columns first to last below it. */
void mirror(float *gram, size_t n, size_t first, size_t last);

/* What documents add to linear classifiers: for each of them some labels, and coefficients. */
struct coefficients {
    const double *values;
    const int32_t *labels;
    const int64_t *starts;
};

/* weights (last - first, labels) = the vectors of documents, given by columns, times their coefficients, in the
 * columns from first to last; `sums` has room for all labels. */
void sum_weights(float *weights, double *sums, size_t first, size_t last, size_t labels,
                 const struct vectors *columns, const struct coefficients *of_documents);

#endif
