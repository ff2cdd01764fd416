/* The options: one table, with where the values of each go. */
#include <argp.h>
#include <string.h>

#include "cli.h"

/* All options.  A command names its options by their letters.  An option that means
 * different things in two commands has a line for each: two letters, one key. */
static const struct {
    char letter;
    bool flag;
    struct argp_option option;
    size_t at;            /* of the const char * or bool in Options */
} table[] = {
    {'s', false, {"shape", 's', "S", 0, "the logical extents, as in 2,64,56,56; not "
     "needed if a layout has them, as in 'NCHW(2,64,56,56)[:, 1:3]'", 0},
     offsetof(Options, shape)},
    {'5', false, {"shape", 's', "S", 0, "the logical extents, as in 2,64,56,56; a name, as in "
     "N,64,56,56, is an extent that is known only at run time; not needed if a layout has "
     "them, as in 'NCHW(2,64,56,56)[:, 1:3]'", 0}, offsetof(Options, shape)},
    {'t', false, {"dtype", 'd', "T", 0, "the element type: f32 f16 bf16 f64 i8 u8 i16 "
     "... i4 u4 u2 u1 c64 c128", 0}, offsetof(Options, dtype)},
    {'0', false, {"dtype", 'd', "T", 0, "the element type: f32 f16 bf16 f64 i8 u8 i16 "
     "... i4 u4 u2 u1 c64 c128; pattern: a sparse format without values", 0},
     offsetof(Options, dtype)},
    {'a', false, {"at", 'a', "I", 0, "the coordinates, as in 1,17,4,6; with "
     "--inverse an address", 0}, offsetof(Options, at)},
    {'1', false, {"at", 'a', "I", 0, "coordinates, as in N=1,H=8: of a dim of --plane "
     "the first row or column to show; of another dim the coordinate of the plane "
     "(default 0)", 0}, offsetof(Options, at)},
    {'2', false, {"at", 'a', "S", 0, "the extents to measure at, as in 8,64,56,56; needed if "
     "--shape has names", 0}, offsetof(Options, at)},
    {'i', true, {"inverse", 'i', 0, 0, "print the coordinates of the element at the address "
     "--at", 0},
     offsetof(Options, inverse)},
    {'F', false, {"from", 'F', "LAYOUT", 0, "the layout of the source", 0},
     offsetof(Options, from)},
    {'T', false, {"to", 'T', "LAYOUT", 0, "the layout of the destination", 0},
     offsetof(Options, to)},
    {'$', false, {"from", 'F', "LAYOUT", 0, "the sparse format of FILE, if that does not say it", 0},
     offsetof(Options, from)},
    {'%', false, {"to", 'T', "LAYOUT", 0, "show the matrix of FILE in this sparse format", 0},
     offsetof(Options, to)},
    {'V', false, {"via", 'V', "LAYOUT", 0, "convert to this layout and from it, or from a part "
     "of it as in 'NHWC[:, 1:3]', in one step", 0}, offsetof(Options, via)},
    {'Z', false, {"index", 'Z', "A=FILE,...", 0, "the .npy file of each index array of the "
     "layouts: idx=idx.npy for 'ROW_MAJOR[:, idx]' (repeatable)", 0}, offsetof(Options, index)},
    {'Q', false, {"concat", 'Q', "DIM=FILE,...", 0, "append the tensors of these files to that of IN "
     "along the dim DIM, as in R=b.npz,c.npz; for sparse formats (repeatable)", 0}, offsetof(Options, concat)},
    {'k', false, {"kind", 'k', "K", 0, "what to write: relayout (default; a conversion), "
     "offset, inverse, visit, load or store", 0},
     offsetof(Options, kind)},
    {'9', false, {"kind", 'k', "K", 0, "what to explain: relayout, a conversion (default); "
     "with --statements also what emit --kind takes", 0}, offsetof(Options, kind)},
    {'G', false, {"target", 'G', "L", 0, "the target language: c (default), cuda, hip, "
     "opencl, glsl; blocks: a GPU kernel in plain C; bursts: an example of a machine that "
     "moves tiles by bursts; mine.lua: your own table", 0}, offsetof(Options, target)},
    {'M', false, {"manifest", 'M', "FILE", 0,
     "write a JSON file: how to launch the kernel, and the cost of its accesses", 0},
     offsetof(Options, manifest)},
    {'n', false, {"name", 'n', "F", 0, "the name of the function (default: that of the "
     "layouts, as in nchw_to_nhwc)", 0},
     offsetof(Options, name)},
    {'o', false, {"output", 'o', "FILE", 0, "the output file", 0},
     offsetof(Options, output)},
    {'l', false, {"list", 'l', "FILE", 0, "write all conversions of this file as one unit; "
     "each line has --from, --to, --shape, --dtype and, optionally, --name", 0},
     offsetof(Options, list)},
    {'H', false, {"header", 'H', "FILE", 0, "write a header that declares the functions", 0},
     offsetof(Options, header)},
    {'D', false, {"depfile", 'D', "FILE", 0, "write a Make rule: the files that the output "
     "depends on", 0}, offsetof(Options, depfile)},
    {'x', false, {"tensor", 't', "TENSOR", 0, "the array to read from a file with several "
     "(.npz, safetensors, GGUF), or a pattern for the names of several, as in '*.bias'", 0},
     offsetof(Options, tensor)},
    {'p', false, {"offset", 'p', "BYTES", 0, "the offset in a raw IN at which the tensor begins "
     "(default 0)", 0},
     offsetof(Options, offset)},
    {'X', false, {"mem", 'X', "SIZE", 0, "memory for the result and the source, as in 512M "
     "or 2G (default: half of what is free); a larger tensor is converted in blocks", 0},
     offsetof(Options, mem)},
    {'C', false, {"check", 'c', "COMPILER", 0,
     "compile the output with this command, as in 'clang -O2', and prove the object; "
     "if it is wrong, nothing is written", 0},
     offsetof(Options, check)},
    {'O', false, {"object", 'O', "FILE.so", 0, "prove a function of this shared object "
     "instead of ravel's code", 0}, offsetof(Options, object)},
    {'A', false, {"align", 'A', "N", 0, "alignment of the buffers of a GPU kernel, in bytes "
     "(default 16)", 0}, offsetof(Options, align)},
    {'7', false, {"align", 'A', "N", 0, "alignment of the buffers of --object, in bytes "
     "(default 1)", 0}, offsetof(Options, align)},
    {'Y', true, {"batch", 'Y', 0, 0, "write a GPU kernel that takes up to 128 pairs of buffers", 0},
     offsetof(Options, batch)},
    {'L', false, {"limit", 'L', "N", 0, "limit of the work of deciding and planning, in units "
     "of 100 million steps (about a second each; default 2)", 0}, offsetof(Options, limit)},
    {'4', false, {"limit", 'L', "N", 0, "limit of the work of deciding and planning, in units "
     "of 100 million steps (about a second each; default 2), and of the processor time of a proof, in seconds "
     "(default 60, more for large shapes)", 0}, offsetof(Options, limit)},
    {'R', false, {"rounds", 'R', "N", 0, "rounds of measurement (default 9)", 0},
     offsetof(Options, rounds)},
    {'N', false, {"threads", 'N', "N", 0, "number of threads (default: all processors)", 0},
     offsetof(Options, threads)},
    {'6', false, {"threads", 'N', "N", 0, "number of threads (default: 1)", 0},
     offsetof(Options, threads)},
    {'h', false, {"threshold", 'h', "X", 0, "if --to is sparse: values whose magnitude is above X "
     "are entries (default: values that are not the fill)", 0},
     offsetof(Options, threshold)},
    {'u', false, {"mask", 'u', "FILE", 0, "if --to is sparse: values at which the array of this "
     ".npy file, of u1 or b1, is not 0 are entries", 0}, offsetof(Options, mask)},
    {'U', true, {"mask", 'U', 0, 0, "if --to is sparse: the function takes an array mask "
     "of u8; values at which it is not 0 are entries", 0}, offsetof(Options, masked)},
    {'z', false, {"index-type", 'z', "T[,T]", 0, "the type of a sparse format's indices, i32 "
     "(default) or i64: of both sides, or of the source and of the destination", 0},
     offsetof(Options, index_type)},
    {'r', false, {"duplicates", 'r', "HOW", 0, "if --from is sparse: how to combine entries with equal coordinates: "
     "sum (default), first, last, or error", 0}, offsetof(Options, duplicates)},
    {'W', false, {"wisdom", 'W', "FILE", 0,
     "the file with the results of tune (default: that of RAVEL_WISDOM)", 0},
     offsetof(Options, wisdom)},
    {'P', false, {"processor", 'P', "CPU", 0, "choose kernels by the cost model of this "
     "processor: default (no particular one), zen3, zen4, emerald-rapids, or here, the "
     "processor of this machine; affects speed only", 0},
     offsetof(Options, processor)},
    {'S', false, {"seconds", 'S', "N", 0, "seconds of measurement, in addition to the "
     "proofs (default 2)", 0},
     offsetof(Options, seconds)},
    {'g', false, {"svg", 'g', "FILE", 0,
     "write a drawing of the layout to this SVG file", 0},
     offsetof(Options, svg)},
    {'w', false, {"html", 'w', "FILE", 0, "write a page that runs in a browser, with "
     "sliders for shape and parameters", 0}, offsetof(Options, html)},
    {'8', false, {"html", 'w', "FILE", 0, "write a page that runs in a browser: layouts, "
     "boxes, kernels", 0}, offsetof(Options, html)},
    {'B', false, {"by", 'B', "WHAT", 0, "what each cell shows, in its own colour: address "
     "(default), bank, line, tile, lane, register, or an expression such as K//8%8", 0},
     offsetof(Options, by)},
    {'q', false, {"plane", 'q', "H,W", 0, "the dims shown as rows and as columns (default: "
     "the two that are split into the most entries of the order)", 0}, offsetof(Options, plane)},
    {'I', false, {"beside", 'I', "LAYOUT", 0, "draw this layout too, for comparison", 0},
     offsetof(Options, beside)},
    {'e', false, {"equals", 'e', "LAYOUT", 0, "decide whether every element has the same address in "
     "this layout", 0},
     offsetof(Options, equals)},
    {'K', false, {"compatible", 'K', "LAYOUT", 0, "decide whether a conversion to this layout copies nothing; "
     "if not, print what a copy moves", 0}, offsetof(Options, compatible)},
    {'b', false, {"banks", 'b', "ACCESS,...", 0,
     "find bank conflicts of the layout as a tile in the shared memory of a GPU: K:16 for "
     "accesses of 16 bytes by neighbouring lanes along the dim K, MMA_A for the registers of "
     "a fragment, MMA_A:ldmatrix, K:ldmatrix", 0},
     offsetof(Options, banks)},
    {'y', true, {"in-place", 'y', 0, 0, "convert a buffer within itself: it holds the source "
     "before and the destination after; not all pairs of layouts permit this", 0}, offsetof(Options, in_place)},
    {'v', true, {"verify", 'v', 0, 0,
     "check every byte of the result and prove the code; not for sparse formats", 0},
     offsetof(Options, verify)},
    {'j', true, {"json", 'j', 0, 0, "write JSON", 0}, offsetof(Options, json)},
    {'3', true, {"json", 'j', 0, 0, "write JSON; of layouts only with a --target other than c", 0},
     offsetof(Options, json)},
    {'E', true, {"measure", 'E', 0, 0, "with --html: prove the conversion, measure it, and "
     "show its time", 0}, offsetof(Options, measure)},
    {'m', true, {"statements", 'm', 0, 0, "print the statements of the code instead of "
     "the plan (docs/ir)", 0}, offsetof(Options, statements)},
    {'f', false, {"spec", 'f', "FILE", 0, "load a spec file first (repeatable)", 0},
     0},
};

