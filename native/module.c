/* The solver as a Python module: buffers in, the GIL released, buffers out. Written for the stable ABI of 3.11. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "labels.h"
#include "loops.h"
#include "solver.h"
#include "trees.h"

struct buffer {
    const char *name;
    const char *format; /* of an item, in the letters of Python's struct */
    Py_ssize_t size;    /* of an item */
    int writable;
};

static Py_ssize_t items(const Py_buffer *view) { return view->len / view->itemsize; }

static void release(Py_buffer *views, int count) {
    for (int k = 0; k < count; k++) PyBuffer_Release(&views[k]);
}

/* Whether the format is the expected one; whole numbers of 64 bits are "l" or "q", as the platform has it. */
static int fits(const Py_buffer *view, const struct buffer *expected) {
    if (!view->format || view->itemsize != expected->size) return 0;
    if (strcmp(view->format, expected->format) == 0) return 1;
    return expected->format[0] == 'q' && strcmp(view->format, "l") == 0;
}

/* Takes all buffers or none. */
static int acquire(PyObject **objects, const struct buffer *expected, Py_buffer *views, int count) {
    for (int k = 0; k < count; k++) {
        const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (expected[k].writable ? PyBUF_WRITABLE : 0);
        if (PyObject_GetBuffer(objects[k], &views[k], flags) < 0) {
            release(views, k);
            return -1;
        }
        if (!fits(&views[k], &expected[k])) {
            PyErr_Format(PyExc_TypeError, "%s must have items of format %s", expected[k].name, expected[k].format);
            release(views, k + 1);
            return -1;
        }
    }
    return 0;
}

static PyObject *refuse(Py_buffer *views, int count, const char *message) {
    release(views, count);
    PyErr_SetString(PyExc_ValueError, message);
    return NULL;
}

/* What both solvers take. */
enum { SIGNS, ACTIVE, STOP, COEFFICIENTS, SCORES, BIAS, SHARED };
#define SHARED_BUFFERS                                                                                \
    {"signs", "b", 1, 0}, {"active", "B", 1, 0}, {"stop", "B", 1, 0}, {"coefficients", "d", 8, 1},    \
        {"scores", "f", 4, 1}, {"bias", "d", 8, 1}

static int read_family(const Py_buffer *views, double C, double tolerance, double fold_tolerance,
                       Py_ssize_t max_steps, struct family *f) {
    const Py_ssize_t n = items(&views[SIGNS]), folds = items(&views[BIAS]);
    if (n < 1 || n > INT32_MAX || folds < 1 || folds > PY_SSIZE_T_MAX / 8 / n || items(&views[STOP]) < 1 ||
        items(&views[ACTIVE]) != folds * n || items(&views[COEFFICIENTS]) != folds * n ||
        items(&views[SCORES]) != folds * n)
        return 0;
    *f = (struct family){
        .n = (size_t)n,
        .folds = (size_t)folds,
        .signs = views[SIGNS].buf,
        .active = views[ACTIVE].buf,
        .C = C,
        .tolerance = tolerance,
        .fold_tolerance = fold_tolerance,
        .max_steps = (size_t)max_steps,
        .stop = views[STOP].buf,
    };
    return 1;
}

static int check_numbers(double C, double tolerance, double fold_tolerance, Py_ssize_t max_steps) {
    if (C > 0 && isfinite(C) && tolerance > 0 && fold_tolerance > 0 && max_steps >= 0) return 1;
    PyErr_SetString(PyExc_ValueError,
                    "C must be positive and finite, tolerances positive, max_steps not negative");
    return 0;
}

static PyObject *answer(enum solver_status status) {
    if (status == SOLVER_OUT_OF_MEMORY) return PyErr_NoMemory();
    return PyLong_FromLong((long)status);
}

static const char DISAGREE[] = "the sizes of the arrays do not agree";

