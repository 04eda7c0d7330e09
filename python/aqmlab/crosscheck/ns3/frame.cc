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

using Attributes = std::map<std::string, std::string>;

/// How a queue disc is made: its type and attributes.
struct DiscKind
{
    std::string type;
    Attributes attributes;
};

/// Nodes by name, links between them, and what is measured.
class Network
{
  public:
    explicit Network(bool hidden)
        : m_hidden(hidden)
    {
        InternetStackHelper stack;
        Ipv4NixVectorHelper routing; // the path with the fewest links, found when it is needed
        stack.SetRoutingHelper(routing);
        stack.SetIpv6StackInstall(false);
        m_stack = stack;
        m_addresses.SetBase("10.0.0.0", "255.255.255.252");
    }

    /// The node with this name.
    Ptr<Node> At(const std::string& name)
    {
        Ptr<Node>& node = m_nodes[name];
        if (!node)
        {
            node = CreateObject<Node>();
            m_stack.Install(node);
        }
        return node;
    }

    /// Join two nodes: one channel, and a rate and a queue for each direction.
    void Join(const std::string& name,
              const std::string& other,
              const std::string& from,
              const std::string& to,
              const std::string& delay,
              const std::string& rate,
              const DiscKind& queue,
              const std::string& otherRate,
              const DiscKind& otherQueue)
    {
        PointToPointHelper helper;
        helper.SetChannelAttribute("Delay", StringValue(delay));
        helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));
        NetDeviceContainer devices = helper.Install(At(from), At(to));
        Equip(name, devices.Get(0), rate, queue);
        Equip(other, devices.Get(1), otherRate, otherQueue);
        m_addresses.Assign(devices);
        m_addresses.NewNetwork();
    }

    /// Measure a direction.
    void Measure(const std::string& name)
    {
        m_watches.push_back(std::make_unique<Watch>(name, m_devices.at(name), m_discs.at(name)));
    }

    /// Change a link at a time (s).
    void Change(double at, const std::string& name, const std::string& attribute, const std::string& value)
    {
        Ptr<Object> object = m_devices.at(name);
        if (attribute == "Delay")
        {
            object = m_devices.at(name)->GetChannel();
        }
        Simulator::Schedule(Seconds(at), [=]() { object->SetAttribute(attribute, StringValue(value)); });
    }

    /// Tell what was measured.
    void Tell()
    {
        for (const auto& watch : m_watches)
        {
            watch->Tell();
        }
    }

  private:
    void Equip(const std::string& name, Ptr<NetDevice> any, const std::string& rate, const DiscKind& own)
    {
        Ptr<PointToPointNetDevice> device = DynamicCast<PointToPointNetDevice>(any);
        device->SetDataRate(DataRate(rate));
        m_devices[name] = device;
        ObjectFactory factory(own.type);
        for (const auto& [attribute, value] : own.attributes)
        {
            factory.Set(attribute, StringValue(value));
        }
        m_discs[name] = factory.Create<QueueDisc>();
        device->GetNode()->GetObject<TrafficControlLayer>()->SetRootQueueDiscOnDevice(device, m_discs[name]);
        if (!m_hidden)
        {
            // A device of ns-3 takes one packet more than it sends, and no queue disc sees that one. Here the device is
            // stopped while it sends, as Linux' drivers stop theirs; then all that wait are in the queue disc.
            Ptr<NetDeviceQueue> queue = device->GetObject<NetDeviceQueueInterface>()->GetTxQueue(0);
            device->TraceConnectWithoutContext("PhyTxBegin", MakeBoundCallback(&Network::Stop, queue));
            device->TraceConnectWithoutContext("PhyTxEnd", MakeBoundCallback(&Network::Wake, queue));
        }
    }

    static void Stop(Ptr<NetDeviceQueue> queue, Ptr<const Packet>)
    {
        queue->Stop();
    }

    static void Wake(Ptr<NetDeviceQueue> queue, Ptr<const Packet>)
    {
        queue->Wake();
    }

    bool m_hidden;
    InternetStackHelper m_stack;
    Ipv4AddressHelper m_addresses;
    std::map<std::string, Ptr<Node>> m_nodes;
    std::map<std::string, Ptr<PointToPointNetDevice>> m_devices;
    std::map<std::string, Ptr<QueueDisc>> m_discs;
    std::vector<std::unique_ptr<Watch>> m_watches;
};

/// Bytes that each group of flows got while it was measured, headers included.
std::map<std::string, double> g_received;

/// What is common to the ends of a flow.
class Flow
{
  public:
    Flow(const std::string& group, double wholeOverPayload)
        : m_group(group),
          m_whole(wholeOverPayload)
    {
        g_received[group] += 0;
    }

    virtual ~Flow() = default;

