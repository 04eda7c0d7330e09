/* Products of 64 bits by halves, compared with products of 128 bits. The output is empty, or the first difference. */
#define SHIM_BPF
#include "shim.h"

int main(void)
{
	u32 i;

	for (i = 0; i < 1000000; i++) {
		u64 a = shim_random() >> (shim_random() & 63);
		u64 b = shim_random() >> (shim_random() & 63);
		unsigned int shift = i % 64;
		u64 right = (u64)(((unsigned __int128)a * b) >> shift);

		if (mul_u64_u64_shr(a, b, shift) != right) {
			printf("%llu %llu %u\n", (unsigned long long)a, (unsigned long long)b, shift);
			return 1;
		}
	}
	return 0;
}
