/* Instructions that gather take less time than a load for each element on Intel's processors with
 * AVX512_FP16 (Sapphire Rapids) and later ones; microcode of 2023 makes them slow on those before. */
#if defined(__AVX512FP16__) && !defined(RAVEL_GATHER)
#define RAVEL_GATHER
#endif
