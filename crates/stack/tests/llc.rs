//! A link against the state tables of ISO/IEC 8802-2: PDUs by hand, answers by hand.

use lanlab_stack::llc::{Ended, Event, Link, State};
use lanlab_stack::profile::{self, LinkProfile};
use lanlab_units::Instant;
use lanlab_wire::llc::{FrameReject, Reasons};

const SAP: u8 = 0xf0;

fn ms(milliseconds: u64) -> Instant {
    Instant::from_nanos(milliseconds * 1_000_000)
}

/// Everything that the link sends now.
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

/// Hand in a PDU, and give what is sent.
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

/// A link that the other end has set up.
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
fn sabme_is_repeated_until_ua_and_then_the_link_is_asked_for_once() {
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
fn dm_refuses_and_n2_attempts_without_answer_give_up() {
    let mut refused = link(profile::IBM.link);
    refused.connect(ms(0));
    sent(&mut refused, ms(0));
    give(&mut refused, ms(1), &response(&[0x1f]));
    assert_eq!(events(&mut refused), [Event::Ended(Ended::Refused)]);

    let mut silent = link(profile::IBM.link);
    silent.connect(ms(0));
    let mut attempts = 0;
    while let Some(at) = silent.poll_timeout() {
        attempts += sent(&mut silent, at).len();
        silent.handle_timeout(at);
    }
    assert_eq!(attempts, 8);
    assert_eq!(events(&mut silent), [Event::Ended(Ended::NoAnswer)]);
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
fn a_polled_frame_is_answered_at_once_and_others_by_n3_or_t2() {
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
fn an_acknowledgement_goes_with_an_i_frame_if_there_is_one() {
    let mut link = open();
    hand_in(&mut link, b"x");
    link.handle_frame(ms(1), &command(&[0x00, 0x00, 9]));
    assert_eq!(sent(&mut link, ms(1)), [command(&[0x00, 0x02, b'x'])]);
    assert_eq!(link.poll_timeout(), Some(ms(451)), "T2 does not run any more");
}

#[test]
fn a_gap_is_rejected_once_and_the_frames_are_taken_when_they_come_again() {
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
fn rej_has_frames_sent_again_from_its_number_on_with_a_window_of_one() {
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
fn after_rej_the_window_grows_by_one_for_as_many_frames_as_the_profile_says() {
    let grows =
        profile::ALL.map(|one| one.link).into_iter().filter(|one| one.window_growth.value > 0);
    let most = grows.inspect(|profile| grow(*profile)).map(|one| one.window_growth.value).max();
    assert!(most >= Some(2), "some profile takes more than one frame");
}

fn grow(profile: LinkProfile) {
    let (window, growth) = (profile.window.value, profile.window_growth.value);
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
fn t1_asks_and_what_the_answer_does_not_acknowledge_is_sent_again() {
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
fn rnr_stops_frames_until_rr_and_a_receiver_that_is_never_ready_loses_the_link() {
    let mut link = open();
    give(&mut link, ms(0), &response(&[0x05, 0x00]));
    hand_in(&mut link, b"a");
    assert_eq!(sent(&mut link, ms(1)), [] as [Vec<u8>; 0]);
    assert_eq!(give(&mut link, ms(2), &response(&[0x01, 0x00])), [command(&[0x00, 0x00, b'a'])]);

    let mut stuck = open();
    give(&mut stuck, ms(0), &response(&[0x05, 0x00]));
    let mut polls = 0;
    while let Some(at) = stuck.poll_timeout() {
        stuck.handle_timeout(at);
        if sent(&mut stuck, at) == [command(&[0x01, 0x01])] {
            polls += 1;
            give(&mut stuck, at, &response(&[0x05, 0x01]));
        }
    }
    assert_eq!(events(&mut stuck), [Event::Ended(Ended::Busy)]);
    // Each T1 of 450 ms for 60 s.
    assert!((130..=134).contains(&polls), "{polls} polls");
}

#[test]
fn while_we_are_busy_frames_are_refused_and_asked_for_again() {
    let mut link = open();
    link.set_busy(true);
    assert_eq!(sent(&mut link, ms(0)), [response(&[0x05, 0x00])]);
    assert_eq!(link.handle_frame(ms(1), &command(&[0x00, 0x01, 7])), None);
    assert_eq!(sent(&mut link, ms(1)), [response(&[0x05, 0x01])]);
    link.set_busy(false);
    assert_eq!(sent(&mut link, ms(2)), [response(&[0x09, 0x00])]);
    assert_eq!(link.handle_frame(ms(3), &command(&[0x00, 0x00, 7])), Some(&[7][..]));
    link.set_busy(true);
    link.set_busy(false);
    assert_eq!(sent(&mut link, ms(4)).last(), Some(&response(&[0x01, 0x02])));
}

#[test]
fn a_number_that_was_never_sent_is_rejected_until_the_link_is_set_up_anew() {
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
fn a_frame_that_a_later_one_has_overtaken_takes_nothing_back() {
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
fn a_control_field_without_meaning_and_data_where_none_may_be_are_rejected() {
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
fn frmr_of_the_other_end_ends_the_link() {
    let mut link = open();
    let frmr = response(&[0x87, 0x00, 0x00, 0x00, 0x00, 0x08]);
    assert_eq!(give(&mut link, ms(1), &frmr), [command(&[0x53])]);
    assert!(matches!(events(&mut link)[..], [Event::Ended(Ended::FrameRejectReceived(_))]));
    give(&mut link, ms(2), &response(&[0x73]));
    assert_eq!(link.state(), State::Disconnected);
}

#[test]
fn sabme_on_an_open_link_is_a_reset_unless_nothing_has_gone_over_it() {
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
fn sabme_soon_after_a_link_is_opened_is_a_late_copy_unless_it_is_sent_again() {
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

#[test]
fn silence_is_ended_by_a_poll_after_ti() {
    let mut link = open();
    assert_eq!(link.poll_timeout(), Some(ms(30_000)));
    link.handle_timeout(ms(30_000));
    assert_eq!(sent(&mut link, ms(30_000)), [command(&[0x01, 0x01])]);
    give(&mut link, ms(30_001), &response(&[0x01, 0x01]));
    assert_eq!(link.poll_timeout(), Some(ms(60_001)));
    assert_eq!(link.counts().ti_expiries, 1);
}
