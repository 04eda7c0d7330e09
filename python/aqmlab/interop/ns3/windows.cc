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

