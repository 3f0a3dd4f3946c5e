//! A link against the state tables of ISO/IEC 8802-2: PDUs by hand, answers by hand.

use lanlab_stack::llc::{Counts, Ended, Event, Link, State};
use lanlab_stack::profile::{self, LinkProfile};
use lanlab_units::Instant;
use lanlab_wire::llc::{FrameReject, Reasons};

const SAP: u8 = 0xf0;

fn ms(milliseconds: u64) -> Instant {
    Instant::from_nanos(milliseconds * 1_000_000)
}

fn sent(link: &mut Link, now: Instant) -> Vec<Vec<u8>> {
    let mut pdus = vec![];
    let mut pdu = vec![];
    while link.poll_transmit(now, &mut pdu) {
        pdus.push(std::mem::take(&mut pdu));
    }
    pdus
}

fn command(rest: &[u8]) -> Vec<u8> {
    [&[SAP, SAP], rest].concat()
}

fn response(rest: &[u8]) -> Vec<u8> {
    [&[SAP, SAP | 1], rest].concat()
}

fn give(link: &mut Link, now: Instant, pdu: &[u8]) -> Vec<Vec<u8>> {
    link.handle_frame(now, pdu);
    sent(link, now)
}

fn events(link: &mut Link) -> Vec<Event> {
    std::iter::from_fn(|| link.poll_event()).collect()
}

fn link(profile: LinkProfile) -> Link {
    Link::new(&profile, SAP)
}

fn open() -> Link {
    let mut link = link(profile::WINDOWS_NT.link);
    link.accept(ms(0), true);
    assert_eq!(sent(&mut link, ms(0)), [response(&[0x73])]);
    assert_eq!(events(&mut link), [Event::Opened]);
    link
}

fn hand_in(link: &mut Link, information: &[u8]) {
    assert!(link.has_room());
    link.send().extend_from_slice(information);
}

#[test]
fn sabme_is_repeated_until_ua_then_the_link_is_polled_once() {
    let mut link = link(profile::WINDOWS_NT.link);
    link.connect(ms(0));
    assert_eq!(sent(&mut link, ms(0)), [command(&[0x7f])]);
    assert_eq!(link.poll_timeout(), Some(ms(450)));
    link.handle_timeout(ms(450));
    assert_eq!(sent(&mut link, ms(450)), [command(&[0x7f])]);
    // UA without F answers nothing.
    assert_eq!(give(&mut link, ms(500), &response(&[0x63])), [] as [Vec<u8>; 0]);
    assert_eq!(give(&mut link, ms(500), &response(&[0x73])), [command(&[0x01, 0x01])]);
    assert_eq!(events(&mut link), [Event::Opened]);
    assert_eq!(link.state(), State::Opened);
}

#[test]
fn dm_fails_the_link() {
    let mut refused = link(profile::IBM.link);
    refused.connect(ms(0));
    sent(&mut refused, ms(0));
    give(&mut refused, ms(1), &response(&[0x1f]));
    assert_eq!(events(&mut refused), [Event::Ended(Ended::Refused)]);
}

#[test]
fn both_ends_may_send_sabme_at_the_same_time() {
    let mut link = link(profile::WINDOWS_NT.link);
    link.connect(ms(0));
    sent(&mut link, ms(0));
    assert_eq!(give(&mut link, ms(1), &command(&[0x7f])), [response(&[0x73])]);
    assert_eq!(link.state(), State::Opening);
    give(&mut link, ms(2), &response(&[0x73]));
    assert_eq!(link.state(), State::Opened);
    // If the answer is lost, T1 ends the wait: the other end has ours.
    let mut lost = Link::new(&profile::WINDOWS_NT.link, SAP);
    lost.connect(ms(0));
    sent(&mut lost, ms(0));
    give(&mut lost, ms(1), &command(&[0x7f]));
    lost.handle_timeout(ms(450));
    assert_eq!(lost.state(), State::Opened);
}

