//! What a stranger says over iperf3's control connection, to either end, and the head of its datagrams.

use lanlab_wire::iperf3::{COOKIE_BYTES, Head, State};
use lanlab_workloads::iperf3::{Asked, Bounds, Client, Event, Served, Server, Test};

use super::Feed;
use crate::messages::PeerReport;

/// Narrower than any server's, so that something goes beyond each.
const BOUNDS: Bounds = Bounds { flows: 16, time_s: 600, rate_bps: Some(1_000_000_000) };
/// Octets that an end says in one dialogue at most: its parameters or its results, and states.
const MOST_SAID_BYTES: usize = 4096;

/// A dialogue with a server or a client, in pieces; what is taken is within bounds, and neither says much.
///
/// # Panics
/// If that does not hold.
pub fn iperf3_dialogue(octets: &[u8]) {
    head(octets);
    let mut feed = Feed::new(octets);
    let kind = feed.u8();
    if kind & 1 == 0 {
        serve(&mut feed, usize::from(kind >> 1) + 1);
    } else {
        ask(&mut feed, usize::from(kind >> 1) + 1);
    }
}

fn head(octets: &[u8]) {
    for is_wide in [false, true] {
        let Ok(head) = Head::parse(octets, is_wide) else { continue };
        let mut again = octets.to_vec();
        head.emit(&mut again, is_wide);
        assert_eq!(again, octets, "what is read is what is written");
    }
}

/// Be the server of what comes, as the engine is.
fn serve(feed: &mut Feed, piece: usize) {
    let mut server = Server::new(BOUNDS);
    let mut said = server.take_output();
    while !feed.is_empty() {
        server.handle(feed.take(piece));
        loop {
            let event = match server.poll_event() {
                Ok(Some(event)) => event,
                Ok(None) => break,
                Err(refused) => {
                    assert!(!refused.failure.message.is_empty());
                    server.refuse(refused.number);
                    said.extend(server.take_output());
                    let place = said.len() - 9;
                    assert_eq!(said[place], State::ServerError as u8);
                    assert!(said.len() < MOST_SAID_BYTES);
                    return;
                }
            };
            match event {
                Served::Asked(asked) => {
                    check(&asked);
                    server.open_flows();
                    server.start();
                }
                Served::End => server.exchange(),
                Served::Report(_) => server.give_results(&PeerReport::default()),
                Served::Over => {
                    said.extend(server.take_output());
                    assert_eq!(said.last(), Some(&(State::DisplayResults as u8)));
                    return;
                }
            }
            said.extend(server.take_output());
        }
    }
    assert!(said.len() < MOST_SAID_BYTES);
}

/// What a client is given is within the bounds.
fn check(asked: &Asked) {
    let test = &asked.test;
    assert!((1..=BOUNDS.flows).contains(&test.flows));
    assert!(test.time_s + asked.omit_s <= BOUNDS.time_s);
    assert!(BOUNDS.rate_bps >= Some(test.rate_bps * u64::from(test.flows)) && test.rate_bps > 0);
    assert!((1..=1 << 20).contains(&test.message_bytes));
    assert!(!test.is_udp || (16..=65_507).contains(&test.message_bytes));
    assert!(test.directions != (false, false) && asked.dscp < 64);
}

/// Be the client of what comes, as the engine is.
fn ask(feed: &mut Feed, piece: usize) {
    let test = Test {
        is_udp: false,
        directions: (true, true),
        time_s: 3,
        flows: 2,
        message_bytes: 1_000,
        rate_bps: 1_000_000,
        nodelay: true,
        buffer_bytes: Some(65_536),
        congestion: Some("reno".to_owned()),
    };
    let mut client = Client::new(test, &[b'a'; COOKIE_BYTES]);
    let mut said = client.take_output().len();
    while !feed.is_empty() {
        client.handle(feed.take(piece));
        loop {
            match client.poll_event() {
                Ok(Some(Event::OpenFlows)) => {}
                Ok(Some(Event::Running)) => client.end(),
                Ok(Some(Event::WantResults)) => client.give_results(&PeerReport::default()),
                Ok(Some(Event::Report(report))) => assert!(report.streams.len() <= 512),
                Ok(Some(Event::Over) | None) => break,
                Err(failure) => return assert!(!failure.message.is_empty()),
            }
        }
        said += client.take_output().len();
        assert!(said < MOST_SAID_BYTES);
    }
}
