/* For each line of hexadecimal bytes, a packet: TTL_i and TTL_f of its option, or a dash. */
#include "shim.h"

#include "route.h"

int main(void)
{
	char line[1024];

	while (fgets(line, sizeof(line), stdin)) {
		size_t length = strspn(line, "0123456789abcdef") / 2, i;
		/* As long as the packet, so that the sanitizer sees a read beyond it. */
		u8 *packet = malloc(length + !length);
		const u8 *route;

		for (i = 0; i < length; i++) {
			char digits[] = { line[2 * i], line[2 * i + 1], 0 };

			packet[i] = strtoul(digits, NULL, 16);
		}
		route = aqmlab_route_of(packet, packet + length);
		if (route)
			printf("%d %d\n", route[0], route[1]);
		else
			printf("-\n");
		free(packet);
	}
	return 0;
}
