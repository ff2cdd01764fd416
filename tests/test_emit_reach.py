"""An emitted file has what its calls can reach of the kernels' text, and nothing else."""
import re
import subprocess

import pytest

import ravel

RAVEL = str(ravel.BUILD / "ravel")
# Shapes of NCHW -> NHWC, and which parts of a transpose they can reach: columns are C, their distance is H*W elements.
REACHED = [("2,64,56,56", "f32", ""), ("2,60,56,56", "f32", "strips"), ("2,64,32,32", "f32", "pages"), ("2,72,32,32", "f32", "pages strips"),
           ("2,64,64,32", "i8", "pages"), ("2,48,9,9", "i64", ""), ("3,20,9,9", "i64", "strips"), ("8,60,130,127", "f32", "staged strips")]


def defined(text):
    """Functions and macros at file scope; a type or a constant has no pattern as simple."""
    return re.findall(r"^#define (\w+)", text, re.M) + re.findall(r"^(ravel_\w+)\(", text, re.M)


def unused(text):
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    names = defined(code)
    pasted = tuple(p for p in re.findall(r"(\w+)##", code) if p != "ravel_")
    return sorted({n for n in names if len(re.findall(r"\b%s\b" % n, code)) == names.count(n) and not (pasted and n.startswith(pasted))})


@pytest.mark.parametrize("path", sorted((ravel.ROOT / "generated").glob("*.c")), ids=lambda p: p.stem)
def test_nothing_is_unused(path):
    text = path.read_text()
    _, _, own = text.rpartition("#ifdef __cplusplus\nextern")
    assert set(unused(text)) - set(defined(own)) <= {"RAVEL_RESTRICT"}, path
    assert "RAVEL_WITHOUT" not in text


def test_a_definition_without_a_use_is_seen():
    assert unused("#define A(x) b##x\n#define b1 2\n#define C A(1)\nravel_f(int x)\n{\n}\n") == ["C", "ravel_f"]


@pytest.mark.parametrize("shape, dtype, parts", REACHED)
def test_parts_of_a_transpose(tmp_path, shape, dtype, parts):
    """A part that is left out is not missed: the compiled function is proven for the shape."""
    out = tmp_path / "f.c"
    r = subprocess.run([RAVEL, "emit", "--from", "NCHW", "--to", "NHWC", "--shape", shape, "--dtype", dtype, "-o", out, "--check", "gcc -O1"],
                       capture_output=True, text=True, timeout=120)
    assert r.returncode == 0 and r.stderr == "" and r.stdout.startswith("yes: "), r
    text = out.read_text()
    assert {p for p in ("pages", "staged", "strips") if re.search(r"^ravel_%s\d\(" % p, text, re.M)} == set(parts.split())


def test_extents_of_run_time_reach_all(tmp_path):
    out = tmp_path / "f.c"
    subprocess.run([RAVEL, "emit", "--from", "NCHW", "--to", "NHWC", "--shape", "N,C,H,W", "--dtype", "f32", "-o", out], check=True)
    text = out.read_text()
    assert all("\nravel_%s4(" % p in text for p in ("pages", "staged", "strips"))


def test_a_reader_sees_one_transpose():
    assert len((ravel.ROOT / "generated/nchw_to_nhwc_f32.c").read_text().splitlines()) <= 380
