/* Words of a quotient in the words of a place (places.h); the shift that says that its factor is a
 * float. */
enum { RAVEL_QUOTIENT = 5, RAVEL_FLOAT = 32 };
