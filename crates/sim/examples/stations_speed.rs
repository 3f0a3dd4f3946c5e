//! How much virtual time passes in a second of this thread's processor time (Linux), and what a frame costs:
//! stations in a closed loop on a 10 Mbit/s bus send 750 bytes by UDP over IPv4 to a server that takes 2 ms
//! and 1 µs a byte, one after the other, and get 64 bytes back.
//!
//! `cargo run --release --package lanlab-sim --example stations_speed [-- STATIONS [VIRTUAL_SECONDS]]`

use std::cell::Cell;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;

use lanlab_medium::{LossPlan, Plan, Topology};
use lanlab_sim::{Bounds, Cost, Ended, Host, HostId, Key, Machine, Node, World, WorldPlan, mac_of};
use lanlab_stack::ip::{Config, Event, Interface, SocketId, TcpProfile};
use lanlab_units::Instant;

const UP_BYTES: usize = 750;
const BACK_BYTES: usize = 64;
const SERVER: Cost = Cost { each_ns: 2_000_000, per_byte_ps: 1_000_000 };
const BUFFER_BYTES: usize = 1 << 20;
const PORT: u16 = 7;
const SOCKET: SocketId = SocketId(0);
const DATAGRAM: Key = 0;
const OTHER: Key = 1;

/// IP with one UDP socket.
struct Udp(Interface);

impl Udp {
    fn new(host: HostId, hosts: HostId) -> Self {
        // A server knows all its clients, and a client its server.
        let known = if host == 0 { 0..hosts } else { 0..1 };
        let mut interface = Interface::new(Config {
            mac: mac_of(host),
            addresses: vec![address_of(host).ip()],
            neighbours: known.map(|other| (address_of(other).ip(), mac_of(other))).collect(),
            tcp: TcpProfile {
                mss_bytes: None,
                send_buffer_bytes: 8192,
                receive_buffer_bytes: 8192,
                delayed_ack_ns: None,
                nagle: true,
            },
            seed: 1,
        });
        interface.bind(PORT, BUFFER_BYTES, BUFFER_BYTES).expect("a free port");
        Self(interface)
    }
}

impl Node for Udp {
    fn handle_frame(&mut self, now: Instant, frame: &[u8]) {
        self.0.handle_frame(now, frame);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.0.handle_timeout(now);
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        self.0.poll_timeout()
    }

    fn poll_transmit(&mut self, now: Instant, into: &mut Vec<u8>) -> bool {
        self.0.poll_transmit(now, into)
    }

    fn poll_event(&mut self) -> Option<Key> {
        self.0.poll_event().map(|event| match event {
            Event::Datagram(_) => DATAGRAM,
            _ => OTHER,
        })
    }
}

fn address_of(host: HostId) -> SocketAddr {
    let [high, low] = (host + 1).to_be_bytes();
    (Ipv4Addr::new(10, 0, high, low), PORT).into()
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let stations = arguments.next();
    let virtual_s = arguments.next().unwrap_or(2000);
    for stations in stations.map_or(vec![2, 15, 60, 150], |stations| vec![stations]) {
        run(stations as u16, virtual_s);
    }
}

fn run(stations: u16, virtual_s: u64) {
    let medium = Plan {
        topology: Topology::Bus,
        rate_bps: Some(10_000_000),
        ports: stations + 1,
        propagation_ns: 2_500,
        delay_ns: 0,
        loss: LossPlan::Never,
        switch_queue_bytes: 0,
    };
    let machines =
        (0..=stations).map(|host| Machine::without_costs(format!("pc {host}"))).collect();
    let plan = WorldPlan { medium, machines };
    let world = World::new(&plan, 1, |host, _| Udp::new(host, stations + 1)).expect("a good plan");
    let operations = Rc::new(Cell::new(0_u64));
    for station in 1..=stations {
        let (host, operations) = (world.host(station), Rc::clone(&operations));
        host.clone().spawn("station", async move {
            let mut datagram = Vec::new();
            loop {
                send(&host, address_of(0), &[0; UP_BYTES]);
                receive(&host, &mut datagram).await;
                assert_eq!(datagram.len(), BACK_BYTES);
                operations.set(operations.get() + 1);
            }
        });
    }
    let server = world.host(0);
    server.clone().spawn_service("server", async move {
        let mut datagram = Vec::new();
        loop {
            let from = receive(&server, &mut datagram).await;
            server.call(SERVER, datagram.len()).await;
            send(&server, from, &[0; BACK_BYTES]);
        }
    });
    let before_ns = processor_time_ns();
    let until = Instant::from_nanos(virtual_s * 1_000_000_000);
    assert_eq!(world.run(&Bounds { events: u64::MAX, until }), Ended::Time);
    let cpu_s = (processor_time_ns() - before_ns) as f64 / 1e9;
    let facts = world.facts();
    let operations = operations.get() as f64;
    let frames = facts.medium.total().offered_frames as f64;
    println!(
        "{stations:3} stations: {:5.0} virtual s per CPU s, {:.2} Mbit/s up, \
         {:.1} events/operation, {:.0} ns/frame, {:.3} collisions/frame",
        virtual_s as f64 / cpu_s,
        operations * UP_BYTES as f64 * 8.0 / virtual_s as f64 / 1e6,
        facts.events as f64 / operations,
        cpu_s * 1e9 / frames,
        facts.medium.collisions as f64 / frames,
    );
}

fn send(host: &Host<Udp>, to: SocketAddr, payload: &[u8]) {
    host.with_node(|node, _| node.0.send_datagram(SOCKET, to, payload)).expect("room");
}

async fn receive(host: &Host<Udp>, datagram: &mut Vec<u8>) -> SocketAddr {
    let take = |node: &mut Udp, _| node.0.receive_datagram(SOCKET, datagram);
    host.until(DATAGRAM, "a datagram", take).await.from
}

/// The first number of the file: time on a processor, ns. Other processes do not count.
fn processor_time_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("a Linux with schedstat");
    text.split(' ').next().and_then(|number| number.parse().ok()).expect("a number")
}
