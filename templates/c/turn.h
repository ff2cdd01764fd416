#ifndef RAVEL_PLAIN
/* Transposes blocks of ${each} rows in each lane: log2(${each}) rounds of interleaving. */
RAVEL_INLINE void
ravel_turn${size}(RAVEL_ALL(${size}) *v)
{
    RAVEL_ALL(${size}) w[${each}];
    RAVEL_UNROLL for (int round = 1; round < ${each}; round *= 2) {
        RAVEL_UNROLL for (int i = 0; i < ${each} / 2; i++) {
            w[2 * i] = RAVEL_ALL_LOW(${size}, ${each}, v[i], v[i + ${each} / 2]);
            w[2 * i + 1] = RAVEL_ALL_HIGH(${size}, ${each}, v[i], v[i + ${each} / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < ${each}; i++)
            v[i] = w[i];
    }
}

RAVEL_INLINE void
ravel_turn_two${size}(RAVEL_TWO(${size}) *v)
{
    RAVEL_TWO(${size}) w[${each}];
    RAVEL_UNROLL for (int round = 1; round < ${each}; round *= 2) {
        RAVEL_UNROLL for (int i = 0; i < ${each} / 2; i++) {
            w[2 * i] = RAVEL_TWO_LOW(${size}, ${each}, v[i], v[i + ${each} / 2]);
            w[2 * i + 1] = RAVEL_TWO_HIGH(${size}, ${each}, v[i], v[i + ${each} / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < ${each}; i++)
            v[i] = w[i];
    }
}
#endif
