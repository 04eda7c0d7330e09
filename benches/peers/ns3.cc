// D10M, D1G and CHAIN for ns-3, and for Unison with threads=N. See README.md for versions and differences.

#include <cmath>

#include "cases.h"
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#if __has_include("ns3/mtp-interface.h")
#include "ns3/mtp-interface.h"
#define HAS_THREADS 1
#else
#define HAS_THREADS 0
#endif

using namespace ns3;

namespace {

constexpr uint16_t PORT = 5000;
constexpr uint32_t BUFFER_BYTES = 2000 * bench::DATA_BYTES;

// One counter a device, since devices of several threads send at a time.
struct Counter {
    alignas(64) std::uint64_t packets = 0;
};

Time Milliseconds(double ms) { return MicroSeconds(std::llround(1000.0 * ms)); }

void Sent(Counter* counter, Ptr<const Packet>) { ++counter->packets; }

void Defaults(const bench::Case& scenario) {
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(bench::DATA_BYTES));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(bench::INITIAL_WINDOW));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(BUFFER_BYTES));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(BUFFER_BYTES));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(bench::MIN_RTO_S)));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    const auto& red = scenario.red;
    Config::SetDefault("ns3::RedQueueDisc::MinTh", DoubleValue(red.min_th));
    Config::SetDefault("ns3::RedQueueDisc::MaxTh", DoubleValue(red.max_th));
    Config::SetDefault("ns3::RedQueueDisc::MaxSize", StringValue(std::to_string(red.limit) + "p"));
    Config::SetDefault("ns3::RedQueueDisc::QW", DoubleValue(bench::QUEUE_WEIGHT));
    Config::SetDefault("ns3::RedQueueDisc::LInterm", DoubleValue(1.0 / bench::MAX_P));
    Config::SetDefault("ns3::RedQueueDisc::Gentle", BooleanValue(true));
    Config::SetDefault("ns3::RedQueueDisc::MeanPktSize", UintegerValue(bench::DATA_BYTES));
    const DataRate rate(static_cast<uint64_t>(scenario.rate_bps));
    Config::SetDefault("ns3::RedQueueDisc::LinkBandwidth", DataRateValue(rate));
    Config::SetDefault("ns3::RedQueueDisc::LinkDelay", TimeValue(Milliseconds(scenario.delay_ms)));
}

class Network {
public:
    explicit Network(const bench::Case& scenario) : scenario(scenario) {
        routers.Create(scenario.links + 1);
        Ipv4NixVectorHelper routing;
        stack.SetRoutingHelper(routing);
        stack.SetIpv6StackInstall(false);
        stack.Install(routers);
        addresses.SetBase("10.0.0.0", "255.255.255.252");
        for (int i = 0; i < scenario.links; ++i) {
            const NodeContainer ends(routers.Get(i), routers.Get(i + 1));
            Join(ends, scenario.rate_bps, scenario.delay_ms, true, scenario.reverse_red);
        }
        for (const auto& flow : scenario.flows) Add(flow);
    }

    void Count() {
        counters.resize(devices.GetN());
        for (uint32_t i = 0; i < devices.GetN(); ++i) {
            devices.Get(i)->TraceConnectWithoutContext("PhyTxEnd", MakeBoundCallback(&Sent, &counters[i]));
        }
    }

    std::uint64_t PacketHops() const {
        std::uint64_t sum = 0;
        for (const auto& counter : counters) sum += counter.packets;
        return sum;
    }

private:
    Ipv4InterfaceContainer Join(const NodeContainer& ends, double bps, double delay_ms, bool red_there, bool red_back) {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(bps))));
        link.SetChannelAttribute("Delay", TimeValue(Milliseconds(delay_ms)));
        link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(std::to_string(bench::WIDE) + "p"));
        const NetDeviceContainer pair = link.Install(ends);
        devices.Add(pair);
        const auto found = addresses.Assign(pair);
        addresses.NewNetwork();
        Queue(pair.Get(0), red_there);
        Queue(pair.Get(1), red_back);
        return found;
    }

    // RED above a device that holds one packet; else the device's own queue alone.
    static void Queue(Ptr<NetDevice> device, bool red) {
        TrafficControlHelper control;
        const auto layer = device->GetNode()->GetObject<TrafficControlLayer>();
        if (layer->GetRootQueueDiscOnDevice(device)) control.Uninstall(device);
        if (!red) return;
        DynamicCast<PointToPointNetDevice>(device)->GetQueue()->SetMaxSize(QueueSize("1p"));
        control.SetRootQueueDisc("ns3::RedQueueDisc");
        control.Install(device);
    }

    void Add(const bench::Flow& flow) {
        NodeContainer hosts;
        hosts.Create(2);
        stack.Install(hosts);
        Join(NodeContainer(hosts.Get(0), routers.Get(flow.first)), scenario.access_bps, flow.source_ms, false, false);
        const auto found =
            Join(NodeContainer(routers.Get(flow.last), hosts.Get(1)), scenario.access_bps, flow.sink_ms, false, false);
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
        sink.Install(hosts.Get(1)).Start(Seconds(0));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(found.GetAddress(1), PORT));
        source.SetAttribute("SendSize", UintegerValue(bench::DATA_BYTES));
        source.Install(hosts.Get(0)).Start(Seconds(flow.start_s));
    }

    const bench::Case& scenario;
    NodeContainer routers;
    InternetStackHelper stack;
    Ipv4AddressHelper addresses;
    NetDeviceContainer devices;
    std::vector<Counter> counters;
};

}  // namespace

int main(int words, char** word) {
    bench::elapsed_s();
    const auto options = bench::options(words, word);
#if HAS_THREADS
    if (options.threads > 1) MtpInterface::Enable(options.threads);
#else
    if (options.threads != 1) bench::fail("this ns-3 has one thread");
#endif
    Defaults(options.scenario);
    Network network(options.scenario);
    if (options.count) network.Count();
    Simulator::Stop(Seconds(options.scenario.seconds));
    const double setup_s = bench::elapsed_s();
    Simulator::Run();
    const double end_s = bench::elapsed_s();
    bench::report(setup_s, end_s, network.PacketHops());
    Simulator::Destroy();
}
