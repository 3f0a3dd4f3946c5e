// The scenario of `ns3_stations.py` in ns-3: stations in a closed loop on a 10 Mbit/s CSMA bus, 750 bytes up and
// 64 back by UDP over IPv4, and a server that takes 2 ms and 1 us for each byte, one request after the other.
//
// Prints the replies of the measured part, its virtual seconds and the processor's seconds of the run. ns-3's
// bus has neither collisions nor preambles nor gaps.

#include <ns3/core-module.h>
#include <ns3/csma-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>

#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <utility>
#include <vector>

using namespace ns3;

namespace {

constexpr uint16_t kPort = 5201;
constexpr uint32_t kUpBytes = 750;
constexpr uint32_t kBackBytes = 64;
constexpr int64_t kServeNs = 2'000'000 + 1'000 * int64_t{kUpBytes};
constexpr double kWarmupS = 1.0;

uint64_t g_replies = 0;

void Ask(Ptr<Socket> socket) { socket->Send(Create<Packet>(kUpBytes)); }

void TakeReply(Ptr<Socket> socket)
{
    while (socket->Recv())
    {
        if (Simulator::Now().GetSeconds() >= kWarmupS)
        {
            ++g_replies;
        }
        Ask(socket);
    }
}

// Serves one request after the other.
class Server
{
  public:
    explicit Server(Ptr<Socket> socket) : m_socket(std::move(socket))
    {
        m_socket->SetRecvCallback(MakeCallback(&Server::Take, this));
    }

  private:
    void Take(Ptr<Socket> socket)
    {
        Address from;
        while (socket->RecvFrom(from))
        {
            m_waiting.push_back(from);
            if (m_waiting.size() == 1)
            {
                Simulator::Schedule(NanoSeconds(kServeNs), &Server::Reply, this);
            }
        }
    }

    void Reply()
    {
        m_socket->SendTo(Create<Packet>(kBackBytes), 0, m_waiting.front());
        m_waiting.pop_front();
        if (!m_waiting.empty())
        {
            Simulator::Schedule(NanoSeconds(kServeNs), &Server::Reply, this);
        }
    }

    Ptr<Socket> m_socket;
    std::deque<Address> m_waiting;
};

double ProcessorSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) { return time.tv_sec + time.tv_usec / 1e6; };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

} // namespace

int main(int count, char** words)
{
    if (count != 3)
    {
        std::cerr << "usage: ns3_stations STATIONS VIRTUAL_SECONDS\n";
        return 2;
    }
    const uint32_t stations = static_cast<uint32_t>(std::atoi(words[1]));
    const double seconds = std::atof(words[2]);
    // Without this the first burst of requests would be dropped while addresses are resolved.
    Config::SetDefault("ns3::ArpCache::PendingQueueSize", UintegerValue(1000));

    NodeContainer nodes;
    nodes.Create(stations + 1);
    CsmaHelper csma;
    csma.SetChannelAttribute("DataRate", StringValue("10Mbps"));
    csma.SetChannelAttribute("Delay", TimeValue(NanoSeconds(2500)));
    const NetDeviceContainer devices = csma.Install(nodes);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.77.0.0", "255.255.0.0");
    const Ipv4InterfaceContainer interfaces = addresses.Assign(devices);

    const TypeId udp = TypeId::LookupByName("ns3::UdpSocketFactory");
    Ptr<Socket> served = Socket::CreateSocket(nodes.Get(stations), udp);
    served->Bind(InetSocketAddress(Ipv4Address::GetAny(), kPort));
    const Server server(served);
    std::vector<Ptr<Socket>> sockets;
    for (uint32_t station = 0; station < stations; ++station)
    {
        Ptr<Socket> socket = Socket::CreateSocket(nodes.Get(station), udp);
        socket->Bind();
        socket->Connect(InetSocketAddress(interfaces.GetAddress(stations), kPort));
        socket->SetRecvCallback(MakeCallback(&TakeReply));
        Simulator::Schedule(MicroSeconds(station), &Ask, socket);
        sockets.push_back(socket);
    }
    Simulator::Stop(Seconds(kWarmupS + seconds));
    const double before = ProcessorSeconds();
    Simulator::Run();
    const double used = ProcessorSeconds() - before;
    std::cout << "{\"replies\": " << g_replies << ", \"virtual_s\": " << kWarmupS + seconds
              << ", \"measured_s\": " << seconds << ", \"processor_s\": " << used << "}\n";
    Simulator::Destroy();
    return 0;
}
