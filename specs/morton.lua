-- Morton order (Z curve): the bits of x and y take turns, x lowest.
-- Sources: G. M. Morton, "A Computer Oriented Geodetic Data Base", IBM 1966; textures of most GPUs use it in tiles, as here:
-- a digit has its full size whatever the shape, so a curve over the whole matrix would pad both sides to a power of two.

origin("G. M. Morton", "A Computer Oriented Geodetic Data Base, IBM", "1966")

-- MORTON8 MORTON16 MORTON32
for _, k in ipairs { 3, 4, 5 } do
  local side  = 1 << k
  local order = { Y // side, X // side }
  for bit = k - 1, 0, -1 do
    order[#order + 1] = Y[bit]
    order[#order + 1] = X[bit]
  end
  layout("MORTON" .. side) {
    doc   = string.format("Z curve inside %d x %d tiles, tiles row by row", side, side),
    dims  = { Y, X },
    order = order,
  }
end
