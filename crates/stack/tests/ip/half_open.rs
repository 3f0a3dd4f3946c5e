//! Handshakes that a peer does not end, and peers that vanish, at an interface with a limited number of connections.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use lanlab_medium::LossPlan;
use lanlab_stack::ip::{ConnectionId, Event, Interface, Received};
use lanlab_units::Instant;

use super::pair::{ADDRESSES, Pair, RECEIVER, SENDER, hosts};
use super::segments::{ACK, SYN, read, segment};
use super::{PORT, profile};

const MOST: usize = 2;

fn to() -> SocketAddr {
    SocketAddr::new(ADDRESSES[RECEIVER][0], PORT)
}

fn listening() -> Pair {
    let mut pair = Pair::new(&profile(1460), 10_000_000, LossPlan::Never);
    pair.hosts[RECEIVER].limit_connections(MOST);
    pair.hosts[RECEIVER].listen(PORT);
    pair
}

/// An interface by itself, to which frames are brought by hand.
fn receiver() -> Interface {
    let [_, mut receiver] = hosts(&profile(1460), 7);
    receiver.limit_connections(MOST);
    receiver.listen(PORT);
    receiver
}

/// A stranger, and the frames that begin as many handshakes.
fn begun(count: u16) -> (Interface, Vec<Vec<u8>>) {
    let [mut stranger, _] = hosts(&profile(1460), 9);
    let mut frames = Vec::new();
    for port in 0..count {
        stranger.connect(Instant::ZERO, 20_000 + port, to()).unwrap();
        let mut frame = Vec::new();
        assert!(stranger.poll_transmit(Instant::ZERO, &mut frame));
        frames.push(frame);
    }
    (stranger, frames)
}

fn after_s(seconds: u64) -> Instant {
    Instant::from_nanos(seconds * 1_000_000_000)
}

/// Let an interface whose frames go nowhere run until `is_over`; gives when that was, and its frames.
fn run_alone(
    host: &mut Interface,
    mut is_over: impl FnMut(Instant, &mut Interface) -> bool,
) -> (Instant, Vec<Vec<u8>>) {
    let (mut now, mut frame, mut frames) = (Instant::ZERO, Vec::new(), Vec::new());
    loop {
        while host.poll_transmit(now, &mut frame) {
            frames.push(frame.clone());
        }
        if is_over(now, host) {
            return (now, frames);
        }
        now = now.max(host.poll_timeout().expect("it has nothing to wait for"));
        host.handle_timeout(now);
    }
}

#[test]
fn half_open_handshakes_block_no_client_and_use_bounded_memory() {
    let mut pair = listening();
    let most_bytes = Interface::most_bytes(&profile(1460), MOST, 4, 64);
    for frame in begun(2_000).1 {
        // Nothing is sent meanwhile, as if the link took nothing.
        let receiver = &mut pair.hosts[RECEIVER];
        receiver.handle_frame(Instant::ZERO, &frame);
        assert_eq!(receiver.live_connections(), 0, "it takes no place");
        assert!(receiver.held_bytes() <= most_bytes, "{}", receiver.held_bytes());
    }
    while pair.hosts[RECEIVER].poll_transmit(Instant::ZERO, &mut Vec::new()) {}

    let opened = pair.hosts[SENDER].connect(Instant::ZERO, 1024, to()).unwrap();
    let mut accepted = 0;
    pair.run(after_s(1), |_, _, host, event| {
        accepted += usize::from(host == RECEIVER && matches!(event, Event::Accepted(_, PORT)));
    });
    assert!(pair.hosts[SENDER].is_open(opened));
    assert_eq!(accepted, 1);
}

