// Conversions by Eigen, for bench/sparse.py: each call converts once, into a new matrix.
#include <Eigen/Sparse>
#include <cstdint>
#include <vector>

using Rows = Eigen::SparseMatrix<double, Eigen::RowMajor, int32_t>;
using Cols = Eigen::SparseMatrix<double, Eigen::ColMajor, int32_t>;
using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

extern "C" {

int64_t
eigen_dense_to_csr(const double *v, int64_t rows, int64_t cols)
{
    Rows m = Eigen::Map<const Dense>(v, rows, cols).sparseView();
    m.makeCompressed();
    return m.nonZeros();
}

int64_t
eigen_coo_to_csr(const int32_t *row, const int32_t *col, const double *v, int64_t n,
                 int64_t rows, int64_t cols)
{
    std::vector<Eigen::Triplet<double, int32_t>> t;
    t.reserve((size_t)n);
    for (int64_t i = 0; i < n; i++)
        t.emplace_back(row[i], col[i], v[i]);
    Rows m(rows, cols);
    m.setFromTriplets(t.begin(), t.end());
    return m.nonZeros();
}

int64_t
eigen_csr_to_csc(const int32_t *pos, const int32_t *crd, const double *v, int64_t n,
                 int64_t rows, int64_t cols)
{
    Cols m = Eigen::Map<const Rows>(rows, cols, n, pos, crd, v);
    return m.nonZeros();
}

int64_t
eigen_csr_to_dense(const int32_t *pos, const int32_t *crd, const double *v, int64_t n,
                   int64_t rows, int64_t cols, double *out)
{
    Eigen::Map<Dense>(out, rows, cols) = Eigen::Map<const Rows>(rows, cols, n, pos, crd, v);
    return n;
}

}
