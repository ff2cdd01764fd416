"""runtime/ravel_gpu.h through ctypes."""

import ctypes as ct

import ravel


class Info(ct.Structure):
    _fields_ = [("kind", ct.c_int), ("ordinal", ct.c_int), ("name", ct.c_char * 256), ("version", ct.c_char * 128), ("driver", ct.c_char * 128),
                ("memory", ct.c_int64), ("shared", ct.c_int64), ("grid", ct.c_int64), ("block", ct.c_int), ("processors", ct.c_int)]


class Source(ct.Structure):
    _fields_ = [("source", ct.c_char_p), ("entry", ct.c_char_p), ("grid", ct.c_int64), ("block", ct.c_int), ("shared_bytes", ct.c_int),
                ("options", ct.c_char_p)]


class PlanInfo(ct.Structure):
    _fields_ = [("src_bytes", ct.c_int64), ("dst_bytes", ct.c_int64), ("align", ct.c_int), ("block", ct.c_int), ("grid", ct.c_int64),
                ("shared_bytes", ct.c_int64), ("values", ct.c_int), ("function", ct.c_void_p), ("entry", ct.c_char_p), ("source", ct.c_char_p),
                ("check", ct.c_void_p)]


def typed(so):
    p, err, size = ct.c_void_p, ct.POINTER(ravel.Err), ct.POINTER(ct.c_int64)
    for name, *args in [
            ("list", ct.c_int, ct.POINTER(Info), ct.c_int, ct.POINTER(ct.c_int), err), ("open", ct.c_int, ct.c_int, ct.POINTER(p), err),
            ("of_cuda", ct.POINTER(p), err), ("of_opencl", p, p, ct.POINTER(p), err), ("about", p, ct.POINTER(Info)),
            ("set_cache", p, ct.c_int, ct.c_int64, err), ("compile", p, ct.POINTER(Source), ct.POINTER(p), err), ("launch", p, p, p, p, err),
            ("set_folder", p, ct.c_char_p, err), ("plan_new", p, p, ct.POINTER(ravel.Request), ct.c_int, ct.POINTER(p), err), ("batch_new", p, p, ct.POINTER(ravel.Request), ct.c_int, ct.POINTER(p), err), ("plan_about", p, ct.POINTER(PlanInfo)),
            ("run", p, p, p, p, err), ("run_shape", p, p, p, p, size, err), ("run_arrays", p, p, p, p, size, ct.POINTER(p), p, err), ("plan_arrays", p, p), ("run_batch", p, p, ct.POINTER(p), ct.POINTER(p), ct.c_int64, size, err), ("plan_variant", p, p, p), ("plan_at", p, size, size, size, size, size, err)]:
        getattr(so, "ravel_device_" + name).argtypes = args
    so.ravel_device_plan_variant.restype = p
    for name, *args in [("free", p), ("kernel_free", p), ("plan_free", p), ("handles", p, *[ct.POINTER(p)] * 3)]:
        f = getattr(so, "ravel_device_" + name)
        f.argtypes, f.restype = args, None
    return so


lib = typed(ct.CDLL(str(ravel.BUILD / "libravel.so")))
