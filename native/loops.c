#include "loops.h"

#include <math.h>
#include <string.h>

/* Where the compiler has vector types, a `floats` is WIDTH of them; elsewhere it is one float. */
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(function) JOIN(function, TARGET)

#if !defined(__GNUC__)
#define TARGET plain
#define WIDTH 1
#define LOOP static
#include "loops_body.h"
#else

#define TARGET base
#define WIDTH 4
#define LOOP static
#include "loops_body.h"

#if defined(__x86_64__)
#define TARGET avx2
#define WIDTH 8
#define LOOP static __attribute__((target("avx2,fma")))
#include "loops_body.h"

#define TARGET avx512
#define WIDTH 16
#define LOOP static __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma")))
#include "loops_body.h"
#endif
#endif

const struct loops *loops(void) {
#if !defined(__GNUC__)
    return &loops_plain;
#else
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        return &loops_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &loops_avx2;
#endif
    return &loops_base;
#endif
}
