/* Long label sets: which labels are nearest to a document, and linear classifiers that begin at a prototype. */

#ifndef FUNNELLING_LABELS_H
#define FUNNELLING_LABELS_H

#include "rows.h"
#include "solver.h"

#include <stdint.h>

/* The k labels of the highest scores for each of the rows first to last, the highest first, ties to the label that
   comes first; a row of fewer ends in labels of -1. ``weights`` has one row per column of ``rows``, and labels for
   columns: labels whose sum is 0, for they share no column with a document, are not ranked for it.
   There are so many entries of weights.
   score(label) = sum over columns of value * weight, in the order of the row, + offset(label).
   Weights are checked as they are met: a model that is read from a file may hold anything. */
enum rank_status { RANK_DONE, RANK_OUT_OF_MEMORY, RANK_UNSOUND };
enum rank_status rank_labels(const struct vectors *rows, size_t first, size_t last, const struct vectors *weights,
                             int64_t entries, const float *offsets, size_t k, int32_t *labels, float *scores);

/* One label's problem:  min over (w, b) of  |w - w0|^2 / 2 + (b - b0)^2 / 2 + C sum max(0, 1 - y (w x + b))^2
   over some documents x with y = 1 or -1. At w0, the prototype, it stays unless a document says otherwise.

   Solved by coordinate descent in the dual, where w = w0 + sum of a y x, a >= 0 (Hsieh et al. 2008): one document
   at a time moves to its optimum given the others; documents at 0 whose gradient is beyond the largest violation
   of the last round are left out until the others are solved. It ends when no document violates its condition by
   more than the tolerance, or after so many rounds. */
struct label_problem {
    size_t count;             /* of documents */
    const int32_t *documents; /* rows of the vectors */
    const int8_t *signs;
    struct row prototype; /* w0 */
    float prototype_bias; /* b0 */
    double C, tolerance;
    size_t rounds;
    uint64_t seed; /* of the order of documents */
};

/* What solving takes beside the problem, kept from label to label; weights are all 0 between them. */
struct label_workspace {
    float *weights;  /* width of the vectors */
    float *alphas;   /* as many as the largest problem has documents */
    uint32_t *order; /* as many */
};

/* Solves a problem and writes its weights of at least ``least`` beside 0, by the documents' columns in the order in
   which they first come; returns how many, at most ``room``, which suffices if it is the width or the number of
   all entries of the documents. */
size_t solve_label(const struct vectors *rows, const float *norms, const struct label_problem *problem, float least,
                   struct label_workspace *work, size_t room, int32_t *columns, float *values, float *bias);

#endif