#[test]
fn polled_frames_are_acknowledged_at_once_others_by_n3_or_t2() {
    let mut link = open();
    // I frame 0 with P: RR, F, N(R) 1.
    assert_eq!(give(&mut link, ms(1), &command(&[0x00, 0x01, 9])), [response(&[0x01, 0x03])]);
    // I frame 1: after T2. I frame 2 besides: at once, N3 is 2.
    assert_eq!(give(&mut link, ms(2), &command(&[0x02, 0x00, 9])), [] as [Vec<u8>; 0]);
    assert_eq!(give(&mut link, ms(3), &command(&[0x04, 0x00, 9])), [response(&[0x01, 0x06])]);
    assert_eq!(give(&mut link, ms(4), &command(&[0x06, 0x00, 9])), [] as [Vec<u8>; 0]);
    assert_eq!(link.poll_timeout(), Some(ms(154)));
    link.handle_timeout(ms(154));
    assert_eq!(sent(&mut link, ms(154)), [response(&[0x01, 0x08])]);
    // A poll without data, too: with what is expected.
    assert_eq!(give(&mut link, ms(160), &command(&[0x01, 0x01])), [response(&[0x01, 0x09])]);
}

#[test]
fn acknowledgements_ride_on_waiting_i_frames() {
    let mut link = open();
    hand_in(&mut link, b"x");
    link.handle_frame(ms(1), &command(&[0x00, 0x00, 9]));
    assert_eq!(sent(&mut link, ms(1)), [command(&[0x00, 0x02, b'x'])]);
    assert_eq!(link.poll_timeout(), Some(ms(451)), "T2 does not run any more");
}

#[test]
fn a_gap_causes_one_rej_and_resent_frames_are_accepted() {
    let mut link = open();
    assert_eq!(link.handle_frame(ms(1), &command(&[0x02, 0x00, 7])), None);
    assert_eq!(sent(&mut link, ms(1)), [response(&[0x09, 0x00])]);
    assert_eq!(give(&mut link, ms(2), &command(&[0x04, 0x00, 7])), [] as [Vec<u8>; 0]);
    assert_eq!(link.handle_frame(ms(3), &command(&[0x00, 0x00, 1])), Some(&[1][..]));
    assert_eq!(link.handle_frame(ms(3), &command(&[0x02, 0x00, 2])), Some(&[2][..]));
    // The next gap is rejected anew.
    assert_eq!(give(&mut link, ms(4), &command(&[0x08, 0x00, 7])), [response(&[0x09, 0x04])]);
    assert_eq!((link.counts().information_discarded, link.counts().rejects_sent), (3, 2));
}

#[test]
fn a_copy_of_a_frame_is_acknowledged_and_not_rejected() {
    let mut link = open();
    let [first, second] = [command(&[0x00, 0x00, 1]), command(&[0x02, 0x00, 2])];
    give(&mut link, ms(1), &first);
    give(&mut link, ms(1), &second);
    for _ in 0..2 {
        assert_eq!(give(&mut link, ms(2), &first), [response(&[0x01, 0x04])]);
    }
    let polled = command(&[0x00, 0x01, 1]);
    assert_eq!(give(&mut link, ms(3), &polled), [response(&[0x01, 0x05])]);
    assert_eq!((link.counts().rejects_sent, link.counts().information_discarded), (0, 3));
}

#[test]
fn rej_resends_from_its_number_with_a_window_of_one() {
    let mut link = open();
    for octet in 0..2 {
        hand_in(&mut link, &[octet]);
    }
    assert_eq!(sent(&mut link, ms(1)).len(), 2);
    hand_in(&mut link, &[2]);
    assert_eq!(sent(&mut link, ms(1)), [command(&[0x04, 0x00, 2])]);
    // REJ with N(R) 1: frame 0 has come.
    assert_eq!(give(&mut link, ms(2), &response(&[0x09, 0x02])), [command(&[0x02, 0x00, 1])]);
    assert_eq!(give(&mut link, ms(3), &response(&[0x01, 0x04])), [command(&[0x04, 0x00, 2])]);
    give(&mut link, ms(4), &response(&[0x01, 0x06]));
    assert!(link.is_drained());
    assert_eq!((link.counts().information_sent_again, link.counts().rejects_received), (2, 1));
}

#[test]
fn after_rej_the_window_reopens_at_the_pace_of_the_profile() {
    let grows = profile::ALL.map(|one| one.link).into_iter().filter(|one| one.window_growth > 0);
    let most = grows.inspect(|profile| grow(*profile)).map(|one| one.window_growth).max();
    assert!(most >= Some(2), "some profile takes more than one frame");
}

