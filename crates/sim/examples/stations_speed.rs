//! Virtual time per second of this thread's CPU time (Linux), and the cost of a frame. Stations in a closed
//! loop on a 10 Mbit/s bus send 750 bytes by UDP over IPv4 to a server that needs 2 ms and 1 µs per byte, one
//! request at a time, and get 64 bytes back.
//!
//! `cargo run --release --package lanlab-sim --example stations_speed [-- STATIONS [VIRTUAL_SECONDS]]`

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;

use lanlab_medium::{LossPlan, Plan, Topology};
use lanlab_sim::programs::{HostNode, IpNode, addresses_of, datagram_key};
use lanlab_sim::{Bounds, Cost, Ended, Host, HostId, Machine, World, WorldPlan};
use lanlab_stack::ip::SocketId;
use lanlab_units::Instant;
use plain_tcp::TCP;

#[path = "../tests/support/plain_tcp.rs"]
mod plain_tcp;

const UP_BYTES: usize = 750;
const BACK_BYTES: usize = 64;
const SERVER: Cost = Cost { each_ns: 2_000_000, per_byte_ps: 1_000_000 };
const BUFFER_BYTES: usize = 1 << 20;
const ROUNDS: usize = 5;
const PORT: u16 = 7;
/// The first socket of a host.
const SOCKET: SocketId = SocketId(0);

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let stations = arguments.next();
    let virtual_s = arguments.next().unwrap_or(400);
    let counts = stations.map_or(vec![2, 15, 60, 150], |stations| vec![stations as u16]);
    // Alternate, so that other load affects all alike.
    let mut results = vec![Vec::new(); counts.len()];
    for _ in 0..ROUNDS {
        for (results, stations) in results.iter_mut().zip(&counts) {
            results.push(run(*stations, virtual_s));
        }
    }
    println!("medians of {ROUNDS} rounds, {virtual_s} virtual s each");
    for (mut results, stations) in results.into_iter().zip(counts) {
        results.sort_by(|one, other| one.cpu_s.total_cmp(&other.cpu_s));
        let Result { cpu_s, frames, operations, events, collisions } = results[ROUNDS / 2];
        println!(
            "{stations:3} stations: {:5.0} virtual s per CPU s, {:.0} ns/frame ({:.0} to {:.0}), \
             {:.2} Mbit/s up, {:.1} events/operation, {:.3} collisions/frame",
            virtual_s as f64 / cpu_s,
            cpu_s * 1e9 / frames,
            results[0].cpu_s * 1e9 / frames,
            results[ROUNDS - 1].cpu_s * 1e9 / frames,
            operations * UP_BYTES as f64 * 8.0 / virtual_s as f64 / 1e6,
            events / operations,
            collisions / frames,
        );
    }
}

#[derive(Clone, Copy)]
struct Result {
    cpu_s: f64,
    frames: f64,
    operations: f64,
    events: f64,
    collisions: f64,
}

fn run(stations: u16, virtual_s: u64) -> Result {
    let medium = Plan {
        topology: Topology::Bus,
        rate_bps: Some(10_000_000),
        ports: stations + 1,
        propagation_ns: 2_500,
        delay_ns: 0,
        loss: LossPlan::Never,
        switch_queue_bytes: 0,
    };
    let machines = (0..=stations).map(|_| Machine::default()).collect();
    let plan = WorldPlan { medium, machines };
    let node = |host, _| {
        let mut node = HostNode { ip: IpNode::new(host, stations + 1, TCP, 1), station: None };
        node.ip.interface.bind(PORT, BUFFER_BYTES, BUFFER_BYTES).expect("a free port");
        node
    };
    let world = World::new(&plan, 1, node).expect("a good plan");
    let operations = Rc::new(Cell::new(0_u64));
    for station in 1..=stations {
        let (host, operations) = (world.host(station), Rc::clone(&operations));
        host.clone().spawn("station", async move {
            let mut datagram = Vec::new();
            loop {
                send(&host, server_address(), &[0; UP_BYTES]);
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
    Result {
        cpu_s,
        frames: facts.medium.total().offered_frames as f64,
        operations: operations.get() as f64,
        events: facts.events as f64,
        collisions: facts.medium.collisions as f64,
    }
}

fn server_address() -> SocketAddr {
    const SERVER: HostId = 0;
    (addresses_of(SERVER)[0], PORT).into()
}

fn send(host: &Host<HostNode>, to: SocketAddr, payload: &[u8]) {
    host.with_node(|node, _| node.ip.interface.send_datagram(SOCKET, to, payload)).expect("room");
}

async fn receive(host: &Host<HostNode>, datagram: &mut Vec<u8>) -> SocketAddr {
    let take = |node: &mut HostNode, _| node.ip.interface.receive_datagram(SOCKET, datagram);
    host.until(datagram_key(SOCKET), "a datagram", take).await.from
}

/// The file's first number is CPU time, ns. Other processes do not count.
fn processor_time_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("a Linux with schedstat");
    text.split(' ').next().and_then(|number| number.parse().ok()).expect("a number")
}
