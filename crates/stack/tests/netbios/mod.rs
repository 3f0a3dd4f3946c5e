//! Sessions of messages, whichever carrier they use.

use lanlab_stack::node::{CarrierKind, NotSent, SessionId, Why};
use lanlab_stack::profile::{self, OWN, Profile, WINDOWS_9X, WINDOWS_NT, WINDOWS_WFW};

use crate::pair::{ms, pair_over, pattern};
use crate::peer::Peer;
use crate::segment::Segment;
use crate::xns::OF_XEROX;

const CARRIERS: [CarrierKind; 3] = [CarrierKind::Nbf, CarrierKind::Nbipx, CarrierKind::Spp];

/// Messages of every length, those about a packet's payload too, are echoed, and nothing is sent twice.
#[test]
fn messages_of_every_length_round_trip_between_all_profiles() {
    for (carrier, profiles, payload) in [
        (CarrierKind::Nbf, &profile::ALL[..], 1482),
        (CarrierKind::Nbipx, &[WINDOWS_NT, WINDOWS_9X, WINDOWS_WFW, profile::DOS], 1449),
        (CarrierKind::Spp, &[WINDOWS_NT, OF_XEROX], 534),
    ] {
        let lengths = [0, 1, payload - 1, payload, payload + 1, 4096, 20_000, 65_535, 7];
        let messages: Vec<_> =
            lengths.iter().enumerate().map(|(index, len)| pattern(index, *len)).collect();
        let timer = (carrier != CarrierKind::Nbf).then_some("t1_expiries");
        let keys = ["information_sent_again", "information_discarded"].into_iter().chain(timer);
        let pairs = profiles.iter().flat_map(|one| profiles.iter().map(move |two| [*one, *two]));
        for both in pairs {
            let peers = [Peer::sending(messages.clone()), Peer::echoing()];
            let (mut segment, _) = pair_over(carrier, both, peers, 1);
            segment.run_until(ms(60_000));
            let names = both.map(|profile| profile.name);
            for station in [0, 1] {
                let peer = segment.program(station);
                assert!(peer.received == messages, "{carrier:?} {names:?}");
                assert_eq!((peer.unacknowledged, peer.ended.len()), (0, 0));
                for key in keys.clone() {
                    assert_eq!(segment.counted(station, key), 0, "{carrier:?} {names:?} {key}");
                }
            }
        }
    }
}

#[test]
fn oversized_messages_are_refused_and_the_send_queue_is_bounded() {
    for carrier in CARRIERS {
        let (mut segment, id) = pair_over(carrier, [WINDOWS_NT; 2], Default::default(), 1);
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
}

/// A caller closes while its message is on its way; each end then answers late copies for up to ten seconds.
#[test]
fn closing_flushes_data_and_ends_the_session_at_both_ends() {
    for (carrier, profile, is_over_at_once) in [
        (CarrierKind::Nbf, WINDOWS_NT, [true, true]),
        (CarrierKind::Nbipx, WINDOWS_NT, [true, false]),
        (CarrierKind::Spp, WINDOWS_NT, [false, false]),
        (CarrierKind::Spp, OF_XEROX, [false, false]),
    ] {
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
        assert_eq!(is_over(&mut segment), is_over_at_once, "{carrier:?}");
        segment.run_until(ms(16_000));
        assert_eq!(is_over(&mut segment), [true, true], "{carrier:?}");
    }
}

#[test]
fn a_paused_receiver_gets_the_whole_message_on_resume() {
    for (carrier, profile) in [
        (CarrierKind::Nbf, WINDOWS_NT),
        (CarrierKind::Nbf, profile::DOS),
        (CarrierKind::Nbipx, WINDOWS_NT),
        (CarrierKind::Spp, WINDOWS_NT),
    ] {
        let sent = vec![pattern(0, 30_000), pattern(1, 30_000), pattern(2, 10)];
        let peers = [Peer::sending(sent.clone()), Peer::default()];
        let (mut segment, _) = pair_over(carrier, [profile; 2], peers, 1);
        // In the middle of the first message.
        segment.run_until(ms(4_010));
        assert!(segment.program(1).received.is_empty());
        let id = segment.program(1).sessions[0];
        segment.with(1, |_, node, _| node.pause(id));
        segment.run_until(ms(100_000));
        assert!(segment.program(1).received.is_empty() && segment.program(0).ended.is_empty());
        segment.with(1, |_, node, _| node.resume(id));
        segment.run_until(ms(170_000));
        assert!(segment.program(1).received == sent, "{carrier:?} {}", profile.name);
        // Between messages, too.
        segment.with(1, |_, node, _| node.pause(id));
        segment.with(0, |now, node, program| {
            program.to_send.push_back(pattern(3, 5_000));
            program.pump(now, node);
        });
        segment.run_until(ms(180_000));
        assert_eq!(segment.program(1).received.len(), 3);
        segment.with(1, |_, node, _| node.resume(id));
        segment.run_until(ms(190_000));
        assert!(segment.program(1).received[3] == pattern(3, 5_000), "{carrier:?}");
    }
}

#[test]
fn an_idle_session_survives_its_timers() {
    let each = |carrier, profile: &Profile, until_ms| {
        let (mut segment, id) = pair_over(carrier, [*profile; 2], Default::default(), 1);
        segment.run_until(ms(until_ms));
        let is_open = |one: &usize| segment.program(*one).ended.is_empty();
        assert!([0, 1].iter().all(is_open), "{carrier:?} {}", profile.name);
        segment.with(0, |now, node, _| node.send(now, id, b"still there").unwrap());
        segment.run_until(ms(until_ms + 1_000));
        assert_eq!(segment.program(1).received, [b"still there"]);
    };
    for profile in &profile::ALL {
        each(CarrierKind::Nbf, profile, 600_000);
    }
    each(CarrierKind::Nbipx, &WINDOWS_NT, 3_600_000);
    each(CarrierKind::Spp, &WINDOWS_NT, 3_600_000);
}

/// Stations that are called at each time send the same frames at the same times.
#[test]
fn spurious_timer_calls_change_nothing() {
    for (carrier, profile) in [
        (CarrierKind::Nbf, profile::IBM),
        (CarrierKind::Nbipx, WINDOWS_NT),
        (CarrierKind::Spp, WINDOWS_NT),
    ] {
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
        assert_eq!(without, with, "{carrier:?}");
    }
}

/// Eight messages that nothing answers, each sent once the one before is acknowledged: the time until all are.
#[test]
fn our_profile_acknowledges_unanswered_messages_at_once() {
    for carrier in CARRIERS {
        let took_ms = |profile| {
            let (mut segment, _) = pair_over(carrier, [profile; 2], Default::default(), 5);
            segment.run_until(ms(5_000));
            for index in 0..8 {
                segment.with(0, |now, node, peer| {
                    peer.to_send.push_back(pattern(index, 4_000));
                    peer.pump(now, node);
                });
                let is_over =
                    segment.run_while(ms(60_000), |one| one.program(0).unacknowledged > 0);
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
}
