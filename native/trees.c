#include "trees.h"

int are_sound_trees(const struct trees *t) {
    for (size_t at = 0; at < t->nodes; at++) {
        if (t->features[at] < 0 || (size_t)t->features[at] >= t->width) return 0;
        if (t->left[at] < 0 || (size_t)t->left[at] < at || (size_t)t->left[at] >= t->nodes) return 0;
        if (t->right[at] < 0 || (size_t)t->right[at] < at || (size_t)t->right[at] >= t->nodes) return 0;
        /* A node that is its own left child is a leaf; one that was its own right child alone might be left never. */
        if ((size_t)t->right[at] == at && (size_t)t->left[at] != at) return 0;
    }
    for (size_t tree = 0; tree < t->count; tree++) {
        if (t->roots[tree] < 0 || (size_t)t->roots[tree] >= t->nodes) return 0;
    }
    return 1;
}

void add_trees(const struct trees *t, const float *rows, size_t n, double *sums) {
    for (size_t i = 0; i < n; i++) {
        const float *row = rows + i * t->width;
        for (size_t tree = 0; tree < t->count; tree++) {
            int32_t at = t->roots[tree];
            while (t->left[at] != at) {
                at = (double)row[t->features[at]] <= t->thresholds[at] ? t->left[at] : t->right[at];
            }
            sums[i] += t->values[at];
        }
    }
}
