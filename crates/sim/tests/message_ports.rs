//! Messages between simulated hosts: what ends a session, and what holds its sender back.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::net::SocketAddr;

use lanlab_sessions::MessagePort as _;
use lanlab_sim::file_service::{ByteStream, Carriage, NETBIOS_PORT, SimulatedPort, connect};
use lanlab_sim::programs::{HostNode, Station, addresses_of};
use lanlab_sim::{Bounds, Cost, Ended, Machine, World, mac_of};
use lanlab_stack::node::{CarrierKind, NodeConfig};
use lanlab_stack::profile::WINDOWS_NT;
use lanlab_units::Instant;
use lanlab_wire::ethernet::Mac;
use lanlab_wire::netbios_name::{Name, suffix};

#[path = "support/two_machines.rs"]
mod two_machines;

use two_machines::two_machines;

const SECOND_NS: u64 = 1_000_000_000;
const FAR: Bounds = Bounds { events: 1_000_000, until: Instant::from_nanos(100_000 * SECOND_NS) };

fn world() -> World<HostNode> {
    world_of(&Machine::default())
}

fn world_of(machine: &Machine) -> World<HostNode> {
    two_machines(machine, |host, ip| {
        let is_server = host == 0;
        let (name, kind) =
            if is_server { ("SERVER", suffix::SERVER) } else { ("PC", suffix::WORKSTATION) };
        let name = Name::new(name, kind).unwrap();
        let config = NodeConfig::new(Mac(mac_of(host)), name, WINDOWS_NT, CarrierKind::Nbf);
        HostNode { ip, station: Some(Station::new(&config, is_server)) }
    })
}

/// What a client's port, or that of one who `takes_requests`, makes of bytes that come over TCP, before their
/// sender closes. No message has more than 100 bytes.
fn received(bytes: &[u8], takes_requests: bool) -> Result<Vec<u8>, ErrorKind> {
    let world = world();
    let (server, client) = (world.host(0), world.host(1));
    server.with_node(|node, _| node.ip.interface.listen(NETBIOS_PORT));
    let bytes = bytes.to_vec();
    server.clone().spawn_service("server", async move {
        let mut stream = ByteStream::accept(&server, NETBIOS_PORT).await;
        poll_fn(|cx| stream.poll_write(cx, &bytes)).await.unwrap();
        stream.close();
        server.clock().sleep_ns(SECOND_NS).await;
    });
    let task = client.clone().spawn("client", async move {
        let address = SocketAddr::new(addresses_of(0)[0], NETBIOS_PORT);
        let connect = |node: &mut HostNode, now| node.ip.interface.connect(now, 1025, address);
        let connection = client.with_node(connect).unwrap();
        client.clock().sleep_ns(SECOND_NS / 10).await;
        let mut port = SimulatedPort::of_connection(client, connection, 100, takes_requests);
        let mut message = Vec::new();
        let received = poll_fn(|cx| port.poll_receive(cx, &mut message)).await;
        received.map(|()| message).map_err(|error| error.kind())
    });
    assert_eq!(world.run(&FAR), Ended::ProgramsDone);
    task.take().unwrap()
}

/// RFC 1002, 4.3.
#[test]
fn a_message_for_the_wrong_end_ends_the_session() {
    let packet = |kind: u8, payload: &[u8]| [&[kind, 0, 0, payload.len() as u8], payload].concat();
    let message = packet(0x00, b"abc");
    let (request, positive) = (packet(0x81, &[b' '; 68]), packet(0x82, &[]));
    let (negative, keep_alive) = (packet(0x83, &[0x82]), packet(0x85, &[]));
    let then_message = |first: &[u8]| [first, &message].concat();
    let taken = Ok(b"abc".to_vec());
    for takes_requests in [false, true] {
        let received = |bytes: &[u8]| received(bytes, takes_requests);
        assert_eq!(received(&message), taken);
        assert_eq!(received(&then_message(&keep_alive)), taken);
        assert_eq!(received(&packet(0x00, &[1; 100])), Ok(vec![1; 100]));
        assert_eq!(received(&packet(0x00, &[1; 101])), Err(ErrorKind::InvalidData));
        assert_eq!(received(&then_message(&negative)), Err(ErrorKind::InvalidData));
        assert_eq!(received(&message[..6]), Err(ErrorKind::UnexpectedEof));
        // A server answers requests, and a client awaits the answer.
        let [asked, answered] = [&request, &positive].map(|first| received(&then_message(first)));
        let (good, bad) = if takes_requests { (asked, answered) } else { (answered, asked) };
        assert_eq!((good, bad), (taken.clone(), Err(ErrorKind::InvalidData)));
    }
}