  protected:
    void Receive(Ptr<Socket> socket)
    {
        while (Ptr<Packet> packet = socket->Recv())
        {
            if (Simulator::Now().GetSeconds() >= g_from)
            {
                g_received[m_group] += packet->GetSize() * m_whole;
            }
        }
    }

    static InetSocketAddress AddressOf(Ptr<Node> node)
    {
        static uint16_t port = 1024;
        return InetSocketAddress(node->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal(), ++port);
    }

  private:
    std::string m_group;
    double m_whole;
};

/// Whether windows grow by the acknowledgement that ends a recovery, as ns-3 lets them: what was sent before the loss is
/// acknowledged at once, so Reno's window is a segment larger than the threshold from then on.
bool g_growthAtExit = true;

/// Whether CUBIC's slow start may end far above the threshold, as in ns-3: an acknowledgement of 200 segments, as the first
/// behind a time-out may be one, makes the window 201 segments, whatever the threshold is.
bool g_beyondThreshold = true;

/// A congestion control without them.
template <typename Control>
class Without : public Control
{
  public:
    void CongestionStateSet(Ptr<TcpSocketState> state, const TcpSocketState::TcpCongState_t next) override
    {
        m_ends = state->m_congState == TcpSocketState::CA_RECOVERY && next == TcpSocketState::CA_OPEN;
        Control::CongestionStateSet(state, next);
    }

    void IncreaseWindow(Ptr<TcpSocketState> state, uint32_t segments) override
    {
        const uint32_t before = state->m_cWnd;
        const uint32_t threshold = state->m_ssThresh;
        if (g_growthAtExit || !m_ends)
        {
            Control::IncreaseWindow(state, segments);
        }
        if (!g_beyondThreshold && before < threshold && state->m_cWnd > threshold)
        {
            state->m_cWnd = threshold;
        }
        m_ends = false;
    }

  private:
    bool m_ends = false;
};

/// How the ends of a connection are made: types of congestion control and recovery, attributes of the sockets.
struct TcpKind
{
    std::string group;
    double wholeOverPayload;
    std::string control;
    std::string recovery;
    Attributes attributes;
};

using Periods = std::vector<std::pair<double, double>>;

/// A connection: `size` bytes of data (0: without end), offered from the start on, or in periods [begin, end).
class TcpFlow : public Flow
{
  public:
    explicit TcpFlow(const TcpKind& kind)
        : Flow(kind.group, kind.wholeOverPayload),
          m_kind(kind)
    {
    }

    void Start(Ptr<Node> from, Ptr<Node> to, double size, const Periods& periods)
    {
        const InetSocketAddress address = AddressOf(to);
        m_listening = Open(to);
        m_listening->Bind(address);
        m_listening->Listen();
        m_listening->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                       MakeCallback(&TcpFlow::Accepted, this));
        m_sender = Open(from);
        DynamicCast<TcpSocketBase>(m_sender)->SetCongestionControlAlgorithm(Control());
        m_sender->SetSendCallback(MakeCallback(&TcpFlow::Fill, this));
        m_sender->SetConnectCallback(MakeCallback(&TcpFlow::Connected, this), MakeNullCallback<void, Ptr<Socket>>());
        m_left = size > 0 ? size : std::numeric_limits<double>::infinity();
        Simulator::Schedule(Seconds(periods.front().first), [=]() {
            m_sender->Bind();
            m_sender->Connect(address);
        });
        for (const auto& [begin, end] : periods)
        {
            Simulator::Schedule(Seconds(begin), &TcpFlow::Offer, this, true);
            if (end < g_end)
            {
                Simulator::Schedule(Seconds(end), &TcpFlow::Offer, this, false);
            }
        }
    }

  private:
    Ptr<Socket> Open(Ptr<Node> node)
    {
        Ptr<Socket> socket = node->GetObject<TcpL4Protocol>()->CreateSocket(TypeId::LookupByName(m_kind.control),
                                                                           TypeId::LookupByName(m_kind.recovery));
        for (const auto& [name, value] : m_kind.attributes)
        {
            socket->SetAttribute(name, StringValue(value));
        }
        return socket;
    }

    Ptr<TcpCongestionOps> Control() const
    {
        if (m_kind.control == "ns3::TcpCubic")
        {
            return CreateObject<Without<TcpCubic>>();
        }
        if (m_kind.control == "ns3::TcpLinuxReno")
        {
            return CreateObject<Without<TcpLinuxReno>>();
        }
        return CreateObject<TcpNewReno>();
    }

    void Accepted(Ptr<Socket> socket, const Address&)
    {
        socket->SetRecvCallback(MakeCallback(&TcpFlow::Receive, this));
    }

    void Connected(Ptr<Socket> socket)
    {
        m_connected = true;
        Fill(socket, socket->GetTxAvailable());
    }

    void Offer(bool offers)
    {
        m_offers = offers;
        Fill(m_sender, m_sender->GetTxAvailable());
    }

    /// Keep the socket's buffer full while there is data.
    void Fill(Ptr<Socket> socket, uint32_t room)
    {
        while (m_connected && m_offers && m_left > 0 && room > 0)
        {
            const int sent = socket->Send(Create<Packet>(uint32_t(std::min<double>(m_left, room))));
            if (sent <= 0)
            {
                return;
            }
            m_left -= sent;
            room = socket->GetTxAvailable();
        }
    }

    TcpKind m_kind;
    Ptr<Socket> m_listening;
    Ptr<Socket> m_sender;
    bool m_connected = false;
    bool m_offers = false;
    double m_left = 0;
};

