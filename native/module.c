/* The Python door of the solver: buffers in, the GIL released, buffers out. Stable ABI of 3.11. */

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>
#include <math.h>
#include <string.h>

#include "solver.h"

struct buffer {
    const char *name;
    const char *format; /* of an item, in the letters of Python's struct */
    int writable;
};

static const struct buffer BUFFERS[] = {
    {"gram", "f", 0}, {"signs", "b", 0},        {"active", "B", 0},
    {"stop", "B", 0}, {"coefficients", "d", 1}, {"scores", "f", 1},
};
enum { GRAM, SIGNS, ACTIVE, STOP, COEFFICIENTS, SCORES, COUNT };

static void release(Py_buffer *views, int count) {
    for (int k = 0; k < count; k++) PyBuffer_Release(&views[k]);
}

/* Takes all buffers or none; sizes are checked here once, so that the solver need not. */
static int acquire(PyObject **objects, Py_buffer *views) {
    int k = 0;
    for (; k < COUNT; k++) {
        int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (BUFFERS[k].writable ? PyBUF_WRITABLE : 0);
        if (PyObject_GetBuffer(objects[k], &views[k], flags) < 0) break;
        if (!views[k].format || strcmp(views[k].format, BUFFERS[k].format) != 0) {
            PyErr_Format(PyExc_TypeError, "%s must have items of format %s", BUFFERS[k].name,
                         BUFFERS[k].format);
            k++;
            break;
        }
    }
    if (!PyErr_Occurred()) {
        Py_ssize_t n = views[SIGNS].len;
        if (n < 1 || n > INT_MAX || views[ACTIVE].len != n || views[STOP].len < 1 ||
            views[COEFFICIENTS].len != n * (Py_ssize_t)sizeof(double) ||
            views[SCORES].len != n * (Py_ssize_t)sizeof(float) ||
            views[GRAM].len / (Py_ssize_t)sizeof(float) / n != n ||
            views[GRAM].len % (n * (Py_ssize_t)sizeof(float)) != 0)
            PyErr_SetString(PyExc_ValueError, "the sizes of the arrays do not agree");
    }
    if (PyErr_Occurred()) {
        release(views, k);
        return -1;
    }
    return 0;
}

static PyObject *py_solve(PyObject *self, PyObject *args) {
    PyObject *objects[COUNT];
    Py_buffer views[COUNT];
    struct problem problem;
    double C, tolerance, bias = 0;
    Py_ssize_t max_iterations;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOOOOOddn", &objects[GRAM], &objects[SIGNS], &objects[ACTIVE], &objects[STOP],
                          &objects[COEFFICIENTS], &objects[SCORES], &C, &tolerance, &max_iterations))
        return NULL;
    if (!(C > 0) || isinf(C) || !(tolerance > 0) || max_iterations < 0) {
        PyErr_SetString(PyExc_ValueError, "C must be positive and finite, tolerance positive, max_iterations not negative");
        return NULL;
    }
    if (acquire(objects, views) < 0) return NULL;
    problem.n = (size_t)views[SIGNS].len;
    problem.gram = views[GRAM].buf;
    problem.signs = views[SIGNS].buf;
    problem.active = views[ACTIVE].buf;
    problem.stop = views[STOP].buf;
    problem.C = C;
    problem.tolerance = tolerance;
    problem.max_iterations = (size_t)max_iterations;
    enum solver_status status;
    Py_BEGIN_ALLOW_THREADS
    status = solve(&problem, views[COEFFICIENTS].buf, views[SCORES].buf, &bias);
    Py_END_ALLOW_THREADS
    release(views, COUNT);
    if (status == SOLVER_OUT_OF_MEMORY) return PyErr_NoMemory();
    return Py_BuildValue("(id)", (int)status, bias);
}

static PyMethodDef METHODS[] = {
    {"solve", py_solve, METH_VARARGS,
     "solve(gram, signs, active, stop, coefficients, scores, C, tolerance, max_iterations)\n--\n\n"
     "Solve one problem in place; return (status, bias). Status 0 is done, 2 stopped, 3 out of steps."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "_native", "The compiled solver.", 0, METHODS, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModule_Create(&MODULE); }
