/* The colours of pictures.  tests/test_pictures.py measures that black text has a contrast
 * of 7 : 1 on each, and that all hues differ for colour-blind readers. */
#include "picture.h"

static const char *const colors[COLORS + RAMP] = {
    "#ebcf47", "#7e92f1", "#eb7e47", "#7ef1f1", "#a88ec2", "#e5f49a", "#d48b7d", "#b6f7cb",
    "#fff3b8", "#f9f2b6", "#f4f0b5", "#eeefb3", "#e8eeb1", "#e2edaf", "#ddebae", "#d7eaac",
    "#d1e9aa", "#cce8a8", "#c6e6a7", "#bfe4a7", "#b7e2a9", "#afdfab", "#a8dcac", "#a0daae",
    "#98d7b0", "#90d5b2", "#89d2b3", "#81cfb5", "#79cdb7", "#74cab9", "#73c6bd", "#73c2c1",
    "#72bfc5", "#72bbc9", "#71b7cd", "#71b4d1", "#70b0d4", "#70acd8", "#6fa9dc", "#6fa5e0",
};

const char *
picture_color(int i)
{
    return colors[i];
}