/// They come in bursts: every 13 ms, 40 begin before the first of them answers. The program serves five a
/// millisecond, and closes the oldest connection if there are ten.
#[test]
fn a_client_is_served_within_a_second_among_3000_strangers() {
    const STRANGERS: u16 = 20_000;
    let opened_by = |event| if let Event::Accepted(id, _) = event { Some(id) } else { None };
    let mut receiver = receiver();
    receiver.limit_connections(10);
    let [mut sender, _] = hosts(&profile(64), 9);
    let (mut frame, mut stranger) = (Vec::new(), STRANGERS);
    let (mut accepted, mut open) = (VecDeque::new(), VecDeque::new());
    let (mut began, mut served) = (BTreeMap::new(), BTreeMap::new());
    for ms in 0..1_000_u16 {
        let now = Instant::from_nanos(u64::from(ms) * 1_000_000);
        for number in (0..40).take_while(|_| ms % 13 == 0) {
            sender.connect(now, stranger, to()).unwrap();
            stranger += 1;
            if number == 20 && ms % 65 == 0 {
                began.insert(1024 + ms, ms);
                sender.connect(now, 1024 + ms, to()).unwrap();
            }
        }
        let mut frames = Vec::new();
        while sender.poll_transmit(now, &mut frame) {
            frames.push(frame.clone());
        }
        for turn in 0..4 {
            let to = if turn % 2 == 0 { &mut receiver } else { &mut sender };
            let mut answers = Vec::new();
            for frame in std::mem::take(&mut frames) {
                to.handle_frame(now, &frame);
                let mut answer = Vec::new();
                while to.poll_transmit(now, &mut answer) {
                    answers.push(answer.clone());
                }
            }
            frames = answers;
        }
        for _ in 0..5 {
            accepted.extend(std::iter::from_fn(|| receiver.poll_event()).filter_map(opened_by));
            let Some(id) = accepted.pop_front() else { break };
            served.insert(receiver.peer(id).port(), ms);
            open.push_back(id);
            if open.len() == 10 {
                receiver.leave(now, open.pop_front().unwrap());
                while receiver.poll_transmit(now, &mut frame) {
                    sender.handle_frame(now, &frame);
                }
            }
        }
    }
    assert_eq!(began.len(), 16);
    for (port, began_ms) in began {
        let served_ms = served.get(&port).unwrap_or_else(|| panic!("{port} was not served"));
        assert!(served_ms - began_ms < 1_000);
    }
}

/// smoltcp's generator shows its state.
#[test]
fn initial_numbers_do_not_follow_from_those_of_other_handshakes() {
    let [_, mut plain] = hosts(&profile(1460), 7);
    plain.listen(PORT);
    let syn = &begun(1).1[0];
    let [number, predicted] = [receiver(), plain].map(|mut host| {
        let mut frame = Vec::new();
        host.handle_frame(Instant::ZERO, syn);
        assert!(host.poll_transmit(Instant::ZERO, &mut frame));
        read(&frame[14..]).2[0]
    });
    assert_ne!(number, predicted);
}

#[test]
fn handshakes_at_one_port_drop_none_at_another() {
    const DATA_PORT: u16 = PORT + 1;
    let mut receiver = receiver();
    receiver.limit_connections(3);
    receiver.listen(DATA_PORT);
    let [mut client, _] = hosts(&profile(1460), 8);
    let (now, mut frame) = (Instant::ZERO, Vec::new());
    client.connect(now, 1024, SocketAddr::new(ADDRESSES[RECEIVER][0], DATA_PORT)).unwrap();
    assert!(client.poll_transmit(now, &mut frame));
    receiver.handle_frame(now, &frame);
    assert!(receiver.poll_transmit(now, &mut frame));
    client.handle_frame(now, &frame);
    // Its answer arrives after the handshakes that strangers begin.
    for frame in begun(100).1 {
        receiver.handle_frame(now, &frame);
    }
    assert!(client.poll_transmit(now, &mut frame));
    receiver.handle_frame(now, &frame);
    let accepted = |event| matches!(event, Event::Accepted(_, DATA_PORT));
    assert!(std::iter::from_fn(|| receiver.poll_event()).any(accepted));
}

#[test]
fn open_connections_are_not_dropped_for_handshakes() {
    let mut pair = listening();
    let opened = [1024, 1025].map(|port| pair.hosts[SENDER].connect(Instant::ZERO, port, to()));
    pair.run(after_s(1), |_, _, _, _| {});
    for frame in begun(100).1 {
        pair.hosts[RECEIVER].handle_frame(after_s(1), &frame);
    }
    pair.run(after_s(2), |_, _, _, _| {});
    for id in opened {
        assert!(pair.hosts[SENDER].is_open(id.unwrap()));
    }
}

#[test]
fn half_open_handshakes_time_out_after_31_s() {
    let mut receiver = receiver();
    receiver.handle_frame(Instant::ZERO, &begun(1).1[0]);
    let (ended, frames) = run_alone(&mut receiver, |_, host| host.poll_timeout().is_none());
    assert_eq!(ended, after_s(31));
    assert_eq!(frames.len(), 1 + 4, "the answer, and four times again");
}

#[test]
fn a_reset_handshake_is_forgotten() {
    let mut receiver = receiver();
    let (mut stranger, frames) = begun(1);
    receiver.handle_frame(Instant::ZERO, &frames[0]);
    let mut frame = Vec::new();
    assert!(receiver.poll_transmit(Instant::ZERO, &mut frame));
    assert_eq!(receiver.poll_timeout(), Some(after_s(1)));
    // It has forgotten that it asked, and answers by a reset.
    stranger.abort(Instant::ZERO, ConnectionId(0));
    stranger.leave(Instant::ZERO, ConnectionId(0));
    while stranger.poll_transmit(Instant::ZERO, &mut Vec::new()) {}
    stranger.handle_frame(Instant::ZERO, &frame);
    assert!(stranger.poll_transmit(Instant::ZERO, &mut frame));
    receiver.handle_frame(Instant::ZERO, &frame);
    assert_eq!(receiver.poll_timeout(), None);
}

