/*
 * The curves of a generated module after changes, in user space, as JSON. Arguments: for
 * each change the number of the class from 0, min_th, max_th and max_p in integers. A line
 * has the curve of that class after the change; changes add up. It is an error if a change
 * is not allowed, or alters the state of the queue.
 */
#include "shim.h"

#include "decision.h"

static struct aqmlab_queue queue;

/* What no change may touch: averages, counts and what waits. */
#define STATE		((char *)&queue + offsetof(struct aqmlab_queue, average))
#define STATE_BYTES	(offsetof(struct aqmlab_queue, own) - offsetof(struct aqmlab_queue, average))

static void print_curve(u32 class)
{
	const struct aqmlab_curve *curve = &queue.own.curve[class];
	u32 next = class + 1 < AQMLAB_CLASSES ? aqmlab_curves[class + 1].points : AQMLAB_POINTS;
	u32 i;

	printf("{\"begin\": %llu, \"end\": %llu, \"above\": %u, \"segments\": [",
	       (unsigned long long)curve->begin, (unsigned long long)curve->end, curve->above);
	for (i = 0; i < curve->segments; i++)
		printf("%s{\"from\": %llu, \"scale\": %llu, \"shift\": %u, \"first\": %u}", i ? ", " : "",
		       (unsigned long long)curve->segment[i].from,
		       (unsigned long long)curve->segment[i].scale, curve->segment[i].shift,
		       curve->segment[i].first);
	printf("], \"points\": [");
	for (i = curve->points; i < next; i++)
		printf("%s%u", i > curve->points ? ", " : "", queue.own.point[i]);
	printf("]");
#if AQMLAB_ADAPTATION == AQMLAB_ADAPTIVE_RED
	printf(", \"target\": [%llu, %llu]", (unsigned long long)queue.own.target[class].low,
	       (unsigned long long)queue.own.target[class].high);
#endif
	printf("}\n");
}

int main(int count, char **words)
{
	static char state[STATE_BYTES];

	aqmlab_defaults(&queue);
	aqmlab_reset(&queue, 0);
	memset(STATE, 0x5a, STATE_BYTES);
	memcpy(state, STATE, STATE_BYTES);
	for (count--, words++; count >= 4; count -= 4, words += 4) {
		struct aqmlab_settings settings = queue.settings;
		u32 class = atoi(words[0]);

		settings.bounds[class] = (struct aqmlab_bounds){
			.min = strtoull(words[1], NULL, 10),
			.max = strtoull(words[2], NULL, 10),
			.max_p = strtoull(words[3], NULL, 10),
		};
		if (!aqmlab_has_order(&settings.bounds[class]) || !aqmlab_has_probability(&settings.bounds[class]))
			return 1;
		aqmlab_change_settings(&queue, &settings);
		if (memcmp(state, STATE, STATE_BYTES))
			return 1;
		print_curve(class);
	}
	return 0;
}
