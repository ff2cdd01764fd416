/* The table of commands. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli.h"

static const Command commands[] = {
    {"list", cmd_list, "[WORD...|FILE]", -1, "jLf",
     "list the known layouts, or the arrays of a file",
     "With words, it lists the layouts that have all of them in their name,\n"
     "description, owner, source, version or file.  Those where the words begin\n"
     "words come first.  int4 finds the layouts of 4-bit elements.\n"
     "--json adds the dims, the order, the owner, the source, the version and the\n"
     "place.\n"
     "With a file (.npz, .safetensors, .gguf) it lists the file's arrays, each with\n"
     "its type, its shape and, if the file says it, its layout: the names are for\n"
     "--tensor of convert.\n\n"
     "  ravel list\n"
     "  ravel list int4 weights\n"
     "  ravel list arrays.npz\n"
     "  ravel list --spec mine.lua --json\n"},
    {"show", cmd_show, "LAYOUT|FILE", 1, "$%stBq1IgwLf", "print or draw a layout, or a sparse matrix",
     "Prints the storage order with extents and strides, the address formula, and\n"
     "the addresses of a plane.  Lines separate tiles; in a terminal, cells with\n"
     "the same value have one colour.  --svg draws a picture instead: the plane,\n"
     "and the element at each address.\n"
     "--by chooses the value of a cell: its address; its bank of the 32 banks of\n"
     "shared memory; its cache line of 64 bytes; its tile; the lane or the register\n"
     "of a fragment; or any expression over the dims.\n"
     "A plane is the elements that differ in two dims only.  --plane chooses these\n"
     "dims, --at the coordinates of the others, and the first row and column.\n"
     "--html writes one page without links: point at an element and read its\n"
     "address, change shape and parameters, compare with --beside, and play the\n"
     "conversion tile by tile.\n"
     "Without --shape it prints the order, strides and address for every shape.\n"
     "Of a file with a sparse matrix (.mtx, .npz, a folder of .npy) it prints the\n"
     "levels, the matrix and the arrays.  --to shows it in another sparse format.\n\n"
     "  ravel show NC1HWC0 --shape 1,20,2,2 --dtype f16\n"
     "  ravel show NC1HWC0 --shape 2,40,5,7 --dtype f16 --plane H,W --at N=1,C=3\n"
     "  ravel show SW128 --shape 16,64 --dtype f16 --by bank --beside ROW_MAJOR\n"
     "  ravel show '{M//2, K//4, M%2, K%4}' --shape 6,8 --svg tiles.svg\n"
     "  ravel show a.mtx --to CSR\n"},
    {"index", cmd_index, "LAYOUT", 1, "sta!iLf",
     "convert coordinates to an address, or back",
     "The address counts elements of the dtype from the start of the buffer.\n\n"
     "  ravel index NC1HWC0 --shape 2,20,5,7 --dtype f16 --at 1,17,4,6\n"
     "  ravel index NC1HWC0 --shape 2,20,5,7 --dtype f16 --at 2225 --inverse\n"},
    {"table", cmd_table, "LAYOUT", 1, "sto!Lf",
     "write the address of every element to a .npy file",
     "Writes an int64 array of the logical shape.\n\n"
     "  ravel table NC1HWC0 --shape 2,20,5,7 --dtype f16 -o t.npy\n"},
    {"check", cmd_check, "LAYOUT", 1, "5teKbjLf",
     "decide whether a layout is one-to-one, and more",
     "The exit code is 0 if the answer is yes: the layout is one-to-one and can be\n"
     "a destination or, with --equals, both layouts give every element the same\n"
     "address.  It is 1 if the answer is no or unknown.  A no comes with a witness,\n"
     "such as two elements at one address.\n"
     "Without --shape the answer is for every shape.  With names in the shape\n"
     "(N,64,H,W) it is for every shape that has the given numbers.\n"
     "With --compatible it decides whether a conversion of LAYOUT to the other one\n"
     "changes only shape and strides, so that nothing has to be copied.  If not, it\n"
     "prints what a copy moves, and the best common order of loops over both.\n"
     "With --banks it counts the wavefronts (passes over the 32 banks of shared\n"
     "memory) in which the warps of a GPU read or write the tile.  An ACCESS is\n"
     "  DIM[:BYTES]       each of 32 lanes accesses BYTES (default: one element)\n"
     "                    along DIM.  The next lane continues along DIM, then along\n"
     "                    the other dims, the last one first\n"
     "  FRAGMENT          each lane loads its registers of all fragments, as the\n"
     "                    function of emit --kind load does: MMA_A, or any layout\n"
     "                    with lanes and registers\n"
     "  FRAGMENT:ldmatrix the fragments are loaded (or stored) by matrices of 8 rows\n"
     "                    of 16 bytes; stmatrix is the same\n"
     "  DIM:ldmatrix      matrices with rows of 16 bytes along DIM; ldmatrix alone:\n"
     "                    along the dim whose elements are adjacent\n"
     "If there are bank conflicts, it prints a swizzle without them, or says that no\n"
     "xor swizzle avoids them and prints the best pitch and swizzle of those that it\n"
     "tries.\n"
     "If the structure of the layout does not decide the answer, every element is\n"
     "examined.  If that takes more work than --limit allows, the answer is\n"
     "unknown.\n\n"
     "  ravel check '{M, (K//8%8) ~ (M%8), K%8}' --shape 6,64\n"
     "  ravel check '{M//2, K}' --shape 8,8\n"
     "  ravel check NHWC --equals '(N,C,H,W){N, H, W, C//4, C%4}' --shape 2,8,5,5\n"
     "  ravel check NCHW --compatible NHWC --shape 2,8,5,5\n"
     "  ravel check '{M, K}' --shape 64,64 --dtype f16 --banks K:4,M:2\n"
     "  ravel check '{M, K}' --shape 64,64 --dtype f16 --banks MMA_A:ldmatrix,K:16\n"},
    {"emit", cmd_emit, "", 0, "FTV50GMAYnklHDNCWPyrhUzoLf",
     "write the source of a conversion",
     "The file includes no header of ravel.  A name in the shape makes that extent\n"
     "an argument of the function F, which returns 1 for invalid arguments, and of\n"
     "F_bytes, which computes the sizes of both buffers.  --target cuda, hip,\n"
     "opencl or glsl writes one GPU kernel.  --manifest writes a JSON file that says\n"
     "how to launch it.  --align 4 writes a kernel for buffers aligned to only 4\n"
     "bytes, --batch one that converts up to 128 tensors in a launch.  For a GPU, a\n"
     "name in the shape makes F_arguments, a function of the host that computes the\n"
     "grid, the sizes and the kernel's third argument.\n"
     "--kind offset and --kind inverse write the index function of one layout\n"
     "(--to) and its inverse, --kind visit one that calls a function for each\n"
     "element in the order of storage, with its coordinates.  A name in the shape\n"
     "makes that extent an argument of these.  --kind load and\n"
     "--kind store, for a GPU, move the registers of a lane between a tile and a\n"
     "fragment, such as MMA_A, which is --to of a load and --from of a store.\n"
     "--list writes the conversions of a file as one unit, with each helper once.  A\n"
     "line has --from, --to, --shape, --dtype and, optionally, --name; for sparse\n"
     "formats also --duplicates, --threshold, --mask and --index-type.  The default\n"
     "name has the layouts, the shape and the element type.  --header writes the\n"
     "declarations.  The text goes to standard output if --output is absent.\n"
     "--check compiles a relayout in C to a shared object and proves it as verify\n"
     "does; a sparse conversion has to give the library's results for randomly\n"
     "drawn matrices.  If it is wrong, no file is written and the exit code is 1.\n\n"
     "  ravel emit --from NCHW --to NC1HWC0 --shape 2,20,5,7 --dtype f16 -o f.c\n"
     "  ravel emit --from NCHW --to NC1HWC0 --shape N,64,H,W --dtype f16 -o g.c\n"
     "  ravel emit -F NCHW -T NHWC -s 2,3,5,7 -d u8 -o f.c --check 'gcc -O3'\n"
     "  ravel emit --list kernels.txt -o all.c --header all.h --depfile all.d\n"
     "  ravel emit --kind inverse --to SW128 --shape 16,64 --dtype f16 -o i.c\n"
     "  ravel emit -F NCHW -T NHWC -s 8,64,56,56 -d f16 -G cuda -o k.cu -M k.json\n"},
    {"convert", cmd_convert, "IN OUT", 2, "FT!VZQs0xpXhurNyvWLf", "convert an array file",
     "The first bytes of IN tell whether it is .npy, .npz, safetensors or GGUF; the\n"
     "name of OUT tells whether it becomes .npy, .npz or .safetensors.  All other\n"
     "files are raw.  A raw IN needs --shape and --dtype, and begins at --offset.  A\n"
     ".safetensors file that ravel wrote has its layout, shape and type in the\n"
     "metadata and needs no --from.  GGUF arrays of quantised types are refused.\n"
     "--tensor chooses an array of several.  If it is a pattern that matches several\n"
     "names, OUT is a .safetensors or .npz file and gets these arrays only.\n"
     "The shape of an array in a file is the storage extents of its layout.  If the\n"
     "layout has blocks, --shape gives the logical shape.  The file of a sparse\n"
     "format (CSR) is a Matrix Market .mtx (COO), an .npz as SciPy writes it, or a\n"
     "folder with a .npy for each array.  --concat R=b.npz appends the rows of a\n"
     "further file, also in the format --from, to those of IN; C=b.npz the columns.\n"
     "--verify checks every byte of the result and proves the code.  The file is\n"
     "written atomically: OUT is complete or unchanged.  The name - is standard\n"
     "input or output; with a .npy input, standard output is a .npy.\n"
     "--index gives files of index arrays: --from 'ROW_MAJOR[idx]' reads the\n"
     "rows that idx.npy names, --to 'ROW_MAJOR(100,64)[idx]' writes them into a new\n"
     "file.  specs/reference.md describes [i, j], [:, along idx] and [skip idx].\n"
     "--via B converts to B and then from B, or from a part of it, in one step.  If\n"
     "the conversion to B would lose elements, the message says which.\n"
     "A conversion that needs more memory than --mem is done block by block.  IN is\n"
     "mapped; input from a pipe that does not fit in memory is kept in an unnamed\n"
     "temporary file.\n\n"
     "  ravel convert x.npy y.npy --from NCHW --to NC1HWC0 --verify\n"
     "  ravel convert x.npy a.npz --from NCHW --to NHWC\n"
     "  ravel convert a.npz y.bin --tensor arr_0 --from NHWC --to NCHW\n"
     "  ravel convert y.npy z.npy --from NC1HWC0 --to NCHW --shape 2,20,5,7\n"
     "  ravel convert x.npy y.npy --from 'NCHW[:, 1:3, ..., ::-1]' --to NHWC\n"
     "  ravel convert x.npy w.safetensors --from NCHW --to NC1HWC0\n"
     "  ravel convert w.safetensors z.npy --to NHWC\n"
     "  ravel convert a.mtx b.npz --from COO --to CSR\n"
     "  ravel convert a.mtx c.npz --from COO --to CSR --concat R=a.mtx\n"
     "  ravel convert x.npy y.npy --from NCHW --to NHWC --mem 512M\n"},
    {"verify", cmd_verify, "", 0, "F!T!5t!On74Wjf",
     "prove the code of a conversion",
     "Compiles both directions.  A plan divides the destination into boxes; the\n"
     "command shows that they are disjoint and cover the destination.  Then it\n"
     "runs the code on a source in which every slot, that is the storage of one\n"
     "element, holds its own number.  Inaccessible pages surround the buffers, the\n"
     "buffers begin at several alignments, and four threads run at once (two if\n"
     "both buffers exceed 256 MB).  The exit code is 1 if anything differs from\n"
     "the layouts.\n"
     "--object proves void F(void *dst, const void *src) of a shared object\n"
     "instead, in one direction.  F is --name; the default is the name that emit\n"
     "gives.  If F needs aligned buffers, give --align.  A function that does not\n"
     "return within --limit seconds of processor time (default: 60, more for large\n"
     "shapes) is wrong.\n"
     "With names in the shape (N,64,H,W) the boxes are checked for every residue\n"
     "of these extents modulo the block sizes of the layouts, and the code runs at\n"
     "every boundary value and its neighbours.\n\n"
     "  ravel verify --from NCHW --to NC1HWC0 --shape 2,20,5,7 --dtype f16\n"
     "  ravel verify -F 'NCHW(2,9,5,7)[:, 2:5]' -T NHWC -d f16\n"
     "  ravel emit --from NCHW --to NHWC --shape 2,3,5,7 --dtype u8 -o f.c\n"
     "  gcc -O3 -shared -fPIC -o f.so f.c\n"
     "  ravel verify --from NCHW --to NHWC --shape 2,3,5,7 --dtype u8 --object f.so\n"},
    {"explain", cmd_explain, "", 0, "FTV50GA9NWP3m8yELf",
     "print the plan of a conversion",
     "Prints both layouts, with their expressions as written and as simplified, and\n"
     "the plan: boxes of the destination, and for each box a nest of loops around a\n"
     "kernel.\n"
     "For the nests that move most of the bytes it also prints the chosen kernel\n"
     "and loop order and the next best ones, with the times that the cost model\n"
     "predicts.  With --target cuda, hip, opencl, glsl or blocks it prints the\n"
     "boxes of the GPU kernel, and the cost of the accesses of the first and last\n"
     "block of each box: sectors of 32 bytes, and wavefronts of shared memory.\n"
     "With --statements it prints the statements of the code; with --kind, those of\n"
     "a function of a layout (offset, inverse, visit) or of a tile access (load,\n"
     "store).  docs/ir describes all these texts.\n"
     "--html writes a page instead: both layouts, the boxes of the plan over the\n"
     "tensor, kernels and predicted times; with --measure the measured times too.\n\n"
     "  ravel explain --from NCHW8 --to NCHW16 --shape 16,20,56,56 --dtype f32\n"
     "  ravel explain --from NCHW --to NHWC --shape 8,64,56,56 --dtype f16 -G cuda\n"},
    {"bench", cmd_bench, "", 0, "F!T!st!6RWjLf",
     "measure a conversion on this machine",
     "Proves the code, then measures the conversion, memcpy, and a copy by\n"
     "non-temporal stores, which bypass the caches.  A copy moves as many bytes as\n"
     "the larger tensor.  Each round times each of the three once.  The ratio of a\n"
     "round is a time divided by that of memcpy in the same round; below 1 is\n"
     "faster than memcpy.  The output has the median, and the span from the 10th to\n"
     "the 90th percentile.  Buffers are on 2 MiB pages and are touched before.  Data\n"
     "that fit a cache are in the cache during the measurement.  For a large tensor\n"
     "the non-temporal copy shows the limit of the memory.  For a small one the\n"
     "ratios show the overhead of a call.\n\n"
     "  ravel bench --from NCHW --to NHWC --shape 16,64,56,56 --dtype f32\n"
     "  ravel bench --from NCHW --to NCHW16 --shape 1,71,28,28 --dtype u8 -R 99\n"},
    {"tune", cmd_tune, "", 0, "F!T!5t!2NSWjLf",
     "find the fastest kernels and loop orders on this machine",
     "A plan consists of loop nests.  Each nest converts one box of the destination\n"
     "by calls of one kernel; `ravel explain` prints them.  The planner chooses the\n"
     "kernel and the loop order of a nest by a cost model.  This command proves and\n"
     "times the model's choice and the next best candidates, for the nests that move\n"
     "most of the bytes.  Another candidate replaces the choice only if it is 3 %\n"
     "faster.\n"
     "The result, called wisdom, is added to the file of --wisdom or RAVEL_WISDOM.\n"
     "Every command that compiles uses that file, for the same layouts, shape,\n"
     "element type and number of threads on the same model of processor.  Wisdom\n"
     "affects speed only, never results.\n"
     "With names in the shape (N,64,H,W) the candidates are proven and timed at the\n"
     "extents of --at.  The result is for that shape with any names, and is used at\n"
     "all extents.\n\n"
     "  ravel tune --from NCHW --to NHWC --shape 4,64,56,56 --dtype f32 -W w.txt\n"
     "  ravel explain --from NCHW --to NHWC --shape 4,64,56,56 --dtype f32 -W w.txt\n"
     "  ravel tune -F NCHW -T NHWC -s N,64,H,W --at 8,64,56,56 -d f32 -W w.txt\n"},
    {"devices", cmd_devices, "", 0, "j",
     "list accelerators, and the reason if one is unavailable",
     "Lists the devices of the CUDA driver and of the OpenCL loader, and the\n"
     "compiler NVRTC.  For each that is unavailable it prints the reason.  The\n"
     "exit code is 0 even if nothing is available.\n\n"
     "  ravel devices\n"
     "  ravel devices --json\n"},
    {"completion", cmd_completion, "SHELL", 1, "",
     "print the completion of a shell",
     "SHELL is bash, zsh or fish.  The script completes commands, options, layouts,\n"
     "element types and files.  `make install` installs the three scripts.\n\n"
     "  ravel completion bash > ravel.bash\n"},
};

const Command *
cli_command(int i)
{
    return i < LEN(commands) ? &commands[i] : NULL;
}

void
cli_usage(FILE *f)
{
    fputs("Usage: ravel COMMAND [OPTION...]\n\n"
          "ravel reads descriptions of tensor layouts, decides their properties, and\n"
          "generates the code that converts between any two.\n\n", f);
    for (int i = 0; i < LEN(commands); i++)
        fprintf(f, "  %-10s %-8s %s\n", commands[i].name, commands[i].args,
                commands[i].summary);
    fputs("\nA layout is a name (NC1HWC0), a name with parameters (NC1HWC0{C0=32}), an\n"
          "inline table ('{N, C//16, H, W, C%16}', '(R,C){C, R}') or a layout of a spec\n"
          "file (mine.lua:NAME).  An index as in NumPy selects a part of a tensor:\n"
          "'NHWC(8,56,56,64)[:, 1:3, ..., ::-1]'.  `ravel COMMAND --help` prints\n"
          "details and examples.\n", f);
}

/* The option without a command that is near the word, with or without its dashes; or NULL. */
static const char *
option_alone(const char *word)
{
    static const char *const options[] = {"--version", "--help", NULL};
    const char *bare = word + strspn(word, "-");
    for (int i = 0; options[i]; i++) {
        size_t n = bare == word + 1 && strlen(bare) == 1 ? 1 : strlen(options[i] + 2) + 1;
        if (*bare && !strncasecmp(bare, options[i] + 2, n))
            return options[i];
    }
    return diag_nearest(word, options);
}

/* A word that cannot be meant as a command. */
static void
refuse_word(const char *word)
{
    if (*word == '-')
        fprintf(stderr, "ravel: the command comes before its options, as in `ravel show NCHW "
                "--shape 2,3,4,5`; '%.100s' is no command\n", word);
    else
        fprintf(stderr, "ravel: the command comes before the layout or file, as in `ravel show "
                "NCHW`; '%.100s' is no command\n", word);
}

const Command *
cli_find_command(const char *name)
{
    const char *names[LEN(commands) + 1];
    for (int i = 0; i < LEN(commands); i++) {
        names[i] = commands[i].name;
        if (!strcmp(names[i], name))
            return &commands[i];
    }
    names[LEN(commands)] = NULL;
    const char *near = diag_nearest(name, names);
    near = near ? near : option_alone(name);
    if (!near && name[strspn(name, "abcdefghijklmnopqrstuvwxyz")]) {
        refuse_word(name);
        return NULL;
    }
    fprintf(stderr, "ravel: there is no command '%s'%s%s%s; `ravel --help` lists them\n",
            name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return NULL;
}
