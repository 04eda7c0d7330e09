/* Run the test vectors of this folder through aqmlab.h, by every decision: ./run red.jsonl codel.jsonl ...
 * Exit code 1: a case failed. Replace the aqmlab_ functions by your own to test another implementation. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aqmlab.h"

#define LONGEST 65536
#define ADD(list, format, value) sprintf(list + strlen(list), format, list[1] ? "," : "", value)

/* Return the place of a key's value in a line, or a text that is no value. */
static const char *value(const char *line, const char *key)
{
    char pattern[80];
    snprintf(pattern, sizeof pattern, "\"%s\":", key);
    const char *found = strstr(line, pattern);
    return found ? found + strlen(pattern) : "";
}

static uint64_t number(const char *line, const char *key) { return strtoull(value(line, key), NULL, 10); }

/* Return a text without its quotes and escapes. */
static char *text(const char *line, const char *key, char *out)
{
    char *end = out;
    for (const char *c = value(line, key) + 1; *c && *c != '"'; c++)
        *end++ = *c != '\\' ? *c : *++c == 'n' ? '\n' : *c;
    return *end = 0, out;
}

static int word(const char *line, const char *key, const char *const words[4])
{
    for (int i = 0; i < 4; i++)
        if (!strncmp(value(line, key) + 1, words[i], strlen(words[i])))
            return i;
    return 0;
}

static int same(const char *line, const char *key, const char *found)
{
    if (!strncmp(value(line, key), found, strlen(found)))
        return 1;
    printf("  %s: %s found, not that of %s", key, found, line);
    return 0;
}

/* Repeat an event. Return whether all that the line has of it is equal. */
static int step(aqmlab_queue *queue, const char *line)
{
    static const char *const ecn[] = {"not-ect", "ect1", "ect0", "ce"}, *const kind[] = {"data", "ack", "syn", "-"};
    static const char *const decisions[] = {"\"enqueue\"", "\"mark\"", "\"drop\""};
    static char dropped[LONGEST], marked[LONGEST], reasons[LONGEST], id[32];
    uint64_t numbers[256], now = number(line, "t_ns");
    aqmlab_random random = {.numbers = numbers};
    for (const char *c = value(line, "random"); random.count < 256 && ((*c == '[' && c[1] != ']') || *c == ',');)
        numbers[random.count++] = (uint64_t)(strtod(c + 1, (char **)&c) * 0x1p64) + 1024;
    int ok, is_arrival = !strncmp(value(line, "op"), "\"enqueue\"", 9);
    if (is_arrival) {
        aqmlab_packet packet = {.id = number(line, "id"), .length = number(line, "length"), .flow = number(line, "flow"),
            .ecn = word(line, "ecn", ecn), .dscp = number(line, "dscp"), .kind = word(line, "kind", kind),
            .source_class = number(line, "class"), .ttl = number(line, "ttl"),
            .ttl_initial = number(line, "ttl_initial"), .ttl_final = number(line, "ttl_final")};
        aqmlab_event verdict;
        if (aqmlab_enqueue(queue, now, &packet, &random, &verdict))
            return printf("  %s at %s", aqmlab_error(), line), 0;
        ok = same(line, "decision", decisions[verdict.verdict]);
    } else {
        aqmlab_departure next;
        if (aqmlab_dequeue(queue, now, &random, &next))
            return printf("  %s at %s", aqmlab_error(), line), 0;
        sprintf(id, next.answer == AQMLAB_ANSWER_PACKET ? "%" PRIu64 "," : "null,", next.packet.id);
        ok = same(line, "id", id);
        if (next.answer == AQMLAB_ANSWER_NOT_BEFORE || *value(line, "not_before_ns"))
            sprintf(id, "%" PRIu64 ",", next.not_before_ns), ok &= same(line, "not_before_ns", id);
    }
    size_t count;
    const aqmlab_event *events = aqmlab_events(queue, &count);
    strcpy(dropped, "["), strcpy(marked, "["), strcpy(reasons, "[");
    for (int verdict = AQMLAB_VERDICT_DROPPED; verdict > 0; verdict--)
        for (size_t i = 0; i < count; i++)
            if ((int)events[i].verdict == verdict) {
                char *list = verdict == AQMLAB_VERDICT_DROPPED ? dropped : marked;
                ADD(list, "%s%" PRIu64, events[i].id);
                ADD(reasons, "%s\"%s\"", events[i].reason);
            }
    ok &= same(line, "dropped", strcat(dropped, "]")) & same(line, "marked", strcat(marked, "]"));
    ok &= same(line, "reasons", strcat(reasons, "]"));
    ok &= random.drawn == random.count || (printf("  %zu random numbers at %s", random.drawn, line), 0);
    sprintf(id, "%" PRIu32 ",", aqmlab_backlog_packets(queue)), ok &= same(line, "packets", id);
    ok &= number(line, "bytes") == aqmlab_backlog_bytes(queue) || (printf("  other bytes at %s", line), 0);
    const char *gauge;
    for (size_t i = 0; (gauge = aqmlab_gauge_name(queue, i)); i++) {
        const char *listed = value(line, gauge);
        double found, expected = atof(listed);
        if (*listed && *listed != 'n' && !aqmlab_gauge(queue, gauge, &found))
            ok &= fabs(found - expected) <= fmax(1e-12, 1e-9 * fabs(expected))
                || (printf("  %s: %.17g found, not that of %s", gauge, found, line), 0);
    }
    return ok;
}

int main(int count, char **files)
{
    static char line[LONGEST], settings[LONGEST], name[LONGEST];
    int failed = 0;
    for (int i = 1; i < count; i++) {
        FILE *file = fopen(files[i], "r");
        if (!file)
            return perror(files[i]), 2;
        aqmlab_queue *queue = NULL;
        int cases = 0, failures = 0;
        for (uint64_t rate = 0; fgets(line, sizeof line, file);) {
            if (*value(line, "format")) {
                if (number(line, "format") != 1)
                    return fprintf(stderr, "%s: another format (allowed: 1)\n", files[i]), 2;
                rate = number(line, "rate_bps");
            } else if (!strncmp(value(line, "op"), "\"new\"", 5)) {
                aqmlab_queue_free(queue), cases++, text(line, "case", name);
                if (aqmlab_queue_new(text(line, "settings", settings), rate, 0, &queue))
                    failures++, printf("%s: %s: %s\n", files[i], name, aqmlab_error());
            } else if (queue && !step(queue, line)) {
                failures++, printf("%s: the case \"%s\" fails\n", files[i], name);
                aqmlab_queue_free(queue), queue = NULL;
            }
        }
        aqmlab_queue_free(queue), fclose(file);
        if (!cases)
            return fprintf(stderr, "%s: has no case\n", files[i]), 2;
        printf("%s: %d of %d cases pass\n", files[i], cases - failures, cases), failed += failures;
    }
    return failed > 0;
}
