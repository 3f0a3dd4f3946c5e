//! Two stations with a session between them, over any carrier.

use lanlab_medium::Topology;
use lanlab_stack::node::{CarrierKind, NotSent, Peer as Called, SessionId, Why};
use lanlab_stack::profile::{OWN, Profile, WINDOWS_NT};
use lanlab_units::Instant;

use crate::peer::Peer;
use crate::segment::{Segment, name};

pub fn ms(milliseconds: u64) -> Instant {
    Instant::from_nanos(milliseconds * 1_000_000)
}

pub fn pattern(message: usize, len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 + message * 13 + at / 251) as u8).collect()
}

/// A caller and a station that listens: after their names are claimed, the session is being opened.
pub fn pair_over(
    carrier: CarrierKind,
    [calling, called]: [Profile; 2],
    [from, to]: [Peer; 2],
    seed: u64,
) -> (Segment<Peer>, SessionId) {
    let programs = vec![(calling, from), (called, to)];
    let mut segment = Segment::over(carrier, Topology::Cable, programs, seed);
    segment.with(1, |_, node, _| node.listen());
    segment.run_until(ms(4_000));
    let id = open_over(carrier, &mut segment, 0, 1);
    (segment, id)
}

pub fn open_over(
    carrier: CarrierKind,
    segment: &mut Segment<Peer>,
    from: usize,
    to: usize,
) -> SessionId {
    segment.with(from, |now, node, _| node.open(now, carrier, Called::Name(name(to))).unwrap())
}

/// Messages of every length, those about a packet's `payload` too, are echoed, and nothing is sent twice.
pub fn check_messages_of_every_length(carrier: CarrierKind, profiles: &[Profile], payload: usize) {
    let lengths = [0, 1, payload - 1, payload, payload + 1, 4096, 20_000, 65_535, 7];
    let messages: Vec<_> =
        lengths.iter().enumerate().map(|(index, len)| pattern(index, *len)).collect();
    let timer = (carrier != CarrierKind::Nbf).then_some("t1_expiries");
    for (caller, callee) in
        profiles.iter().flat_map(|caller| profiles.iter().map(move |callee| (caller, callee)))
    {
        let peers = [Peer::sending(messages.clone()), Peer::echoing()];
        let (mut segment, _) = pair_over(carrier, [*caller, *callee], peers, 1);
        segment.run_until(ms(60_000));
        for station in [0, 1] {
            let peer = segment.program(station);
            assert!(peer.received == messages, "{} {}", caller.name, callee.name);
            assert_eq!((peer.unacknowledged, peer.ended.len()), (0, 0));
            for key in ["information_sent_again", "information_discarded"].into_iter().chain(timer)
            {
                assert_eq!(segment.counted(station, key), 0, "{key}");
            }
        }
    }
}

/// A caller closes while its message is on its way; each end then answers late copies for up to ten seconds.
pub fn check_close(carrier: CarrierKind, profile: Profile) {
    let peers = [Peer::sending([pattern(1, 9_000)]), Peer::default()];
    let (mut segment, id) = pair_over(carrier, [profile; 2], peers, 1);
    segment.run_until(ms(4_005));
    segment.with(0, |now, node, _| node.close(now, id));
    segment.run_until(ms(5_000));
    assert_eq!(segment.program(1).received, [pattern(1, 9_000)]);
    assert_eq!(segment.program(0).ended[&id], Why::Closed);
    assert_eq!(segment.program(1).ended.values().collect::<Vec<_>>(), [&Why::ByPeer]);
    let is_over = |segment: &mut Segment<Peer>| {
        [0, 1].map(|station| segment.node(station).poll_timeout().is_none())
    };
    let at_once = match carrier {
        CarrierKind::Nbf => [true, true],
        CarrierKind::Nbipx => [true, false],
        _ => [false, false],
    };
    assert_eq!(is_over(&mut segment), at_once);
    segment.run_until(ms(16_000));
    assert_eq!(is_over(&mut segment), [true, true]);
}

pub fn check_idle_session(carrier: CarrierKind, profile: Profile, until: Instant) {
    let (mut segment, id) = pair_over(carrier, [profile; 2], Default::default(), 1);
    segment.run_until(until);
    assert!([0, 1].iter().all(|one| segment.program(*one).ended.is_empty()), "{}", profile.name);
    segment.with(0, |now, node, _| node.send(now, id, b"still there").unwrap());
    segment.run_until(until.plus_nanos(1_000_000_000));
    assert_eq!(segment.program(1).received, [b"still there"]);
}

/// A caller sends what is too long, and more than there is room for.
pub fn check_what_is_refused(carrier: CarrierKind, profile: Profile) {
    let (mut segment, id) = pair_over(carrier, [profile; 2], Default::default(), 1);
    segment.run_until(ms(4_100));
    segment.with(0, |now, node, _| {
        assert_eq!(node.send(now, id, &vec![0; 65_536]), Err(NotSent::TooLong));
        for _ in 0..4 {
            assert_eq!(node.send(now, id, b"x"), Ok(()));
        }
        assert_eq!(node.send(now, id, b"x"), Err(NotSent::Full));
        assert_eq!(node.send(now, SessionId(99), b"x"), Err(NotSent::NoSession));
    });
}

/// "Calls without need do nothing": stations that are called at each time send the same frames at the same times.
pub fn check_calls_without_need(carrier: CarrierKind, profile: Profile) {
    let run = |nudges| {
        let sent: Vec<_> = (0..6).map(|index| pattern(index, 7_000)).collect();
        let peers = [Peer::sending(sent), Peer::echoing()];
        let (mut segment, id) = pair_over(carrier, [profile; 2], peers, 5);
        segment.nudges = nudges;
        segment.keeps_sent = true;
        segment.faults.lost = 4;
        segment.run_until(ms(100_000));
        segment.with(0, |now, node, _| node.close(now, id));
        segment.run_until(ms(300_000));
        assert_eq!(segment.program(0).received.len(), 6);
        (segment.sent, segment.heard)
    };
    let (without, with) = (run(false), run(true));
    assert!(without.0.len() > 50);
    assert_eq!(without, with);
}

/// Eight messages that nothing answers, each sent once the one before is acknowledged: the time until all are.
pub fn check_that_the_last_messages_do_not_wait(carrier: CarrierKind) {
    let took_ms = |profile| {
        let (mut segment, _) = pair_over(carrier, [profile; 2], Default::default(), 5);
        segment.run_until(ms(5_000));
        for index in 0..8 {
            segment.with(0, |now, node, peer| {
                peer.to_send.push_back(pattern(index, 4_000));
                peer.pump(now, node);
            });
            let is_over = segment.run_while(ms(60_000), |one| one.program(0).unacknowledged > 0);
            assert!(is_over, "{carrier:?}");
        }
        assert_eq!(segment.program(1).received.len(), 8);
        segment.now.nanos_since(ms(5_000)) / 1_000_000
    };
    // 3.3 to 3.6 ms a message on the wire, and 2 ms at most until it is acknowledged.
    let (own, of_nt) = (took_ms(OWN), took_ms(WINDOWS_NT));
    assert!((26..52).contains(&own), "{carrier:?}: {own} ms");
    assert!(of_nt > own + 1_000, "{carrier:?}: as documented, NT waits: {of_nt} ms");
}
