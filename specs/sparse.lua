-- sparse.lua: formats that store only some elements of a tensor.  A format is a list of levels, outermost first; each level stores
-- the coordinates of one index expression.  docs/ir/sparse.md describes the kinds of levels and the arrays.

origin("Y. Saad", "SPARSKIT: a basic tool kit for sparse matrix computations; DCSR, CSF: S. Chou, F. Kjolstad, S. Amarasinghe, OOPSLA", "1994, OOPSLA 2018")

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

-- The same with the blocks of a row of blocks in any order; a block may be there more than once.
sparse "BSR_ANY" { doc = "compressed rows of dense blocks, not sorted", dims = { R, C }, BR = 4, BC = 4,
  levels = { dense(R // BR), compressed(C // BC, "unordered"), dense(R % BR), dense(C % BC) } }

-- As many places for each row as the fullest row has entries; places without one have the coordinate -1.
sparse "ELL" { doc = "rows of equal length", dims = { R, C }, levels = { dense(R), nth(), singleton(C) } }

-- Rows in slices of H, each as wide as its fullest row; a slice is stored by columns.  In each SIGMA rows those with most entries
-- come first, so that rows of a slice have about as many entries: SELL-C-sigma with C = H.
origin("M. Kreutzer, G. Hager, G. Wellein, H. Fehske, A. R. Bishop", "A unified sparse matrix data format, SIAM J. Sci. Comput. 36: SELL-C-sigma; JDS: Y. Saad, Krylov subspace methods on supercomputers", "2014, 1989")
sparse "SELL" { doc = "slices of rows of equal length, rows ranked", dims = { R, C }, H = 32, SIGMA = 256,
  levels = { ranked(R, SIGMA), sliced(H), singleton(C) } }

-- All rows ranked by their number of entries: the first entries of all rows, then the second ones, without padding.
sparse "JDS" { doc = "jagged diagonals", dims = { R, C }, levels = { ranked(R), jagged(), singleton(C) } }

-- Two of each four elements of a row, with codes of 2 bits for where they are: the tensor cores of NVIDIA read it.  The codes of
-- CUTLASS's reorder_meta are in words of 16 bits beside values of 16 bits, and of 32 bits beside those of 8 bits.
origin("NVIDIA CUTLASS", "NVIDIA/cutlass:tools/util/include/cutlass/util/host_reorder.h reorder_meta; pytorch:torch/sparse/_semi_structured_conversions.py", "CUTLASS 4.5.0")
sparse "SEMI24" { doc = "2:4 sparsity, codes row by row", dims = { R, C }, levels = { dense(R), dense(C // 4), nofm(C % 4, 2) } }
sparse "SEMI24_16" { doc = "2:4 sparsity, codes in 16-bit words in the order of CUTLASS", dims = { R, C }, levels = { dense(R), dense(C // 4),
  nofm(C % 4, 2, { C // 32, R // 32, R[2], R[1], R[0], R[4], C // 16 % 2, R[3], C // 4 % 4 }) } }
sparse "SEMI24_32" { doc = "2:4 sparsity, codes in 32-bit words in the order of CUTLASS", dims = { R, C }, levels = { dense(R), dense(C // 4),
  nofm(C % 4, 2, { C // 64, R // 16, R[2], R[1], R[0], C // 32 % 2, R[3], C // 4 % 8 }) } }

origin("Y. Saad", "SPARSKIT: a basic tool kit for sparse matrix computations; DCSR, CSF: S. Chou, F. Kjolstad, S. Amarasinghe, OOPSLA", "1994, OOPSLA 2018")
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
