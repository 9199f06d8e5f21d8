/* Trees that vote: each sends a row down to a leaf, whose value is added. */

#ifndef FUNNELLING_TREES_H
#define FUNNELLING_TREES_H

#include <stddef.h>
#include <stdint.h>

struct trees {
    size_t nodes, count, width; /* of all trees; trees; features of a row */
    const int32_t *features, *left, *right, *roots;
    const double *thresholds, *values;
};

/* Whether every way ends: features and children are there, and no child stands before its parent. */
int are_sound_trees(const struct trees *t);

/* Adds to each sum what all trees say of its row, in their order. A leaf is a node that is its own left child. */
void add_trees(const struct trees *t, const float *rows, size_t n, double *sums);

#endif
