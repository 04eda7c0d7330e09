/* 60 packets, one each 0.5 ms, at a RED queue before a link that sends each in 1 ms. */
#include <inttypes.h>
#include <stdio.h>

#include "aqmlab.h"

static uint64_t next_number(void *state) /* xorshift64* */
{
    uint64_t *x = state;
    *x ^= *x >> 12, *x ^= *x << 25, *x ^= *x >> 27;
    return *x * UINT64_C(0x2545F4914F6CDD1D);
}

int main(void)
{
    static const char *const verdicts[] = {"enqueued", "marked", "dropped"};
    uint64_t seed = 1, free_at = 0;
    aqmlab_random random = {.next = next_number, .state = &seed};
    aqmlab_queue *queue;
    if (aqmlab_queue_new("aqm = 'red'\nmin_th = '5p'\nmax_th = '25p'\nmax_p = 0.5\nw_q = 0.1\necn = true", 10000000, 0, &queue))
        return fprintf(stderr, "%s\n", aqmlab_error()), 1;
    for (uint64_t id = 0, now = 0; id < 60; id++, now += 500000) {
        aqmlab_packet packet = {.id = id, .length = 1250, .flow = 1, .ecn = id % 2 ? 2 : 0};
        aqmlab_event verdict;
        if (aqmlab_enqueue(queue, now, &packet, &random, &verdict))
            return fprintf(stderr, "%s\n", aqmlab_error()), 1;
        printf("%" PRIu64 " %s %s\n", id, verdicts[verdict.verdict], verdict.reason);
        aqmlab_departure next;
        if (now >= free_at && !aqmlab_dequeue(queue, now, &random, &next) && next.answer == AQMLAB_ANSWER_PACKET) {
            printf("%" PRIu64 " sent\n", next.packet.id);
            free_at = now + 1000000;
        }
    }
    aqmlab_queue_free(queue);
    return 0;
}
