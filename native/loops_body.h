/* Included by loops.c once for each TARGET, with vectors of WIDTH floats. No include guard, on purpose. */

#if WIDTH > 1
#define floats NAME(floats)
#define ints NAME(ints)
#define unaligned NAME(unaligned)
typedef float floats __attribute__((vector_size(4 * WIDTH)));
typedef int ints __attribute__((vector_size(4 * WIDTH)));
typedef float unaligned __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));
#define doubles NAME(doubles)
#define longs NAME(longs)
#define unaligned_doubles NAME(unaligned_doubles)
#define unaligned_longs NAME(unaligned_longs)
typedef double doubles __attribute__((vector_size(4 * WIDTH)));
typedef long long longs __attribute__((vector_size(4 * WIDTH)));
typedef long long unaligned_longs __attribute__((vector_size(4 * WIDTH), aligned(8), may_alias));
typedef double unaligned_doubles __attribute__((vector_size(4 * WIDTH), aligned(8), may_alias));
#define CHOOSE_DOUBLE(mask, a, b) ((doubles)(((mask) & (longs)(a)) | (~(mask) & (longs)(b))))
#define EVERY_DOUBLE(x) ((x) - (doubles){0})
#define SHIFT_LEFT(v, by) ((v) << (by))
#define SHIFT_LONG_LEFT(v, by) ((v) << (by))
#define AS_LONGS(v) ((longs)(v))
#define AS_DOUBLES(v) ((doubles)(v))
#define CHOOSE(mask, a, b) ((floats)(((mask) & (ints)(a)) | (~(mask) & (ints)(b))))
#define CHOOSE_INT(mask, a, b) (((mask) & (a)) | (~(mask) & (b)))
#define LANE(v, k) ((v)[k])
#define EVERY(x) ((x) - (floats){0})
#define EVERY_INT(x) ((x) - (ints){0})
#define AS_INTS(v) ((ints)(v))
#define AS_FLOATS(v) ((floats)(v))
#define NOT(mask) (~(mask))
#else
#define floats float
#define ints int32_t
#define unaligned float
#define doubles double
#define longs long long
#define unaligned_longs long long
#define unaligned_doubles double
#define CHOOSE_DOUBLE(mask, a, b) ((mask) ? (a) : (b))
#define EVERY_DOUBLE(x) (x)
#define SHIFT_LEFT(v, by) ((int32_t)((uint32_t)(v) << (by)))
#define SHIFT_LONG_LEFT(v, by) ((long long)((unsigned long long)(v) << (by)))
#define AS_LONGS(v) long_of(v)
#define AS_DOUBLES(v) double_of(v)
#define CHOOSE(mask, a, b) ((mask) ? (a) : (b))
#define CHOOSE_INT(mask, a, b) ((mask) ? (a) : (b))
#define LANE(v, k) (v)
#define EVERY(x) (x)
#define EVERY_INT(x) (x)
static int32_t bits_of(float x) {
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static float float_of(int32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static long long long_of(double x) {
    long long bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static double double_of(long long bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
#define AS_INTS(v) bits_of(v)
#define AS_FLOATS(v) float_of(v)
#define NOT(mask) (!(mask))
#endif

/* Vectors that run side by side, so that running maxima do not wait for each other. */
#define UNROLL NAME(unroll)
#define BLOCK NAME(block)
enum { UNROLL = WIDTH == 16 ? 2 : 4, BLOCK = UNROLL * WIDTH };

#define load NAME(load)
LOOP inline floats load(const float *at) { return *(const unaligned *)at; }

#define store NAME(store)
LOOP inline void store(float *at, floats v) { *(unaligned *)at = v; }

/* ---- passes over all documents of a problem, AHEAD at a time. Which documents may move is unpredictable, so these
 * loops do not branch on it ---- */

#define AHEAD NAME(ahead)
#define PAIRS NAME(pairs)
enum { AHEAD = 64, PAIRS = WIDTH > 1 ? WIDTH / 2 : 1 }; /* PAIRS doubles make a vector */

#define load_doubles NAME(load_doubles)
LOOP inline doubles load_doubles(const double *at) { return *(const unaligned_doubles *)at; }

#define glance NAME(glance)
struct glance {
    double sign[AHEAD], side[AHEAD]; /* side: the sign, 0 of documents that are held out */
    const double *beta, *sums;
    double rest[2 * AHEAD]; /* beta and sums of an incomplete block, padded with 0 */
};

#define glance_at NAME(glance_at)
LOOP inline size_t glance_at(struct glance *at, const struct problem *p, size_t first) {
    const size_t count = p->n - first < AHEAD ? p->n - first : AHEAD;
    const signed char *signs = p->signs + first;
    const unsigned char *active = p->active + first;
    at->beta = p->beta + first;
    at->sums = p->sums + first;
    if (count < AHEAD) {
        memset(at, 0, sizeof *at);
        at->beta = memcpy(at->rest, p->beta + first, count * sizeof *at->rest);
        at->sums = memcpy(at->rest + AHEAD, p->sums + first, count * sizeof *at->rest);
    }
    for (size_t k = 0; k < count; k++) {
        at->sign[k] = signs[k];
        at->side[k] = active[k] ? signs[k] : 0;
    }
    return count;
}

#define look NAME(look)
LOOP struct findings look(const struct problem *p) {
    const doubles zero = {0}, C = EVERY_DOUBLE(p->C), least = EVERY_DOUBLE(-INFINITY), most = EVERY_DOUBLE(INFINITY);
    doubles top = least, bottom = most, total = zero;
    longs outside = {0};
    struct findings found = {.top = -INFINITY, .bottom = INFINITY};
    for (size_t first = 0; first < p->n; first += AHEAD) {
        struct glance at;
        double gradient[AHEAD], between[AHEAD];
        long long moves[AHEAD];
        size_t count = 0;
        glance_at(&at, p, first);
        for (size_t k = 0; k < AHEAD; k += PAIRS) {
            const doubles side = load_doubles(at.side + k), beta = load_doubles(at.beta + k);
            const doubles g = load_doubles(at.sign + k) - load_doubles(at.sums + k);
            const doubles upper = CHOOSE_DOUBLE(side > zero, C, zero), lower = CHOOSE_DOUBLE(side < zero, -C, zero);
            const longs rises = beta < upper, falls = beta > lower;
            const doubles highest = CHOOSE_DOUBLE(rises, g, least), lowest = CHOOSE_DOUBLE(falls, g, most);
            total += g;
            top = CHOOSE_DOUBLE(highest > top, highest, top);
            bottom = CHOOSE_DOUBLE(lowest < bottom, lowest, bottom);
            outside += (beta < lower) | (beta > upper);
            *(unaligned_doubles *)(gradient + k) = g;
            *(unaligned_longs *)(moves + k) = rises & falls;
        }
        for (size_t k = 0; k < AHEAD; k++) {
            between[count] = gradient[k];
            count += moves[k] != 0;
        }
        for (size_t k = 0; k < count; k++) found.sum += between[k];
        found.between += count;
    }
    for (int k = 0; k < PAIRS; k++) {
        found.top = fmax(found.top, LANE(top, k));
        found.bottom = fmin(found.bottom, LANE(bottom, k));
        found.total += LANE(total, k);
        found.outside += (size_t)llabs(LANE(outside, k));
    }
    return found;
}

#define movable NAME(movable)
LOOP size_t movable(const struct problem *p, const int32_t *position, double least, uint32_t *list) {
    const doubles zero = {0}, bias = EVERY_DOUBLE(p->bias), bar = EVERY_DOUBLE(least);
    size_t count = 0;
    for (size_t first = 0; first < p->n; first += AHEAD) {
        struct glance at;
        long long may[AHEAD];
        const size_t ahead = glance_at(&at, p, first);
        for (size_t k = 0; k < AHEAD; k += PAIRS) {
            const doubles g = load_doubles(at.sign + k) - load_doubles(at.sums + k) - bias;
            const doubles side = load_doubles(at.side + k);
            *(unaligned_longs *)(may + k) = (load_doubles(at.beta + k) != zero) | ((side != zero) & (side * g >= bar));
        }
        for (size_t k = 0; k < ahead; k++) {
            list[count] = (uint32_t)(first + k);
            count += (may[k] != 0) & (position[first + k] < 0);
        }
    }
    return count;
}

/* ---- the largest of many values, and where it was: invariant, each lane holds the largest it has seen,
 * and the block it saw it in ---- */

#define largest NAME(largest)
struct largest {
    floats value[UNROLL];
    ints block[UNROLL];
};

#define NOTHING_YET(m)                       \
    for (int u = 0; u < UNROLL; u++) {       \
        (m).value[u] = EVERY(-INFINITY);     \
        (m).block[u] = EVERY_INT(0);         \
    }

#define see NAME(see)
LOOP inline void see(struct largest *m, int u, floats value, ints here) {
    const ints better = value > m->value[u];
    m->value[u] = CHOOSE(better, value, m->value[u]);
    m->block[u] = CHOOSE_INT(better, here, m->block[u]);
}

#define where NAME(where)
LOOP inline size_t where(struct largest *m, size_t none) {
    for (int step = UNROLL / 2; step > 0; step /= 2) {
        for (int u = 0; u < step; u++) {
            const ints better = m->value[u + step] > m->value[u];
            m->value[u] = CHOOSE(better, m->value[u + step], m->value[u]);
            m->block[u] = CHOOSE_INT(better, m->block[u + step] + step * WIDTH, m->block[u]);
        }
    }
#ifdef FIRST_LARGEST
    const int first = FIRST_LARGEST(m->value[0]);
    return LANE(m->value[0], first) > -INFINITY ? (size_t)LANE(m->block[0], first) + (size_t)first : none;
#else
    float top = -INFINITY;
    size_t found = none;
    for (int k = 0; k < WIDTH; k++) {
        if (LANE(m->value[0], k) > top) {
            top = LANE(m->value[0], k);
            found = (size_t)LANE(m->block[0], k) + (size_t)k;
        }
    }
    return found;
#endif
}

/* ---- steps of pairs ---- */

#define padded NAME(padded)
LOOP inline size_t padded(const struct working_set *q) { return (q->size + PADDING - 1) / PADDING * PADDING; }

/* gradient -= t (K_i - K_j); returns the member with the largest gradient of those that may rise. */
#define step_and_pick_rising NAME(step_and_pick_rising)
LOOP size_t step_and_pick_rising(struct working_set *q, float t, const float *restrict ki, const float *restrict kj) {
    struct largest m;
    float *restrict up = q->up, *restrict down = q->down;
    const size_t whole = padded(q);
    const floats step = EVERY(t);
    NOTHING_YET(m)
    for (size_t b = 0; b < whole; b += BLOCK) {
        const ints here = EVERY_INT((int)b);
        floats rising[UNROLL], falling[UNROLL];
        for (int u = 0; u < UNROLL; u++) {
            const size_t at = b + (size_t)u * WIDTH;
            const floats change = step * (load(ki + at) - load(kj + at));
            rising[u] = load(up + at) - change;
            falling[u] = load(down + at) - change;
        }
        for (int u = 0; u < UNROLL; u++) {
            const size_t at = b + (size_t)u * WIDTH;
            store(up + at, rising[u]);
            store(down + at, falling[u]);
            see(&m, u, rising[u], here);
        }
    }
    return where(&m, q->size);
}

/* The partner of i that gains most by the second-order model, (g_i - g_j)^2 / (K_ii + K_jj - 2 K_ij). It is
 * compared by its root, and the root of the curvature is the famous estimate of three per cent: which
 * comes first among near equals does not matter, and one division per document would cost more than all the
 * rest. */
#define pick_falling NAME(pick_falling)
LOOP size_t pick_falling(const struct working_set *q, size_t i) {
    struct largest m;
    const float *ki = q->gram + i * STRIDE, *down = q->down, *diagonal = q->diagonal;
    const size_t whole = padded(q);
    const floats gi = EVERY(q->up[i]), kii = EVERY(diagonal[i]), tiny = EVERY(1e-12f);
    NOTHING_YET(m)
    for (size_t b = 0; b < whole; b += BLOCK) {
        const ints here = EVERY_INT((int)b);
        for (int u = 0; u < UNROLL; u++) {
            const size_t at = b + (size_t)u * WIDTH;
            const floats k = load(ki + at);
            floats curvature = kii + load(diagonal + at) - (k + k);
            curvature = CHOOSE(curvature > tiny, curvature, tiny);
            const floats root = AS_FLOATS(0x5f3759df - (AS_INTS(curvature) >> 1));
            see(&m, u, (gi - load(down + at)) * root, here);
        }
    }
    return where(&m, q->size);
}

#define pick_lowest NAME(pick_lowest)
LOOP size_t pick_lowest(const struct working_set *q) {
    struct largest m;
    const size_t whole = padded(q);
    NOTHING_YET(m)
    for (size_t b = 0; b < whole; b += BLOCK) {
        for (int u = 0; u < UNROLL; u++) see(&m, u, -load(q->down + b + (size_t)u * WIDTH), EVERY_INT((int)b));
    }
    return where(&m, q->size);
}

/* The member that best takes over the amount that the member a must lose (or gain). */
#define pick_partner NAME(pick_partner)
LOOP size_t pick_partner(const struct working_set *q, size_t a, int rising, float amount) {
    struct largest m;
    const float *ka = q->gram + a * STRIDE, *g = rising ? q->up : q->down;
    const size_t whole = padded(q);
    const floats way = EVERY(rising ? 1.0f : -1.0f), step = EVERY(amount), half = EVERY(0.5f);
    NOTHING_YET(m)
    for (size_t b = 0; b < whole; b += BLOCK) {
        for (int u = 0; u < UNROLL; u++) {
            const size_t at = b + (size_t)u * WIDTH;
            see(&m, u, way * load(g + at) + step * (load(ka + at) - half * load(q->diagonal + at)),
                EVERY_INT((int)b));
        }
    }
    return where(&m, q->size);
}

/* The pair's step, clipped to the box; a bound that is hit is met exactly. */
#define take_step NAME(take_step)
LOOP inline float take_step(struct working_set *q, size_t i, size_t j) {
    const float gi = q->up[i], gj = q->down[j];
    const double room_i = q->upper[i] - q->beta[i], room_j = q->beta[j] - q->lower[j];
    const double curvature = (double)q->diagonal[i] + q->diagonal[j] - 2.0 * q->gram[i * STRIDE + j];
    double t = ((double)gi - gj) / (curvature > 1e-12 ? curvature : 1e-12);
    if (t > room_i) t = room_i;
    if (t > room_j) t = room_j;
    q->beta[i] = t == room_i ? q->upper[i] : q->beta[i] + t;
    q->beta[j] = t == room_j ? q->lower[j] : q->beta[j] - t;
    set_gradient(q, i, gi);
    set_gradient(q, j, gj);
    return (float)t;
}

/* Moves a member that is outside its bounds onto the nearest one, against the partners that lose least by
 * it. Returns the number of steps; without any partner the member stays where it is. */
#define push_inside NAME(push_inside)
LOOP size_t push_inside(struct working_set *q, size_t a) {
    size_t steps = 0;
    while (q->beta[a] > q->upper[a] || q->beta[a] < q->lower[a]) {
        const int above = q->beta[a] > q->upper[a];
        const double excess = above ? q->beta[a] - q->upper[a] : q->lower[a] - q->beta[a];
        const size_t b = pick_partner(q, a, above, (float)excess);
        if (b >= q->size || b == a) break;
        const float ga = above ? q->down[a] : q->up[a], gb = above ? q->up[b] : q->down[b];
        const double room = above ? q->upper[b] - q->beta[b] : q->beta[b] - q->lower[b];
        const double t = (room < excess ? room : excess) * (above ? 1 : -1);
        q->beta[a] = room < excess ? q->beta[a] - t : above ? q->upper[a] : q->lower[a];
        q->beta[b] = room > excess ? q->beta[b] + t : above ? q->upper[b] : q->lower[b];
        set_gradient(q, a, ga);
        set_gradient(q, b, gb);
        step_and_pick_rising(q, (float)t, q->gram + b * STRIDE, q->gram + a * STRIDE);
        steps++;
    }
    return steps;
}

#define descend NAME(descend)
LOOP size_t descend(struct working_set *q, double tolerance, size_t budget, const volatile unsigned char *stop) {
    size_t steps = 0;
    for (size_t a = q->size; a < padded(q); a++) {
        q->up[a] = -INFINITY;
        q->down[a] = INFINITY;
    }
    for (size_t a = 0; a < q->size; a++) {
        q->first_beta[a] = q->beta[a];
        q->first_gradient[a] = gradient_at(q, a);
    }
    for (size_t a = 0; a < q->size; a++) steps += push_inside(q, a);
    size_t i = step_and_pick_rising(q, 0, q->gram, q->gram), pairs = 2 * q->size; /* until Newton steps may pay */
    while (steps < budget && i < q->size) {
        size_t j = pick_falling(q, i);
        if (j >= q->size || !(q->up[i] - q->down[j] >= tolerance)) {
            j = pick_lowest(q); /* the rule is about the largest gap, not about the largest gain */
            if (j >= q->size || !(q->up[i] - q->down[j] >= tolerance)) break;
        }
        if (steps++ % 1024 == 0 && *stop) break;
        const float t = take_step(q, i, j);
        i = step_and_pick_rising(q, t, q->gram + i * STRIDE, q->gram + j * STRIDE);
        if (--pairs == 0) {
            pairs = take_newton_steps(q);
            i = step_and_pick_rising(q, 0, q->gram, q->gram);
        }
    }
    return steps;
}

#define close_up NAME(close_up)
LOOP void close_up(float *gram, const int32_t *from, size_t whole, size_t kept) {
#ifdef PERMUTE
    /* In each block, the columns that stay move to the front. The block is stored where its first column belongs; the
     * next one overwrites its rest. */
    const size_t start = whole / WIDTH * WIDTH, blocks = ((size_t)from[kept - 1] + WIDTH) / WIDTH;
    int32_t order[CAPACITY] = {0};
    size_t to[CAPACITY / WIDTH];
    for (size_t block = start / WIDTH, a = start; block < blocks; block++) {
        to[block] = a;
        for (size_t lane = block * WIDTH; a < kept && (size_t)from[a] / WIDTH == block; a++)
            order[lane++] = from[a] % WIDTH;
    }
    for (size_t a = 0; a < kept; a++) {
        const float *source = gram + (size_t)from[a] * STRIDE;
        float *target = gram + a * STRIDE;
        if (a >= whole) memcpy(target, source, start * sizeof *target);
        for (size_t block = start / WIDTH; block < blocks; block++)
            store(target + to[block], PERMUTE(load(source + block * WIDTH), load((float *)order + block * WIDTH)));
    }
#else
    for (size_t a = 0; a < kept; a++) {
        const float *source = gram + (size_t)from[a] * STRIDE;
        float *target = gram + a * STRIDE;
        for (size_t b = a < whole ? whole : 0; b < kept; b++) target[b] = source[from[b]];
    }
#endif
}

#define add_rows NAME(add_rows)
LOOP void add_rows(double *restrict sums, size_t n, const float *gram, const uint32_t *rows,
                   const double *weights, size_t count) {
    enum { TOGETHER = 8 }; /* a pass over the sums for as many rows */
    size_t k = 0;
    for (; k + TOGETHER <= count; k += TOGETHER) {
        const float *r[TOGETHER];
        const double *w = weights + k;
        size_t i = 0;
        for (int c = 0; c < TOGETHER; c++) r[c] = gram + rows[k + c] * n;
#ifdef WIDEN
        for (; i + PAIRS <= n; i += PAIRS)
            *(unaligned_doubles *)(sums + i) += ((w[0] * WIDEN(r[0] + i) + w[1] * WIDEN(r[1] + i)) +
                                                 (w[2] * WIDEN(r[2] + i) + w[3] * WIDEN(r[3] + i))) +
                                                ((w[4] * WIDEN(r[4] + i) + w[5] * WIDEN(r[5] + i)) +
                                                 (w[6] * WIDEN(r[6] + i) + w[7] * WIDEN(r[7] + i)));
#endif
        for (; i < n; i++)
            sums[i] += ((w[0] * r[0][i] + w[1] * r[1][i]) + (w[2] * r[2][i] + w[3] * r[3][i])) +
                       ((w[4] * r[4][i] + w[5] * r[5][i]) + (w[6] * r[6][i] + w[7] * r[7][i]));
    }
    for (; k < count; k++) {
        const float *row = gram + rows[k] * n;
        for (size_t i = 0; i < n; i++) sums[i] += weights[k] * row[i];
    }
}

/* ---- visits of coordinates, LANES problems at a time ---- */

#if WIDTH <= LANES
/* A document's lanes are HALVES vectors. */
#define HALVES NAME(halves)
enum { HALVES = LANES / WIDTH };

/* The gradient of a document in all lanes. Two sums each, so that neither waits for the other. */
#define gradient_of NAME(gradient_of)
LOOP inline void gradient_of(const struct sweep *s, const struct row *r, float sign, const floats *shift,
                             floats *gradient) {
    floats even[HALVES], odd[HALVES];
    size_t at = 0;
    for (int h = 0; h < HALVES; h++) even[h] = odd[h] = EVERY(0.0f);
    for (; at + 2 <= r->length; at += 2) {
        const float *one = s->weights + column_of(r, at) * LANES, *two = s->weights + column_of(r, at + 1) * LANES;
        for (int h = 0; h < HALVES; h++) {
            even[h] += load(one + h * WIDTH) * r->values[at];
            odd[h] += load(two + h * WIDTH) * r->values[at + 1];
        }
    }
    if (at < r->length) {
        const float *last = s->weights + column_of(r, at) * LANES;
        for (int h = 0; h < HALVES; h++) even[h] += load(last + h * WIDTH) * r->values[at];
    }
    for (int h = 0; h < HALVES; h++) gradient[h] = sign - (even[h] + odd[h]) - shift[h];
}

/* Where a lane may go: the bounds of a document. */
#define bounds_of NAME(bounds_of)
LOOP inline void bounds_of(const struct sweep *s, size_t i, int h, floats *lower, floats *upper) {
    const floats room = load(s->open + i * LANES + h * WIDTH) * s->C;
    *lower = s->signs[i] > 0 ? EVERY(0.0f) : -room;
    *upper = s->signs[i] > 0 ? room : EVERY(0.0f);
}

/* Whether a lane rests: at a bound with a gradient that keeps it there, or nowhere to go. */
#define RESTS(beta, lower, upper, g, rest) \
    ((((beta) == (lower)) & ((g) < -(rest))) | (((beta) == (upper)) & ((g) > (rest))) | ((lower) == (upper)))

#define any_lane NAME(any_lane)
LOOP inline int any_lane(ints mask) {
#ifdef ANY_LANE
    return ANY_LANE(mask);
#elif WIDTH > 1
    uint64_t words[sizeof mask / 8], any = 0;
    memcpy(words, &mask, sizeof mask);
    for (size_t k = 0; k < sizeof mask / 8; k++) any |= words[k];
    return any != 0;
#else
    return mask;
#endif
}

#define survey NAME(survey)
LOOP size_t survey(const struct sweep *s, size_t n, uint32_t *live, float resting, float *violation) {
    floats shift[HALVES], top[HALVES], bottom[HALVES];
    const floats rest = EVERY(resting), least = EVERY(-INFINITY), most = EVERY(INFINITY);
    size_t count = 0;
    for (int h = 0; h < HALVES; h++) {
        shift[h] = load(s->offset + h * WIDTH);
        top[h] = least;
        bottom[h] = most;
    }
    for (size_t i = 0; i < n; i++) {
        const struct row r = row_of(s->vectors, i);
        floats g[HALVES], lower, upper;
        ints awake = {0};
        gradient_of(s, &r, s->signs[i], shift, g);
        for (int h = 0; h < HALVES; h++) {
            const floats beta = load(s->beta + i * LANES + h * WIDTH), going = load(s->going + h * WIDTH);
            bounds_of(s, i, h, &lower, &upper);
            const floats rising = CHOOSE(beta < upper, g[h], least), falling = CHOOSE(beta > lower, g[h], most);
            top[h] = CHOOSE(rising > top[h], rising, top[h]);
            bottom[h] = CHOOSE(falling < bottom[h], falling, bottom[h]);
            awake |= NOT(RESTS(beta, lower, upper, g[h], rest) | (going == 0));
        }
        if (any_lane(awake)) live[count++] = (uint32_t)i;
    }
    for (int h = 0; h < HALVES; h++) store(violation + h * WIDTH, top[h] - bottom[h]);
    return count;
}

#define visit NAME(visit)
LOOP float visit(struct sweep *s, uint32_t *live, size_t *count, float resting) {
    const floats penalty = EVERY(s->penalty), rest = EVERY(resting);
    float *restrict all_weights = s->weights;
    floats excess[HALVES], followed[HALVES];
    size_t kept = 0;
    for (int h = 0; h < HALVES; h++) {
        excess[h] = load(s->excess + h * WIDTH);
        followed[h] = EVERY(0.0f);
    }
    for (size_t k = 0; k < *count; k++) {
        const uint32_t i = live[k];
        const struct row r = row_of(s->vectors, i);
        const floats pace = EVERY(s->pace[i]), slow = EVERY(s->slow[i]), quiet = EVERY(s->quiet);
        floats g[HALVES], steps[HALVES], shift[HALVES], lower, upper;
        ints awake = {0}, moves = {0};
        for (int h = 0; h < HALVES; h++) shift[h] = load(s->offset + h * WIDTH) + penalty * excess[h];
        gradient_of(s, &r, s->signs[i], shift, g);
        for (int h = 0; h < HALVES; h++) {
            float *beta = s->beta + i * LANES + h * WIDTH;
            const floats old = load(beta);
            bounds_of(s, i, h, &lower, &upper);
            floats goal = old + g[h] * pace;
            goal = CHOOSE(goal < lower, lower, goal);
            goal = CHOOSE(goal > upper, upper, goal);
            steps[h] = (goal - old) * load(s->going + h * WIDTH);
            goal = CHOOSE(steps[h] != 0, goal, old);
            const floats size = CHOOSE(steps[h] < 0, -steps[h], steps[h]) * slow;
            followed[h] = CHOOSE(size > followed[h], size, followed[h]);
            moves |= steps[h] != 0;
            awake |= (size > quiet) | (NOT(RESTS(goal, lower, upper, g[h], rest)) & (steps[h] == 0));
            excess[h] += steps[h];
            store(beta, goal);
        }
        if (any_lane(awake)) live[kept++] = i;
        if (!any_lane(moves)) continue;
        for (size_t at = 0; at < r.length; at++) {
            float *restrict weights = all_weights + column_of(&r, at) * LANES;
            const float value = r.values[at];
            for (int h = 0; h < HALVES; h++) store(weights + h * WIDTH, load(weights + h * WIDTH) + steps[h] * value);
        }
    }
    *count = kept;
    float largest_step = 0;
    for (int h = 0; h < HALVES; h++) {
        store(s->excess + h * WIDTH, excess[h]);
        for (int lane = 0; lane < WIDTH; lane++) {
            if (LANE(followed[h], lane) > largest_step) largest_step = LANE(followed[h], lane);
        }
    }
    return largest_step;
}

/* In double: weights += beta x, where any lane has a beta; and the dot products with the weights. */
#define weigh NAME(weigh)
LOOP void weigh(const struct vectors *v, size_t i, const double *restrict beta, double *restrict weights) {
    const struct row r = row_of(v, i);
    for (size_t at = 0; at < r.length; at++) {
        double *restrict w = weights + column_of(&r, at) * LANES;
        const double value = r.values[at];
        for (int l = 0; l < LANES; l++) w[l] += beta[l] * value;
    }
}

#define measure NAME(measure)
LOOP void measure(const struct vectors *v, size_t i, const double *restrict weights, double *restrict sums) {
    const struct row r = row_of(v, i);
    double total[LANES] = {0};
    for (size_t at = 0; at < r.length; at++) {
        const double *restrict w = weights + column_of(&r, at) * LANES;
        const double value = r.values[at];
        for (int l = 0; l < LANES; l++) total[l] += w[l] * value;
    }
    for (int l = 0; l < LANES; l++) sums[l] = total[l];
}

#define sum_rows NAME(sum_rows)
UNFUSED void sum_rows(double *sums, const float *rows, const double *weights, const int32_t *places, size_t count) {
    doubles total[ROW / PAIRS];
    memset(total, 0, sizeof total);
    for (size_t k = 0; k < count; k++) {
        const float *row = rows + (size_t)places[k] * ROW;
        for (size_t b = 0; b < ROW / PAIRS; b++) {
#ifdef WIDEN
            total[b] += weights[k] * WIDEN(row + b * PAIRS);
#else
            for (int c = 0; c < PAIRS; c++) LANE(total[b], c) += weights[k] * row[b * PAIRS + c];
#endif
        }
    }
    memcpy(sums, total, sizeof total);
}

#else /* wider than the lanes: those of the next narrower target serve */
#define survey survey_avx2
#define visit visit_avx2
#define weigh weigh_avx2
#define measure measure_avx2
#define sum_rows sum_rows_avx2
#endif

/* ---- RBF kernel values ---- */

/* e^x for x <= 0, to two units in the last place: 2^n times a polynomial of the rest, |rest| <= ln 2 / 2.
 * Below -87 it stays at 1e-38. Stage by stage for UNROLL vectors, for each stage waits for the one before. */
#define EACH for (int u = 0; u < UNROLL; u++)
#define exponential NAME(exponential)
LOOP inline void exponential(floats *x) {
    const floats magic = EVERY(12582912.0f); /* 1.5 * 2^23: adding it rounds to a whole number */
    const float coefficients[] = {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f,
                                  5.0000001201e-1f};
    floats whole[UNROLL], rest[UNROLL], p[UNROLL];
    EACH x[u] = CHOOSE(x[u] > EVERY(-87.0f), x[u], EVERY(-87.0f));
    EACH whole[u] = (x[u] * EVERY(1.44269504f) + magic) - magic;
    EACH rest[u] = (x[u] - whole[u] * EVERY(0.693359375f)) + whole[u] * EVERY(2.12194440e-4f);
    EACH p[u] = EVERY(1.9875691500e-4f);
    for (int k = 0; k < 5; k++) EACH p[u] = p[u] * rest[u] + EVERY(coefficients[k]);
    EACH p[u] = p[u] * rest[u] * rest[u] + rest[u] + EVERY(1.0f);
    /* The low bits of whole + magic are the whole number: it goes into the exponent. */
    EACH x[u] = AS_FLOATS(AS_INTS(p[u]) + SHIFT_LEFT(AS_INTS(whole[u] + magic), 23));
}

/* 1 / (1 + e^-v) in double. As above, e^-v is 2^n times a polynomial, here the first terms of the series. The error is
 * below three units in the last place. Below -709 the result is 0. */
#define logistic NAME(logistic)
LOOP inline void logistic(double *values) {
    const doubles magic = EVERY_DOUBLE(6755399441055744.0); /* 1.5 * 2^52 */
    const doubles least = EVERY_DOUBLE(-709.0), most = EVERY_DOUBLE(709.0), one = EVERY_DOUBLE(1.0);
    const double inverse_factorials[] = {1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320,
                                         1. / 5040,      1. / 720,      1. / 120,     1. / 24,     1. / 6,
                                         1. / 2};
    doubles v[UNROLL], x[UNROLL], whole[UNROLL], rest[UNROLL], p[UNROLL];
    EACH v[u] = load_doubles(values + u * PAIRS);
    EACH x[u] = CHOOSE_DOUBLE(v[u] < most, -v[u], -most);
    EACH x[u] = CHOOSE_DOUBLE(x[u] < most, x[u], most);
    EACH whole[u] = (x[u] * EVERY_DOUBLE(1.4426950408889634) + magic) - magic;
    EACH rest[u] = (x[u] - whole[u] * EVERY_DOUBLE(6.93147180369123816490e-01)) -
                   whole[u] * EVERY_DOUBLE(1.90821492927058770002e-10);
    EACH p[u] = EVERY_DOUBLE(1. / 6227020800);
    for (int k = 0; k < 11; k++) EACH p[u] = p[u] * rest[u] + EVERY_DOUBLE(inverse_factorials[k]);
    EACH p[u] = (p[u] * rest[u] * rest[u] + rest[u]) + one;
    EACH x[u] = AS_DOUBLES(AS_LONGS(p[u]) + SHIFT_LONG_LEFT(AS_LONGS(whole[u] + magic), 52));
    EACH x[u] = one / (one + x[u]);
    EACH x[u] = CHOOSE_DOUBLE(v[u] < least, EVERY_DOUBLE(0.0), x[u]);
    EACH *(unaligned_doubles *)(values + u * PAIRS) = CHOOSE_DOUBLE(v[u] == v[u], x[u], v[u]); /* NaN stays */
}

#define sigmoid NAME(sigmoid)
LOOP void sigmoid(double *values, size_t n) {
    enum { TOGETHER = UNROLL * PAIRS };
    double rest[TOGETHER] = {0};
    size_t i = 0;
    for (; i + TOGETHER <= n; i += TOGETHER) logistic(values + i);
    if (i == n) return;
    memcpy(rest, values + i, (n - i) * sizeof *rest);
    logistic(rest);
    memcpy(values + i, rest, (n - i) * sizeof *rest);
}

#define rbf_block NAME(rbf_block)
LOOP inline void rbf_block(float *dots, const float *b, float a, float gamma) {
    floats x[UNROLL];
    EACH x[u] = (EVERY(a) + load(b + u * WIDTH)) - EVERY(2.0f) * load(dots + u * WIDTH);
    EACH x[u] = EVERY(-gamma) * CHOOSE(x[u] > EVERY(0.0f), x[u], EVERY(0.0f)); /* rounding may take it below */
    exponential(x);
    EACH store(dots + u * WIDTH, x[u]);
}

#define rbf NAME(rbf)
LOOP void rbf(float *dots, size_t rows, size_t columns, const float *a, const float *b, float gamma) {
    float rest[2 * BLOCK] = {0};
    for (size_t i = 0; i < rows; i++) {
        float *row_dots = dots + i * columns;
        size_t j = 0;
        for (; j + BLOCK <= columns; j += BLOCK) rbf_block(row_dots + j, b + j, a[i], gamma);
        if (j == columns) continue;
        memcpy(rest, row_dots + j, (columns - j) * sizeof *rest);
        memcpy(rest + BLOCK, b + j, (columns - j) * sizeof *rest);
        rbf_block(rest, rest + BLOCK, a[i], gamma);
        memcpy(row_dots + j, rest, (columns - j) * sizeof *rest);
    }
}

static const struct loops NAME(loops) = {
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
    TEXT(TARGET), look, movable, descend, close_up, add_rows, sum_rows, survey, visit, weigh, measure, rbf, sigmoid,
};

#undef floats
#undef ints
#undef unaligned
#undef doubles
#undef longs
#undef WIDEN
#undef FIRST_LARGEST
#undef ANY_LANE
#undef UNFUSED
#undef sum_rows
#undef unaligned_doubles
#undef unaligned_longs
#undef CHOOSE_DOUBLE
#undef EVERY_DOUBLE
#undef AS_LONGS
#undef SHIFT_LEFT
#undef SHIFT_LONG_LEFT
#undef AS_DOUBLES
#undef AHEAD
#undef PAIRS
#undef load_doubles
#undef glance
#undef glance_at
#undef look
#undef movable
#undef CHOOSE
#undef CHOOSE_INT
#undef LANE
#undef EVERY
#undef EVERY_INT
#undef AS_INTS
#undef AS_FLOATS
#undef UNROLL
#undef BLOCK
#undef load
#undef store
#undef largest
#undef NOTHING_YET
#undef see
#undef where
#undef padded
#undef step_and_pick_rising
#undef pick_falling
#undef pick_lowest
#undef pick_partner
#undef take_step
#undef push_inside
#undef descend
#undef add_rows
#undef close_up
#undef PERMUTE
#undef HALVES
#undef NOT
#undef visit
#undef gradient_of
#undef bounds_of
#undef RESTS
#undef any_lane
#undef survey
#undef weigh
#undef measure
#undef EACH
#undef exponential
#undef rbf_block
#undef rbf
#undef logistic
#undef sigmoid
#undef TEXT_
#undef TEXT
#undef TARGET
#undef WIDTH
#undef LOOP
