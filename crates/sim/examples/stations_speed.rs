//! How much virtual time passes in a second of this thread's processor time (Linux), and what a frame costs:
//! stations in a closed loop on a 10 Mbit/s bus send 750 bytes to a server that takes 2 ms and 1 µs a byte,
//! one after the other, and get 64 bytes back. Frames are as long as those of UDP over IPv4.
//!
//! `cargo run --release --package lanlab-sim --example stations_speed [-- STATIONS [VIRTUAL_SECONDS]]`

use std::cell::Cell;
use std::rc::Rc;

use lanlab_medium::{LossPlan, Plan, Topology};
use lanlab_sim::datagrams::{Datagrams, RECEIVED, ROOM};
use lanlab_sim::{Bounds, Cost, Ended, Host, Mac, Machine, World, WorldPlan, mac_of};
use lanlab_units::Instant;

/// Headers of IPv4 and UDP, without the two bytes that a message of ours has for its length.
const HEADERS_BYTES: usize = 28 - 2;
const UP_BYTES: usize = 750;
const BACK_BYTES: usize = 64;
const SERVER: Cost = Cost { each_ns: 2_000_000, per_byte_ps: 1_000_000 };

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let stations = arguments.next();
    let virtual_s = arguments.next().unwrap_or(2000);
    for stations in stations.map_or(vec![1, 2, 15, 60, 150], |stations| vec![stations]) {
        run(stations as u16, virtual_s);
    }
}

fn run(stations: u16, virtual_s: u64) {
    let plan = WorldPlan {
        medium: Plan {
            topology: Topology::Bus,
            rate_bps: Some(10_000_000),
            ports: stations + 1,
            propagation_ns: 2_500,
            delay_ns: 0,
            loss: LossPlan::Never,
            switch_queue_bytes: 0,
        },
        machines: (0..=stations).map(|host| Machine::without_costs(format!("pc {host}"))).collect(),
    };
    let world =
        World::new(&plan, 1, |_, mac| Datagrams::new(mac, 1 << 20, 1 << 20)).expect("a good plan");
    let operations = Rc::new(Cell::new(0_u64));
    for station in 1..=stations {
        let (host, operations) = (world.host(station), Rc::clone(&operations));
        host.clone().spawn("station", async move {
            loop {
                send(&host, mac_of(0), &[0; UP_BYTES + HEADERS_BYTES]).await;
                receive(&host).await;
                operations.set(operations.get() + 1);
            }
        });
    }
    let server = world.host(0);
    server.clone().spawn_service("server", async move {
        loop {
            let (from, bytes) = receive(&server).await;
            server.call(SERVER, bytes - HEADERS_BYTES).await;
            send(&server, from, &[0; BACK_BYTES + HEADERS_BYTES]).await;
        }
    });
    let before_ns = processor_time_ns();
    let until = Instant::from_nanos(virtual_s * 1_000_000_000);
    assert_eq!(world.run(&Bounds { events: u64::MAX, until }), Ended::Time);
    let cpu_s = (processor_time_ns() - before_ns) as f64 / 1e9;
    let facts = world.facts();
    let operations = operations.get();
    let frames = facts.medium.total().offered_frames;
    println!(
        "{stations:3} stations: {:8.0} virtual s per CPU s, {:6.2} Mbit/s up, {:.1} events/operation, \
         {:5.0} ns/frame, {:.2} collisions/frame",
        virtual_s as f64 / cpu_s,
        operations as f64 * UP_BYTES as f64 * 8.0 / virtual_s as f64 / 1e6,
        facts.events as f64 / operations as f64,
        cpu_s * 1e9 / frames as f64,
        facts.medium.collisions as f64 / frames as f64,
    );
}

async fn send(host: &Host<Datagrams>, to: Mac, message: &[u8]) {
    host.until(ROOM, "room to send", |node, _| node.send(to, message).then_some(())).await;
}

async fn receive(host: &Host<Datagrams>) -> (Mac, usize) {
    let take = |node: &mut Datagrams, _| node.receive(|from, message| (from, message.len()));
    host.until(RECEIVED, "a message", take).await
}

/// The first number of the file: time on a processor, ns. Other processes do not count.
fn processor_time_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("a Linux with schedstat");
    text.split(' ').next().and_then(|number| number.parse().ok()).expect("a number")
}
