#define RAVEL_RESTRICT restrict
typedef int int32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef unsigned long long uintptr_t;
int64_t ravel_min(int64_t, int64_t);
int64_t ravel_max(int64_t, int64_t);
int64_t ravel_times(int64_t, int64_t);
int64_t ravel_round(int64_t, int64_t);
void ravel_fence(void);
void ravel_table_add(int32_t *, const int32_t *, const int32_t *, int64_t, int64_t);
