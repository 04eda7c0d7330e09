/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The helpers of the kernel's headers that decision.h uses, where these headers are
 * not to be had. BPF has no integers of 128 bits.
 */
#ifndef AQMLAB_ARITHMETIC_H
#define AQMLAB_ARITHMETIC_H

#define fallthrough		__attribute__((__fallthrough__))
#define S32_MAX			2147483647
#define U32_MAX			4294967295U
#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define max_t(type, a, b)	((type)(a) > (type)(b) ? (type)(a) : (type)(b))
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

/* a b / 2^shift, modulo 2^64, for shifts of 0 to 63, by products of halves. */
static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	u64 low = (a & U32_MAX) * (b & U32_MAX);
	u64 cross = (a >> 32) * (b & U32_MAX);
	u64 other = (a & U32_MAX) * (b >> 32);
	u64 middle = (low >> 32) + (cross & U32_MAX) + (other & U32_MAX);
	u64 high = (a >> 32) * (b >> 32) + (cross >> 32) + (other >> 32) + (middle >> 32);

	low = middle << 32 | (low & U32_MAX);
	return shift ? high << (64 - shift) | low >> shift : low;
}

static inline u64 mul_u64_u32_shr(u64 a, u32 b, unsigned int shift)
{
	return mul_u64_u64_shr(a, b, shift);
}

#endif
