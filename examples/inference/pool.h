/* pool.h: the threads of the runtime. */
#ifndef POOL_H
#define POOL_H

typedef struct Pool Pool;
typedef void Task(void *arg, int part, int parts);

Pool *pool_new(int threads);                  /* NULL: out of memory */
void pool_free(Pool *p);
/* Call task(arg, i, parts) once for each 0 <= i < parts; return when all have returned. */
void pool_for(void *pool, Task *task, void *arg, int parts);
int pool_calls(const Pool *p);                /* of pool_for so far */

#endif