/// Datagrams at a constant rate, as a Poisson process, or in bursts. `packet` is the distribution of lengths in bytes, with
/// `header`; `interval` the mean time from packet to packet in s. Bursts have `on` seconds, silences `off` ("": no bursts).
struct UdpKind
{
    std::string group;
    double wholeOverPayload;
    uint32_t header;
    std::string packet;
    double interval;
    bool poisson;
    std::string on;
    std::string off;
};

/// A flow of them.
class UdpFlow : public Flow
{
  public:
    explicit UdpFlow(const UdpKind& kind)
        : Flow(kind.group, kind.wholeOverPayload),
          m_kind(kind),
          m_packet(Distribution(kind.packet))
    {
        if (!kind.on.empty())
        {
            m_on = Distribution(kind.on);
            m_off = Distribution(kind.off);
        }
    }

    void Start(Ptr<Node> from, Ptr<Node> to, const Periods& periods)
    {
        const InetSocketAddress address = AddressOf(to);
        m_receiver = Socket::CreateSocket(to, UdpSocketFactory::GetTypeId());
        m_receiver->Bind(address);
        m_receiver->SetRecvCallback(MakeCallback(&UdpFlow::Receive, this));
        m_sender = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
        m_sender->Bind();
        m_sender->Connect(address);
        for (const auto& [begin, end] : periods)
        {
            Simulator::Schedule(Seconds(begin), &UdpFlow::Begin, this, end);
        }
    }

  private:
    void Begin(double end)
    {
        m_end = end;
        m_burst = Burst();
        After(m_kind.poisson ? Gap() : 0);
    }

    void After(double gap)
    {
        if (Simulator::Now().GetSeconds() + gap < m_end)
        {
            Simulator::Schedule(Seconds(gap), &UdpFlow::Send, this);
        }
    }

    void Send()
    {
        const uint32_t packet = std::max<double>(m_kind.header + 1, std::round(m_packet->GetValue()));
        m_sender->Send(Create<Packet>(packet - m_kind.header));
        double gap = Gap();
        if (m_on && --m_burst == 0)
        {
            gap += m_off->GetValue();
            m_burst = Burst();
        }
        After(gap);
    }

    double Gap()
    {
        return m_kind.poisson ? m_exponential->GetValue(m_kind.interval, 0) : m_kind.interval;
    }

    /// Packets of the next burst.
    uint64_t Burst()
    {
        return m_on ? std::max(1.0, std::floor(m_on->GetValue() / m_kind.interval + 0.5)) : 0;
    }

    UdpKind m_kind;
    Ptr<RandomVariableStream> m_packet;
    Ptr<ExponentialRandomVariable> m_exponential = CreateObject<ExponentialRandomVariable>();
    Ptr<RandomVariableStream> m_on;
    Ptr<RandomVariableStream> m_off;
    uint64_t m_burst = 0;
    Ptr<Socket> m_receiver;
    Ptr<Socket> m_sender;
    double m_end = 0;
};

/// All flows.
class Traffic
{
  public:
    void Start(const TcpKind& kind, Ptr<Node> from, Ptr<Node> to, double size, const Periods& periods)
    {
        auto flow = std::make_unique<TcpFlow>(kind);
        flow->Start(from, to, size, periods);
        m_flows.push_back(std::move(flow));
    }

    void Start(const UdpKind& kind, Ptr<Node> from, Ptr<Node> to, const Periods& periods)
    {
        auto flow = std::make_unique<UdpFlow>(kind);
        flow->Start(from, to, periods);
        m_flows.push_back(std::move(flow));
    }

  private:
    std::vector<std::unique_ptr<Flow>> m_flows;
};

/// Run to the end and tell what was measured, one line a number: key, place, value.
void
RunAndTell(Network& network)
{
    Simulator::Stop(Seconds(g_end));
    Simulator::Run();
    std::cout << std::setprecision(12);
    network.Tell();
    for (const auto& [group, bytes] : g_received)
    {
        std::cout << "goodput_bps " << group << " " << bytes * 8 / (g_end - g_from) << "\n";
    }
}
