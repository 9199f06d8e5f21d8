/* The loops in which the time is spent, compiled once for each width of vectors that a processor may have. */

#ifndef FUNNELLING_LOOPS_H
#define FUNNELLING_LOOPS_H

#include "rule.h"
#include "solver.h"
#include "working_set.h"

#define ROW 32  /* documents scored together, BLOCK of funnelling.matrices */
#define LANES 8 /* problems that coordinates.c solves side by side */

/* What the visits of a sweep share. All arrays have LANES values for each document or column. */
struct sweep {
    const struct vectors *vectors;
    const signed char *signs;
    float *beta;
    const float *open;    /* 1 where the lane trains on the document, 0 where not */
    float *weights;       /* the vectors summed with beta */
    const float *pace;    /* of each document: step over gradient */
    const float *slow;    /* and gradient over step */
    float offset[LANES];  /* the bias, so far */
    float excess[LANES];  /* the sum of beta */
    float going[LANES];   /* 0 where the lane's problem is solved */
    float penalty;        /* of the excess, see coordinates.c */
    float quiet;          /* a document that follows a smaller gradient is left out of the next sweep */
    float C;
};

/* What a pass over all documents of a problem finds; g_i is y_i - (K beta)_i. */
struct findings {
    double top, bottom; /* the largest g of those that may rise, the smallest of those that may fall */
    double sum;         /* of g, over the documents between their bounds */
    size_t between;     /* how many these are */
    size_t outside;     /* how many are outside their bounds */
    double total;       /* of all g: not finite where any is not */
};

struct loops {
    const char *name;
    struct findings (*look)(const struct problem *p);
    /* Lists the documents outside the working set that may move: all with beta != 0, and those trained on whose
     * sign * (g - bias) is at least `least`. Returns their number. */
    size_t (*movable)(const struct problem *p, const int32_t *position, double least, uint32_t *list);
    /* Push every member inside its bounds, then take steps of pairs until the rule is met to `tolerance` or
     * `budget` steps were taken. Returns the number of steps. */
    size_t (*descend)(struct working_set *q, double tolerance, size_t budget, const volatile unsigned char *stop);
    /* Moves the members from[a] of a working set's kernel values to a, rows and columns, for all a < kept; those
     * before `whole` are there already. */
    void (*close_up)(float *gram, const int32_t *from, size_t whole, size_t kept);
    /* sums += weights[k] gram[rows[k]] for all k. */
    void (*add_rows)(double *sums, size_t n, const float *gram, const uint32_t *rows, const double *weights,
                     size_t count);
    /* sums = weights[k] rows[places[k]] for all k, rows of ROW values. On x86 each product is rounded before it is added,
     * as in scipy. */
    void (*sum_rows)(double *sums, const float *rows, const double *weights, const int32_t *places, size_t count);
    /* Look at all documents: how far is each lane from the rule, and which documents may a lane that is going
     * want to move? Those that rest at a bound by a gradient of `resting` are left out. Returns the number of
     * documents that may move. */
    size_t (*survey)(const struct sweep *s, size_t n, uint32_t *live, float resting, float *violation);
    /* Visit the listed documents in order, with one coordinate step in all lanes for each; keep in the list
     * those that may move again. Returns the largest gradient that was followed. */
    float (*visit)(struct sweep *s, uint32_t *live, size_t *count, float resting);
    /* weights += beta[lane] x_i, and sums[lane] = weights . x_i, in double. */
    void (*weigh)(const struct vectors *v, size_t i, const double *beta, double *weights);
    void (*measure)(const struct vectors *v, size_t i, const double *weights, double *sums);
    /* Dot products to RBF kernel values, in place: exp(-gamma (a_i + b_j - 2 dot_ij)). */
    void (*rbf)(float *dots, size_t rows, size_t columns, const float *a, const float *b, float gamma);
    /* Values to 1 / (1 + exp(-value)), in place; what one becomes does not depend on the others. */
    void (*sigmoid)(double *values, size_t n);
};

/* Choose the loops by name, or the widest that this processor runs; 0 where there are none of that name.
 * To be called once before any other function here. */
int use_loops(const char *name);
const struct loops *loops(void);

#endif