fn grow(profile: LinkProfile) {
    let (window, growth) = (profile.window, profile.window_growth);
    let mut link = link(profile);
    link.accept(ms(0), true);
    sent(&mut link, ms(0));
    hand_in(&mut link, b"lost");
    assert_eq!(sent(&mut link, ms(1)).len(), 1);
    let mut number = 0;
    let mut on_their_way = give(&mut link, ms(2), &response(&[0x09, 0x00])).len();
    // All that is on its way is acknowledged each time: after `growth` of them, and no sooner, there is one more.
    let (mut expected, mut acknowledged) = (1, 0);
    while expected < usize::from(window) {
        assert_eq!(on_their_way, expected);
        number += on_their_way as u8;
        acknowledged += on_their_way;
        expected = usize::from(window).min(1 + acknowledged / usize::from(growth));
        on_their_way = give(&mut link, ms(3), &response(&[0x01, number << 1])).len();
        // Two frames at most wait for the window.
        loop {
            while link.has_room() {
                hand_in(&mut link, b"more");
            }
            match sent(&mut link, ms(3)).len() {
                0 => break,
                more => on_their_way += more,
            }
        }
    }
    assert_eq!(on_their_way, usize::from(window));
}

#[test]
fn t1_polls_and_unacknowledged_frames_are_resent() {
    let mut link = open();
    hand_in(&mut link, b"a");
    hand_in(&mut link, b"b");
    sent(&mut link, ms(0));
    link.handle_timeout(ms(450));
    // Data are not sent blindly again.
    assert_eq!(sent(&mut link, ms(450)), [command(&[0x01, 0x01])]);
    // An RR without F acknowledges, but does not answer.
    assert_eq!(give(&mut link, ms(460), &response(&[0x01, 0x02])), [] as [Vec<u8>; 0]);
    assert_eq!(give(&mut link, ms(470), &response(&[0x01, 0x03])), [command(&[0x02, 0x00, b'b'])]);
}

#[test]
fn rnr_pauses_sending_until_rr() {
    let mut link = open();
    give(&mut link, ms(0), &response(&[0x05, 0x00]));
    hand_in(&mut link, b"a");
    assert_eq!(sent(&mut link, ms(1)), [] as [Vec<u8>; 0]);
    assert_eq!(give(&mut link, ms(2), &response(&[0x01, 0x00])), [command(&[0x00, 0x00, b'a'])]);
    assert_eq!(link.counts().not_ready_received, 1);
}

#[test]
fn an_invalid_number_causes_frmr_until_the_link_is_reset() {
    let mut link = open();
    let reject = response(&[0x87, 0x01, 0x54, 0x00, 0x01, 0x08]);
    // RR, response, N(R) 42.
    assert_eq!(give(&mut link, ms(1), &response(&[0x01, 0x54])), std::slice::from_ref(&reject));
    let rejected = FrameReject {
        control: [0x01, 0x54],
        send_state: 0,
        receive_state: 0,
        was_response: true,
        reasons: Reasons::RECEIVE_NUMBER,
    };
    assert_eq!(events(&mut link), [Event::Ended(Ended::FrameRejectSent(rejected))]);
    // A command is answered by the same FRMR, with F for its P; T1 repeats it.
    let again = [&reject[..2], &[0x97], &reject[3..]].concat();
    assert_eq!(give(&mut link, ms(2), &command(&[0x01, 0x01])), [again]);
    link.handle_timeout(ms(451));
    assert_eq!(sent(&mut link, ms(451)), [reject]);
    assert_eq!(give(&mut link, ms(460), &command(&[0x7f])), [response(&[0x73])]);
    assert_eq!(events(&mut link), [Event::Opened]);
}

#[test]
fn overtaken_acknowledgements_change_nothing() {
    let mut link = open();
    for number in 0..4 {
        hand_in(&mut link, &[number]);
        assert_eq!(sent(&mut link, ms(1)).len(), 1);
        give(&mut link, ms(1), &response(&[0x01, (number + 1) << 1]));
    }
    // RR and REJ, from before the last acknowledgement, and an I frame that acknowledges less than it.
    for late in [response(&[0x01, 0x04]), response(&[0x09, 0x06]), command(&[0x01, 0x02])] {
        assert_eq!(give(&mut link, ms(2), &late), Vec::<Vec<u8>>::new());
    }
    assert_eq!(link.handle_frame(ms(3), &command(&[0x00, 0x06, 7])), Some(&[7][..]));
    assert_eq!((events(&mut link), link.state()), (vec![], State::Opened));
    // What is five frames before the first one was never sent.
    give(&mut link, ms(4), &response(&[0x01, 123 << 1]));
    assert_eq!(link.state(), State::FrameRejectSent);
}

