/* Words before a tile's tables; bytes of its buffer. */
enum { RAVEL_TILE_HEAD = 15, RAVEL_TILE_BYTES = 256 * 1024 };
