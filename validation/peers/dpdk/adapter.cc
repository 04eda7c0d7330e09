// RED and PIE of DPDK (libdpdk-dev) as an adapter: argument red or pie.
//
// RED keeps one random number for a whole gap between drops. The adapter gives it the vector's number at each arrival,
// scaled to the range that the code takes it modulo, so that it is compared as a uniform number would be. Cycles of PIE
// are nanoseconds here. The idle times of RED count packets of RTE_RED_S bytes: mean_packet stands for it.
#include <memory>

#include "../protocol.h"

#define ALLOW_EXPERIMENTAL_API
#include <rte_random.h>
#define rte_drand peer::draw
#include <rte_pie.h>
#include <rte_red.h>

namespace
{
struct Packet
{
    uint64_t id;
    uint32_t length;
};

std::deque<Packet> waiting;
unsigned limit;
double ns_per_packet;
rte_red_config red_config;
rte_red red;
rte_pie_config pie_config;
rte_pie pie;

void BeginRed(const peer::Settings& settings)
{
    auto log2 = [](double number) {
        unsigned places = 0;
        while (number < 0.75)
        {
            number *= 2;
            places++;
        }
        return places;
    };
    rte_red_rt_data_init(&red);
    int failed = rte_red_config_init(&red_config, log2(settings.number("w_q")), settings.number("min_th"),
                                     settings.number("max_th"), 1 / settings.number("max_p") + 0.5);
    if (failed != 0)
    {
        std::cerr << "rte_red_config_init: " << failed << "\n";
        std::exit(2);
    }
    ns_per_packet = settings.number("mean_packet") * 8e9 / settings.number("rate_bps");
}

void BeginPie(const peer::Settings& settings)
{
    auto ns = [&](const char* key) { return uint64_t(settings.number(key) * 1e9 + 0.5); };
    rte_pie_rt_data_init(&pie);
    pie_config = {ns("target"), ns("t_update"), ns("max_burst"), uint16_t(limit)};
}

uint64_t PacketTime(uint64_t time_ns)
{
    return uint64_t(double(time_ns) / ns_per_packet * RTE_RED_S);
}

bool AdmitRed(const peer::Arrival& arrival)
{
    if (waiting.size() >= limit)
    {
        return false;
    }
    // The denominator that the code will use, from the average after its update.
    uint32_t average = red.avg;
    if (!waiting.empty())
    {
        average += (uint32_t(waiting.size()) << RTE_RED_SCALING) - (average >> red_config.wq_log2);
    }
    if (!waiting.empty() && average >= red_config.min_th && average < red_config.max_th)
    {
        uint32_t part = red.count * ((average - red_config.min_th) >> red_config.wq_log2);
        if (part < red_config.pa_const)
        {
            rte_red_rand_val = uint32_t(peer::draw() * (red_config.pa_const - part));
        }
    }
    return rte_red_enqueue(&red_config, &red, waiting.size(), PacketTime(arrival.time_ns)) == 0;
}
} // namespace

int main(int argc, char** argv)
{
    std::string name = argc > 1 ? argv[1] : "";
    if (name != "red" && name != "pie")
    {
        std::cerr << "usage: adapter red|pie\n";
        return 2;
    }
    bool is_red = name == "red";
    peer::Adapter adapter;
    adapter.begin = [&](const peer::Settings& settings) {
        waiting.clear();
        limit = unsigned(settings.number("limit"));
        is_red ? BeginRed(settings) : BeginPie(settings);
    };
    adapter.enqueue = [&](const peer::Arrival& arrival) {
        bool accepted = is_red ? AdmitRed(arrival)
                               : rte_pie_enqueue(&pie_config, &pie, waiting.size(), arrival.length,
                                                 arrival.time_ns) == 0;
        if (accepted)
        {
            waiting.push_back({arrival.id, arrival.length});
        }
        else
        {
            peer::dropped.push_back(arrival.id);
        }
        return accepted;
    };
    adapter.dequeue = [&](uint64_t time_ns) -> int64_t {
        if (waiting.empty())
        {
            return -1;
        }
        Packet packet = waiting.front();
        waiting.pop_front();
        if (!is_red)
        {
            // As rte_sched_port_pie_dequeue of lib/sched/rte_sched.c.
            pie.qlen -= 1;
            pie.qlen_bytes -= packet.length;
            rte_pie_dequeue(&pie, packet.length, time_ns);
        }
        else if (waiting.empty())
        {
            rte_red_mark_queue_empty(&red, PacketTime(time_ns));
        }
        return int64_t(packet.id);
    };
    return peer::serve(adapter);
}
