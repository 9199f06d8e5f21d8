/* One C-SVM dual over a Gram matrix. See solver.c for the problem, the update and the stopping rule. */

#ifndef FUNNELLING_SOLVER_H
#define FUNNELLING_SOLVER_H

#include <stddef.h>

enum solver_status {
    SOLVER_DONE = 0,
    SOLVER_OUT_OF_MEMORY = 1,
    SOLVER_STOPPED = 2,   /* the caller raised the stop flag */
    SOLVER_EXHAUSTED = 3, /* given up before the stopping rule was met; results are usable */
};

struct problem {
    size_t n;                    /* documents */
    const float *gram;           /* n * n, row-major, symmetric */
    const signed char *signs;    /* n: +1 where the document has the label, -1 where not */
    const unsigned char *active; /* n: 0 holds a document out, its bound is zero */
    double C;
    double tolerance;
    size_t max_iterations;
    const volatile unsigned char *stop; /* read now and then; non-zero ends the work */
};

/* `beta` (n) holds a feasible start on entry (zeros will do) and the signed dual coefficients on
 * return; `scores` (n) and `bias` get the decision values of all documents, held out or not. */
enum solver_status solve(const struct problem *problem, double *beta, float *scores, double *bias);

#endif