#[test]
fn unknown_control_fields_and_unexpected_data_are_rejected() {
    for (pdu, answer) in [
        (response(&[0x83]), response(&[0x87, 0x83, 0x00, 0x00, 0x01, 0x01])),
        (command(&[0x01, 0x00, 0x55]), response(&[0x87, 0x01, 0x00, 0x00, 0x00, 0x03])),
    ] {
        let mut link = open();
        assert_eq!(give(&mut link, ms(1), &pdu), [answer]);
        assert_eq!(link.state(), State::FrameRejectSent);
    }
}

#[test]
fn a_received_frmr_ends_the_link() {
    let mut link = open();
    let frmr = response(&[0x87, 0x00, 0x00, 0x00, 0x00, 0x08]);
    assert_eq!(give(&mut link, ms(1), &frmr), [command(&[0x53])]);
    assert!(matches!(events(&mut link)[..], [Event::Ended(Ended::FrameRejectReceived(_))]));
    give(&mut link, ms(2), &response(&[0x73]));
    assert_eq!(link.state(), State::Disconnected);
}

#[test]
fn sabme_resets_an_open_link_that_has_carried_data() {
    let mut link = open();
    assert_eq!(give(&mut link, ms(1), &command(&[0x7f])), [response(&[0x73])]);
    assert_eq!(events(&mut link), []);
    give(&mut link, ms(2), &command(&[0x00, 0x00, 9]));
    assert_eq!(give(&mut link, ms(20_000), &command(&[0x7f])), [response(&[0x73])]);
    assert_eq!(events(&mut link), [Event::Ended(Ended::Reset)]);
    // Numbers begin with zero again.
    assert_eq!(link.handle_frame(ms(20_001), &command(&[0x00, 0x00, 8])), Some(&[8][..]));
}

#[test]
fn an_early_single_sabme_is_a_duplicate_and_a_repeated_one_a_reset() {
    let mut link = open();
    give(&mut link, ms(2), &command(&[0x00, 0x00, 9]));
    let (poll, sabme) = (command(&[0x01, 0x03]), command(&[0x7f]));
    for at in [3, 5] {
        assert_eq!(give(&mut link, ms(at), &sabme), std::slice::from_ref(&poll));
        give(&mut link, ms(at + 1), &response(&[0x01, 0x01]));
        assert_eq!(events(&mut link), []);
    }
    give(&mut link, ms(7), &sabme);
    assert_eq!(give(&mut link, ms(8), &sabme), [response(&[0x73])]);
    assert_eq!(events(&mut link), [Event::Ended(Ended::Reset)]);
}

#[test]
fn disc_is_answered_in_every_state() {
    let mut link = open();
    assert_eq!(give(&mut link, ms(1), &command(&[0x53])), [response(&[0x73])]);
    assert_eq!(events(&mut link), [Event::Ended(Ended::ByPeer)]);
    assert_eq!(give(&mut link, ms(2), &command(&[0x43])), [response(&[0x0f])]);
    assert_eq!(give(&mut link, ms(3), &command(&[0x01, 0x01])), [response(&[0x1f])]);

    let mut closing = open();
    closing.disconnect(ms(1));
    assert_eq!(sent(&mut closing, ms(1)), [command(&[0x53])]);
    assert_eq!(give(&mut closing, ms(2), &command(&[0x53])), [response(&[0x73])]);
    give(&mut closing, ms(3), &response(&[0x73]));
    assert_eq!(events(&mut closing), [Event::Ended(Ended::Closed)]);
}

/// A link in each state, with nothing to be sent.
fn in_state(state: State) -> Link {
    let mut link = match state {
        State::Disconnected | State::Opening => link(profile::WINDOWS_NT.link),
        State::Opened | State::Disconnecting | State::FrameRejectSent => open(),
    };
    match state {
        State::Disconnected | State::Opened => {}
        State::Opening => link.connect(ms(0)),
        State::Disconnecting => link.disconnect(ms(0)),
        // RR with N(R) 42, which was never sent.
        State::FrameRejectSent => drop(link.handle_frame(ms(0), &response(&[0x01, 0x54]))),
    }
    sent(&mut link, ms(0));
    events(&mut link);
    assert_eq!(link.state(), state);
    link
}