static PyObject *py_solve_gram(PyObject *self, PyObject *args) {
    enum { GRAM = SHARED, COUNT };
    static const struct buffer expected[] = {SHARED_BUFFERS, {"gram", "f", 4, 0}};
    PyObject *objects[COUNT];
    Py_buffer views[COUNT];
    struct family family;
    double C, tolerance, fold_tolerance;
    Py_ssize_t max_steps;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOOOOdddn", &objects[GRAM], &objects[SIGNS], &objects[ACTIVE], &objects[STOP],
                          &objects[COEFFICIENTS], &objects[SCORES], &objects[BIAS], &C, &tolerance, &fold_tolerance,
                          &max_steps) ||
        !check_numbers(C, tolerance, fold_tolerance, max_steps) || acquire(objects, expected, views, COUNT) < 0)
        return NULL;
    if (!read_family(views, C, tolerance, fold_tolerance, max_steps, &family) ||
        (size_t)items(&views[GRAM]) / family.n != family.n || (size_t)items(&views[GRAM]) % family.n != 0)
        return refuse(views, COUNT, DISAGREE);
    enum solver_status status;
    Py_BEGIN_ALLOW_THREADS
    status = solve_gram(&family, views[GRAM].buf, views[COEFFICIENTS].buf, views[SCORES].buf, views[BIAS].buf);
    Py_END_ALLOW_THREADS
    release(views, COUNT);
    return answer(status);
}

/* Whether the rows from first to last lie within the values, and their columns within the width. */
static int are_sound(const struct vectors *v, size_t first, size_t last, Py_ssize_t length) {
    if (v->starts[first] < 0 || v->starts[last] > length) return 0;
    for (size_t i = first; i < last; i++) {
        if (v->starts[i] > v->starts[i + 1]) return 0;
    }
    for (int64_t at = v->starts[first]; at < v->starts[last]; at++) {
        if (v->columns[at] < 0 || (size_t)v->columns[at] >= v->width) return 0;
    }
    return 1;
}

static PyObject *py_solve_vectors(PyObject *self, PyObject *args) {
    enum { VALUES = SHARED, COLUMNS, STARTS, SPARSE, DENSE = COLUMNS };
    static const struct buffer expected[] = {
        SHARED_BUFFERS, {"values", "f", 4, 0}, {"columns", "i", 4, 0}, {"starts", "q", 8, 0}};
    PyObject *objects[SPARSE];
    Py_buffer views[SPARSE];
    struct family family;
    struct vectors vectors = {0};
    double C, tolerance, fold_tolerance;
    Py_ssize_t max_steps, width;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOnOOOOOOdddn", &objects[VALUES], &objects[COLUMNS], &objects[STARTS], &width,
                          &objects[SIGNS], &objects[ACTIVE], &objects[STOP], &objects[COEFFICIENTS],
                          &objects[SCORES], &objects[BIAS], &C, &tolerance, &fold_tolerance,
                          &max_steps) ||
        !check_numbers(C, tolerance, fold_tolerance, max_steps))
        return NULL;
    const int count = objects[COLUMNS] == Py_None ? DENSE : SPARSE;
    if (acquire(objects, expected, views, count) < 0) return NULL;
    if (!read_family(views, C, tolerance, fold_tolerance, max_steps, &family) || width < 0 || width > INT32_MAX)
        return refuse(views, count, DISAGREE);
    const size_t length = (size_t)items(&views[VALUES]);
    vectors.width = (size_t)width;
    vectors.values = views[VALUES].buf;
    if (count == SPARSE) {
        vectors.columns = views[COLUMNS].buf;
        vectors.starts = views[STARTS].buf;
        if ((size_t)items(&views[COLUMNS]) != length || (size_t)items(&views[STARTS]) != family.n + 1 ||
            !are_sound(&vectors, 0, family.n, (Py_ssize_t)length))
            return refuse(views, count, DISAGREE);
    } else if (length != family.n * vectors.width) {
        return refuse(views, count, DISAGREE);
    }
    enum solver_status status;
    Py_BEGIN_ALLOW_THREADS
    status = solve_vectors(&family, &vectors, views[COEFFICIENTS].buf, views[SCORES].buf, views[BIAS].buf);
    Py_END_ALLOW_THREADS
    release(views, count);
    return answer(status);
}

