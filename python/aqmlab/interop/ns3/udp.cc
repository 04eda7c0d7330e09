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
