-- cuda.lua: the target CUDA C++, for nvcc and NVRTC.  Every field is explained in README.md.
-- Names of the forms prefixA, prefixB, ...: those of libraries.
local function capitals(prefix)
  local s, letters = "", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
  for i = 1, #letters do
    s = s .. prefix .. letters:sub(i, i) .. "* "
  end
  return s
end

return {
  name = "cuda", model = "blocks",
  div = "/", mod = "%", xor = "^", ["and"] = "&", min = "ravel_min", max = "ravel_max",
  comment_open = "/* ", comment_line = " * ", comment_close = " */",
  comment = "/* ${text} */",
  index = "unsigned int", index_wide = "long long",
  type1 = "unsigned char", type2 = "unsigned short", type4 = "unsigned int", type8 = "uint2", type16 = "uint4",
  prologue = "blocks/cuda.h",
  kernel_open = [[
extern "C" __global__ void __launch_bounds__(${threads})
${name}(void *__restrict__ dst, const void *__restrict__ src)
{
]],
  close = "}\n",
  shared = "__shared__ uint4 shared[${vectors}];",
  grid_block = "blockIdx.x", grid_block_rows = "(blockIdx.y*gridDim.x + blockIdx.x)",
  box_only = "{", box_first = "if (${block} < ${end}) {", box_open = "if (${block} >= ${first} && ${block} < ${end}) {", box_close = "}",
  block_first = "const ${type} b = ${block};", block = "const ${type} b = ${block} - ${first};",
  phase_open = "{ const ${type} t = threadIdx.x;", phase_close = "}",
  barrier = "__syncthreads();",
  for_open = "_Pragma(\"unroll\") for (${type} ${name} = 0; ${name} < ${count}; ${name}++) {", for_close = "}",
  when_open = "if (${text}) {", when_close = "}",
  constant = "const ${type} ${name} = ${value};", assign = "${name} = ${value};", array = "${type} ${name}[${count}];",
  variable = "${type} ${name} = ${value};", put = "${name} = (${name} & ~(${mask} << (${at}))) | (${type})${value} << (${at});",
  load_dst = "((const ${type} *)dst)[${index}]",
  load = "((const ${type} *)src)[${index}]", load_shared = "((const ${type} *)shared)[${index}]",
  store = "((${type} *)dst)[${index}] = ${value};", store_shared = "((${type} *)shared)[${index}] = ${value};",
  vector2 = "make_uint2(${x}, ${y})", vector4 = "make_uint4(${x}, ${y}, ${z}, ${w})",
  permute = "__byte_perm(${x}, ${y}, ${pattern})",
  nibbles_low = "(${x} & 0x0f0f0f0fu) | (${y} & 0x0f0f0f0fu) << 4", nibbles_high = "(${x} >> 4 & 0x0f0f0f0fu) | (${y} & 0xf0f0f0f0u)",
  -- the address of an index, and back
  let = "const long long ${name} = ${value};", set = "out[${index}] = ${value};",
  check = "if (${value} < ${least} || ${value} > ${most}) return 0;", same = "if (${value} != ${other}) return 0;",
  unused = "(void)${name};", ret = "return ${value};", param = "long long ${name}", no_params = "void",
  offset_open = [[
static __device__ __forceinline__ long long
${name}(${params})
{
]],
  inverse_open = [[
static __device__ __forceinline__ int
${name}(long long a, long long *out)
{
]],
  index_close = "}\n",
  -- a lane's registers from a tile, and back
  tile_load_open = [[
static __device__ __forceinline__ void
${name}(unsigned int *r, const void *src, unsigned int f, unsigned int t)
{
]],
  tile_store_open = [[
static __device__ __forceinline__ void
${name}(void *dst, const unsigned int *r, unsigned int f, unsigned int t)
{
]],
  -- what CUDA and HIP declare before the kernel, with them the headers of the C library (glibc), and keywords of C++20
  reserved = capitals("cuda") .. capitals("make_cuda") .. capitals("hip") .. capitals("make_hip") .. capitals("atomic")
    .. "threadIdx blockIdx blockDim gridDim clusterDim clusterIdx warpSize dim3 char1 char2 char3 char4 uchar1 uchar2 uchar3 uchar4 short1 short2 "
    .. "short3 short4 ushort1 ushort2 ushort3 ushort4 int1 int2 int3 int4 uint1 uint2 uint3 uint4 long1 long2 long3 long4 ulong1 ulong2 ulong3 "
    .. "ulong4 longlong1 longlong2 longlong3 longlong4 ulonglong1 ulonglong2 ulonglong3 ulonglong4 float1 float2 float3 float4 double1 double2 "
    .. "double3 double4 cuda cudalibraryHostUniversalFunctionAndDataTable cudart_builtin CUDA_* CUDART* CUDAlogLevel_enum CU_UUID_HAS_BEEN_DEFINED "
    .. "CUdev* CUevent* CUexternal* CUfunc* CUgraph* CUkern* CUlib* CUlogs* CUmemPool* CUstream_st CUuserObject* CUuuid* HIP_* HIPRT* hip_impl "
    .. "hip_ldg make_char* make_uchar* make_short* make_ushort* make_int* make_uint* make_long* make_ulong* make_float* make_double* make_half* "
    .. "tex1D* tex2D* tex3D* texCubemap* surf1D* surf2D* surf3D* surfCubemap* nvcuda std concept requires consteval constinit co_await co_return "
    .. "co_yield min max umin umax llmin llmax ullmin ullmax rsqrt rsqrtf rcbrt rcbrtf rhypot rhypotf norm normf rnorm rnormf norm3d norm4d "
    .. "rnorm3d rnorm4d sincos sincosf sinpi sinpif cospi cospif sincospi sincospif exp10 exp10f erfinv erfinvf erfcinv erfcinvf erfcx erfcxf "
    .. "normcdf normcdff normcdfinv normcdfinvf cyl_bessel_i0 cyl_bessel_i0f cyl_bessel_i1 cyl_bessel_i1f fdivide fdividef clock64 nanosleep a64l "
    .. "aligned_alloc arc4random* asctime_r asprintf canonicalize* clearenv clearerr_unlocked clock_* ctermid ctime_r cuserid daddl daylight ddivl "
    .. "dfmal dmull dprintf drand48 drand48_r drem dremf dreml dsqrtl dsubl dysize ecvt ecvt_r erand48 erand48_r exp10l explicit_bzero fadd faddl "
    .. "fcloseall fcvt fcvt_r fd_mask fd_set fdiv fdivl fdopen feof_unlocked ferror_unlocked fflush_unlocked ffma ffmal ffsll fgetc_unlocked "
    .. "fgetpos64 fgets_unlocked fileno fileno_unlocked finite* flockfile fmaximum* fmaxmag* fmemopen fminimum* fminmag* fmul fmull fopen64 "
    .. "fopencookie fputc_unlocked fputs_unlocked fread_unlocked freopen64 fromfp* fseeko fseeko64 fsetpos64 fsqrt fsqrtl fsub fsubl ftello "
    .. "ftello64 ftrylockfile funlockfile fwrite_unlocked gcvt getc_unlocked getchar_unlocked getdate getdate_err getdate_r getdelim getline "
    .. "getloadavg getpayload* getpt getsubopt getw gmtime_r grantpt initstate initstate_r isalnum_l isalpha_l isascii isblank_l iscntrl_l isctype "
    .. "isdigit_l isgraph_l isinff isinfl islower_l isnanf isnanl isprint_l ispunct_l isspace_l isupper_l isxdigit_l jrand48 jrand48_r l64a "
    .. "lcong48 lcong48_r lgamma* libraryPropertyType llogb* localtime_r lrand48 lrand48_r mbstowcs mkdtemp mkostemp* mkstemp* mktemp mrand48 "
    .. "mrand48_r nextdown* nexttoward* nextup* norm3df norm4df nrand48 nrand48_r obstack_* on_exit open_memstream pclose popen posix_memalign "
    .. "posix_openpt pselect ptsname ptsname_r putc_unlocked putchar_unlocked putenv putw qecvt qecvt_r qfcvt qfcvt_r qgcvt qsort_r quick_exit "
    .. "rand_r random random_r reallocarray realpath remquo* renameat renameat2 rnorm3df rnorm4df roundeven* rpmatch scalb* secure_getenv seed48 "
    .. "seed48_r select setbuffer setenv setlinebuf setpayload* setstate setstate_r sigabbrev_np sigdescr_np signgam significand* sincosl srand48 "
    .. "srand48_r srandom srandom_r stderr stdin stdout stpcpy stpncpy tempnam timegm timelocal timer_* timespec_get timespec_getres timezone "
    .. "tmpfile64 tmpnam_r toascii tolower_l totalorder* toupper_l tzname tzset u_char u_int u_long u_short ufromfp* unlockpt unsetenv va_list "
    .. "valloc vasprintf vdprintf vfscanf vscanf vsscanf",
}