/// A state, a frame, what answers it, the state then, what happened, and frames that were counted as ignored.
type Case<'a> = (State, &'a [u8], Option<Vec<u8>>, State, &'a [Event], u64);

/// ISO/IEC 8802-2, 7.9.2: what each U frame and a supervisory one do in each state. What fits no state is counted.
#[test]
fn every_frame_in_every_state_follows_the_standard_tables() {
    use State::{Disconnected, Disconnecting, FrameRejectSent, Opened, Opening};
    let sabme = command(&[0x7f]);
    let sabme_without_poll = command(&[0x6f]);
    let disc = command(&[0x53]);
    let (ua, ua_without_final) = (response(&[0x73]), response(&[0x63]));
    let (dm, dm_without_final) = (response(&[0x1f]), response(&[0x0f]));
    let frmr = response(&[0x87, 0x00, 0x00, 0x00, 0x00, 0x08]);
    let short_frmr = response(&[0x87, 0x00]);
    let polled = command(&[0x01, 0x01]);
    let ready = response(&[0x01, 0x00]);
    let data = command(&[0x00, 0x01, 9]);
    let our_frmr = |with_final| response(&[if with_final { 0x97 } else { 0x87 }, 1, 0x54, 0, 1, 8]);
    let none: &[Event] = &[];
    let refused = &[Event::Ended(Ended::Refused)][..];
    let by_peer = &[Event::Ended(Ended::ByPeer)][..];
    let closed = &[Event::Ended(Ended::Closed)][..];
    let opened = &[Event::Opened][..];
    let answered = command(&[0x01, 0x00]);
    let cases: [Case<'_>; 45] = [
        (Disconnected, &sabme, None, Disconnected, none, 1),
        (Disconnected, &disc, Some(dm.clone()), Disconnected, none, 0),
        (Disconnected, &ua, None, Disconnected, none, 1),
        (Disconnected, &dm, None, Disconnected, none, 1),
        (Disconnected, &frmr, None, Disconnected, none, 1),
        (Disconnected, &polled, Some(dm.clone()), Disconnected, none, 1),
        (Disconnected, &data, Some(dm.clone()), Disconnected, none, 1),
        (Disconnected, &ready, None, Disconnected, none, 1),
        (Opening, &sabme, Some(ua.clone()), Opening, none, 0),
        (Opening, &sabme_without_poll, Some(ua_without_final.clone()), Opening, none, 0),
        (Opening, &disc, Some(dm.clone()), Disconnected, refused, 0),
        (Opening, &ua, Some(polled.clone()), Opened, opened, 0),
        (Opening, &ua_without_final, None, Opening, none, 1),
        (Opening, &dm, None, Disconnected, refused, 0),
        (Opening, &dm_without_final, None, Opening, none, 1),
        (Opening, &frmr, None, Opening, none, 1),
        (Opening, &polled, None, Opening, none, 1),
        (Opening, &data, None, Opening, none, 1),
        (Opening, &ready, None, Opening, none, 1),
        (Opened, &sabme, Some(ua.clone()), Opened, none, 0),
        (Opened, &disc, Some(ua.clone()), Disconnected, by_peer, 0),
        (Opened, &ua, None, Opened, none, 1),
        (Opened, &dm, None, Disconnected, by_peer, 0),
        (Opened, &dm_without_final, None, Disconnected, by_peer, 0),
        (Opened, &short_frmr, None, Opened, none, 1),
        (Opened, &polled, Some(response(&[0x01, 0x01])), Opened, none, 0),
        (Opened, &ready, None, Opened, none, 0),
        (Disconnecting, &sabme, Some(dm.clone()), Disconnecting, none, 0),
        (Disconnecting, &disc, Some(ua.clone()), Disconnecting, none, 0),
        (Disconnecting, &ua, None, Disconnected, closed, 0),
        (Disconnecting, &ua_without_final, None, Disconnecting, none, 1),
        (Disconnecting, &dm, None, Disconnected, closed, 0),
        (Disconnecting, &dm_without_final, None, Disconnecting, none, 1),
        (Disconnecting, &frmr, None, Disconnecting, none, 1),
        (Disconnecting, &polled, Some(dm.clone()), Disconnecting, none, 1),
        (Disconnecting, &ready, None, Disconnecting, none, 1),
        (FrameRejectSent, &sabme, Some(ua.clone()), Opened, opened, 0),
        (FrameRejectSent, &sabme_without_poll, Some(ua_without_final.clone()), Opened, opened, 0),
        (FrameRejectSent, &disc, Some(ua.clone()), Disconnected, none, 0),
        (FrameRejectSent, &ua, None, FrameRejectSent, none, 1),
        (FrameRejectSent, &dm, None, Disconnected, none, 0),
        (FrameRejectSent, &frmr, None, FrameRejectSent, none, 1),
        (FrameRejectSent, &polled, Some(our_frmr(true)), FrameRejectSent, none, 1),
        (FrameRejectSent, &answered, Some(our_frmr(false)), FrameRejectSent, none, 1),
        (FrameRejectSent, &ready, None, FrameRejectSent, none, 1),
    ];
    for (state, pdu, answer, after, happened, ignored) in cases {
        let mut link = in_state(state);
        let said = give(&mut link, ms(1), pdu);
        let what = format!("{state:?}: {pdu:x?}");
        assert_eq!((said, link.state()), (Vec::from_iter(answer), after), "{what}");
        assert_eq!(events(&mut link), happened, "{what}");
        assert_eq!(link.counts().ignored, ignored, "{what}");
        // Where there is no link no timer runs; elsewhere one does.
        assert_eq!(link.poll_timeout().is_none(), after == Disconnected, "{what}");
        if after == Disconnected && state != Disconnected {
            // It can be set up anew, as from the beginning.
            link.connect(ms(2));
            assert_eq!(sent(&mut link, ms(2)), std::slice::from_ref(&sabme), "{what}");
            assert_eq!(link.poll_timeout(), Some(ms(452)), "{what}");
        }
    }
}

