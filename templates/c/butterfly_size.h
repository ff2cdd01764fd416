/* The most stages of butterfly.c.  Words of its table: before its offsets; offsets of pieces of a
 * vector; of a stage that mixes bits, and of one that moves bytes. */
enum { RAVEL_STAGES = 4, RAVEL_STAGES_HEAD = 9, RAVEL_PIECES = 4, RAVEL_MIX_WORDS = 2,
       RAVEL_MOVE_WORDS = 32 };
