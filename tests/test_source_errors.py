"""The source documents' mistakes, each shown by running the document's own code beside the truth (tests/formulas_errors.py).

000 and 003 are the articles the project started from: MegEngine's page on tensor formats, and one on tensor layouts.
"""

import math
import os
import sys

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import formulas_bits  # noqa: E402
import formulas_errors as errors  # noqa: E402

BLOCK = np.arange(1024)


@pytest.mark.parametrize("name", errors.ERRORS)
def test_the_claim_is_false(name):
    claimed, true = errors.ERRORS[name]()
    assert claimed != true


def test_oracle_holds():
    count, problems = errors.check()
    assert count > 1000 and problems == []


# 003 8.3 and 8.6

def test_seed83_is_a_bijection():
    assert np.array_equal(np.sort(formulas_bits.seed83(BLOCK)), BLOCK)


def test_seed83_is_not_its_own_inverse():
    assert formulas_bits.seed83(formulas_bits.seed83(4)) == 260
    assert np.count_nonzero(formulas_bits.seed83(formulas_bits.seed83(BLOCK)) != BLOCK) > 0


def test_seed83_has_order_4():
    assert errors.orbit(formulas_bits.seed83, 4) == [4, 36, 260, 292]
    assert errors.swizzle83_order() == (2, 4)


def test_seed83_true_inverse():
    a = np.arange(1 << 16)                    # bits above 9 stand
    assert np.array_equal(formulas_bits.seed83_inverse(formulas_bits.seed83(a)), a)
    assert np.array_equal(formulas_bits.seed83(formulas_bits.seed83_inverse(a)), a)


def test_seed83_leaves_a_column_in_one_bank():
    assert errors.swizzle83_banks() == (1, 32)
    assert errors.swizzle83_banks_on_elements() == (1, 32)


# 003 8.4

def test_seed84_is_swizzle_5_0_5_and_self_inverse():
    assert np.array_equal(formulas_bits.seed84(BLOCK), formulas_bits.cute_swizzle(BLOCK, 5, 0, 5))
    assert np.array_equal(formulas_bits.seed84(formulas_bits.seed84(BLOCK)), BLOCK)


def test_seed84_is_free_of_conflicts_only_on_element_indices():
    assert errors.bank_ways(formulas_bits.seed84, 4) == 1
    assert errors.bank_ways(formulas_bits.seed84, 1) == 4


# 003 4.3 and 4.5

def test_greedy_inverse_of_column_major():
    assert errors.strided_inverse_column_major() == ((3, 0), (1, 1))


@pytest.mark.parametrize("shape", [(2, 3), (4, 5), (2, 3, 4)])
def test_greedy_inverse_needs_descending_strides(shape):
    descending = [math.prod(shape[k+1:]) for k in range(len(shape))]
    ascending = [math.prod(shape[:k]) for k in range(len(shape))]
    everything = range(math.prod(shape))
    assert all([errors.greedy_inverse(a, descending)] == errors.searched_inverse(a, descending, shape) for a in everything)
    assert any([errors.greedy_inverse(a, ascending)] != errors.searched_inverse(a, ascending, shape) for a in everything)


def test_greedy_inverse_of_stride_0_divides_by_zero():
    with pytest.raises(ZeroDivisionError):
        errors.greedy_inverse(1, (0, 1))
    assert len(errors.searched_inverse(1, (0, 1), (3, 4))) == 3     # no inverse to find: three indices share it


# 000, figures

def test_nhwc_figure_is_hwnc():
    claimed, true = errors.figure_nhwc()
    assert true == [0, 9, 18, 567, 1, 10]
    assert errors.figure_nhwc_is_hwnc() == (claimed, claimed)


def test_nchw64_figure():
    claimed, true = errors.figure_nchw64()
    assert [(c, t) for c, t in zip(claimed, true) if c != t] == [(575, 568)]


# 003 6.3

def test_stored_positions_of_a_sparse_matrix_are_injective():
    assert errors.sparse_injective() == (False, True)


# vendors

def test_c1_is_rounded_up():
    assert errors.c1_rounds_down() == (1, 2)


def test_cutlass_ncxhwx_collides_on_a_short_last_vector():
    claimed, true = errors.tensor_ncxhwx_collides()
    assert claimed == (192, 192) and true == (192, 256)
