/* Every function of aqmlab.h, with right and wrong arguments. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "aqmlab.h"

#define MS UINT64_C(1000000)

static aqmlab_queue *made(const char *settings)
{
    aqmlab_queue *queue = NULL;
    if (aqmlab_queue_new(settings, 10000000, 10 * MS, &queue))
        fprintf(stderr, "%s\n", aqmlab_error());
    assert(queue);
    return queue;
}

static int error_has(const char *part)
{
    if (!strstr(aqmlab_error(), part))
        fprintf(stderr, "the error is: %s\n", aqmlab_error());
    return strstr(aqmlab_error(), part) != NULL;
}

static void errors(void)
{
    aqmlab_queue *queue = (aqmlab_queue *)&queue;
    assert(!*aqmlab_error());
    assert(aqmlab_queue_new("aqm = 'red'\nmin_th = '5p'\nmax_ht = '15p'\n", 10000000, 0, &queue) == AQMLAB_STATUS_SETTINGS);
    assert(!queue && error_has("queue:3:1: max_ht: ") && error_has("did you mean \"max_th\""));
    assert(aqmlab_queue_new("aqm = 'red'", 0, 0, &queue) == AQMLAB_STATUS_ARGUMENT && error_has("rate_bps: 0"));
    assert(aqmlab_queue_new(NULL, 1, 0, &queue) == AQMLAB_STATUS_ARGUMENT && error_has("settings: null"));
    assert(aqmlab_queue_new("\xff", 1, 0, &queue) == AQMLAB_STATUS_ARGUMENT && error_has("UTF-8"));
    assert(aqmlab_queue_new("", 1, 0, NULL) == AQMLAB_STATUS_ARGUMENT && error_has("queue: null"));

    queue = made("aqm = 'drop-tail'\nlimit = '1p'");
    assert(!*aqmlab_warnings(queue));
    aqmlab_packet packet = {.id = 1, .length = 100};
    aqmlab_event verdict;
    assert(aqmlab_enqueue(NULL, 0, &packet, NULL, &verdict) == AQMLAB_STATUS_ARGUMENT && error_has("queue: null"));
    assert(aqmlab_enqueue(queue, 0, NULL, NULL, &verdict) == AQMLAB_STATUS_ARGUMENT && error_has("packet: null"));
    packet.ecn = 4;
    assert(aqmlab_enqueue(queue, 0, &packet, NULL, &verdict) == AQMLAB_STATUS_ARGUMENT && error_has("packet.ecn: 4"));
    packet.ecn = 0, packet.length = 0;
    assert(aqmlab_enqueue(queue, 0, &packet, NULL, &verdict) == AQMLAB_STATUS_ARGUMENT && error_has("packet.length"));
    packet.length = 100;
    aqmlab_random random = {.count = 1};
    assert(aqmlab_enqueue(queue, 0, &packet, &random, NULL) == AQMLAB_STATUS_ARGUMENT && error_has("random.numbers"));
    assert(aqmlab_backlog_packets(queue) == 0);
    assert(aqmlab_enqueue(queue, 5 * MS, &packet, NULL, NULL) == AQMLAB_STATUS_OK);
    assert(aqmlab_dequeue(queue, 4 * MS, NULL, NULL) == AQMLAB_STATUS_TIME && error_has("now_ns: 4000000 is before"));
    assert(aqmlab_advance(queue, UINT64_MAX, NULL) == AQMLAB_STATUS_TIME && error_has("180 days"));
    assert(aqmlab_dequeue(queue, 5 * MS, NULL, NULL) == AQMLAB_STATUS_ARGUMENT && error_has("departure: null"));
    double value;
    assert(aqmlab_gauge(queue, "p", &value) == AQMLAB_STATUS_ARGUMENT && error_has("allowed: average, p_b"));

    packet.id = 2;
    assert(aqmlab_enqueue(queue, 5 * MS, &packet, NULL, &verdict) == AQMLAB_STATUS_OK);
    assert(verdict.id == 2 && verdict.verdict == AQMLAB_VERDICT_DROPPED && verdict.reason_class == AQMLAB_CLASS_OVERFLOW);
    assert(!strcmp(verdict.reason, "overflow"));
    aqmlab_queue_free(queue);
    aqmlab_queue_free(NULL);
}

static void random_numbers(void)
{
    aqmlab_queue *queue = made("aqm = 'red'\nmin_th = '0.5p'\nmax_th = '3.5p'\nmax_p = 0.5\nw_q = 1\nspacing = 'none'\necn = true");
    aqmlab_packet packet = {.length = 1000};
    aqmlab_event verdict;
    aqmlab_random none = {0};
    for (packet.id = 0; packet.id < 2; packet.id++)
        assert(aqmlab_enqueue(queue, 0, &packet, &none, &verdict) == AQMLAB_STATUS_OK && none.drawn == 0);
    /* p_b = 0.25 */
    const uint64_t quarter = UINT64_C(1) << 62;
    uint64_t numbers[] = {quarter - (1 << 11), quarter, 0};
    aqmlab_random listed = {.numbers = numbers, .count = 3};
    assert(aqmlab_enqueue(queue, 0, &packet, &listed, &verdict) == AQMLAB_STATUS_OK && listed.drawn == 1);
    assert(verdict.verdict == AQMLAB_VERDICT_DROPPED && verdict.reason_class == AQMLAB_CLASS_EARLY);
    size_t count;
    assert(aqmlab_events(queue, &count)->id == 2 && count == 1);
    packet.ecn = 1;
    assert(aqmlab_enqueue(queue, 0, &packet, &listed, &verdict) == AQMLAB_STATUS_OK && listed.drawn == 1);
    assert(verdict.verdict == AQMLAB_VERDICT_MARKED && !strcmp(verdict.reason, "early"));
    packet.id = 3;
    assert(aqmlab_enqueue(queue, 0, &packet, &none, &verdict) == AQMLAB_STATUS_RANDOM && none.drawn == 1);
    assert(error_has("the call took 1 numbers, the list has 0"));
    double average;
    assert(!aqmlab_gauge(queue, "average", &average) && average == 3.0);
    assert(!strcmp(aqmlab_gauge_name(queue, 0), "average") && !strcmp(aqmlab_gauge_name(queue, 1), "p_b"));
    assert(!aqmlab_gauge_name(queue, 99));
    aqmlab_queue_free(queue);
}