#[test]
fn a_slow_reader_blocks_its_sender_without_loss() {
    const MESSAGES: u8 = 100;
    let world = world();
    let (server, client) = (world.host(0), world.host(1));
    client.clone().spawn("client", async move {
        let carriage = Carriage::Frames(CarrierKind::Nbf);
        let address = SocketAddr::new(addresses_of(0)[0], NETBIOS_PORT);
        let mut port = connect(&client, carriage, "SERVER", address).await.unwrap();
        for number in 0..MESSAGES {
            poll_fn(|cx| port.poll_send(cx, [&[number], &[]])).await.unwrap();
        }
        // The session ends with the port.
        client.clock().sleep_ns(1_000 * SECOND_NS).await;
    });
    let task = server.clone().spawn("server", async move {
        let accept = |node: &mut HostNode, _| node.station.as_mut().unwrap().accept();
        let session = loop {
            server.clock().sleep_ns(30 * SECOND_NS).await;
            if let Some((session, _)) = server.with_node(accept) {
                break session;
            }
        };
        let (mut taken, mut at_once) = (Vec::new(), Vec::new());
        let mut into = Vec::new();
        while taken.len() < usize::from(MESSAGES) {
            let before = taken.len();
            server.with_node(|node, _| {
                let station = node.station.as_mut().unwrap();
                while station.receive(session, &mut into).is_some_and(|one| one.is_ok()) {
                    taken.extend_from_slice(&into);
                }
            });
            at_once.push(taken.len() - before);
            server.clock().sleep_ns(30 * SECOND_NS).await;
        }
        (taken, at_once)
    });
    assert_eq!(world.run(&FAR), Ended::ProgramsDone);
    let (taken, at_once) = task.take().unwrap();
    assert_eq!(taken, (0..MESSAGES).collect::<Vec<_>>());
    assert_eq!(at_once, [16, 16, 16, 16, 16, 16, 4]);
}

/// Both buffers hold 16 KiB.
#[test]
fn a_stream_waits_for_room_and_dropping_it_ends_it_for_the_peer() {
    const BYTES: usize = 20_000;
    let world = world();
    let (server, client) = (world.host(0), world.host(1));
    server.with_node(|node, _| node.ip.interface.listen(NETBIOS_PORT));
    server.clone().spawn_service("server", async move {
        let mut stream = ByteStream::accept(&server, NETBIOS_PORT).await;
        let mut left = BYTES;
        while left > 0 {
            server.clock().sleep_ns(SECOND_NS).await;
            left -= poll_fn(|cx| stream.poll_read(cx, &mut [0; 5_000])).await.unwrap();
        }
    });
    let task = client.clone().spawn("client", async move {
        let address = SocketAddr::new(addresses_of(0)[0], NETBIOS_PORT);
        let mut stream = ByteStream::connect(&client, address).await.unwrap();
        let sent = poll_fn(|cx| stream.poll_write(cx, &vec![0; BYTES])).await.unwrap();
        assert_eq!(sent, BYTES);
        poll_fn(|cx| stream.poll_read(cx, &mut [0; 8])).await.unwrap()
    });
    assert_eq!(world.run(&FAR), Ended::ProgramsDone);
    assert_eq!(task.take(), Some(0));
}

/// 1 ms and 1 µs a byte to send, twice as much to receive.
fn costly() -> Machine {
    Machine {
        send_call: Cost { each_ns: 1_000_000, per_byte_ps: 1_000_000 },
        receive_call: Cost { each_ns: 2_000_000, per_byte_ps: 2_000_000 },
        ..Machine::default()
    }
}

