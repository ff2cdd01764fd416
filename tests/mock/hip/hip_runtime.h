/* hip_runtime.h: of HIP's header what our kernels use, for a clang that has none. */
#ifndef RAVEL_MOCK_HIP
#define RAVEL_MOCK_HIP

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))

struct __attribute__((aligned(8))) uint2 {
    unsigned x, y;
};
struct __attribute__((aligned(16))) uint4 {
    unsigned x, y, z, w;
};
#define make_uint2(x, y) (uint2{x, y})
#define make_uint4(x, y, z, w) (uint4{x, y, z, w})

struct RavelIndex {
    unsigned x, y;
};
#define blockIdx (RavelIndex{__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y()})
#define threadIdx (RavelIndex{__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y()})
#define gridDim (RavelIndex{__builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_grid_size_y()})

static __device__ __forceinline__ void
__syncthreads(void)
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/* v_perm_b32 counts the bytes of its second operand first. */
static __device__ __forceinline__ unsigned
__byte_perm(unsigned x, unsigned y, unsigned s)
{
    return __builtin_amdgcn_perm(y, x, (s & 7) | (s >> 4 & 7) << 8 |
                                           (s >> 8 & 7) << 16 | (s >> 12 & 7) << 24);
}

static __device__ __forceinline__ unsigned long long
__umul64hi(unsigned long long x, unsigned long long y)
{
    return (unsigned long long)(((unsigned __int128)x * y) >> 64);
}

#endif
