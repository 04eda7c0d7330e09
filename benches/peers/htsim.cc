// D10M, D1G and CHAIN for htsim, with a RED queue. See README.md for versions and differences.

#include <cmath>
#include <iostream>
#include <memory>

#include "cases.h"
#include "eventlist.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

namespace {

// Random numbers in [0, 1): SplitMix64.
class Uniform {
public:
    double next() {
        std::uint64_t z = state += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return std::ldexp(static_cast<double>((z ^ (z >> 31)) >> 11), -53);
    }

private:
    std::uint64_t state = 1;
};

// Gentle RED in packets (Floyd and Jacobson 1993; Floyd 2000), with drops at least 1/p packets apart as in ns-2.
class RedQueue : public Queue {
public:
    RedQueue(linkspeed_bps rate, const bench::Red& red, EventList& events, QueueLogger* logger)
        : Queue(rate, static_cast<mem_b>(bench::WIDE) * PACKET, events, logger), red(red),
          packet_time(8e12 * PACKET / static_cast<double>(rate)) {}

    void receivePacket(Packet& packet) override {
        update_average();
        if (waiting() >= red.limit || drops()) packet.free();
        else Queue::receivePacket(packet);
    }

protected:
    void completeService() override {
        Queue::completeService();
        if (_enqueued.empty()) idle_since = eventlist().now();
    }

private:
    static constexpr int PACKET = bench::DATA_BYTES + bench::HEADER_BYTES;

    // Packets without the one in transmission.
    int waiting() { return _enqueued.empty() ? 0 : _enqueued.size() - 1; }

    void update_average() {
        if (_enqueued.empty()) {
            const double idle = static_cast<double>(eventlist().now() - idle_since) / packet_time;
            average *= std::pow(1.0 - bench::QUEUE_WEIGHT, idle);
        }
        average += bench::QUEUE_WEIGHT * (waiting() - average);
    }

    double probability() const {
        if (average < red.max_th) return bench::MAX_P * (average - red.min_th) / (red.max_th - red.min_th);
        return bench::MAX_P + (1.0 - bench::MAX_P) * (average - red.max_th) / red.max_th;
    }

    // Whether RED drops the arriving packet.
    bool drops() {
        if (average < red.min_th || waiting() <= 1) {
            since_drop = 0;
            return false;
        }
        ++since_drop;
        const double p = probability();
        const double spread = since_drop * p;
        double chance = 1.0;
        if (p < 1.0) chance = spread < 1.0 ? 0.0 : spread < 2.0 ? p / (2.0 - spread) : 1.0;
        if (random.next() >= chance) return false;
        since_drop = 0;
        return true;
    }

    const bench::Red red;
    const double packet_time;  // picoseconds
    double average = 0.0;
    int since_drop = 0;
    simtime_picosec idle_since = 0;
    Uniform random;
};

// Counts the packets that queues send.
class Departures : public QueueLogger {
public:
    void logQueue(BaseQueue&, QueueEvent event, Packet&) override { count += event == PKT_SERVICE; }
    std::uint64_t count = 0;
};

class Network {
public:
    Network(const bench::Case& scenario, QueueLogger* logger) : scenario(scenario), logger(logger) {
        for (int i = 0; i < scenario.links; ++i) {
            forward.push_back(link(scenario.rate_bps, scenario.delay_ms, true));
            backward.push_back(link(scenario.rate_bps, scenario.delay_ms, scenario.reverse_red));
        }
        for (const auto& flow : scenario.flows) add(flow);
    }

    void run() {
        while (EventList::doNextEvent()) {
        }
    }

private:
    struct Link {
        PacketSink* queue;
        PacketSink* pipe;
    };

    Link link(double rate, double delay_ms, bool with_red) {
        const auto bps = static_cast<linkspeed_bps>(rate);
        constexpr mem_b MUCH = static_cast<mem_b>(bench::WIDE) * (bench::DATA_BYTES + bench::HEADER_BYTES);
        PacketSink* queue = with_red ? static_cast<PacketSink*>(new RedQueue(bps, scenario.red, events, logger))
                                     : new Queue(bps, MUCH, events, logger);
        return {queue, new Pipe(timeFromMs(delay_ms), events)};
    }

    static void append(Route& route, const Link& link) {
        route.push_back(link.queue);
        route.push_back(link.pipe);
    }

    void add(const bench::Flow& flow) {
        auto* source = new TcpSrc(nullptr, nullptr, events);
        auto* sink = new TcpSink();
        source->set_ssthresh(0xffffffff);
        source->_maxcwnd = bench::MAX_WINDOW * static_cast<uint32_t>(source->_mss);
        auto *out = new Route(), *back = new Route();
        append(*out, link(scenario.access_bps, flow.source_ms, false));
        for (int i = flow.first; i < flow.last; ++i) append(*out, forward[i]);
        append(*out, link(scenario.access_bps, flow.sink_ms, false));
        out->push_back(sink);
        append(*back, link(scenario.access_bps, flow.sink_ms, false));
        for (int i = flow.last; i > flow.first; --i) append(*back, backward[i - 1]);
        append(*back, link(scenario.access_bps, flow.source_ms, false));
        back->push_back(source);
        source->connect(*out, *back, *sink, timeFromSec(flow.start_s));
        timers.registerTcp(*source);
    }

    const bench::Case& scenario;
    QueueLogger* logger;
    EventList& events = EventList::getTheEventList();
    TcpRtxTimerScanner timers{timeFromMs(10), events};
    std::vector<Link> forward, backward;
};

}  // namespace

int main(int words, char** word) {
    bench::elapsed_s();
    const auto options = bench::options(words, word);
    if (options.threads != 1) bench::fail("htsim has one thread");
    std::cout.setstate(std::ios::failbit);  // htsim writes a line for each time-out
    Packet::set_packet_size(bench::DATA_BYTES + bench::HEADER_BYTES);
    EventList::setEndtime(timeFromSec(options.scenario.seconds));
    Departures departures;
    Network network(options.scenario, options.count ? &departures : nullptr);
    const double setup_s = bench::elapsed_s();
    network.run();
    bench::report(setup_s, bench::elapsed_s(), departures.count);
}
