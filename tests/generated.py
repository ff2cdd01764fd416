"""generated/: which kernels it holds, and `make generated` (--write RAVEL)."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "generated"
MAP, FILTER, MATRIX = "8,64,56,56", "128,64,3,3", "1024,768"

# name: from, to, shape, dtype
RELAYOUTS = {
    "nchw_to_nhwc_f32": ("NCHW", "NHWC", MAP, "f32"),
    "nhwc_to_nchw_f32": ("NHWC", "NCHW", MAP, "f32"),
    "nhwc_to_nchw_rgb_u8": ("NHWC", "NCHW", "1,3,224,224", "u8"),
    "nchw_to_chwn_f32": ("NCHW", "CHWN", MAP, "f32"),
    "nchw_to_nchw4_i8": ("NCHW", "NCHW4", MAP, "i8"),
    "nchw_to_nchw16_f32": ("NCHW", "NCHW16", MAP, "f32"),
    "nchw8_to_nchw16_f32": ("NCHW8", "NCHW16", "8,20,56,56", "f32"),
    "nchw_to_nc1hwc0_f16": ("NCHW", "NC1HWC0", "8,71,56,56", "f16"),
    "nc1hwc0_to_nchw_f16": ("NC1HWC0", "NCHW", "8,71,56,56", "f16"),
    "nchw_to_fractal_z_f16": ("NCHW", "FRACTAL_Z", FILTER, "f16"),
    "row_major_to_fractal_nz_f16": ("ROW_MAJOR", "FRACTAL_NZ", MATRIX, "f16"),
    "fractal_nz_to_row_major_f16": ("FRACTAL_NZ", "ROW_MAJOR", MATRIX, "f16"),
    "row_major_to_fractal_zz_f16": ("ROW_MAJOR", "FRACTAL_ZZ", MATRIX, "f16"),
    "row_major_to_col_major_f32": ("ROW_MAJOR", "COL_MAJOR", MATRIX, "f32"),
    "row_major_to_blocked_f32": ("ROW_MAJOR", "BLOCKED_RR{BM=32, BN=32}", MATRIX, "f32"),
    "row_major_to_interleaved_i8": ("ROW_MAJOR", "COL_INTERLEAVED", MATRIX, "i8"),
    "blocks_48_to_32_f32": ("(O,I,H,W){O//48, I, H, W, O%48}",
                            "(O,I,H,W){O//32, I, H, W, O%32}", "192,64,3,3", "f32"),
    "row_major_to_sw128_f16": ("ROW_MAJOR", "SW128", "128,64", "f16"),
    "row_major_to_vnni2_bf16": ("ROW_MAJOR", "VNNI2", MATRIX, "bf16"),
    "row_major_to_amx_i8": ("ROW_MAJOR", "AMX_B8", MATRIX, "i8"),
    "row_major_to_int4_high_u4": ("ROW_MAJOR", "INT4_HIGH", MATRIX, "u4"),
    "row_major_to_marlin_u4": ("ROW_MAJOR", "MARLIN", MATRIX, "u4"),
    "row_major_to_awq_u4": ("ROW_MAJOR", "AWQ", MATRIX, "u4"),
    "row_major_to_sf128x4_u8": ("ROW_MAJOR", "SF128x4", "1000,90", "u8"),
    "row_major_to_morton16_f32": ("ROW_MAJOR", "MORTON16", MATRIX, "f32"),
}
# name: kind, layout, shape, dtype
FUNCTIONS = {
    "nc1hwc0_offset_f16": ("offset", "NC1HWC0", "8,71,56,56", "f16"),
    "nc1hwc0_inverse_f16": ("inverse", "NC1HWC0", "8,71,56,56", "f16"),
    "sw128_offset_f16": ("offset", "SW128", "128,64", "f16"),
    "sw128_inverse_f16": ("inverse", "SW128", "128,64", "f16"),
    "seed83_inverse_f32": ("inverse", "SEED83", "64,64", "f32"),
}


def commands():
    """(file name, arguments of ravel emit without -o)"""
    for name, (a, b, shape, dtype) in RELAYOUTS.items():
        yield name, ["--from", a, "--to", b, "--shape", shape, "--dtype", dtype, "--name", name]
    for name, (kind, layout, shape, dtype) in FUNCTIONS.items():
        yield name, ["--kind", kind, "--to", layout, "--shape", shape, "--dtype", dtype, "--name", name]


def text(ravel, args):
    return subprocess.run([ravel, "emit", *args, "-o", "-"], check=True, capture_output=True).stdout


def write(ravel):
    """Rewrite what changed, say so, and remove what is no longer listed."""
    known = {name + ".c" for name, _ in commands()}
    for name, args in commands():
        path, new = FOLDER / (name + ".c"), text(ravel, args)
        old = path.read_bytes() if path.exists() else None
        if old != new:
            path.write_bytes(new)
        print("%-9s %s" % ("unchanged" if old == new else "wrote", path.relative_to(ROOT)))
    for path in FOLDER.glob("*.c"):
        if path.name not in known:
            path.unlink()
            print("removed  ", path.relative_to(ROOT))


if __name__ == "__main__":
    assert sys.argv[1] == "--write"
    write(sys.argv[2])