static PyObject *py_rbf(PyObject *self, PyObject *args) {
    enum { DOTS, ROW_NORMS, COLUMN_NORMS, COUNT };
    static const struct buffer expected[] = {
        {"dots", "f", 4, 1}, {"row_norms", "f", 4, 0}, {"column_norms", "f", 4, 0}};
    PyObject *objects[COUNT];
    Py_buffer views[COUNT];
    double gamma;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOd", &objects[DOTS], &objects[ROW_NORMS], &objects[COLUMN_NORMS], &gamma) ||
        acquire(objects, expected, views, COUNT) < 0)
        return NULL;
    const size_t rows = (size_t)items(&views[ROW_NORMS]), columns = (size_t)items(&views[COLUMN_NORMS]);
    if ((size_t)items(&views[DOTS]) != rows * columns) return refuse(views, COUNT, DISAGREE);
    Py_BEGIN_ALLOW_THREADS
    loops()->rbf(views[DOTS].buf, rows, columns, views[ROW_NORMS].buf, views[COLUMN_NORMS].buf, (float)gamma);
    Py_END_ALLOW_THREADS
    release(views, COUNT);
    Py_RETURN_NONE;
}

static int are_ascending(const struct vectors *v, size_t rows) {
    for (size_t i = 0; i < rows; i++) {
        for (int64_t at = v->starts[i] + 1; at < v->starts[i + 1]; at++) {
            if (v->columns[at - 1] >= v->columns[at]) return 0;
        }
    }
    return 1;
}

static PyObject *py_add_dots(PyObject *self, PyObject *args) {
    enum { DOTS, VALUES, COLUMNS, STARTS, COLUMN_VALUES, ROWS, COLUMN_STARTS, COUNT };
    static const struct buffer expected[] = {{"dots", "f", 4, 1},          {"values", "f", 4, 0},
                                             {"columns", "i", 4, 0},       {"starts", "q", 8, 0},
                                             {"column_values", "f", 4, 0}, {"rows", "i", 4, 0},
                                             {"column_starts", "q", 8, 0}};
    PyObject *objects[COUNT];
    Py_buffer views[COUNT];
    Py_ssize_t first, last;
    (void)self;
    if (!PyArg_ParseTuple(args, "OnnOOOOOO", &objects[DOTS], &first, &last, &objects[VALUES], &objects[COLUMNS],
                          &objects[STARTS], &objects[COLUMN_VALUES], &objects[ROWS], &objects[COLUMN_STARTS]) ||
        acquire(objects, expected, views, COUNT) < 0)
        return NULL;
    const Py_ssize_t n = items(&views[STARTS]) - 1, width = items(&views[COLUMN_STARTS]) - 1;
    if (n < 0 || width < 0 || first < 0 || first > last || last > n ||
        items(&views[COLUMNS]) != items(&views[VALUES]) || items(&views[ROWS]) != items(&views[COLUMN_VALUES]) ||
        items(&views[DOTS]) != (last - first) * (n - first))
        return refuse(views, COUNT, DISAGREE);
    const struct vectors rows = {(size_t)width, views[VALUES].buf, views[COLUMNS].buf, views[STARTS].buf};
    const struct vectors columns = {(size_t)n, views[COLUMN_VALUES].buf, views[ROWS].buf, views[COLUMN_STARTS].buf};
    int sound;
    Py_BEGIN_ALLOW_THREADS
    sound = are_sound(&rows, (size_t)first, (size_t)last, items(&views[VALUES])) &&
            are_sound(&columns, 0, (size_t)width, items(&views[ROWS])) && are_ascending(&columns, (size_t)width);
    if (sound) add_dots(views[DOTS].buf, (size_t)first, (size_t)last, (size_t)n, &rows, &columns);
    Py_END_ALLOW_THREADS
    if (!sound) return refuse(views, COUNT, DISAGREE);
    release(views, COUNT);
    Py_RETURN_NONE;
}

