/// Whether PRR counts the acknowledgement that begins a reduction for a mark twice, as in ns-3: TcpSocketBase lets it act
/// when the reduction is entered, and again when the same acknowledgement is processed.
bool g_markTwice = true;

/// PRR without that.
class PrrOnce : public TcpPrrRecovery
{
  public:
    void EnterRecovery(Ptr<TcpSocketState> state, uint32_t duplicates, uint32_t flight, uint32_t delivered) override
    {
        const bool isAgain = !g_markTwice && state->m_congState == TcpSocketState::CA_CWR;
        TcpPrrRecovery::EnterRecovery(state, duplicates, flight, isAgain ? 0 : delivered);
    }
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
        Ptr<TcpSocketBase> base = DynamicCast<TcpSocketBase>(m_sender);
        base->SetCongestionControlAlgorithm(Control());
        if (m_kind.recovery == "ns3::TcpPrrRecovery")
        {
            base->SetRecoveryAlgorithm(CreateObject<PrrOnce>());
        }
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

