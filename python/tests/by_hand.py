"""DLPack tensors of another library, by ctypes."""
import ctypes as ct


class Tensor(ct.Structure):
    _fields_ = [("data", ct.c_void_p), ("device", ct.c_int32), ("id", ct.c_int32), ("ndim", ct.c_int32), ("code", ct.c_uint8), ("bits", ct.c_uint8),
                ("lanes", ct.c_uint16), ("shape", ct.POINTER(ct.c_int64)), ("strides", ct.POINTER(ct.c_int64)), ("offset", ct.c_uint64)]


class Managed(ct.Structure):
    pass


Deleter = ct.CFUNCTYPE(None, ct.POINTER(Managed))
Managed._fields_ = [("t", Tensor), ("manager", ct.c_void_p), ("deleter", Deleter)]


class Versioned(ct.Structure):
    pass


VersionedDeleter = ct.CFUNCTYPE(None, ct.POINTER(Versioned))
Versioned._fields_ = [("major", ct.c_uint32), ("minor", ct.c_uint32), ("manager", ct.c_void_p), ("deleter", VersionedDeleter), ("flags", ct.c_uint64),
                      ("t", Tensor)]


def capsule(structure, name):
    new = ct.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ct.py_object, [ct.c_void_p, ct.c_char_p, ct.c_void_p]
    return new(ct.addressof(structure), name, None)


class ByHand:
    """A tensor of another library: of bf16 on the CPU unless told otherwise."""
    def __init__(self, x, strides=None, offset=0, device=1, code=4, bits=16):
        self.deleted = 0
        numbers = ct.c_int64 * x.ndim
        self.keep = x, numbers(*x.shape), strides and numbers(*strides), Deleter(self.delete)
        self.m = Managed(Tensor(x.ctypes.data - offset, device, 0, x.ndim, code, bits, 1, self.keep[1], self.keep[2], offset), None, self.keep[3])

    def delete(self, _):
        self.deleted += 1

    def __dlpack__(self):
        return capsule(self.m, b"dltensor")


class ByVersion(ByHand):
    """The same by DLPack 1, for a consumer that asks for it.  flags: 1: it must not be written to; 2: it is a copy."""
    def __init__(self, x, flags=0, major=1, **kind):
        super().__init__(x, **kind)
        self.v = Versioned(major, 3, None, VersionedDeleter(self.delete), flags, self.m.t)

    def __dlpack__(self, stream=None, max_version=None):
        return super().__dlpack__() if max_version is None else capsule(self.v, b"dltensor_versioned")


Lend = ct.PYFUNCTYPE(ct.c_int, ct.py_object, ct.POINTER(ct.c_void_p))


class Table(ct.Structure):
    """The functions of DLPack 1.3, of which one is there."""


Table._fields_ = [("major", ct.c_uint32), ("minor", ct.c_uint32), ("older", ct.POINTER(Table)), ("make", ct.c_void_p), ("lend", Lend)]


def of_table(lend, *majors):
    """A class of tensors whose table has this function, and before it tables of other major versions."""
    table = Table(majors[-1], 3, None, None, lend)
    for major in majors[-2::-1]:
        table = Table(major, 0, ct.pointer(table), None, Lend())
    return type("OfTable", (ByVersion,), {"__dlpack_c_exchange_api__": capsule(table, b"dlpack_exchange_api"), "keep_table": (table, lend)})
