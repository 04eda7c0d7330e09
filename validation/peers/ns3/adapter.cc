// RED, CoDel and PIE of ns-3 (libns3-dev) as an adapter: argument red, codel or pie.
//
// The random variable of the queue disc is replaced by the numbers of the vector; members are private, hence the macro.
#include <deque>
#include <functional>
#include <iostream>
#include <limits>
#include <list>
#include <map>
#include <sstream>
#include <unordered_map>
#include <vector>
#define private public
#define protected public
#include "ns3/codel-queue-disc.h"
#include "ns3/pie-queue-disc.h"
#include "ns3/red-queue-disc.h"
#undef protected
#undef private
#include "ns3/core-module.h"
#include "ns3/network-module.h"

#include "../protocol.h"

using namespace ns3;

namespace
{
class Item : public QueueDiscItem
{
  public:
    Item(const peer::Arrival& arrival)
        : QueueDiscItem(Create<Packet>(arrival.length), Address(), 0), id(arrival.id), ecn(arrival.ecn)
    {
    }

    void AddHeader() override {}

    bool Mark() override
    {
        if (ecn == 0)
        {
            return false;
        }
        if (ecn != 3)
        {
            ecn = 3;
            peer::marked.push_back(id);
        }
        return true;
    }

    uint64_t id;
    int ecn;
};

class Numbers : public UniformRandomVariable
{
  public:
    // As those of ns-3's generator, no number is 0.
    double GetValue() override
    {
        return std::max(peer::draw(), 0x1p-54);
    }
};

Ptr<QueueDisc> queue;

void Dropped(Ptr<const QueueDiscItem> item)
{
    peer::dropped.push_back(DynamicCast<const Item>(item)->id);
}

QueueSize Limit(const peer::Settings& settings)
{
    return QueueSize(settings.number("limit_in_bytes") != 0 ? QueueSizeUnit::BYTES : QueueSizeUnit::PACKETS,
                     uint32_t(settings.number("limit")));
}

Ptr<QueueDisc> Red(const peer::Settings& settings)
{
    double unit = settings.number("in_bytes") != 0 ? settings.number("mean_packet") : 1;
    auto red = CreateObjectWithAttributes<RedQueueDisc>(
        "MaxSize", QueueSizeValue(Limit(settings)), "MinTh", DoubleValue(settings.number("min_th") * unit), "MaxTh",
        DoubleValue(settings.number("max_th") * unit), "LInterm", DoubleValue(1 / settings.number("max_p")), "QW",
        DoubleValue(settings.number("w_q")), "MeanPktSize", UintegerValue(uint32_t(settings.number("mean_packet"))),
        "Gentle", BooleanValue(settings.number("gentle") != 0), "Wait", BooleanValue(settings.number("wait") != 0));
    red->SetAttribute("LinkBandwidth", DataRateValue(DataRate(uint64_t(settings.number("rate_bps")))));
    red->SetAttribute("UseEcn", BooleanValue(settings.number("ecn") != 0));
    red->SetAttribute("UseHardDrop", BooleanValue(settings.number("ecn") == 0 || settings.number("mark_forced") == 0));
    red->m_uv = CreateObject<Numbers>();
    return red;
}

Ptr<QueueDisc> CoDel(const peer::Settings& settings)
{
    return CreateObjectWithAttributes<CoDelQueueDisc>(
        "MaxSize", QueueSizeValue(Limit(settings)), "MinBytes",
        UintegerValue(uint32_t(settings.number("max_packet"))), "Interval",
        TimeValue(NanoSeconds(settings.number("interval") * 1e9 + 0.5)), "Target",
        TimeValue(NanoSeconds(settings.number("target") * 1e9 + 0.5)), "UseEcn",
        BooleanValue(settings.number("ecn") != 0));
}

Ptr<QueueDisc> Pie(const peer::Settings& settings)
{
    auto update = TimeValue(NanoSeconds(settings.number("t_update") * 1e9 + 0.5));
    auto pie = CreateObjectWithAttributes<PieQueueDisc>(
        "MaxSize", QueueSizeValue(Limit(settings)), "MeanPktSize",
        UintegerValue(uint32_t(settings.number("mean_packet"))), "A", DoubleValue(settings.number("alpha")), "B",
        DoubleValue(settings.number("beta")), "Tupdate", update, "QueueDelayReference",
        TimeValue(NanoSeconds(settings.number("target") * 1e9 + 0.5)), "MaxBurstAllowance",
        TimeValue(NanoSeconds(settings.number("max_burst") * 1e9 + 0.5)), "UseEcn",
        BooleanValue(settings.number("ecn") != 0));
    if (settings.number("ecn") != 0)
    {
        pie->SetAttribute("MarkEcnThreshold", DoubleValue(settings.number("mark_up_to")));
    }
    pie->SetAttribute("UseDequeueRateEstimator", BooleanValue(settings.number("departure_rate") != 0));
    pie->SetAttribute("UseCapDropAdjustment", BooleanValue(settings.number("cap_adjustment") != 0));
    pie->SetAttribute("UseDerandomization", BooleanValue(settings.number("derandomize") != 0));
    pie->m_uv = CreateObject<Numbers>();
    // The first step is at one period, as in the vectors.
    pie->m_rtrsEvent.Cancel();
    pie->m_rtrsEvent = Simulator::Schedule(update.Get(), &PieQueueDisc::CalculateP, pie);
    return pie;
}

// Let ns-3's clock reach a time; its own events at that time run first.
void Advance(uint64_t time_ns)
{
    Simulator::Schedule(NanoSeconds(time_ns) - Simulator::Now(),
                        []() { Simulator::ScheduleNow([]() { Simulator::Stop(); }); });
    Simulator::Run();
}
} // namespace

int main(int argc, char** argv)
{
    std::string name = argc > 1 ? argv[1] : "";
    if (name != "red" && name != "codel" && name != "pie")
    {
        std::cerr << "usage: adapter red|codel|pie\n";
        return 2;
    }
    peer::Adapter adapter;
    adapter.begin = [&](const peer::Settings& settings) {
        if (queue)
        {
            queue->Dispose();
            queue = nullptr;
            Simulator::Destroy();
        }
        queue = name == "red" ? Red(settings) : name == "codel" ? CoDel(settings) : Pie(settings);
        queue->TraceConnectWithoutContext("Drop", MakeCallback(&Dropped));
        queue->Initialize();
    };
    adapter.enqueue = [](const peer::Arrival& arrival) {
        Advance(arrival.time_ns);
        auto item = Create<Item>(arrival);
        item->SetTimeStamp(Simulator::Now());
        return queue->Enqueue(item);
    };
    adapter.dequeue = [](uint64_t time_ns) -> int64_t {
        Advance(time_ns);
        auto item = queue->Dequeue();
        return item ? int64_t(DynamicCast<Item>(item)->id) : -1;
    };
    return peer::serve(adapter);
}
