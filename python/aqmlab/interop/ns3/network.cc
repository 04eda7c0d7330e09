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
            factory.Set(attribute, StringValue(value == "random" ? Key() : value));
        }
        m_discs[name] = factory.Create<QueueDisc>();
        device->GetNode()->GetObject<TrafficControlLayer>()->SetRootQueueDiscOnDevice(device, m_discs[name]);
        if (!m_hidden)
        {
            // A device of ns-3 takes one packet more than it sends, and no queue disc sees that one. Here the device is
            // stopped while it sends, as Linux' drivers stop theirs; then all waiting packets are in the queue disc.
            Ptr<NetDeviceQueue> queue = device->GetObject<NetDeviceQueueInterface>()->GetTxQueue(0);
            device->TraceConnectWithoutContext("PhyTxBegin", MakeBoundCallback(&Network::Stop, queue));
            device->TraceConnectWithoutContext("PhyTxEnd", MakeBoundCallback(&Network::Wake, queue));
        }
    }

    /// A key for a hash of flows, another one in every run.
    static std::string Key()
    {
        return std::to_string(uint32_t(Drawn("ns3::UniformRandomVariable[Min=0|Max=4294967295]")));
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