static int
find_option(int letter)
{
    for (int i = 0; i < LEN(table); i++)
        if (table[i].option.key == letter)
            return i;
    return -1;
}

bool
cli_option_set(Cli *c, int key, char *value)
{
    const int i = find_option(key);
    if (i < 0)
        return false;
    const char **text = (const char **)((char *)&c->o + table[i].at);
    if (table[i].flag)
        *(bool *)((char *)&c->o + table[i].at) = true;
    else if ((key == 'Z' || key == 'Q') && *text)
        *text = arena_printf(c->arena, "%s,%s", *text, value);
    else
        *text = value;
    return true;
}

const struct argp_option *
cli_option_missing(const Command *cmd, const Options *given)
{
    for (const char *o = cmd->options; *o; o++) {
        if (o[1] != '!')
            continue;
        int i = 0;
        while (table[i].letter != *o)
            i++;
        if (!*(const char *const *)((const char *)given + table[i].at))
            return &table[i].option;
        o++;
    }
    return NULL;
}

/* Whether the characters name this option, as --from or -F. */
static bool
names_option(const struct argp_option *o, const char *word, size_t len)
{
    size_t n = strlen(o->name);
    return len == 2 ? word[0] == '-' && word[1] == o->key
           : len == n + 2 && !strncmp(word, "--", 2) && !strncmp(word + 2, o->name, n);
}

bool *
cli_flag_at(Options *o, const char *letters, const char *word)
{
    for (int i = 0; i < LEN(table); i++)
        if (strchr(letters, table[i].letter) && table[i].flag &&
            names_option(&table[i].option, word, strlen(word)))
            return (bool *)((char *)o + table[i].at);
    return NULL;
}

const char **
cli_option_at(Options *o, const char *letters, const char *word, size_t len)
{
    for (int i = 0; i < LEN(table); i++)
        if (strchr(letters, table[i].letter) && !table[i].flag && table[i].letter != 'f' &&
            names_option(&table[i].option, word, len))
            return (const char **)((char *)o + table[i].at);
    return NULL;
}

const struct argp_option *
cli_option(const Command *cmd, int i)
{
    for (int k = 0; k < LEN(table); k++)
        if (strchr(cmd->options, table[k].letter) && i-- == 0)
            return &table[k].option;
    return NULL;
}
