/* Queue disciplines of aqmlab. Made by cbindgen from crates/c/src/ffi.rs; do not edit.
 * How to use it: docs/embedding.md. Licence: MIT or Apache-2.0. */


#ifndef AQMLAB_H
#define AQMLAB_H

#include <stddef.h>
#include <stdint.h>

// Number of this interface. It changes if a program must be compiled again.
#define AQMLAB_ABI 1

// Bytes of the name of a reason, with the zero at its end.
#define AQMLAB_REASON_BYTES 32

// Result of a function. 0 is success; for all others aqmlab_error has the text.
typedef enum {
  // Success.
  AQMLAB_STATUS_OK = 0,
  // The settings of a queue have errors; the text has a line for each: queue:LINE:COLUMN: KEY: error.
  AQMLAB_STATUS_SETTINGS = 1,
  // An argument is a null pointer or has a value out of range. Nothing was done.
  AQMLAB_STATUS_ARGUMENT = 2,
  // The time is before that of the last call, or after 180 days. Nothing was done.
  AQMLAB_STATUS_TIME = 3,
  // The list of random numbers was too short. The call was made, with 2^63 for each missing number.
  AQMLAB_STATUS_RANDOM = 4,
  // Internal error. Free the queue; all other calls for it fail.
  AQMLAB_STATUS_INTERNAL = 5,
} aqmlab_status;

// Decision about a packet.
typedef enum {
  // Accepted unchanged.
  AQMLAB_VERDICT_ENQUEUED = 0,
  // Accepted or sent with its ECN field set to CE in place of a drop (RFC 3168).
  AQMLAB_VERDICT_MARKED = 1,
  // Dropped.
  AQMLAB_VERDICT_DROPPED = 2,
} aqmlab_verdict;

// Class of the reason of a drop or mark.
typedef enum {
  // Neither dropped nor marked.
  AQMLAB_CLASS_NONE = 0,
  // The discipline chose this packet to signal congestion, by chance or by a control law.
  AQMLAB_CLASS_EARLY = 1,
  // The discipline rejects every such packet at present, although the buffer has room.
  AQMLAB_CLASS_FORCED = 2,
  // The buffer is full.
  AQMLAB_CLASS_OVERFLOW = 3,
  // Not a decision about congestion: the packet should take another way (PC-RED).
  AQMLAB_CLASS_ROUTE = 4,
} aqmlab_class;

// Answer to the request for the next packet.
typedef enum {
  // Send this packet now.
  AQMLAB_ANSWER_PACKET = 0,
  // Nothing waits: the idle time of the queue begins.
  AQMLAB_ANSWER_EMPTY = 1,
  // Packets wait, but the discipline's own shaper lets none leave before a time. Ask again then, or after the next arrival.
  AQMLAB_ANSWER_NOT_BEFORE = 2,
} aqmlab_answer;

// A queue. Each queue may be used by one thread at a time, and different queues by different threads at the same time.
typedef struct aqmlab_queue aqmlab_queue;

// A packet. Set the bytes of the struct to 0, then the fields that you know.
typedef struct {
  // Number of the packet, chosen by the caller; packets that wait have different ones.
  uint64_t id;
  // Length on the wire in bytes, from 1.
  uint32_t length;
  // Flow: a number, or a hash of the addresses, ports and protocol.
  uint32_t flow;
  // Numbers of the source and of the destination host, which CAKE's host isolation reads. Both 0: not known; each flow has its own.
  uint32_t source_host;
  // See source_host.
  uint32_t destination_host;
  // ECN field: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
  uint8_t ecn;
  // Code point (DSCP), 0 to 63.
  uint8_t dscp;
  // 0 data, 1 pure acknowledgement, 2 opening of a connection.
  uint8_t kind;
  // Class of the source, which PC-RED reads.
  uint8_t source_class;
  // Time to live now, which DDRED and PC-RED read; 0 stands for 64.
  uint8_t ttl;
  // Time to live with which the sender sent the packet; 0 stands for 64.
  uint8_t ttl_initial;
  // Time to live seen by the destination of an earlier packet of the flow; 0 when not known.
  uint8_t ttl_final;
  // Protection bit of PC-RED, 0 or 1.
  uint8_t qosa;
} aqmlab_packet;

// Source of the random numbers of one call: 64 random bits each. Numbers come from the list first, then from next. Without both,
// AQMLAB_STATUS_RANDOM follows.
typedef struct {
  // A list, or null.
  const uint64_t *numbers;
  // Length of the list.
  size_t count;
  // Function that returns the next number, or null. It must not call functions of this library for the same queue.
  uint64_t (*next)(void *state);
  // Argument of next.
  void *state;
  // Set by the call: how many numbers it took.
  size_t drawn;
} aqmlab_random;

