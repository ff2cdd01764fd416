/* Words before a tile's tables; bytes of its buffer; columns of rows that are written one
 * after another; rows of which the first cache holds a line of each;
 * bytes of a block that it does not hold with what is read. */
enum { RAVEL_TILE_HEAD = 16, RAVEL_TILE_BYTES = 256 * 1024, RAVEL_TILE_ALONG = 128,
       RAVEL_TILE_NEAR = 256, RAVEL_TILE_SOON = 24 * 1024 };