static PyObject *py_mirror(PyObject *self, PyObject *args) {
    static const struct buffer expected = {"gram", "f", 4, 1};
    PyObject *object;
    Py_buffer view;
    Py_ssize_t first, last, n = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "Onn", &object, &first, &last) || acquire(&object, &expected, &view, 1) < 0)
        return NULL;
    if (view.ndim == 2 && view.shape[0] == view.shape[1]) n = view.shape[0];
    if (first < 0 || first > last || last > n) return refuse(&view, 1, DISAGREE);
    Py_BEGIN_ALLOW_THREADS
    mirror(view.buf, (size_t)n, (size_t)first, (size_t)last);
    Py_END_ALLOW_THREADS
    release(&view, 1);
    Py_RETURN_NONE;
}

static PyObject *py_sum_rows(PyObject *self, PyObject *args) {
    enum { SUMS, KERNEL_VALUES, WEIGHTS, COUNT = WEIGHTS + 3 };
    static const struct buffer expected[] = {{"sums", "d", 8, 1},    {"rows", "f", 4, 0},   {"weights", "d", 8, 0},
                                             {"places", "i", 4, 0}, {"starts", "q", 8, 0}};
    PyObject *objects[COUNT];
    Py_buffer views[COUNT];
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOO", &objects[SUMS], &objects[KERNEL_VALUES], &objects[WEIGHTS],
                          &objects[WEIGHTS + 1], &objects[WEIGHTS + 2]) ||
        acquire(objects, expected, views, COUNT) < 0)
        return NULL;
    const size_t rows = (size_t)items(&views[KERNEL_VALUES]) / ROW;
    const Py_ssize_t labels = items(&views[WEIGHTS + 2]) - 1;
    const double *weights = views[WEIGHTS].buf;
    const struct vectors places = {rows, NULL, views[WEIGHTS + 1].buf, views[WEIGHTS + 2].buf};
    if (labels < 0 || items(&views[SUMS]) != labels * ROW || items(&views[KERNEL_VALUES]) % ROW != 0 ||
        items(&views[WEIGHTS]) != items(&views[WEIGHTS + 1]))
        return refuse(views, COUNT, DISAGREE);
    int sound;
    Py_BEGIN_ALLOW_THREADS
    sound = are_sound(&places, 0, (size_t)labels, items(&views[WEIGHTS]));
    for (Py_ssize_t label = 0; sound && label < labels; label++) {
        const size_t start = (size_t)places.starts[label], end = (size_t)places.starts[label + 1];
        loops()->sum_rows((double *)views[SUMS].buf + label * ROW, views[KERNEL_VALUES].buf, weights + start,
                          places.columns + start, end - start);
    }
    Py_END_ALLOW_THREADS
    if (!sound) return refuse(views, COUNT, DISAGREE);
    release(views, COUNT);
    Py_RETURN_NONE;
}