/// Times at which something is sent while no answer comes, and when and by what it ends.
fn alone(link: &mut Link) -> (Vec<u64>, u64, Vec<Event>) {
    let mut times = vec![];
    let mut now = ms(0);
    loop {
        let count = sent(link, now).len();
        times.extend(std::iter::repeat_n(now.as_nanos() / 1_000_000, count));
        match link.poll_timeout() {
            Some(at) => now = at,
            None => return (times, now.as_nanos() / 1_000_000, events(link)),
        }
        link.handle_timeout(now);
    }
}

/// Microsoft, Q177654: T1 of 450 ms, each wait three halves of the one before in ticks of 50 ms; N2 is 8.
#[test]
fn unanswered_packets_are_sent_eight_times() {
    let times = vec![0, 450, 1_100, 2_050, 3_450, 5_550, 8_700, 13_400];
    let mut opening = link(profile::WINDOWS_NT.link);
    opening.connect(ms(0));
    let no_answer = vec![Event::Ended(Ended::NoAnswer)];
    assert_eq!(alone(&mut opening), (times.clone(), 20_450, no_answer.clone()));
    assert_eq!((opening.state(), opening.counts().t1_expiries), (State::Disconnected, 8));

    let mut closing = open();
    closing.disconnect(ms(0));
    let closed = vec![Event::Ended(Ended::Closed)];
    assert_eq!(alone(&mut closing), (times.clone(), 20_450, closed));

    let mut rejecting = open();
    rejecting.handle_frame(ms(0), &response(&[0x01, 0x54]));
    events(&mut rejecting);
    assert_eq!(alone(&mut rejecting), (times.clone(), 20_450, vec![]));
    assert_eq!(
        (rejecting.state(), rejecting.counts().frame_rejects_sent),
        (State::Disconnected, 8)
    );

    // Data, and after T1 eight polls.
    let mut waiting = open();
    hand_in(&mut waiting, b"x");
    let polls = times.iter().map(|at| at + 450);
    let expected: Vec<_> = std::iter::once(0).chain(polls).collect();
    assert_eq!(alone(&mut waiting), (expected, 20_900, no_answer.clone()));

    // Silence, then the same after Ti.
    let mut silent = open();
    let expected = times.iter().map(|at| at + 30_000).collect();
    assert_eq!(alone(&mut silent), (expected, 50_450, no_answer));
    assert_eq!(silent.counts().ti_expiries, 1);

    // IBM's waits are all of one length.
    let mut of_ibm = link(profile::IBM.link);
    of_ibm.connect(ms(0));
    let (times, end, _) = alone(&mut of_ibm);
    assert_eq!((times, end), ((0..8).map(|index| index * 1_000).collect(), 8_000));
}