/* CoDel drops at departures; the victim is reported there. */
static void drops_at_departure(void)
{
    aqmlab_queue *queue = made("aqm = 'codel'");
    for (uint64_t id = 0; id < 50; id++) {
        aqmlab_packet packet = {.id = id, .length = 1500, .flow = 1};
        assert(!aqmlab_enqueue(queue, 0, &packet, NULL, NULL));
    }
    uint64_t seen = 0, drops = 0;
    for (uint64_t now = 0; now < 500 * MS; now += 20 * MS) {
        aqmlab_departure departure;
        size_t count;
        assert(!aqmlab_dequeue(queue, now, NULL, &departure));
        const aqmlab_event *events = aqmlab_events(queue, &count);
        for (size_t i = 0; i < count; i++) {
            assert(events[i].verdict == AQMLAB_VERDICT_DROPPED && events[i].id == seen++);
            assert(events[i].reason_class == AQMLAB_CLASS_EARLY && !strcmp(events[i].reason, drops++ ? "control-law" : "sojourn"));
        }
        assert(departure.answer == AQMLAB_ANSWER_PACKET && departure.packet.id == seen++);
    }
    assert(drops > 1 && seen == 25 + drops && aqmlab_backlog_packets(queue) == 50 - seen && aqmlab_backlog_bytes(queue) == 1500 * (50 - seen));
    aqmlab_queue_free(queue);
}

static void shaper_and_timers(void)
{
    aqmlab_queue *queue = made("aqm = 'cake'\nrate = '1Mbps'");
    aqmlab_packet packet = {.id = 7, .length = 1000, .flow = 3, .ecn = 2, .dscp = 46, .source_host = 4, .destination_host = 5};
    uint64_t keys[4] = {99};
    aqmlab_random random = {.numbers = keys, .count = 4};
    aqmlab_departure departure;
    assert(aqmlab_enqueue(queue, 0, &packet, &random, NULL) == AQMLAB_STATUS_OK && random.drawn > 0);
    packet.id = 8;
    assert(aqmlab_enqueue(queue, 0, &packet, &random, NULL) == AQMLAB_STATUS_OK);
    assert(!aqmlab_dequeue(queue, 0, &random, &departure) && departure.answer == AQMLAB_ANSWER_PACKET);
    assert(departure.packet.id == 7 && departure.packet.ecn == 2 && departure.packet.dscp == 46);
    assert(departure.packet.length == 1000 && departure.packet.flow == 3 && departure.packet.source_host == 4);
    assert(!aqmlab_dequeue(queue, MS, &random, &departure) && departure.answer == AQMLAB_ANSWER_NOT_BEFORE);
    assert(departure.not_before_ns == 8 * MS);
    assert(!aqmlab_dequeue(queue, 8 * MS, &random, &departure) && departure.packet.id == 8);
    assert(!aqmlab_dequeue(queue, 9 * MS, &random, &departure) && departure.answer == AQMLAB_ANSWER_EMPTY);
    assert(aqmlab_next_timer_ns(queue) == UINT64_MAX);
    aqmlab_queue_free(queue);

    queue = made("aqm = 'pi'");
    for (packet.id = 0; packet.id < 20; packet.id++)
        assert(!aqmlab_enqueue(queue, 0, &packet, NULL, NULL));
    uint64_t due = aqmlab_next_timer_ns(queue);
    assert(due > 0 && due < 1000 * MS);
    assert(!aqmlab_advance(queue, due, NULL) && aqmlab_next_timer_ns(queue) > due);
    aqmlab_queue_free(queue);
}

int main(void)
{
    assert(aqmlab_abi() == AQMLAB_ABI && strchr(aqmlab_version(), '.'));
    errors();
    random_numbers();
    drops_at_departure();
    shaper_and_timers();
    puts("ok");
    return 0;
}