static PyObject *py_sum_weights(PyObject *self, PyObject *args) {
    enum { WEIGHTS, VALUES, ROWS, STARTS, COEFFICIENTS_OF, LABELS, LABEL_STARTS, COUNT };
    static const struct buffer expected[] = {{"weights", "f", 4, 1},     {"values", "f", 4, 0},
                                             {"rows", "i", 4, 0},        {"starts", "q", 8, 0},
                                             {"coefficients", "d", 8, 0}, {"labels", "i", 4, 0},
                                             {"label_starts", "q", 8, 0}};
    PyObject *objects[COUNT];
    Py_buffer views[COUNT];
    Py_ssize_t first, last, labels;
    (void)self;
    if (!PyArg_ParseTuple(args, "OnnnOOOOOO", &objects[WEIGHTS], &first, &last, &labels, &objects[VALUES],
                          &objects[ROWS], &objects[STARTS], &objects[COEFFICIENTS_OF], &objects[LABELS],
                          &objects[LABEL_STARTS]) ||
        acquire(objects, expected, views, COUNT) < 0)
        return NULL;
    const Py_ssize_t width = items(&views[STARTS]) - 1, n = items(&views[LABEL_STARTS]) - 1;
    if (n < 0 || labels < 1 || first < 0 || first > last || last > width ||
        items(&views[ROWS]) != items(&views[VALUES]) || items(&views[LABELS]) != items(&views[COEFFICIENTS_OF]) ||
        items(&views[WEIGHTS]) / labels != last - first || items(&views[WEIGHTS]) % labels != 0)
        return refuse(views, COUNT, DISAGREE);
    const struct vectors columns = {(size_t)n, views[VALUES].buf, views[ROWS].buf, views[STARTS].buf};
    const struct vectors places = {(size_t)labels, NULL, views[LABELS].buf, views[LABEL_STARTS].buf};
    const struct coefficients of_documents = {views[COEFFICIENTS_OF].buf, places.columns, places.starts};
    double *sums = malloc((size_t)labels * sizeof *sums);
    if (!sums) {
        release(views, COUNT);
        return PyErr_NoMemory();
    }
    int sound;
    Py_BEGIN_ALLOW_THREADS
    sound = are_sound(&columns, (size_t)first, (size_t)last, items(&views[VALUES])) &&
            are_sound(&places, 0, (size_t)n, items(&views[LABELS]));
    if (sound)
        sum_weights(views[WEIGHTS].buf, sums, (size_t)first, (size_t)last, (size_t)labels, &columns, &of_documents);
    Py_END_ALLOW_THREADS
    free(sums);
    if (!sound) return refuse(views, COUNT, DISAGREE);
    release(views, COUNT);
    Py_RETURN_NONE;
}

#define VECTORS(name) {name " values", "f", 4, 0}, {name " columns", "i", 4, 0}, {name " starts", "q", 8, 0}

/* Sparse vectors from three buffers: values, columns, starts. How many rows they have, -1 where sizes disagree. */
static Py_ssize_t read_vectors(const Py_buffer *views, Py_ssize_t width, struct vectors *v) {
    *v = (struct vectors){(size_t)width, views[0].buf, views[1].buf, views[2].buf};
    if (width < 0 || width > INT32_MAX || items(&views[0]) != items(&views[1])) return -1;
    return items(&views[2]) - 1;
}

