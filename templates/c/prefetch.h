#ifdef __GNUC__
#define RAVEL_PREFETCH(p) __builtin_prefetch(p)
#else
#define RAVEL_PREFETCH(p) (void)(p)
#endif

/* Fetches a line that will be written.  Stores that miss the first cache wait for one another,
 * and no hardware prefetcher follows them from row to row. */
#ifdef __GNUC__
#define RAVEL_PREFETCH_STORE(p) __builtin_prefetch(p, 1)
#else
#define RAVEL_PREFETCH_STORE(p) (void)(p)
#endif