/// RFC 1002, 4.3: a request of 72 bytes, and 4 before each message. The port's calls cost what its messages have, those
/// of a stream what goes over it.
#[test]
fn tcp_calls_cost_by_byte_and_dropping_the_port_ends_the_stream() {
    let world = world_of(&costly());
    let (server, client) = (world.host(0), world.host(1));
    server.with_node(|node, _| node.ip.interface.listen(NETBIOS_PORT));
    let task = server.clone().spawn("server", async move {
        let mut stream = ByteStream::accept(&server, NETBIOS_PORT).await;
        server.clock().sleep_ns(SECOND_NS).await;
        let mut came = [0; 1_000];
        let count = poll_fn(|cx| stream.poll_read(cx, &mut came)).await.unwrap();
        let message = [&[0, 0, 0, 100][..], &[1; 30], &[2; 70]].concat();
        assert_eq!((count, &came[72..count]), (176, &message[..]));
        let answer = b"\x82\0\0\0\0\0\0\x03abc";
        assert_eq!(poll_fn(|cx| stream.poll_write(cx, answer)).await.unwrap(), answer.len());
        assert_eq!(poll_fn(|cx| stream.poll_read(cx, &mut came)).await.unwrap(), 0);
        server.cpu().program_ns
    });
    let other = client.clone().spawn("client", async move {
        let address = SocketAddr::new(addresses_of(0)[0], NETBIOS_PORT);
        let mut port = connect(&client, Carriage::Tcp, "SERVER", address).await.unwrap();
        poll_fn(|cx| port.poll_send(cx, [&[1; 30], &[2; 70]])).await.unwrap();
        let mut message = vec![7; 9];
        poll_fn(|cx| port.poll_receive(cx, &mut message)).await.unwrap();
        assert_eq!(message, b"abc");
        drop(port);
        client.clock().sleep_ns(10 * SECOND_NS).await;
        client.cpu().program_ns
    });
    assert_eq!(world.run(&FAR), Ended::ProgramsDone);
    assert_eq!(task.take(), Some(2_352_000 + 1_011_000));
    assert_eq!(other.take(), Some(1_100_000 + 2_006_000));
}

#[test]
fn frame_calls_cost_by_byte_and_dropping_the_port_ends_the_stream() {
    let world = world_of(&costly());
    let (server, client) = (world.host(0), world.host(1));
    let task = server.clone().spawn("server", async move {
        let accept = |node: &mut HostNode, _| node.station.as_mut().unwrap().accept();
        let (session, facts) = loop {
            if let Some(accepted) = server.with_node(accept) {
                break accepted;
            }
            server.clock().sleep_ns(SECOND_NS).await;
        };
        let mut port = SimulatedPort::of_session(server.clone(), session, facts);
        let mut message = Vec::new();
        poll_fn(|cx| port.poll_receive(cx, &mut message)).await.unwrap();
        assert_eq!(message, [[1; 30].as_slice(), &[2; 70]].concat());
        let cpu_ns = server.cpu().program_ns;
        let ended = poll_fn(|cx| port.poll_receive(cx, &mut message)).await.unwrap_err();
        assert_eq!(ended.kind(), ErrorKind::UnexpectedEof);
        let not_sent = poll_fn(|cx| port.poll_send(cx, [&[1], &[]])).await.unwrap_err();
        assert_eq!(not_sent.kind(), ErrorKind::NotConnected);
        cpu_ns
    });
    let other = client.clone().spawn("client", async move {
        let carriage = Carriage::Frames(CarrierKind::Nbf);
        let address = SocketAddr::new(addresses_of(0)[0], NETBIOS_PORT);
        let mut port = connect(&client, carriage, "SERVER", address).await.unwrap();
        poll_fn(|cx| port.poll_send(cx, [&[1; 30], &[2; 70]])).await.unwrap();
        let cpu_ns = client.cpu().program_ns;
        client.clock().sleep_ns(10 * SECOND_NS).await;
        let longer = vec![0; port.facts().longest_message as usize + 1];
        let not_sent = poll_fn(|cx| port.poll_send(cx, [&longer, &[]])).await.unwrap_err();
        assert_eq!(not_sent.kind(), ErrorKind::InvalidInput);
        drop(port);
        client.clock().sleep_ns(10 * SECOND_NS).await;
        cpu_ns
    });
    assert_eq!(world.run(&FAR), Ended::ProgramsDone);
    assert_eq!((task.take(), other.take()), (Some(2_200_000), Some(1_100_000)));
}
