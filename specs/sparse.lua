-- sparse.lua: formats that store only some elements of a tensor.  A format is a list of levels, outermost first; each level stores
-- the coordinates of one index expression.  docs/ir/sparse.md describes the kinds of levels and the arrays.

origin("Y. Saad", "SPARSKIT: a basic tool kit for sparse matrix computations, 1994; DCSR, CSF: S. Chou, F. Kjolstad, S. Amarasinghe, OOPSLA 2018")

-- Coordinate lists, in any order; an element may be there more than once (COO3 to COO6: of that rank).
sparse "COO" { doc = "row and column of each entry", dims = { R, C },
  levels = { compressed(R, "nonunique", "unordered"), singleton(C, "unordered") } }

-- Rows (columns) one after the other: SciPy's csr_array and csc_array with sorted indices.
sparse "CSR" { doc = "compressed rows", dims = { R, C }, levels = { dense(R), compressed(C) } }
sparse "CSC" { doc = "compressed columns", dims = { R, C }, levels = { dense(C), compressed(R) } }

-- The same with the entries of a row (column) in any order; an element may be there more than once.
sparse "CSR_ANY" { doc = "compressed rows, not sorted", dims = { R, C }, levels = { dense(R), compressed(C, "unordered") } }
sparse "CSC_ANY" { doc = "compressed columns, not sorted", dims = { R, C }, levels = { dense(C), compressed(R, "unordered") } }

-- Only the rows (columns) that have entries.
sparse "DCSR" { doc = "compressed rows, without empty rows", dims = { R, C }, levels = { compressed(R), compressed(C) } }
sparse "DCSC" { doc = "compressed columns, without empty columns", dims = { R, C }, levels = { compressed(C), compressed(R) } }

-- Dense blocks of BR x BC elements; those of one row of blocks one after the other.
sparse "BSR" { doc = "compressed rows of dense blocks", dims = { R, C }, BR = 4, BC = 4,
  levels = { dense(R // BR), compressed(C // BC), dense(R % BR), dense(C % BC) } }

-- As many places for each row as the fullest row has entries; places without one have the coordinate -1.
sparse "ELL" { doc = "rows of equal length", dims = { R, C }, levels = { dense(R), nth(), singleton(C) } }

-- The diagonals that have entries, each with a place for every column: SciPy's dia_array.
sparse "DIA" { doc = "diagonals", dims = { R, C }, levels = { compressed(C - R), dense(C) } }

-- Any rank: an array of names can be a list of dims, and of levels.
local name = { I, J, K, L, M, N }
for rank = 3, 6 do
  local dims, list, tree = {}, {}, {}
  for i = 1, rank do dims[i] = name[i] end
  local coo = sparse("COO" .. rank)
  list[1] = compressed(name[1], "nonunique", "unordered")
  for i = 2, rank do list[i] = singleton(name[i], "unordered") end
  coo { doc = "the coordinates of each entry, rank " .. rank, dims = dims, levels = list }
  local csf = sparse("CSF" .. rank)
  for i = 1, rank do tree[i] = compressed(name[i]) end
  csf { doc = "compressed fibers, rank " .. rank, dims = dims, levels = tree }
end