// A packet that was dropped or marked, or the verdict on an arrival.
typedef struct {
  // Number of the packet.
  uint64_t id;
  // The decision.
  aqmlab_verdict verdict;
  // Class of the reason.
  aqmlab_class reason_class;
  // The discipline's name for the reason, such as "early"; empty without one.
  char reason[AQMLAB_REASON_BYTES];
} aqmlab_event;

// Answer of aqmlab_dequeue.
typedef struct {
  // Which of the three.
  aqmlab_answer answer;
  // The packet to send with its header as the queue leaves it; its ecn is 3 if it was marked.
  aqmlab_packet packet;
  // Time in nanoseconds before which no packet may leave, for AQMLAB_ANSWER_NOT_BEFORE.
  uint64_t not_before_ns;
} aqmlab_departure;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Return the version of the library, such as "0.2.0".
const char *aqmlab_version(void);

// Return AQMLAB_ABI of the library. A program compares it with that of its header.
uint32_t aqmlab_abi(void);

// Return the text of the last error in this thread, empty if there was none. It is valid until the thread's next error.
const char *aqmlab_error(void);

// Create an empty queue at time 0, and store it in *queue; on an error *queue becomes null.
//
// settings: the keys of a [queue.NAME] table of a scenario file as TOML, such as "aqm = 'red'\nmin_th = '5p'", or the same as
// JSON. rate_bps and delay_ns: rate in bit/s, from 1, and propagation delay in nanoseconds of the link that the queue feeds; automatic
// parameters follow from them.
// Pointers: settings has a zero at its end, and queue points to a pointer.
aqmlab_status aqmlab_queue_new(const char *settings,
                               uint64_t rate_bps,
                               uint64_t delay_ns,
                               aqmlab_queue **queue);

// Free a queue; its packets are forgotten, since only the caller has them. Null does nothing.
// Pointers: queue is null or from aqmlab_queue_new, and was not freed.
void aqmlab_queue_free(aqmlab_queue *queue);

// Return warnings about settings that are allowed but probably not intended, one a line; empty without any. The text is valid as long as
// the queue.
// Pointers: queue is null or valid.
const char *aqmlab_warnings(const aqmlab_queue *queue);

// Enqueue a packet that arrives at now_ns, and write the decision about it to *verdict unless that is null. Other packets that were
// dropped or marked are in aqmlab_events. Times count from the creation of the queue, and never decrease from call to call. Timers
// of the discipline that are due by then are handled first. random may be null for a discipline without random numbers.
// Pointers: queue and packet are valid; random and verdict are null or valid.
aqmlab_status aqmlab_enqueue(aqmlab_queue *queue,
                             uint64_t now_ns,
                             const aqmlab_packet *packet,
                             aqmlab_random *random,
                             aqmlab_event *verdict);

// Write the next packet to send, or why there is none, to *departure. Call it when a transmission ends, and after an arrival while
// nothing is transmitted. Packets that were dropped or marked at their departure are in aqmlab_events.
// Pointers: queue and departure are valid; random is null or valid.
aqmlab_status aqmlab_dequeue(aqmlab_queue *queue,
                             uint64_t now_ns,
                             aqmlab_random *random,
                             aqmlab_departure *departure);

// Handle the timers that are due by now_ns. Only a caller that reads gauges between packets needs it.
// Pointers: queue is valid; random is null or valid.
aqmlab_status aqmlab_advance(aqmlab_queue *queue,
                             uint64_t now_ns,
                             aqmlab_random *random);

// Return the packets that the last call for the queue dropped or marked, in the order of the decisions, and write their number to *count. The list
// is valid until the next call for the queue.
// Pointers: queue is null or valid; count is valid.
const aqmlab_event *aqmlab_events(const aqmlab_queue *queue,
                                  size_t *count);

// Return the time of the discipline's next timer in nanoseconds, rounded up; UINT64_MAX without a timer.
// Pointers: queue is null or valid.
uint64_t aqmlab_next_timer_ns(const aqmlab_queue *queue);

// Return the packets waiting.
// Pointers: queue is null or valid.
uint32_t aqmlab_backlog_packets(const aqmlab_queue *queue);

// Return the bytes waiting.
// Pointers: queue is null or valid.
uint64_t aqmlab_backlog_bytes(const aqmlab_queue *queue);

// Return the name of a gauge, from 0; null after the last. A gauge is a number that the discipline publishes about its state or its last
// decision, such as "average" and "p_b" of RED. Names are valid as long as the queue.
// Pointers: queue is null or valid.
const char *aqmlab_gauge_name(const aqmlab_queue *queue,
                              size_t index);

// Write the value of a gauge after the last call to *value.
// Pointers: queue is valid, name has a zero at its end, and value is valid.
aqmlab_status aqmlab_gauge(const aqmlab_queue *queue, const char *name, double *value);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* AQMLAB_H */
