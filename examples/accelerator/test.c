/* Each address by the sentences of the data sheet (README.md), without ravel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

enum { N = 2, C = 40, H = 3, W = 10, OUTPUTS = 24, INPUTS = 40, WINDOW = 3 };

/* "Channels are stored in groups of 32.  In a group, pixels follow in strips of 8 columns
 * from top to bottom; a strip's row of pixels has the 32 channels of each pixel together.
 * A group begins at a multiple of 4096 bytes." */
static int
at_map(int n, int c, int h, int w)
{
    int groups = (C + 31) / 32, strip = H * 8 * 32;
    return (n * groups + c / 32) * 4096 + w / 8 * strip + h * 8 * 32 + w % 8 * 32 + c % 32;
}

/* "Weights are stored in tiles of 16 outputs by 32 inputs, for each position of the window
 * in turn; in a tile four inputs of an output are together." */
static int
at_weights(int o, int i, int y, int x)
{
    int across = (INPUTS + 31) / 32, tile = ((o / 16 * across + i / 32) * WINDOW + y) * WINDOW + x;
    return tile * 16 * 32 + i % 32 / 4 * 16 * 4 + o % 16 * 4 + i % 4;
}

static int
wrong_map(const unsigned char *map, const unsigned char *image)
{
    int wrong = 0;
    for (int n = 0; n < N; n++)
        for (int c = 0; c < (C + 31) / 32 * 32; c++)
            for (int h = 0; h < H; h++)
                for (int w = 0; w < (W + 7) / 8 * 8; w++) {
                    int zero = c >= C || w >= W;
                    int want = zero ? 0 : image[((n * C + c) * H + h) * W + w];
                    wrong += map[at_map(n, c, h, w)] != want;
                }
    return wrong;
}

static int
wrong_weights(const unsigned char *tiles, const unsigned char *plain)
{
    int wrong = 0;
    for (int o = 0; o < OUTPUTS; o++)
        for (int i = 0; i < INPUTS; i++)
            for (int y = 0; y < WINDOW; y++)
                for (int x = 0; x < WINDOW; x++)
                    wrong += tiles[at_weights(o, i, y, x)] !=
                             plain[((o * INPUTS + i) * WINDOW + y) * WINDOW + x];
    return wrong;
}

int
main(void)
{
    static unsigned char image[N * C * H * W], back[sizeof image];
    static unsigned char plain[OUTPUTS * INPUTS * WINDOW * WINDOW], tiles[2 * 2 * 9 * 512];
    int64_t image_bytes, map_bytes;
    for (size_t i = 0; i < sizeof image; i++)
        image[i] = (unsigned char)(i * 7 + i / 251 + 1);
    for (size_t i = 0; i < sizeof plain; i++)
        plain[i] = (unsigned char)(i * 5 + i / 253 + 1);
    if (to_tern_bytes(N, C, H, W, &image_bytes, &map_bytes) || image_bytes != sizeof image)
        return 1;
    unsigned char *map = calloc(1, (size_t)map_bytes);
    if (!map || to_tern(map, image, N, C, H, W) || from_tern(back, map, N, C, H, W))
        return 1;
    weights(tiles, plain);
    int wrong = wrong_map(map, image) + wrong_weights(tiles, plain);
    int same = !memcmp(back, image, sizeof image);
    printf("TERN: %lld bytes of a map, %d wrong; back: %s\n", (long long)map_bytes, wrong,
           same ? "the same" : "not the same");
    free(map);
    return wrong || !same;
}