static PyObject *py_rank_labels(PyObject *self, PyObject *args) {
    enum { ROWS, WEIGHTS = 3, OFFSETS = 6, LABELS, LABEL_SCORES, COUNT };
    static const struct buffer expected[] = {
        VECTORS("row"), VECTORS("weight"), {"offsets", "f", 4, 0}, {"labels", "i", 4, 1}, {"scores", "f", 4, 1}};
    PyObject *objects[COUNT];
    Py_buffer views[COUNT];
    struct vectors rows, weights;
    Py_ssize_t first, last, k;
    (void)self;
    if (!PyArg_ParseTuple(args, "nnOOOOOOOnOO", &first, &last, &objects[ROWS], &objects[ROWS + 1],
                          &objects[ROWS + 2], &objects[WEIGHTS], &objects[WEIGHTS + 1], &objects[WEIGHTS + 2],
                          &objects[OFFSETS], &k, &objects[LABELS], &objects[LABEL_SCORES]) ||
        acquire(objects, expected, views, COUNT) < 0)
        return NULL;
    const Py_ssize_t width = read_vectors(&views[WEIGHTS], items(&views[OFFSETS]), &weights);
    const Py_ssize_t n = read_vectors(&views[ROWS], width, &rows);
    if (n < 0 || first < 0 || first > last || last > n || k < 1 || k > INT32_MAX ||
        items(&views[LABELS]) != (last - first) * k || items(&views[LABEL_SCORES]) != (last - first) * k)
        return refuse(views, COUNT, DISAGREE);
    enum rank_status status = RANK_UNSOUND;
    Py_BEGIN_ALLOW_THREADS
    if (are_sound(&rows, (size_t)first, (size_t)last, items(&views[ROWS])))
        status = rank_labels(&rows, (size_t)first, (size_t)last, &weights, items(&views[WEIGHTS]),
                             views[OFFSETS].buf, (size_t)k, views[LABELS].buf, views[LABEL_SCORES].buf);
    Py_END_ALLOW_THREADS
    if (status == RANK_UNSOUND) return refuse(views, COUNT, DISAGREE);
    release(views, COUNT);
    if (status == RANK_OUT_OF_MEMORY) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

static PyObject *py_solve_labels(PyObject *self, PyObject *args) {
    enum { ROWS, NORMS = 3, PROTOTYPES, BIASES = 7, DOCUMENTS, LABEL_SIGNS, STARTS, COLUMNS, VALUES, ENDS, COUNT };
    static const struct buffer expected[] = {VECTORS("row"),           {"norms", "f", 4, 0},
                                             VECTORS("prototype"),     {"biases", "f", 4, 1},
                                             {"documents", "i", 4, 0}, {"signs", "b", 1, 0},
                                             {"starts", "q", 8, 0},    {"columns", "i", 4, 1},
                                             {"values", "f", 4, 1},    {"ends", "q", 8, 1}};
    PyObject *objects[COUNT];
    Py_buffer views[COUNT];
    struct vectors rows, prototypes;
    struct label_problem problem = {0};
    Py_ssize_t width, first, last, rounds;
    double least;
    unsigned long long seed;
    (void)self;
    if (!PyArg_ParseTuple(args, "nnnOOOOOOOOOOOddndKOOO", &first, &last, &width, &objects[ROWS], &objects[ROWS + 1],
                          &objects[ROWS + 2], &objects[NORMS], &objects[PROTOTYPES], &objects[PROTOTYPES + 1],
                          &objects[PROTOTYPES + 2], &objects[BIASES], &objects[DOCUMENTS], &objects[LABEL_SIGNS],
                          &objects[STARTS], &problem.C, &problem.tolerance, &rounds, &least, &seed,
                          &objects[COLUMNS], &objects[VALUES], &objects[ENDS]) ||
        !check_numbers(problem.C, problem.tolerance, 1, rounds) || acquire(objects, expected, views, COUNT) < 0)
        return NULL;
    const Py_ssize_t n = read_vectors(&views[ROWS], width, &rows);
    const Py_ssize_t labels = read_vectors(&views[PROTOTYPES], width, &prototypes);
    const struct vectors problems = {(size_t)(n < 0 ? 0 : n), NULL, views[DOCUMENTS].buf, views[STARTS].buf};
    if (n < 0 || labels < 0 || first < 0 || first > last || last > labels || items(&views[NORMS]) != n ||
        items(&views[BIASES]) != labels || items(&views[STARTS]) != labels + 1 ||
        items(&views[LABEL_SIGNS]) != items(&views[DOCUMENTS]) || items(&views[ENDS]) != last - first ||
        items(&views[COLUMNS]) != items(&views[VALUES]))
        return refuse(views, COUNT, DISAGREE);
    int sound;
    Py_BEGIN_ALLOW_THREADS
    sound = are_sound(&rows, 0, (size_t)n, items(&views[ROWS])) &&
            are_sound(&problems, (size_t)first, (size_t)last, items(&views[DOCUMENTS])) &&
            are_sound(&prototypes, (size_t)first, (size_t)last, items(&views[PROTOTYPES]));
    Py_END_ALLOW_THREADS
    if (!sound) return refuse(views, COUNT, DISAGREE);
    int64_t most = 1;
    for (Py_ssize_t label = first; label < last; label++) {
        const int64_t size = problems.starts[label + 1] - problems.starts[label];
        if (size > most) most = size;
    }
    struct label_workspace work = {calloc((size_t)width + 1, sizeof *work.weights),
                                   malloc((size_t)most * sizeof *work.alphas),
                                   malloc((size_t)most * sizeof *work.order)};
    const int has_memory = work.weights && work.alphas && work.order;
    Py_BEGIN_ALLOW_THREADS
    size_t used = 0;
    const size_t room = (size_t)items(&views[COLUMNS]);
    problem.rounds = (size_t)rounds;
    for (Py_ssize_t label = first; has_memory && label < last; label++) {
        const struct row prototype = row_of(&prototypes, (size_t)label);
        float *bias = (float *)views[BIASES].buf + label;
        problem.count = (size_t)(problems.starts[label + 1] - problems.starts[label]);
        problem.documents = problems.columns + problems.starts[label];
        problem.signs = (const int8_t *)views[LABEL_SIGNS].buf + problems.starts[label];
        problem.prototype = prototype;
        problem.prototype_bias = *bias;
        problem.seed = seed + (uint64_t)label * 0x9E3779B97F4A7C15ULL;
        used += solve_label(&rows, views[NORMS].buf, &problem, (float)least, &work, room - used,
                            (int32_t *)views[COLUMNS].buf + used, (float *)views[VALUES].buf + used, bias);
        ((int64_t *)views[ENDS].buf)[label - first] = (int64_t)used;
    }
    Py_END_ALLOW_THREADS
    free(work.weights);
    free(work.alphas);
    free(work.order);
    release(views, COUNT);
    if (!has_memory) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

static PyObject *py_add_trees(PyObject *self, PyObject *args) {
    enum { ROWS, FEATURES, THRESHOLDS, LEFT, RIGHT, VALUES, ROOTS, SUMS, COUNT };
    static const struct buffer expected[] = {{"rows", "f", 4, 0},       {"features", "i", 4, 0},
                                             {"thresholds", "d", 8, 0}, {"left", "i", 4, 0},
                                             {"right", "i", 4, 0},      {"values", "d", 8, 0},
                                             {"roots", "i", 4, 0},      {"sums", "d", 8, 1}};
    PyObject *objects[COUNT];
    Py_buffer views[COUNT];
    Py_ssize_t width;
    (void)self;
    if (!PyArg_ParseTuple(args, "OnOOOOOOO", &objects[ROWS], &width, &objects[FEATURES], &objects[THRESHOLDS],
                          &objects[LEFT], &objects[RIGHT], &objects[VALUES], &objects[ROOTS], &objects[SUMS]) ||
        acquire(objects, expected, views, COUNT) < 0)
        return NULL;
    const Py_ssize_t nodes = items(&views[FEATURES]), n = items(&views[SUMS]);
    const struct trees trees = {(size_t)nodes,       (size_t)items(&views[ROOTS]), (size_t)width,
                                views[FEATURES].buf, views[LEFT].buf,              views[RIGHT].buf,
                                views[ROOTS].buf,    views[THRESHOLDS].buf,        views[VALUES].buf};
    if (width < 1 || items(&views[ROWS]) / width != n || items(&views[ROWS]) % width != 0 ||
        items(&views[THRESHOLDS]) != nodes || items(&views[LEFT]) != nodes || items(&views[RIGHT]) != nodes ||
        items(&views[VALUES]) != nodes || !are_sound_trees(&trees))
        return refuse(views, COUNT, DISAGREE);
    Py_BEGIN_ALLOW_THREADS
    add_trees(&trees, views[ROWS].buf, (size_t)n, views[SUMS].buf);
    Py_END_ALLOW_THREADS
    release(views, COUNT);
    Py_RETURN_NONE;
}

static PyObject *py_sigmoid(PyObject *self, PyObject *values) {
    static const struct buffer expected = {"values", "d", 8, 1};
    Py_buffer view;
    (void)self;
    if (acquire(&values, &expected, &view, 1) < 0) return NULL;
    Py_BEGIN_ALLOW_THREADS
    loops()->sigmoid(view.buf, (size_t)items(&view));
    Py_END_ALLOW_THREADS
    release(&view, 1);
    Py_RETURN_NONE;
}

static PyObject *py_instructions(PyObject *self, PyObject *args) {
    const char *name = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "|s", &name)) return NULL;
    if (name && !use_loops(name)) {
        PyErr_Format(PyExc_ValueError, "no instructions called %s on this processor", name);
        return NULL;
    }
    return PyUnicode_FromString(loops()->name);
}

