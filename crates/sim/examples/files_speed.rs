//! Virtual time per second of this thread's CPU time (Linux), with a file service. Stations in a closed loop read
//! 750 bytes by SMB 1 over `NetBEUI` on a bus of 10 Mbit/s, from machines without costs.
//!
//! `cargo run --release --package lanlab-sim --example files_speed [-- STATIONS [VIRTUAL_SECONDS]]`

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use lanlab_files::{Access, ServicePath, Session as _};
use lanlab_medium::{LossPlan, Plan, Topology};
use lanlab_messages::SimulatedStore;
use lanlab_sessions::{Agreed, Redirected};
use lanlab_sim::file_service::{
    Carriage, Contents, NETBIOS_PORT, Served, SimulatedPort, Store, connect, serve,
};
use lanlab_sim::programs::{HostNode, IpNode, Station, addresses_of};
use lanlab_sim::{Bounds, Ended, Host, HostId, Machine, World, WorldPlan, mac_of};
use lanlab_stack::node::{CarrierKind, NodeConfig};
use lanlab_stack::profile::WINDOWS_NT;
use lanlab_stack::smb::Dialect;
use lanlab_stack::smb::client::{Client, Plan as ClientPlan};
use lanlab_stack::smb::server::{Offer, Server};
use lanlab_units::Instant;
use lanlab_wire::ethernet::Mac;
use lanlab_wire::netbios_name::{Name, suffix};
use lanlab_workloads::virtual_time::VirtualTime;
use plain_tcp::TCP;

#[path = "../tests/support/plain_tcp.rs"]
mod plain_tcp;

const BLOCK_BYTES: usize = 750;
const FILE_BYTES: usize = 1_000 * BLOCK_BYTES;
const SERVER: HostId = 0;
const ROUNDS: usize = 5;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let stations = arguments.next().unwrap_or(15) as u16;
    let virtual_s = arguments.next().unwrap_or(100);
    let mut cpu_s = [0.0; ROUNDS];
    for cpu_s in &mut cpu_s {
        let (found, operations, events) = run(stations, virtual_s);
        *cpu_s = found;
        println!(
            "{stations} stations: {:.1} virtual s per CPU s, {:.2} µs/operation, {operations} operations, \
             {events} events",
            virtual_s as f64 / found,
            found * 1e6 / operations as f64,
        );
    }
    cpu_s.sort_by(f64::total_cmp);
    println!("median of {ROUNDS}: {:.1} virtual s per CPU s", virtual_s as f64 / cpu_s[ROUNDS / 2]);
}

/// CPU time, operations, events.
fn run(stations: u16, virtual_s: u64) -> (f64, u64, u64) {
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
    let node = |host, _| {
        let is_server = host == SERVER;
        let (name, kind) = if is_server {
            ("SERVER".to_owned(), suffix::SERVER)
        } else {
            (format!("PC{host}"), suffix::WORKSTATION)
        };
        let name = Name::new(&name, kind).expect("a name");
        let carriers = CarrierKind::Nbf;
        let config = NodeConfig::new(Mac(mac_of(host)), name, WINDOWS_NT, carriers);
        let ip = IpNode::new(host, stations + 1, TCP, 1);
        HostNode { ip, station: Some(Station::new(&config, is_server)) }
    };
    let world = World::new(&WorldPlan { medium, machines }, 1, node).expect("a good plan");
    let mut contents = Contents::new(1 << 40, Rc::new(|_: &[String]| None));
    contents.put_bytes(&["file".to_owned()], &vec![7; FILE_BYTES]).expect("room");
    let server = world.host(SERVER);
    let store = Store::new(server.clone(), SimulatedStore::default());
    let files = Served { contents: Rc::new(RefCell::new(contents)), store };
    let offer = Offer {
        name: "SERVER".into(),
        share: "LANLAB".into(),
        user: None,
        read_only: false,
        dialects: Dialect::Core..=Dialect::Nt,
    };
    serve(&server, Rc::new(Server::new(offer)), &files);
    let operations = Rc::new(Cell::new(0_u64));
    for station in 1..=stations {
        let (host, operations) = (world.host(station), Rc::clone(&operations));
        host.clone().spawn("station", async move {
            let session = session(&host).await;
            let path = ServicePath::new("file").expect("a path");
            let file = session.open(&path, Access::Read).await.expect("a file");
            let mut block = [0; BLOCK_BYTES];
            for number in 0.. {
                let offset = (number * BLOCK_BYTES % FILE_BYTES) as u64;
                let count = session.read_at(&file, offset, &mut block).await.expect("a block");
                assert_eq!((count, block), (BLOCK_BYTES, [7; BLOCK_BYTES]));
                operations.set(operations.get() + 1);
            }
        });
    }
    let before_ns = processor_time_ns();
    let until = Instant::from_nanos(virtual_s * 1_000_000_000);
    assert_eq!(world.run(&Bounds { events: u64::MAX, until }), Ended::Time);
    let cpu_s = (processor_time_ns() - before_ns) as f64 / 1e9;
    (cpu_s, operations.get(), world.facts().events)
}

async fn session(host: &Host<HostNode>) -> Redirected<Client, SimulatedPort, VirtualTime> {
    let address = SocketAddr::new(addresses_of(SERVER)[0], NETBIOS_PORT);
    let carriage = Carriage::Frames(CarrierKind::Nbf);
    let port = connect(host, carriage, "SERVER", address).await.expect("a session");
    let client = Client::new(ClientPlan {
        dialect: None,
        server: "SERVER".into(),
        share: "LANLAB".into(),
        user: None,
        nonce: [0; 8],
        time: 0,
        raw: false,
        multiplexed: true,
        requires_signatures: false,
        carrier: port.facts(),
    });
    let clock = (host.clock().clone(), Duration::from_secs(30));
    let begun = Redirected::begin(client, Client::CONNECTED, (port, Agreed::default()), clock, "");
    begun.await.expect("a login")
}

/// The file's first number is CPU time, ns. Other processes do not count.
fn processor_time_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("a Linux with schedstat");
    text.split(' ').next().and_then(|number| number.parse().ok()).expect("a number")
}
