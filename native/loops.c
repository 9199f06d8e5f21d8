#include "loops.h"
#include "rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where the compiler has vector types, a `floats` is WIDTH of them; elsewhere, and where a test asks for it
 * with FUNNELLING_PLAIN, it is one float. clang-cl has vector types but does not define __GNUC__. */
#if (defined(__GNUC__) || defined(__clang__)) && !defined(FUNNELLING_PLAIN)
#define HAS_VECTORS 1
#else
#define HAS_VECTORS 0
#endif

/* gcc for Windows does not align vectors of more than 16 bytes on the stack (its bug 54412). */
#if HAS_VECTORS && defined(__x86_64__) && (defined(__clang__) || !defined(_WIN32))
#define HAS_WIDE_VECTORS 1
#include <cpuid.h>
#include <immintrin.h>
#if defined(_MSC_VER) /* for which clang's immintrin.h leaves these out unless the whole file may use AVX */
#include <smmintrin.h>
#include <avxintrin.h>
#include <avx2intrin.h>
#include <avx512fintrin.h>
#endif

#define AVX2 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma")))

/* The first lane that holds the largest value. */
AVX2 static inline int first_largest_avx2(__m256 v) {
    __m256 most = _mm256_max_ps(v, _mm256_permute2f128_ps(v, v, 1));
    most = _mm256_max_ps(most, _mm256_permute_ps(most, _MM_SHUFFLE(1, 0, 3, 2)));
    most = _mm256_max_ps(most, _mm256_permute_ps(most, _MM_SHUFFLE(2, 3, 0, 1)));
    return __builtin_ctz((unsigned)_mm256_movemask_ps(_mm256_cmp_ps(v, most, _CMP_EQ_OQ)));
}

AVX512 static inline int first_largest_avx512(__m512 v) {
    return __builtin_ctz(_mm512_cmpeq_ps_mask(v, _mm512_set1_ps(_mm512_reduce_max_ps(v))));
}
#else
#define HAS_WIDE_VECTORS 0
#endif

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(function) JOIN(function, TARGET)

#if !HAS_VECTORS
#define TARGET plain
#define WIDTH 1
#define LOOP static
#define UNFUSED LOOP
#include "loops_body.h"
#else

#define TARGET base
#define WIDTH 4
#define LOOP static
#define UNFUSED LOOP
#include "loops_body.h"

#if HAS_WIDE_VECTORS
#define TARGET avx2
#define WIDTH 8
#define FIRST_LARGEST(v) first_largest_avx2((__m256)(v))
#define ANY_LANE(mask) (!_mm256_testz_si256((__m256i)(mask), (__m256i)(mask)))
#define WIDEN(at) ((doubles)_mm256_cvtps_pd(_mm_loadu_ps(at)))
#define PERMUTE(v, order) ((floats)_mm256_permutevar8x32_ps((__m256)(v), (__m256i)(order)))
#define LOOP static AVX2
#define UNFUSED static __attribute__((target("avx2"))) /* without FMA: products are rounded before they are added */
#include "loops_body.h"

#define TARGET avx512
#define WIDTH 16
#define FIRST_LARGEST(v) first_largest_avx512((__m512)(v))
#define WIDEN(at) ((doubles)_mm512_cvtps_pd(_mm256_loadu_ps(at)))
#define PERMUTE(v, order) ((floats)_mm512_permutexvar_ps((__m512i)(order), (__m512)(v)))
#define LOOP static AVX512
#include "loops_body.h"
#endif
#endif

/* From the widest to the one that always runs. */
static const struct loops *const ALL[] = {
#if !HAS_VECTORS
    &loops_plain,
#else
#if HAS_WIDE_VECTORS
    &loops_avx512,
    &loops_avx2,
#endif
    &loops_base,
#endif
};

#if HAS_WIDE_VECTORS
/* Bits of XCR0: registers that the system saves. macOS sets those of AVX-512 only once they are in use. */
#if defined(__APPLE__)
enum { YMM = 0x6, ZMM = YMM };
#else
enum { YMM = 0x6, ZMM = 0xe6 };
#endif

/* Whether the processor has FMA and these features of CPUID leaf 7, and the system saves these registers.
 * __builtin_cpu_supports needs a library that clang-cl does not link. */
static int supports(unsigned features, unsigned registers) {
    const unsigned basic = bit_FMA | bit_AVX | bit_OSXSAVE;
    unsigned a, b, c, d, saved, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & basic) != basic) return 0;
    __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    if ((saved & registers) != registers) return 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & features) == features;
}
#endif

static int runs(const struct loops *loops) {
#if HAS_WIDE_VECTORS
    if (loops == &loops_avx512)
        return supports(bit_AVX2 | bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL, ZMM);
    if (loops == &loops_avx2) return supports(bit_AVX2, YMM);
#endif
    (void)loops;
    return 1;
}

static const struct loops *in_use;

const struct loops *loops(void) { return in_use; }

int use_loops(const char *name) {
    for (size_t k = 0; k < sizeof ALL / sizeof *ALL; k++) {
        if (runs(ALL[k]) && (!name || strcmp(name, ALL[k]->name) == 0)) {
            in_use = ALL[k];
            return 1;
        }
    }
    return 0;
}