/// A blind attacker must guess both numbers.
#[test]
fn a_handshake_is_completed_only_within_the_window_and_without_syn() {
    let mut receiver = receiver();
    let mut frame = Vec::new();
    receiver.handle_frame(Instant::ZERO, &segment(0, PORT, SYN, [500, 0], b""));
    assert!(receiver.poll_transmit(Instant::ZERO, &mut frame));
    let next = read(&frame[14..]).2[0].wrapping_add(1);
    let mut opens = |flags, number| {
        receiver.handle_frame(Instant::ZERO, &segment(0, PORT, flags, [number, next], b""));
        std::iter::from_fn(|| receiver.poll_event()).any(|one| matches!(one, Event::Accepted(..)))
    };
    for (flags, number) in [(ACK, 500), (ACK, 501 + 1460), (ACK, 1 << 31), (SYN | ACK, 501)] {
        assert!(!opens(flags, number), "{flags:#x} {number}");
    }
    assert!(opens(ACK, 501));
}

/// The peers never close. Each new connection needs the place of one that the program has released.
#[test]
fn connections_dropped_for_others_leave_no_memory_in_use() {
    let mut receiver = receiver();
    let (mut stranger, frames) = begun(5_000);
    let mut frame = Vec::new();
    while stranger.poll_transmit(Instant::ZERO, &mut frame) {}
    for syn in frames {
        receiver.handle_frame(Instant::ZERO, &syn);
        while receiver.poll_transmit(Instant::ZERO, &mut frame) {
            stranger.handle_frame(Instant::ZERO, &frame);
        }
        while stranger.poll_transmit(Instant::ZERO, &mut frame) {
            receiver.handle_frame(Instant::ZERO, &frame);
        }
        while let Some(event) = receiver.poll_event() {
            if let Event::Accepted(id, _) = event {
                receiver.leave(Instant::ZERO, id);
            }
        }
        while receiver.poll_transmit(Instant::ZERO, &mut frame) {}
    }
    let most_bytes = Interface::most_bytes(&profile(1460), MOST, 4, 64);
    assert!(receiver.held_bytes() <= most_bytes, "{} of {most_bytes}", receiver.held_bytes());
}

#[test]
fn closing_a_listener_drops_its_handshakes() {
    let mut receiver = receiver();
    let (mut stranger, frames) = begun(1);
    receiver.handle_frame(Instant::ZERO, &frames[0]);
    let mut frame = Vec::new();
    assert!(receiver.poll_transmit(Instant::ZERO, &mut frame));
    receiver.stop_listening(PORT);
    assert_eq!(receiver.poll_timeout(), None);
    stranger.handle_frame(Instant::ZERO, &frame);
    while stranger.poll_transmit(Instant::ZERO, &mut frame) {
        receiver.handle_frame(Instant::ZERO, &frame);
    }
    let accepted = |event| matches!(event, Event::Accepted(..));
    assert!(!std::iter::from_fn(|| receiver.poll_event()).any(accepted));
}

fn opened(pair: &mut Pair) -> ConnectionId {
    pair.hosts[SENDER].connect(Instant::ZERO, 1024, to()).unwrap();
    let mut accepted = None;
    pair.run(after_s(1), |_, _, host, event| {
        if let (RECEIVER, Event::Accepted(id, _)) = (host, event) {
            accepted = Some(id);
        }
    });
    accepted.unwrap()
}

#[test]
fn a_vanished_peer_is_probed_and_times_out() {
    let mut pair = listening();
    let id = opened(&mut pair);
    let receiver = &mut pair.hosts[RECEIVER];
    let mut buffer = [0; 8];
    let (ended, frames) =
        run_alone(receiver, |now, host| host.receive(now, id, &mut buffer) == Received::Broken);
    assert!((after_s(200)..after_s(201)).contains(&ended), "{ended:?}");
    assert_eq!(frames.len(), 3 + 1, "three questions, and a reset");
    let facts = receiver.facts(id);
    assert_eq!((facts.retransmitted_segments, facts.data_segments_sent), (0, 0));
    assert_eq!(facts.segments_sent, 1 + 3 + 1, "the answer of the handshake, questions and reset");
    receiver.leave(ended, id);
    assert_eq!(receiver.live_connections(), 0);
}

#[test]
fn a_silent_peer_that_answers_probes_stays() {
    let mut pair = listening();
    let id = opened(&mut pair);
    pair.run(after_s(3_600), |_, _, _, _| {});
    assert!(pair.hosts[RECEIVER].is_open(id));
    assert_eq!(pair.hosts[RECEIVER].receive(after_s(3_600), id, &mut [0; 8]), Received::Nothing);
}
