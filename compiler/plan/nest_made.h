/* nest_made.h: what kernels made of a nest, kept while its kernels and orders are compared.  All
 * these nests have the same loops, but in other places. */
#ifndef RAVEL_NEST_MADE_H
#define RAVEL_NEST_MADE_H

#include "composite.h"
#include "shuffle.h"

/* How far it is made; or that there is none. */
typedef enum { MADE_NOTHING, MADE_START, MADE_ALL, MADE_NONE } Made;

/* Begun: what stays together is known, and the loops in the residual. */
typedef struct {
    Made known;
    int var[MAX_LOOPS];   /* the loops in the places of which its numbers are */
    Composite tile;
    TilePlaces places;
} TileMade;

/* Begun: the tile and its elements are known, but not the passes. */
typedef struct ProgramMade {
    Made known;
    int var[MAX_LOOPS];
    ShuffleTile tile;     /* without repeats */
    Bits of;              /* its elements and lanes */
    Program program;
} ProgramMade;

typedef struct NestMade {
    TileMade tile;
    ProgramMade program;
} NestMade;

/* nest_made.c: nothing is made yet.  As the next it is too large for a thread's stack: it is in
 * the arena until it ends. */
NestMade *made_begin(const Nest *n);
void made_end(const Nest *n, NestMade *m);
/* Where to make a program of a nest; NULL: where n->made says. */
ProgramMade *made_room(const Nest *n);
void made_leave(const Nest *n, ProgramMade *room);
/* Sets var[] to the variables of the loops in their places. */
void made_places(const Nest *n, int var[MAX_LOOPS]);
/* Sets to[] to the place in the nest of each loop of var[], and var[] to the nest's; false: they
 * are the same. */
bool made_moved(const Nest *n, int var[MAX_LOOPS], int to[MAX_LOOPS]);
/* The place of a loop; -1: of none. */
int made_place(const int to[MAX_LOOPS], int loop);

#endif
