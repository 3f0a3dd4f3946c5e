//! Interfaces with a limited number of connections.

use std::net::SocketAddr;

use lanlab_medium::LossPlan;
use lanlab_stack::ip::{Event, Interface, Received, Refusal};
use lanlab_units::Instant;

use super::pair::{ADDRESSES, Pair, RECEIVER, SENDER};
use super::{PORT, profile};

const MOST: usize = 2;

fn pair() -> (Pair, SocketAddr) {
    let mut pair = Pair::new(&profile(1460), 10_000_000, LossPlan::Never);
    for host in &mut pair.hosts {
        host.limit_connections(MOST);
    }
    pair.hosts[RECEIVER].listen(PORT);
    (pair, SocketAddr::new(ADDRESSES[RECEIVER][0], PORT))
}

fn after_ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// Let both run; what was accepted at the receiver is closed once its peer's end has come.
fn settle(pair: &mut Pair, until: Instant) {
    pair.run(until, |now, hosts, host, event| {
        let Event::Changed(id) = event else { return };
        let mut buffer = [0; 64];
        if host == RECEIVER && hosts[host].receive(now, id, &mut buffer) == Received::End {
            hosts[host].leave(now, id);
        }
    });
}

#[test]
fn sequential_connections_use_the_memory_of_two() {
    let (mut pair, to) = pair();
    for turn in 0..100_u16 {
        let now = after_ms(u64::from(turn) * 1_000);
        let opened = pair.hosts[SENDER].connect(now, 1024 + turn, to).unwrap();
        assert!(opened.0 < MOST, "a place that is free is taken again");
        settle(&mut pair, now.plus_nanos(300_000_000));
        assert!(pair.hosts[SENDER].is_open(opened), "connection {turn}");
        pair.hosts[SENDER].leave(now.plus_nanos(300_000_000), opened);
        settle(&mut pair, now.plus_nanos(999_000_000));
        for host in &pair.hosts {
            assert_eq!(host.live_connections(), 0, "after connection {turn}");
            assert!(host.held_bytes() <= Interface::most_bytes(&profile(1460), MOST, 4, 64));
        }
    }
}

#[test]
fn a_connection_above_the_limit_needs_a_closed_one() {
    let (mut pair, to) = pair();
    let open = |pair: &mut Pair, now, port| pair.hosts[SENDER].connect(now, port, to);
    let first = open(&mut pair, Instant::ZERO, 1024).unwrap();
    let second = open(&mut pair, Instant::ZERO, 1025).unwrap();
    assert_eq!(open(&mut pair, Instant::ZERO, 1026), Err(Refusal::Full));
    pair.run(after_ms(500), |_, _, _, _| {});
    assert!(pair.hosts[SENDER].is_open(first) && pair.hosts[SENDER].is_open(second));

    // Its peer has not closed: it is given up, by a reset.
    pair.hosts[SENDER].leave(after_ms(500), first);
    let third = open(&mut pair, after_ms(500), 1026).unwrap();
    assert_eq!(third, first, "the same place");
    let mut broken = 0;
    pair.run(after_ms(5_000), |now, hosts, host, event| {
        let Event::Changed(id) = event else { return };
        if host == RECEIVER && hosts[host].receive(now, id, &mut [0; 8]) == Received::Broken {
            broken += 1;
            hosts[host].leave(now, id);
        }
    });
    assert!(broken > 0, "the peer hears that the first is over");
    settle(&mut pair, after_ms(20_000));
    assert!(pair.hosts[SENDER].is_open(third), "and there is room for the third");
}