static PyMethodDef METHODS[] = {
    {"solve_gram", py_solve_gram, METH_VARARGS,
     "solve_gram(gram, signs, active, stop, coefficients, scores, bias, C, tolerance, fold_tolerance,\n"
     "           max_steps)\n--\n\n"
     "Solve one label's problems in place, one for each row of active; return the worst status.\n"
     "Status 0 is done, 2 stopped, 3 out of steps, 4 values that are not finite."},
    {"solve_vectors", py_solve_vectors, METH_VARARGS,
     "solve_vectors(values, columns, starts, width, signs, active, stop, coefficients, scores, bias, C,\n"
     "              tolerance, fold_tolerance, max_steps)\n--\n\n"
     "Solve one label's problems as solve_gram does, over vectors whose dot products are the kernel;\n"
     "columns and starts are None where the vectors are dense."},
    {"rbf", py_rbf, METH_VARARGS,
     "rbf(dots, row_norms, column_norms, gamma)\n--\n\n"
     "Turn dot products into exp(-gamma (row norm + column norm - 2 dot)), in place; norms are squared."},
    {"add_dots", py_add_dots, METH_VARARGS,
     "add_dots(dots, first, last, values, columns, starts, column_values, rows, column_starts)\n--\n\n"
     "Add to the rows first to last of a Gram matrix, which begin at the diagonal's column first, the dot\n"
     "products of sparse vectors, from the diagonal on; they are given by rows and, sorted, by columns."},
    {"mirror", py_mirror, METH_VARARGS,
     "mirror(gram, first, last)\n--\n\n"
     "Copy the rows first to last of a square matrix, right of the diagonal, to the columns below it."},
    {"sum_rows", py_sum_rows, METH_VARARGS,
     "sum_rows(sums, rows, weights, places, starts)\n--\n\n"
     "Fill the sums of each label: its weights times the rows, of 32 values, at their places."},
    {"sum_weights", py_sum_weights, METH_VARARGS,
     "sum_weights(weights, first, last, labels, values, rows, starts, coefficients, coefficient_labels,\n"
     "            coefficient_starts)\n--\n\n"
     "Fill the weights of linear classifiers for the columns first to last of sparse vectors, given by columns,\n"
     "from the coefficients of the vectors, given by rows."},
    {"rank_labels", py_rank_labels, METH_VARARGS,
     "rank_labels(first, last, row_values, row_columns, row_starts, weight_values, weight_labels, weight_starts,\n"
     "            offsets, k, labels, scores)\n--\n\n"
     "Fill the k labels of the highest scores of the rows first to last of sparse vectors, and these scores, the\n"
     "highest first; weights are given by the columns of the vectors."},
    {"solve_labels", py_solve_labels, METH_VARARGS,
     "solve_labels(first, last, width, row_values, row_columns, row_starts, norms, prototype_values,\n"
     "             prototype_columns, prototype_starts, biases, documents, signs, starts, C, tolerance, rounds,\n"
     "             least, seed, columns, values, ends)\n--\n\n"
     "Solve the problems of the labels first to last, each over documents of its own and from a prototype on;\n"
     "fill the weights of all, one label behind the other, and where each ends. Rows must be sound."},
    {"add_trees", py_add_trees, METH_VARARGS,
     "add_trees(rows, width, features, thresholds, left, right, values, roots, sums)\n--\n\n"
     "Add to the sum of each row, of so many features, the values of the leaves that trees send it to."},
    {"sigmoid", py_sigmoid, METH_O,
     "sigmoid(values)\n--\n\n"
     "Turn values into 1 / (1 + exp(-value)), in place."},
    {"instructions", py_instructions, METH_VARARGS,
     "instructions(name=None)\n--\n\n"
     "The instruction set in use: base (SSE2 or NEON), avx2 or avx512; a name chooses another, for tests."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "_native", "The compiled solver.", 0, METHODS, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void) {
    use_loops(NULL);
    return PyModule_Create(&MODULE);
}
