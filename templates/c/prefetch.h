/* RAVEL_PREFETCH_STORE: of a line that will be written.  Stores that miss the first cache wait
 * for one another, and no hardware prefetcher follows them from row to row. */
#ifdef __GNUC__
#define RAVEL_PREFETCH(p) __builtin_prefetch(p)
#define RAVEL_PREFETCH_STORE(p) __builtin_prefetch(p, 1)
#else
#define RAVEL_PREFETCH(p) (void)(p)
#define RAVEL_PREFETCH_STORE(p) (void)(p)
#endif
