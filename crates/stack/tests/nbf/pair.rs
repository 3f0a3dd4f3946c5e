//! Two stations with a session between them, over any carrier.

use lanlab_medium::Topology;
use lanlab_stack::node::{CarrierKind, NotSent, Peer as Called, SessionId};
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

/// The caller of a session that is open sends what is too long, and more than there is room for.
pub fn check_what_is_refused(segment: &mut Segment<Peer>, id: SessionId) {
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