#[test]
fn an_answer_resets_the_retry_interval() {
    let mut link = open();
    hand_in(&mut link, b"x");
    sent(&mut link, ms(0));
    for at in [450, 900, 1_550] {
        assert_eq!(link.poll_timeout(), Some(ms(at)));
        link.handle_timeout(ms(at));
        assert_eq!(sent(&mut link, ms(at)).len(), 1);
    }
    // An acknowledgement is no answer to the poll, and what comes without F does not end its wait.
    assert_eq!(give(&mut link, ms(1_600), &response(&[0x09, 0x00])), [] as [Vec<u8>; 0]);
    assert_eq!(link.poll_timeout(), Some(ms(2_500)));
    assert_eq!(
        give(&mut link, ms(1_700), &response(&[0x01, 0x01])),
        [command(&[0x00, 0x00, b'x'])]
    );
    assert_eq!(link.poll_timeout(), Some(ms(2_150)));
    assert_eq!(give(&mut link, ms(1_800), &response(&[0x01, 0x02])), [] as [Vec<u8>; 0]);
    assert_eq!(link.poll_timeout(), Some(ms(31_800)), "silence begins anew");
    assert_eq!(link.counts().information_sent_again, 1);
}

#[test]
fn frames_in_flight_fill_the_window_and_two_more_wait() {
    for profile in profile::ALL {
        let window = usize::from(profile.link.window);
        let mut link = link(profile.link);
        assert!(!link.has_room());
        link.connect(ms(0));
        assert!(link.has_room(), "while it is set up");
        link.accept(ms(0), true);
        sent(&mut link, ms(0));
        let mut on_their_way = 0;
        for _ in 0..window + 5 {
            if link.has_room() {
                hand_in(&mut link, b"x");
            }
            on_their_way += sent(&mut link, ms(1)).len();
        }
        assert_eq!((on_their_way, link.has_room()), (window, false), "{}", profile.name);
        assert!(!link.is_drained());
        // All but those on their way wait: two.
        for number in window as u8..=window as u8 + 2 {
            give(&mut link, ms(2), &response(&[0x01, number << 1]));
        }
        assert!(link.is_drained());
        link.disconnect(ms(5));
        assert!(!link.has_room());
    }
}

#[test]
fn queued_responses_are_bounded() {
    let mut link = open();
    for _ in 0..40 {
        link.handle_frame(ms(1), &command(&[0x01, 0x01]));
    }
    assert_eq!(sent(&mut link, ms(1)).len(), 32);
    assert_eq!(link.counts().ignored, 8);
}

#[test]
fn a_minute_of_rnr_ends_the_link() {
    let mut link = open();
    give(&mut link, ms(0), &response(&[0x05, 0x00]));
    let mut polls = 0;
    while link.state() == State::Opened {
        let at = link.poll_timeout().unwrap();
        link.handle_timeout(at);
        let count = sent(&mut link, at).len() as u64;
        polls += count;
        if count > 0 {
            assert_eq!(at, ms(450 * polls));
            // It has said so before: the minute goes on.
            give(&mut link, at, &response(&[0x05, 0x01]));
        } else {
            assert_eq!(at, ms(60_300), "the first T1 after a minute");
        }
    }
    assert_eq!((polls, link.counts().not_ready_received), (133, 134));
    assert_eq!(events(&mut link), [Event::Ended(Ended::Busy)]);
}

#[test]
fn sabme_counts_as_a_duplicate_for_ten_seconds() {
    for (at, is_reset) in [(ms(10_000).as_nanos() - 1, false), (ms(10_000).as_nanos(), true)] {
        let mut link = open();
        give(&mut link, ms(2), &command(&[0x00, 0x00, 9]));
        give(&mut link, Instant::from_nanos(at), &command(&[0x7f]));
        assert_eq!(!events(&mut link).is_empty(), is_reset, "{at}");
    }
}

/// 128 frames later V(S) is 0 again, and a reset loses what is on its way all the same.
#[test]
fn a_link_that_carried_128_frames_does_not_count_as_new() {
    let mut link = open();
    for number in 1..=128_u8 {
        hand_in(&mut link, b"x");
        assert_eq!(sent(&mut link, ms(1)).len(), 1);
        give(&mut link, ms(1), &response(&[0x01, (number % 128) << 1]));
    }
    assert_eq!(give(&mut link, ms(20_000), &command(&[0x7f])), [response(&[0x73])]);
    assert_eq!(events(&mut link), [Event::Ended(Ended::Reset)]);
}

