#include "ns3/boolean.h"
#include "ns3/channel.h"
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-nix-vector-helper.h"
#include "ns3/ipv4.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/queue-disc.h"
#include "ns3/random-variable-stream.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-cubic.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-linux-reno.h"
#include "ns3/tcp-prr-recovery.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/udp-socket-factory.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;

// When measuring begins and ends, in s.
double g_from = 0;
double g_end = 0;

/// A random variable of any of ns-3's distributions: "ns3::ExponentialRandomVariable[Mean=2]".
Ptr<RandomVariableStream>
Distribution(const std::string& text)
{
    ObjectFactory factory;
    std::istringstream in(text);
    in >> factory;
    return factory.Create<RandomVariableStream>();
}

/// One number of it.
double
Drawn(const std::string& text)
{
    return Distribution(text)->GetValue();
}

/// One direction of a link that is measured: its queue disc, and the device below it.
///
/// Waiting are the packets of the queue disc and of the device's own queue, not the one on its way out. A packet's delay
/// is its time in the queue disc, and the mean time in the device's queue (what waited there over what left it).
class Watch
{
  public:
    Watch(const std::string& name, Ptr<PointToPointNetDevice> device, Ptr<QueueDisc> disc)
        : m_name(name),
          m_device(device),
          m_disc(disc)
    {
        disc->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&Watch::InDisc, this));
        disc->TraceConnectWithoutContext("SojournTime", MakeCallback(&Watch::Left, this));
        disc->TraceConnectWithoutContext("DropAfterDequeue", MakeCallback(&Watch::DroppedLate, this));
        device->GetQueue()->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&Watch::InDevice, this));
        device->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Watch::Sending, this));
        Simulator::Schedule(Seconds(g_from), &Watch::Begin, this);
    }

    /// Tell what was measured.
    void Tell()
    {
        Elapse();
        const double length = g_end - g_from;
        const QueueDisc::Stats& now = m_disc->GetStats();
        const double offered = now.nTotalReceivedPackets - m_before.nTotalReceivedPackets;
        const double dropped = now.nTotalDroppedPackets - m_before.nTotalDroppedPackets;
        const double marked = now.nTotalMarkedPackets - m_before.nTotalMarkedPackets;
        Line("utilization", m_busy / length);
        Line("loss", dropped / offered);
        Line("marks", marked / offered);
        Line("mean_queue", (m_areaInDisc + m_areaInDevice) / length);
        Line("mean_delay_s", (m_waited + m_areaInDevice) / m_left);
        // For people: what is not compared.
        Line("# waiting in the device's own queue:", m_areaInDevice / length);
        Reasons("dropped before enqueue", now.nDroppedPacketsBeforeEnqueue, m_before.nDroppedPacketsBeforeEnqueue);
        Reasons("dropped after dequeue", now.nDroppedPacketsAfterDequeue, m_before.nDroppedPacketsAfterDequeue);
        Reasons("marked", now.nMarkedPackets, m_before.nMarkedPackets);
    }

  private:
    using Counts = decltype(QueueDisc::Stats::nMarkedPackets);

    void Line(const std::string& key, double value) const
    {
        std::cout << key << " " << m_name << " " << value << "\n";
    }

    void Reasons(const std::string& what, const Counts& now, const Counts& before) const
    {
        for (const auto& [reason, count] : now)
        {
            auto earlier = before.find(reason);
            Line("# " + what + ", " + reason + ":", count - (earlier == before.end() ? 0 : earlier->second));
        }
    }

    bool Measuring() const
    {
        return Simulator::Now().GetSeconds() >= g_from;
    }

    void Begin()
    {
        Elapse();
        m_areaInDisc = m_areaInDevice = 0;
        m_before = m_disc->GetStats();
    }

    void Elapse()
    {
        const double passed = Simulator::Now().GetSeconds() - m_last;
        m_areaInDisc += passed * m_inDisc;
        m_areaInDevice += passed * m_inDevice;
        m_last += passed;
    }

    void InDisc(uint32_t, uint32_t packets)
    {
        Elapse();
        m_inDisc = packets;
    }

    void InDevice(uint32_t, uint32_t packets)
    {
        Elapse();
        m_inDevice = packets;
    }

    void Left(Time waited)
    {
        if (Measuring())
        {
            m_waited += waited.GetSeconds();
            m_left += 1;
        }
    }

    /// What is dropped on its way out does not count: its time is taken back.
    void DroppedLate(Ptr<const QueueDiscItem> item, const char*)
    {
        if (Measuring())
        {
            m_waited -= (Simulator::Now() - item->GetTimeStamp()).GetSeconds();
            m_left -= 1;
        }
    }

    void Sending(Ptr<const Packet> packet)
    {
        DataRateValue rate;
        m_device->GetAttribute("DataRate", rate);
        const double now = Simulator::Now().GetSeconds();
        const double done = now + rate.Get().CalculateBytesTxTime(packet->GetSize()).GetSeconds();
        m_busy += std::max(0.0, std::min(done, g_end) - std::max(now, g_from));
    }

    std::string m_name;
    Ptr<PointToPointNetDevice> m_device;
    Ptr<QueueDisc> m_disc;
    QueueDisc::Stats m_before;
    uint32_t m_inDisc = 0;
    uint32_t m_inDevice = 0;
    double m_last = 0;
    double m_areaInDisc = 0;
    double m_areaInDevice = 0;
    double m_waited = 0;
    double m_left = 0;
    double m_busy = 0;
};

