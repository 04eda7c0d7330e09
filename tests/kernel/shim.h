/* The few helpers of the kernel that decision.h uses, in user space. */
#ifndef SHIM_H
#define SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define noinline		__attribute__((__noinline__))
#define unlikely(condition)	__builtin_expect(!!(condition), 0)

typedef uint8_t u8;
typedef uint8_t __u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
typedef uint32_t __le32;
typedef uint64_t __le64;

#ifdef SHIM_BPF
#include "arithmetic.h"
#else
#define fallthrough		__attribute__((__fallthrough__))
#define S32_MAX			INT32_MAX
#define U32_MAX			UINT32_MAX
#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define clamp_t(type, x, low, high) \
	((type)(x) < (type)(low) ? (type)(low) : min_t(type, x, high))

static inline u64 div_u64(u64 a, u32 b)
{
	return a / b;
}

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	return (u64)(((unsigned __int128)a * b) >> shift);
}

static inline u64 mul_u64_u32_shr(u64 a, u32 b, unsigned int shift)
{
	return mul_u64_u64_shr(a, b, shift);
}
#endif

/* The number of the highest bit from 1, 0 of 0; that of the lowest from 0. */
static inline int fls(u32 x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}

static inline u32 __ffs64(u64 x)
{
	return __builtin_ctzll(x);
}

/* splitmix64 (Steele, Lea and Flood 2014). */
static u64 shim_state;

static inline u64 shim_random(void)
{
	u64 z = shim_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static inline u32 aqmlab_random(void)
{
	return (u32)(shim_random() >> 32);
}

#endif