#[test]
fn acknowledgements_are_immediate_if_the_profile_says_so() {
    let known = profile::WINDOWS_NT.link;
    let cases = [
        (LinkProfile { t2_ns: profile::LINUX.link.t2_ns, ..known }, 1),
        (LinkProfile { n3: profile::IBM.link.n3, ..known }, 1),
        (known, 2),
    ];
    for (profile, frames) in cases {
        let mut link = link(profile);
        link.accept(ms(0), true);
        sent(&mut link, ms(0));
        for number in 0..frames {
            let said = give(&mut link, ms(1), &command(&[number << 1, 0x00, 9]));
            assert_eq!(said.len(), usize::from(number + 1 == frames));
        }
    }
}

#[test]
fn one_reject_is_sent_for_several_gaps() {
    let mut link = open();
    assert_eq!(give(&mut link, ms(1), &command(&[0x02, 0x00, 7])), [response(&[0x09, 0x00])]);
    // A second gap is not rejected again; a poll is answered.
    assert_eq!(give(&mut link, ms(1), &command(&[0x04, 0x01, 7])), [response(&[0x01, 0x01])]);
    assert_eq!(link.counts().information_discarded, 2);
}

#[test]
fn both_ends_count_the_same_traffic() {
    let mut links = [0, 1].map(|_| link(profile::WINDOWS_NT.link));
    links[0].connect(ms(0));
    let (mut seen, mut heard) = ([[0_u64; 3]; 2], [[0_u64; 3]; 2]);
    let (mut chance, mut to_send, mut now) = (7_u64, [300, 200], ms(0));
    let mut random = move || {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        chance >> 33
    };
    for turn in 0..2_000_u64 {
        for from in [0, 1] {
            while to_send[from] > 0
                && links[from].has_room()
                && links[from].state() == State::Opened
            {
                hand_in(&mut links[from], b"data");
                to_send[from] -= 1;
            }
            for pdu in sent(&mut links[from], now) {
                // I frames, RR and REJ, by their first octet.
                let kind = match pdu[2] {
                    octet if octet & 1 == 0 => Some(0),
                    0x01 => Some(1),
                    0x09 => Some(2),
                    _ => None,
                };
                let is_lost = turn > 5 && random() % 10 == 0;
                if let Some(kind) = kind {
                    seen[from][kind] += 1;
                    heard[1 - from][kind] += u64::from(!is_lost);
                }
                if !is_lost {
                    let other = &mut links[1 - from];
                    if other.state() == State::Disconnected && pdu[2] == 0x7f {
                        other.accept(now, true);
                    } else {
                        other.handle_frame(now, &pdu);
                    }
                }
            }
        }
        now = now.plus_nanos(30_000_000);
        for one in &mut links {
            one.handle_timeout(now);
        }
    }
    assert_eq!((to_send, links.each_ref().map(Link::state)), ([0, 0], [State::Opened; 2]));
    let received = [0, 1].map(|end| links[end].counts().information_received);
    assert_eq!((received, links.each_ref().map(Link::is_drained)), ([200, 300], [true; 2]));
    for end in [0, 1] {
        let counts = links[end].counts();
        let Counts { information_sent, information_sent_again, .. } = counts;
        assert_eq!(information_sent, [300, 200][end]);
        assert_eq!(information_sent + information_sent_again, seen[end][0]);
        assert!(information_sent_again > 0 && counts.t1_expiries > 0);
        assert_eq!(counts.supervisory_sent, seen[end][1] + seen[end][2]);
        assert_eq!((counts.rejects_sent, counts.rejects_received), (seen[end][2], heard[end][2]));
        assert_eq!(counts.information_received + counts.information_discarded, heard[end][0]);
        assert!(counts.rejects_sent > 0 && counts.ignored < 20);
    }
}

#[test]
fn counters_of_two_links_add_up() {
    let one = Counts { information_sent: 1, ti_expiries: 10, ignored: 13, ..Counts::default() };
    let both = Counts { information_sent: 2, ti_expiries: 20, ignored: 26, ..Counts::default() };
    assert_eq!(one + one, both);
}
