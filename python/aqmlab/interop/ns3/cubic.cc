/// Whether CUBIC keeps what it has counted while its window stood still, as in ns-3: at the plateau it waits for a hundred
/// windows of acknowledgements, and the window then grows with each one until that count is used up. Linux forgets it.
bool g_keepsCount = true;

/// A way to the count, which ns-3 lets nobody see.
template <auto Member>
struct Reach
{
    friend uint32_t& CountOf(TcpCubic& control)
    {
        return control.*Member;
    }
};

uint32_t& CountOf(TcpCubic& control);
template struct Reach<&TcpCubic::m_cWndCnt>;

template <>
void
Without<TcpCubic>::IncreaseWindow(Ptr<TcpSocketState> state, uint32_t segments)
{
    const uint32_t before = state->m_cWnd;
    const uint32_t threshold = state->m_ssThresh;
    if (g_growthAtExit || !m_ends)
    {
        TcpCubic::IncreaseWindow(state, segments);
    }
    if (!g_keepsCount && state->m_cWnd > before)
    {
        CountOf(*this) = 0;
    }
    if (!g_beyondThreshold && before < threshold && state->m_cWnd > threshold)
    {
        state->m_cWnd = threshold;
    }
    m_ends = false;
}

