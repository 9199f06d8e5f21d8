/* C-SVM duals over the same documents: one label, several sets of documents to train on.
 *
 * Problem. With signs y and the dual variable's sign folded in, beta_i = y_i alpha_i,
 *
 *     maximise   sum_i y_i beta_i - 1/2 beta' K beta
 *     subject to sum_i beta_i = 0  and  lower_i <= beta_i <= upper_i,
 *
 * where [lower, upper] is [0, C] for y = +1, [-C, 0] for y = -1 and [0, 0] for a document held out.
 * This is libsvm's problem: hinge loss, unpenalised bias. What follows from a solution is the score of
 * every document, held out or not: (K beta)_i + bias.
 *
 * Two ways to it: working_sets.c over a Gram matrix, coordinates.c over vectors whose dot products are K.
 * rule.h says when either may stop.
 */

#ifndef FUNNELLING_SOLVER_H
#define FUNNELLING_SOLVER_H

#include <stddef.h>
#include <stdint.h>

enum solver_status {
    SOLVER_DONE = 0,
    SOLVER_OUT_OF_MEMORY = 1,
    SOLVER_STOPPED = 2,    /* the caller raised the stop flag */
    SOLVER_EXHAUSTED = 3,  /* given up before the stopping rule was met; results are usable */
    SOLVER_NOT_FINITE = 4, /* values that are no numbers, or too large to be summed */
};

struct family {
    size_t n;                           /* documents */
    size_t folds;                       /* problems */
    const signed char *signs;           /* n: +1 where the document has the label, -1 where not */
    const unsigned char *active;        /* folds * n: 0 holds a document out */
    double C;
    double tolerance;
    double fold_tolerance;              /* of the problems after the first, where it is wider */
    size_t max_steps;                   /* of a problem, in pairs or in visits of a document */
    const volatile unsigned char *stop; /* read now and then; non-zero ends the work */
};

struct vectors {
    size_t width;
    const float *values;    /* sparse, or dense: n * width */
    const int32_t *columns; /* of sparse values; NULL where they are dense */
    const int64_t *starts;  /* n + 1: where the sparse values of each document begin */
};

/* `beta` (folds * n) holds a start on entry, zeros or the solution of another C, and the coefficients on
 * return; `scores` (folds * n) and `bias` (folds) are filled. */
enum solver_status solve_gram(const struct family *f, const float *gram, double *beta, float *scores, double *bias);
enum solver_status solve_vectors(const struct family *f, const struct vectors *v, double *beta, float *scores,
                                 double *bias);

#endif
