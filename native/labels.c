#include "labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether a is to stand before b in a ranking. */
static int is_before(float score_a, int32_t label_a, float score_b, int32_t label_b) {
    return score_a > score_b || (score_a == score_b && label_a < label_b);
}

/* Lets the item at a place of a heap, whose top is the one to stand last, sink to where it belongs. */
static void sink(int32_t *labels, float *scores, size_t size, size_t place) {
    const int32_t label = labels[place];
    const float score = scores[place];
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= size) break;
        if (child + 1 < size && is_before(scores[child], labels[child], scores[child + 1], labels[child + 1])) child++;
        if (!is_before(score, label, scores[child], labels[child])) break;
        labels[place] = labels[child];
        scores[place] = scores[child];
        place = child;
    }
    labels[place] = label;
    scores[place] = score;
}

/* Sorts a heap: the item that is to stand last is taken off its top, and put behind the others. */
static void sort_heap(int32_t *labels, float *scores, size_t size) {
    for (size_t end = size; end-- > 1;) {
        const int32_t label = labels[0];
        const float score = scores[0];
        labels[0] = labels[end];
        scores[0] = scores[end];
        labels[end] = label;
        scores[end] = score;
        sink(labels, scores, end, 0);
    }
}

enum rank_status rank_labels(const struct vectors *rows, size_t first, size_t last, const struct vectors *weights,
                             int64_t entries, const float *offsets, size_t k, int32_t *labels, float *scores) {
    float *sums = calloc(weights->width + 1, sizeof *sums);
    enum rank_status status = sums ? RANK_DONE : RANK_OUT_OF_MEMORY;
    for (size_t i = first; status == RANK_DONE && i < last; i++) {
        size_t size = 0;
        const struct row r = row_of(rows, i);
        for (size_t at = 0; at < r.length; at++) {
            const int64_t start = weights->starts[r.columns[at]], end = weights->starts[r.columns[at] + 1];
            const float value = r.values[at];
            if (start < 0 || end > entries) status = RANK_UNSOUND;
            for (int64_t b = start; status == RANK_DONE && b < end; b++) {
                const int32_t label = weights->columns[b];
                if (label < 0 || (size_t)label >= weights->width) {
                    status = RANK_UNSOUND;
                    break;
                }
                sums[label] += value * weights->values[b];
            }
        }
        int32_t *best = labels + (i - first) * k;
        float *best_scores = scores + (i - first) * k;
        for (int32_t label = 0; (size_t)label < weights->width; label++) {
            if (sums[label] == 0) continue;
            const float score = sums[label] + offsets[label];
            sums[label] = 0;
            if (size < k) {
                best[size] = label;
                best_scores[size++] = score;
                for (size_t place = size / 2; size == k && place-- > 0;) sink(best, best_scores, k, place);
            } else if (k && is_before(score, label, best_scores[0], best[0])) {
                best[0] = label;
                best_scores[0] = score;
                sink(best, best_scores, k, 0);
            }
        }
        for (size_t place = size / 2; size < k && place-- > 0;) sink(best, best_scores, size, place);
        sort_heap(best, best_scores, size);
        for (; size < k; size++) {
            best[size] = -1;
            best_scores[size] = 0;
        }
    }
    free(sums);
    return status;
}

static float dot(size_t length, const float *values, const int32_t *columns, const float *weights) {
    float sums[4] = {0};
    size_t at = 0;
    for (; at + 4 <= length; at += 4) {
        for (int s = 0; s < 4; s++) sums[s] += weights[columns[at + s]] * values[at + s];
    }
    for (; at < length; at++) sums[0] += weights[columns[at]] * values[at];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static uint32_t draw(uint64_t *state) { /* xorshift64*, whose upper half is good enough to shuffle by */
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)((*state * 2685821657736338717ULL) >> 32);
}

size_t solve_label(const struct vectors *rows, const float *norms, const struct label_problem *problem, float least,
                   struct label_workspace *work, size_t room, int32_t *columns, float *values, float *bias) {
    float *w = work->weights, *alphas = work->alphas, b = problem->prototype_bias;
    uint32_t *order = work->order;
    const size_t n = problem->count;
    const double diagonal = 0.5 / problem->C;
    uint64_t state = problem->seed ? problem->seed : 1;
    for (size_t at = 0; at < problem->prototype.length; at++)
        w[problem->prototype.columns[at]] = problem->prototype.values[at];
    for (size_t i = 0; i < n; i++) {
        alphas[i] = 0;
        order[i] = (uint32_t)i;
    }
    size_t active = n; /* order[active …] are documents at 0 that are left out for now */
    double limit = INFINITY;
    for (size_t round = 0; round < problem->rounds; round++) {
        double worst = 0;
        for (size_t place = active; place-- > 1;) {
            const size_t other = draw(&state) % (place + 1);
            const uint32_t i = order[place];
            order[place] = order[other];
            order[other] = i;
        }
        for (size_t place = 0; place < active; place++) {
            const uint32_t i = order[place];
            const size_t document = (size_t)problem->documents[i];
            const struct row r = row_of(rows, document);
            const float y = problem->signs[i];
            const double gradient =
                y * ((double)dot(r.length, r.values, r.columns, w) + b) - 1 + diagonal * alphas[i];
            if (alphas[i] <= 0 && gradient > limit) {
                order[place--] = order[--active];
                order[active] = i;
                continue;
            }
            if (alphas[i] <= 0 && gradient >= 0) continue;
            if (fabs(gradient) > worst) worst = fabs(gradient);
            const float before = alphas[i];
            const double moved = before - gradient / (norms[document] + 1 + diagonal);
            alphas[i] = moved > 0 ? (float)moved : 0;
            const float change = (alphas[i] - before) * y;
            for (size_t at = 0; at < r.length; at++) w[r.columns[at]] += change * r.values[at];
            b += change;
        }
        if (worst > problem->tolerance) {
            limit = worst;
        } else if (active < n) {
            active = n;
            limit = INFINITY;
        } else {
            break;
        }
    }
    *bias = b;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const struct row r = row_of(rows, (size_t)problem->documents[i]);
        for (size_t at = 0; at < r.length; at++) {
            const int32_t column = r.columns[at];
            const float weight = w[column];
            w[column] = 0;
            if (fabsf(weight) >= least && weight != 0 && count < room) {
                columns[count] = column;
                values[count++] = weight;
            }
        }
    }
    for (size_t at = 0; at < problem->prototype.length; at++) w[problem->prototype.columns[at]] = 0;
    return count;
}
