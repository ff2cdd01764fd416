"""Relayouts that people asked for in public: questions and issues, each as one line, against NumPy's answer to the same question.

A row has what was asked (and where, if one place is known), the source, the destination, the shape of the array that is given, the type, and NumPy's answer
for that array: the elements in the order of the destination's storage.  After these: the shape of the request, if it is another one, and index arrays.
Elements of 4 bits and of 1 bit are a number each."""
import numpy as np
import pytest

import ravel
from test_arrays import data, run

BITS = {"u1": 1, "u4": 4}
UINTS = {"u1": "u1", "u4": "u1", "u8": "u1", "i8": "u1", "f16": "u2", "bf16": "u2", "f32": "u4", "f64": "u8"}


def pad(x, *to):
    """x with zeros after it in each dim, up to a multiple."""
    return np.pad(x, [(0, -n % m) for n, m in zip(x.shape, to)])


def tiles(x, *sizes):
    """x cut into tiles: the dims of their numbers, then those within."""
    x = pad(x, *sizes)
    x = x.reshape([k for n, m in zip(x.shape, sizes) for k in (n // m, m)])
    return x.transpose(*range(0, x.ndim, 2), *range(1, x.ndim, 2))


def put(x, places, rows):
    x[places] = rows
    return x


def paged(rows, slots):
    """The slots of 6 pages of 16, with rows where the mapping has them; -1: nowhere."""
    out = np.zeros((96, *rows.shape[1:]), rows.dtype)
    return put(out, slots[slots >= 0], rows[slots >= 0])


def awq(x):
    """Eight columns of a word are stored as 0 2 4 6 1 3 5 7."""
    return x.reshape(-1, 8)[:, [0, 2, 4, 6, 1, 3, 5, 7]]


def tril(n):
    return [np.ascontiguousarray(a) for a in np.tril_indices(n)]


def hilbert(n):
    """The cells of a square of n x n in the order of Hilbert's curve, by its usual recursion."""
    if n == 1:
        return [(0, 0)]
    h, half = hilbert(n // 2), n // 2
    return ([(c, r) for r, c in h] + [(r, c + half) for r, c in h] + [(r + half, c + half) for r, c in h] +
            [(n - 1 - c, half - 1 - r) for r, c in h])


def hilbert_table(n):
    at = {cell: k for k, cell in enumerate(hilbert(n))}
    return ", ".join(str(at[divmod(k, n)]) for k in range(n * n))


SEQUENCES = [3, 5, 1, 4]          # the lengths of a batch
TOKENS = np.concatenate([np.arange(n) + 5 * b for b, n in enumerate(SEQUENCES)])
PERM = np.random.default_rng(5).permutation(64)
SLOTS = np.random.default_rng(6).permutation(96)[:20]
PAGES = np.array([5, 0, 7, 2], "i4")
DROPPED = np.where(np.arange(20) % 3 == 1, -1, SLOTS)
# The rows of fused projections: in each of 2 groups 4 queries, a key and a value; where each goes if queries, keys, values are beside each other.
GROUPED = [g * 4 + r if r < 4 else 8 + (r - 4) * 2 + g for g in range(2) for r in range(6)]

ASKED = [
    # Images.
    ("stackoverflow 48771529: channels first", "(H,W,C){H,W,C}", "(H,W,C){C,H,W}", (5, 7, 3), "u8", lambda x: x.transpose(2, 0, 1)),
    ("stackoverflow 43523022: planes to pixels", "(C,P){C,P}", "(C,P){P,C}", (3, 16), "u8", lambda x: x.T),
    ("BGR pixels to RGB planes", "(H,W,C){H,W,C}(5,7,3)[..., ::-1]", "(H,W,C){C,H,W}", (5, 7, 3), "u8", lambda x: x[..., ::-1].transpose(2, 0, 1)),
    ("RGBA to ARGB", "(P,C){P,C}", "(P,C){P, (C + 1)%4}", (33, 4), "u8", lambda x: np.roll(x, 1, 1)),
    ("RGB to pixels of 32 bits, the last byte 255", "(P,C){P,C}", "(P,C){P,C, pad = {C = 4}, fill = 255}", (33, 3), "u8",
     lambda x: np.pad(x, [(0, 0), (0, 1)], constant_values=255)),
    ("a Bayer mosaic to four planes", "(Y,X){Y,X}", "(Y,X){Y%2, X%2, Y//2, X//2}", (8, 10), "f16", lambda x: x.reshape(4, 2, 5, 2).transpose(1, 3, 0, 2)),
    ("bytes of an image for an SSD1306: eight rows in a byte", "(Y,X){Y,X}", "(Y,X){Y//8, X, Y%8}", (16, 24), "u1", lambda x: x.reshape(2, 8, 24).transpose(0, 2, 1)),
    ("bits with the first pixel on top, to the first pixel below", "BIT_HIGH", "BIT_LOW", (5, 24), "u1", lambda x: x.reshape(-1, 8)[:, ::-1]),
    ("an LED matrix whose odd rows run back", "(Y,X){Y,X}", "(Y,X){Y, X + Y%2*(15 - 2*X)}", (8, 16), "u8",
     lambda x: np.where(np.arange(8)[:, None] % 2, x[:, ::-1], x)),
    ("Morton order", "(Y,X){Y,X}", "(Y,X){Y[2], X[2], Y[1], X[1], Y[0], X[0]}", (8, 8), "f32", lambda x: x.reshape([2] * 6).transpose(0, 3, 1, 4, 2, 5)),
    ("Hilbert's curve", "(Y,X){Y,X}", "(Y,X){T[8*Y + X], T = {%s}}" % hilbert_table(8), (8, 8), "f32", lambda x: np.array([x[cell] for cell in hilbert(8)])),
    ("upsampling to the nearest neighbour", "(Y,X){Y//2*5 + X//2, view = true}", "(Y,X){Y,X}", (4, 5), "u8", lambda x: x.repeat(2, 0).repeat(2, 1), (8, 10)),
    ("a border of zeros", "(Y,X){Y,X}", "(Y,X){(Y + 1)%(extent(Y) + 2), (X + 2)%(extent(X) + 4)}", (5, 6), "f32", lambda x: np.pad(x, [(1, 1), (2, 2)])),
    ("reflection at the border", "ROW_MAJOR(5,6)[[2,1,0,1,2,3,4,3,2]][:, [1,0,1,2,3,4,5,4]]", "ROW_MAJOR", (5, 6), "f32",
     lambda x: np.pad(x, [(2, 2), (1, 1)], "reflect"), (9, 8)),
    ("a border that wraps", "ROW_MAJOR(5,6)[[4,0,1,2,3,4,0]][:, [5,0,1,2,3,4,5,0]]", "ROW_MAJOR", (5, 6), "f32", lambda x: np.pad(x, 1, "wrap"), (7, 8)),
    ("the last pixel repeated to whole blocks", "(H,W){H,W}", '(H,W){H,W, pad = {H = 8, W = 8}, fill = "edge"}', (13, 10), "u8",
     lambda x: np.pad(x, [(0, 3), (0, 6)], "edge")),
    ("a crop of 8 x 8 in the middle", "(N,C,H,W){N,C,H,W}(2,3,12,14)[:, :, 2:10, 3:11]", "NHWC", (2, 3, 12, 14), "u8",
     lambda x: x[:, :, 2:10, 3:11].transpose(0, 2, 3, 1), (2, 3, 8, 8)),
    # Shapes.
    ("stackoverflow 43547453: blocks to rows", "(B,I,J){B,I,J}", "(B,I,J){B//2, I, B%2, J}", (4, 2, 2), "f32", lambda x: x.reshape(2, 2, 2, 2).transpose(0, 2, 1, 3)),
    ("stackoverflow 66430640: a matrix of blocks", "(R,C){R,C}", "(R,C){R//2, C//2, R%2, C%2}", (4, 4), "u8", lambda x: tiles(x, 2, 2)),
    ("qanswer.pro: sections of an array beside each other", "(R,C){R,C}", "(R,C){R//4, R%2, R//2%2, C}", (8, 4), "f64",
     lambda x: x.reshape(2, 2, 2, 4).swapaxes(1, 2)),
    ("space to depth", "(N,H,W,C){N,H,W,C}", "(N,H,W,C){N, H//2, W//2, H%2, W%2, C}", (2, 6, 8, 3), "f32",
     lambda x: x.reshape(2, 3, 2, 4, 2, 3).transpose(0, 1, 3, 2, 4, 5)),
    ("pixel shuffle", "NCHW", "(N,C,H,W){N, C//4, H, C//2%2, W, C%2}", (2, 12, 5, 7), "f32", lambda x: x.reshape(2, 3, 2, 2, 5, 7).transpose(0, 1, 4, 2, 5, 3)),
    ("ONNX DepthToSpace, DCR", "NCHW", "(N,C,H,W){N, C%3, H, C//6, W, C//3%2}", (2, 12, 5, 7), "f32", lambda x: x.reshape(2, 2, 2, 3, 5, 7).transpose(0, 3, 4, 1, 5, 2)),
    ("ShuffleNet", "NCHW", "(N,C,H,W){N, C%4, C//4, H, W}", (2, 12, 5, 7), "f32", lambda x: x.reshape(2, 3, 4, 5, 7).swapaxes(1, 2)),
    ("fftshift of odd extents", "(H,W){H,W}", "(H,W){(H + 3)%7, (W + 4)%9}", (7, 9), "f32", np.fft.fftshift),
    ("ifftshift", "(H,W){H,W}", "(H,W){(H + 4)%7, (W + 4)%8}", (7, 8), "f32", np.fft.ifftshift),
    ("Swin: roll by half a window, cut into windows", "(H,W,C){H,W,C}", "(H,W,C){(H + 10)%12//4, (W + 10)%12//4, (H + 10)%12%4, (W + 10)%12%4, C}", (12, 12, 3), "f16",
     lambda x: np.roll(x, (-2, -2), (0, 1)).reshape(3, 4, 3, 4, 3).transpose(0, 2, 1, 3, 4)),
    ("Swin: back", "(H,W,C){(H + 10)%12//4, (W + 10)%12//4, (H + 10)%12%4, (W + 10)%12%4, C}", "(H,W,C){H,W,C}", (12, 12, 3), "f16",
     lambda x: np.roll(x.reshape(3, 3, 4, 4, 3).transpose(0, 2, 1, 3, 4).reshape(12, 12, 3), (2, 2), (0, 1))),
    ("im2col", "(A,B,I,J){10*(A + I) + B + J, view = true}", "(A,B,I,J){A,B,I,J}", (6, 10), "f32",
     lambda x: np.lib.stride_tricks.sliding_window_view(x, (3, 3)), (4, 8, 3, 3)),
    ("frames that overlap by half", "(F,T){8*F + T, view = true}", "(F,T){T,F}", (64,), "f32", lambda x: np.lib.stride_tricks.sliding_window_view(x, 16)[::8].T, (7, 16)),
    ("a Toeplitz matrix", "(I,J){5 + J - I, view = true}", "(I,J){I,J}", (11,), "f32", lambda x: np.array([[x[5 + j - i] for j in range(6)] for i in range(6)]), (6, 6)),
    ("Transformer-XL: the relative shift", "(I,J){5 - I + J + 6*I, view = true}", "(I,J){I,J}", (6, 6), "f32",
     lambda x: np.array([[x[i, 5 - i + j] if j <= i else x.ravel()[5 + 5 * i + j] for j in range(6)] for i in range(6)])),
    ("np.tile", "(A,B){A%3*4 + B%4, view = true}", "(A,B){A,B}", (3, 4), "u8", lambda x: np.tile(x, (2, 3)), (6, 12)),
    ("a vector for each row", "ROW_MAJOR(9)[None]", "ROW_MAJOR", (9,), "f32", lambda x: np.broadcast_to(x, (5, 9)), (5, 9)),
    ("the diagonal", "(I){8*I}", "(I){I}", (7, 7), "f32", np.diagonal, (7,)),
    ("block_diag", "(B,I,J){B,I,J}", "(B,I,J){(B*3 + I)*16 + B*4 + J}", (4, 3, 4), "f32",
     lambda x: np.block([[x[a] if a == b else np.zeros((3, 4), x.dtype) for b in range(4)] for a in range(4)])),
    ("the lower triangle, packed", "ROW_MAJOR(9,9)[i, j]", "ROW_MAJOR", (9, 9), "f64", lambda x: x[np.tril_indices(9)], (45,), tril(9)),
    ("bit reversal before an FFT", "(N){N}", "(N){N[0], N[1], N[2], N[3], N[4], N[5]}", (64,), "f32",
     lambda x: np.array([x[int(format(k, "06b")[::-1], 2)] for k in range(64)])),
    ("in the order of a Gray code", "(N){N}", "(N){N[4], N[3] ~ N[4], N[2] ~ N[3], N[1] ~ N[2], N[0] ~ N[1]}", (32,), "u8",
     lambda x: np.array([x[list(range(32))[[k ^ k >> 1 for k in range(32)].index(a)]] for a in range(32)])),
    ("big endian words of 32 bits", "(N,B){N,B}", "(N,B){N, 3 - B}", (20, 4), "u8", lambda x: x[:, ::-1]),
    ("real and imaginary parts", "(N,P){N,P}", "(N,P){P,N}", (50, 2), "f32", lambda x: x.T),
    ("rows of a pitch to dense ones", "ROW_MAJOR@(16,1)", "ROW_MAJOR", (7, 16), "f32", lambda x: x[:, :10], (7, 10)),
    ("every other row from the end", "ROW_MAJOR(9,5)[::-2]", "ROW_MAJOR", (9, 5), "f32", lambda x: x[::-2], (5, 5)),
    # Weights.
    ("stanford_alpaca 227: Llama to Hugging Face", "(O,I){O,I}", "(O,I){O//8, O%2, O//2%4, I}", (24, 5), "f16", lambda x: x.reshape(3, 4, 2, 5).swapaxes(1, 2)),
    ("gpt-fast 190: and back", "(O,I){O,I}", "(O,I){O//8, O%4, O//4%2, I}", (24, 5), "f16", lambda x: x.reshape(3, 2, 4, 5).swapaxes(1, 2)),
    ("lmdeploy 2639: the same for columns", "(T,C){T,C}", "(T,C){T, C//8, C%4, C//4%2}", (5, 24), "f16", lambda x: x.reshape(5, 3, 2, 4).swapaxes(2, 3)),
    ("Megatron: queries, keys and values of a head beside each other", "(H,J,D,I){H,J,D,I}", "(H,J,D,I){J,H,D,I}", (4, 3, 8, 6), "bf16", lambda x: x.swapaxes(0, 1)),
    ("Megatron with groups of queries", "(R,D,I){R,D,I}", "(R,D,I){T[R], D, I, T = {%s}}" % ", ".join(map(str, GROUPED)), (12, 8, 6), "bf16",
     lambda x: np.concatenate([x.reshape(2, 6, 8, 6)[:, p].reshape(-1, 8, 6) for p in (slice(4), slice(4, 5), slice(5, 6))])),
    ("FlashAttention: packed QKV", "(B,S,J,H,D){B,S,J,H,D}", "(B,S,J,H,D){J,B,H,S,D}", (2, 5, 3, 4, 8), "f16", lambda x: x.transpose(2, 0, 3, 1, 4)),
    ("gate and up projection, 16 rows of each in turn", "(J,N,K){J,N,K}", "(J,N,K){N//16, J, N%16, K}", (2, 48, 8), "bf16",
     lambda x: x.reshape(2, 3, 16, 8).swapaxes(0, 1)),
    ("onnx2torch 256: LSTM gates i f g o to i o f c", "(G,H,I){G,H,I}", "(G,H,I){T[G],H,I, T = {0,2,3,1}}", (4, 6, 5), "f32", lambda x: x[[0, 3, 1, 2]]),
    ("ngraph 3733: f i c o to i f c o", "(G,H,I){G,H,I}", "(G,H,I){T[G],H,I, T = {1,0,2,3}}", (4, 6, 5), "f32", lambda x: x[[1, 0, 2, 3]]),
    ("tensorflow 29308: i c f o to i f c o in columns", "(R,G,H){R,G,H}", "(R,G,H){R,T[G],H, T = {0,2,1,3}}", (7, 4, 6), "f32", lambda x: x[:, [0, 2, 1, 3]]),
    ("GRU gates r z n to z r h", "(G,H,I){G,H,I}", "(G,H,I){T[G],H,I, T = {1,0,2}}", (3, 6, 5), "f32", lambda x: x[[1, 0, 2]]),
    ("OIHW to HWIO", "(O,I,H,W){O,I,H,W}", "(O,I,H,W){H,W,I,O}", (8, 6, 3, 3), "f32", lambda x: x.transpose(2, 3, 1, 0)),
    ("a filter for the transposed convolution", "(O,I,H,W){O,I,H,W}(8,6,3,3)[..., ::-1, ::-1]", "(O,I,H,W){I,O,H,W}", (8, 6, 3, 3), "f32",
     lambda x: x[..., ::-1, ::-1].swapaxes(0, 1)),
    ("channels of each group padded to 4", "(G,C,H,W){G,C,H,W}", "(G,C,H,W){G, C//4, H, W, C%4}", (2, 6, 3, 5), "i8",
     lambda x: np.pad(x, [(0, 0), (0, 2), (0, 0), (0, 0)]).reshape(2, 2, 4, 3, 5).transpose(0, 1, 3, 4, 2)),
    ("llm-compressor 2440: AWQ to nibbles in order", "AWQ", "(K,N){K,N}", (4, 24), "u4", lambda x: x.reshape(-1, 8)[:, [0, 4, 1, 5, 2, 6, 3, 7]]),
    ("llm-awq 91: and back", "(K,N){K,N}", "AWQ", (4, 24), "u4", awq),
    ("AutoAWQ 101: GPTQ to AWQ gemv", "GPTQ4", "(K,N){N,K}", (16, 6), "u4", lambda x: x.reshape(2, 6, 8).swapaxes(0, 1)),
    ("vllm 48552: AWQ to GPTQ", "AWQ", "GPTQ4", (16, 24), "u4",
     lambda x: x.reshape(-1, 8)[:, [0, 4, 1, 5, 2, 6, 3, 7]].reshape(2, 8, 24).swapaxes(1, 2)),
    ("TransformerEngine 2691: the transpose of packed nibbles", "(R,C){R,C}", "(R,C){C,R}", (6, 10), "u4", lambda x: x.T),
    ("oneDNN 2353: of odd sizes", "(R,C){R,C}", "(R,C){C,R}", (5, 7), "u4", lambda x: x.T),
    ("nibbles with the first on top, to the first below", "INT4_HIGH", "INT4_LOW", (4, 10), "u4", lambda x: x.reshape(-1, 2)[:, ::-1]),
    ("ggml: nibbles j and j + 16 in a byte", "(B,K){B,K}", "(B,K){B, K%16, K//16}", (3, 32), "u4", lambda x: x.reshape(3, 2, 16).swapaxes(1, 2)),
    ("act_order: rows of GPTQ's weights by a permutation", "(K,N){K,N}(64,48)[perm]", "(K,N){K,N}", (64, 48), "u8", lambda x: x[PERM], None, [PERM]),
    # Blocks.
    ("oneDNN 71: seven channels in blocks of eight", "NCHW", "NCHW8", (1, 7, 1, 5), "f32", lambda x: pad(x, 1, 8, 1, 1).reshape(1, 1, 8, 1, 5).transpose(0, 1, 3, 4, 2)),
    ("oneDNN 486: nChw8c to nChw16c", "NCHW8", "NCHW16", (2, 32, 3, 4), "f32", lambda x: x.reshape(2, 2, 2, 3, 4, 8).transpose(0, 1, 3, 4, 2, 5)),
    ("oneDNN 320: aBC4c24b4c", "(a,b,c){a,b,c}", "(a,b,c){a, b//24, c//16, c//4%4, b%24, c%4}", (2, 30, 20), "i8",
     lambda x: pad(x, 1, 24, 16).reshape(2, 2, 24, 2, 4, 4).transpose(0, 1, 3, 4, 2, 5)),
    ("onnxruntime 7442: NHWC to blocks, channels no multiple", "NHWC", "NCHW16", (2, 3, 4, 20), "f32",
     lambda x: pad(x, 1, 1, 1, 16).reshape(2, 3, 4, 2, 16).transpose(0, 3, 1, 2, 4), (2, 20, 3, 4)),
    ("openvino 5297: bs_fs_yx_bsv16_fsv16", "NCHW", "(N,C,H,W){N//16, C//16, H, W, N%16, C%16}", (18, 20, 2, 3), "f16",
     lambda x: pad(x, 16, 16, 1, 1).reshape(2, 16, 2, 16, 2, 3).transpose(0, 2, 4, 5, 1, 3)),
    ("MIOpen 1419: an order of four dims", "(a,b,c,d){a,b,c,d}", "(a,b,c,d){c,b,a,d}", (3, 4, 5, 6), "f16", lambda x: x.transpose(2, 1, 0, 3)),
    ("tpp-mlir 257: VNNI", "(K,N){K,N}", "(K,N){K//2, N, K%2}", (7, 5), "bf16", lambda x: pad(x, 2, 1).reshape(4, 2, 5).swapaxes(1, 2)),
    ("linalg.pack with inner tiles 8 x 4 of both dims", "(A,B){A,B}", "(A,B){A//4, B//8, B%8, A%4}", (13, 19), "f32",
     lambda x: tiles(x, 4, 8).swapaxes(2, 3)),
    ("COL32", "(R,C){R,C}", "(R,C){C//32, R, C%32}", (5, 40), "i8", lambda x: pad(x, 1, 32).reshape(5, 2, 32).swapaxes(0, 1)),
    ("tt-xla 500: tiles of four faces", "(R,C){R,C}", "TENSTORRENT", (40, 64), "bf16", lambda x: tiles(x, 32, 32).reshape(-1, 2, 16, 2, 16).swapaxes(2, 3)),
    ("jax 7502: T(8,128)", "(R,C){R,C}", "(R,C){R//8, C//128, R%8, C%128}", (9, 130), "f32", lambda x: tiles(x, 8, 128)),
    ("vllm-ascend 16616: ND to NZ", "(H,W){H,W}", "(H,W){W//16, H//16, H%16, W%16}", (18, 34), "f16", lambda x: tiles(x, 16, 16).swapaxes(0, 1)),
    ("scale factors for cuBLAS", "(R,C){R,C}", "SF128x4", (130, 6), "u8", lambda x: pad(x, 128, 4).reshape(2, 4, 32, 2, 4).transpose(0, 3, 2, 1, 4)),
    ("an atom of SW128", "(M,K){M,K}", "SW128", (16, 64), "f16",
     lambda x: np.take_along_axis(x.reshape(16, 8, 8), (np.arange(8) ^ np.arange(16)[:, None] % 8)[:, :, None], 1)),
    # Caches and sequences.
    ("InfiniCore 1036: heads outside of slots", "KV_NHD", "KV_HND", (4, 16, 3, 8), "f16", lambda x: x.swapaxes(1, 2)),
    ("tt-metal 10100: keys to their slots", "(S,H,D){S,H,D}", "(S,H,D){S//16, H, D//8, S%16, D%8}(96,3,16)[slots]", (20, 3, 16), "f16",
     lambda x: paged(x, SLOTS).reshape(6, 16, 3, 2, 8).transpose(0, 2, 3, 1, 4), None, [SLOTS]),
    ("tt-metal 10100: values to their slots", "(S,H,D){S,H,D}", "(S,H,D){S//16, H, D, S%16}(96,3,16)[slots]", (20, 3, 16), "f16",
     lambda x: paged(x, SLOTS).reshape(6, 16, 3, 16).transpose(0, 2, 3, 1), None, [SLOTS]),
    ("a slot_mapping with -1", "(S,D){S,D}", "(S,D){S,D}(96,8)[skip slots]", (20, 8), "f16", lambda x: paged(x, DROPPED), None, [DROPPED]),
    ("the pages of a sequence, heads outermost", "KV_NHD(8,16,3,8)[i32 table]", "(P,T,H,D){H,P,T,D}", (8, 16, 3, 8), "f16",
     lambda x: x[PAGES].transpose(2, 0, 1, 3), (4, 16, 3, 8), [PAGES]),
    ("cu_seqlens: unpad a batch", "ROW_MAJOR(20,6)[tokens]", "ROW_MAJOR", (20, 6), "f16", lambda x: x[TOKENS], (13, 6), [TOKENS]),
    ("cu_seqlens: and pad it", "ROW_MAJOR", "ROW_MAJOR(20,6)[tokens]", (13, 6), "f16", lambda x: put(np.zeros((20, 6), x.dtype), TOKENS, x), None, [TOKENS]),
    ("beams in another order", "ROW_MAJOR(2,64,5)[:, beams]", "ROW_MAJOR", (2, 64, 5), "f16", lambda x: x[:, PERM], None, [PERM]),
    ("tokens of a mixture of experts in their order", "ROW_MAJOR", "ROW_MAJOR(64,5)[rows]", (64, 5), "bf16", lambda x: put(np.zeros_like(x), PERM, x), None, [PERM]),
    ("repeat_kv", "(B,K,S,D){B,K,S,D}(2,3,4,5)[:, :, None]", "(B,K,R,S,D){B,K,R,S,D}", (2, 3, 4, 5), "f16", lambda x: x[:, :, None].repeat(4, 2), (2, 3, 4, 4, 5)),
    ("time first", "(B,T,C){B,T,C}", "(B,T,C){T,B,C}", (3, 7, 5), "f32", lambda x: x.swapaxes(0, 1)),
    ("heads of a projection", "(B,S,C){B,S,C}", "(B,S,C){B, C//8, S, C%8}", (2, 5, 24), "f16", lambda x: x.reshape(2, 5, 3, 8).swapaxes(1, 2)),
]


def numbers(raw, dtype, n):
    """The elements of raw bytes; the first of a byte is in its lowest bits."""
    if dtype not in BITS:
        return raw.view(UINTS[dtype])[:n]
    of = 8 // BITS[dtype]
    return (raw[:, None] >> np.arange(of) * BITS[dtype] & (1 << BITS[dtype]) - 1).reshape(-1)[:n]


def packed(x, dtype):
    if dtype not in BITS:
        return np.ascontiguousarray(x).view("u1").reshape(-1)
    of = 8 // BITS[dtype]
    x = np.pad(x.reshape(-1), (0, -x.size % of)).reshape(-1, of)
    return (x << np.arange(of) * BITS[dtype]).sum(1).astype("u1")


@pytest.mark.parametrize("case", ASKED, ids=[a[0] for a in ASKED])
def test_asked(case):
    _, source, to, given, dtype, answer, shape, arrays = (*case, None, None)[:8]
    x = data(given, UINTS[dtype]) & (1 << BITS.get(dtype, 64)) - 1 if dtype in BITS else data(given, UINTS[dtype])
    want = np.ascontiguousarray(answer(x)).reshape(-1)
    with ravel.Context() as cx, cx.plan(source, to, shape or given, dtype) as p:
        raw = packed(x, dtype)
        assert p.src_bytes <= raw.size
        y = np.zeros(p.dst_bytes, "u1")
        if arrays:
            run(p, y, raw, arrays)
        else:
            assert not ravel.lib.ravel_run(p.p, y.ctypes.data, raw.ctypes.data)
        got = numbers(y, dtype, want.size)
        assert got.size == want.size and np.array_equal(got, want)
        p.verify()
