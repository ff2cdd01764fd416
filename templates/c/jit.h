typedef long long int64_t;
typedef unsigned long long uint64_t;
