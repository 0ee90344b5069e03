// Kernel bodies are tested on the host with a toy field, so they are written as host-and-device functions.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __CUDACC__
#define CUZK_HD __host__ __device__ __forceinline__
// For rare cases: kept out of the hot loop's code and registers.
#define CUZK_HD_RARE __host__ __device__ __noinline__
#define CUZK_UNROLL _Pragma("unroll")
#define CUZK_NO_UNROLL _Pragma("unroll 1")
#else
#define CUZK_HD inline
#define CUZK_HD_RARE inline
#define CUZK_UNROLL
#define CUZK_NO_UNROLL
#endif
