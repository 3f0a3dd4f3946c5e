//! Our links of LLC type 2 against those of Linux: its llc2 in a user-mode Linux, whose Ethernet is a socket.
//!
//! It takes Debian's package `user-mode-linux`, or its kernel in `LANLAB_UML`, and a C compiler. No
//! rights are needed.

mod machine;

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use lanlab_stack::llc::{Ended, Event, State};

use machine::{Drops, Machine, SAP};

/// Attempts of a case. Linux 6.1 sometimes ends itself or loses a frame of its own, in real time: a defect
/// of ours would show in each.
const ATTEMPTS: u32 = 3;

fn is_information(pdu: &[u8]) -> bool {
    pdu[2] & 1 == 0
}

fn went(machine: &Machine, from: usize, from_us: bool, is_meant: impl Fn(&[u8]) -> bool) -> bool {
    machine.trace[from..].iter().any(|(ours, pdu)| *ours == from_us && is_meant(pdu))
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len as u64).map(|at| (at * 7 + at / 251) as u8).collect()
}

fn echo(machine: &mut Machine, text: &[u8]) {
    let before = machine.received.len();
    machine.send(text);
    let wanted = before + text.len();
    let has_come = machine.run(20, |machine| machine.received.len() >= wanted);
    assert!(has_come, "{}", machine.last());
    assert_eq!(&machine.received[before..], text);
}

/// A test for each case, so that they run side by side: most of each is waiting.
macro_rules! cases {
    ($($(#[$doc:meta])* $case:ident,)*) => {
        mod links_of_ours_and_of_linux_understand_each_other {
            $($(#[$doc])* #[test] fn $case() { super::attempt(super::$case); })*
        }
    };
}

cases! {
    /// SABME and UA, I frames and RR both ways.
    set_up,
    /// A poll of ours is answered with F.
    polls,
    /// A lost frame of ours is rejected by Linux and comes again.
    rejected_by_linux,
    /// A lost frame of Linux is rejected by us and comes again.
    rejected_by_us,
    frame_reject_of_linux,
    /// To a number that we never sent.
    frame_reject_of_ours,
    /// N2 polls without an answer end our link.
    silent_linux,
    ended_by_linux,
    /// DM to a link that is over.
    disconnected_mode,
    /// Linux calls, we answer.
    called_by_linux,
    /// Both call at the same time.
    collision,
    /// Many bytes both ways, one frame in a hundred lost.
    bulk,
}

fn attempt(case: fn(&mut Machine)) {
    for attempt in 1.. {
        // A machine for each: Linux's accept, close and connect do not always notice what went before.
        let Some(mut machine) = Machine::boot() else {
            let is_required = std::env::var("LANLAB_REQUIRE_PEERS").is_ok();
            assert!(!is_required, "no user-mode Linux, or no cc");
            let what = "user-mode-linux or a C compiler is not installed";
            let _ = writeln!(std::io::stderr(), "\nSKIPPED [1] Rust: {what}");
            return;
        };
        match catch_unwind(AssertUnwindSafe(|| case(&mut machine))) {
            Ok(()) => break,
            Err(failure) if attempt == ATTEMPTS => resume_unwind(failure),
            Err(_) => {
                let _ = writeln!(std::io::stderr(), "attempt {attempt} failed");
            }
        }
    }
}

fn set_up(machine: &mut Machine) {
    machine.connect();
    assert_eq!(machine.trace[0], (true, vec![SAP, SAP, 0x7f]));
    assert_eq!(machine.trace[1], (false, vec![SAP, SAP | 1, 0x73]));
    echo(machine, b"e hello");
    assert!(went(machine, 0, false, |pdu| pdu[2] == 0x01));
    assert!(went(machine, 0, true, |pdu| pdu[2] == 0x01));
    machine.disconnect();
    assert!(went(machine, 0, true, |pdu| pdu[2] == 0x53));
    assert_eq!(machine.events.last(), Some(&Event::Ended(Ended::Closed)));
}

fn polls(machine: &mut Machine) {
    // Our profile asks once after the link is set up.
    machine.connect();
    let is_answered =
        machine.run(5, |machine| went(machine, 0, false, |pdu| pdu == [SAP, SAP | 1, 0x01, 0x01]));
    assert!(is_answered && went(machine, 0, true, |pdu| pdu == [SAP, SAP, 0x01, 0x01]));
    // A program on Linux does not notice the end of a link on which it never received anything.
    echo(machine, b"e hello");
    machine.disconnect();
}

/// Lose the first I frame of one direction after `count` others.
fn lose_one(machine: &mut Machine, of_ours: bool, count: usize) {
    let mut seen = 0;
    machine.drops = Box::new(move |ours, pdu| {
        if ours != of_ours || !is_information(pdu) {
            return false;
        }
        seen += 1;
        seen == count + 1
    });
}

fn rejected_by_linux(machine: &mut Machine) {
    machine.connect();
    echo(machine, b"e begin");
    let from = machine.trace.len();
    lose_one(machine, true, 0);
    for text in [b"one", b"two", b"thr"] {
        machine.send(text);
    }
    assert!(
        machine.run(20, |machine| machine.received == b"e beginonetwothr"),
        "{:?}",
        machine.trace
    );
    assert!(went(machine, from, false, |pdu| pdu[2] == 0x09), "no REJ");
    assert!(machine.link.counts().information_sent_again >= 1);
    machine.disconnect();
}

fn rejected_by_us(machine: &mut Machine) {
    machine.connect();
    lose_one(machine, false, 2);
    machine.send(b"g20000");
    assert!(machine.run(30, |machine| machine.received.len() == 20_000), "{}", machine.last());
    assert!(machine.received == pattern(20_000));
    assert!(went(machine, 0, true, |pdu| pdu[2] == 0x09), "no REJ");
    machine.disconnect();
}

fn frame_reject_of_linux(machine: &mut Machine) {
    machine.connect();
    echo(machine, b"e begin");
    // Linux 6.1 passes over numbers that it never sent, and over U frames without meaning.
    machine.inject(&[SAP, SAP | 1, 0x09, 0x54]);
    machine.inject(&[SAP, SAP, 0x83]);
    assert!(!machine.run(2, |machine| machine.events.len() > 1), "{}", machine.last());
    // It rejects an S frame without meaning.
    machine.inject(&[SAP, SAP, 0x0d, 0x54]);
    machine.run(10, |machine| machine.events.len() > 1);
    assert!(machine.events.len() > 1, "{}", machine.last());
    assert!(matches!(machine.events[1], Event::Ended(Ended::FrameRejectReceived(_))));
    let is_closed = machine.run(20, |machine| machine.link.state() == State::Disconnected);
    assert!(is_closed, "{}", machine.last());
}

fn frame_reject_of_ours(machine: &mut Machine) {
    machine.connect();
    echo(machine, b"e begin");
    let from = machine.trace.len();
    let now = machine.now();
    machine.link.handle_frame(now, &[SAP, SAP | 1, 0x01, 0x54]);
    machine.run(1, |_| false);
    assert!(went(machine, from, true, |pdu| pdu[2] & 0xef == 0x87));
    // Linux begins the link anew or ends it.
    let is_heard =
        machine.run(20, |machine| went(machine, from, false, |pdu| [0x7f, 0x53].contains(&pdu[2])));
    assert!(is_heard, "{}", machine.last());
    machine.disconnect();
}

fn silent_linux(machine: &mut Machine) {
    machine.connect();
    machine.drops = Box::new(|ours, _| !ours);
    machine.send(b"e is not heard");
    let is_over = machine.run(60, |machine| machine.events.len() > 1);
    assert!(is_over);
    assert_eq!(machine.events[1], Event::Ended(Ended::NoAnswer));
    let polls = machine.trace.iter().filter(|(ours, pdu)| *ours && pdu[2..] == [0x01, 0x01]);
    // One of the set-up, then N2.
    assert!((8..=9).contains(&polls.count()), "{}", machine.last());
    machine.drops = Box::new(|_, _| false);
    machine.inject(&[SAP, SAP, 0x53]);
    machine.run(2, |_| false);
}

fn ended_by_linux(machine: &mut Machine) {
    machine.connect();
    machine.send(b"c");
    let is_over = machine.run(20, |machine| machine.events.len() > 1);
    assert!(is_over, "{}", machine.last());
    assert_eq!(machine.events[1], Event::Ended(Ended::ByPeer));
    assert!(
        went(machine, 0, false, |pdu| pdu[2] == 0x53)
            && went(machine, 0, true, |pdu| pdu[2] == 0x73)
    );
}

fn disconnected_mode(machine: &mut Machine) {
    machine.renew();
    machine.inject(&[SAP, SAP, 0x01, 0x01]);
    let is_answered =
        machine.run(5, |machine| went(machine, 0, false, |pdu| pdu == [SAP, SAP | 1, 0x1f]));
    assert!(is_answered, "{}", machine.last());
    // And ours to Linux's way of asking.
    let answer = lanlab_stack::llc::answer_without_link(
        lanlab_wire::llc::Header::parse(&[SAP, SAP, 0x01, 0x01]).unwrap().0,
    );
    let mut octets = vec![];
    answer.unwrap().emit(&mut octets);
    assert_eq!(octets, [SAP, SAP | 1, 0x1f]);
}

/// Have Linux call us a second after the link is over.
fn ask_for_a_call(machine: &mut Machine) {
    machine.connect();
    machine.send(b"C");
    assert!(machine.run(5, |machine| machine.link.is_drained()));
    // Linux does not notice the end of a link before its program waits for more of it.
    assert!(machine.run(5, |machine| machine.console().contains("guest: mode C")));
    machine.run(1, |_| false);
    let now = machine.now();
    machine.link.disconnect(now);
    assert!(machine.run(10, |machine| machine.link.state() == State::Disconnected));
    machine.renew();
}

fn called_by_linux(machine: &mut Machine) {
    ask_for_a_call(machine);
    assert!(
        machine.run(20, |machine| machine.received == b"hello from linux"),
        "{:?} {}",
        machine.trace,
        machine.console()
    );
    assert_eq!(machine.events[0], Event::Opened);
    let is_over = machine.run(20, |machine| machine.events.len() > 1);
    assert!(is_over, "{}", machine.last());
    assert_eq!(machine.events[1], Event::Ended(Ended::ByPeer));
}

fn collision(machine: &mut Machine) {
    ask_for_a_call(machine);
    // When Linux's SABME is on its way, ours is too.
    let mut is_first = true;
    machine.drops =
        Box::new(move |ours, pdu| !ours && pdu[2] == 0x7f && std::mem::take(&mut is_first));
    assert!(machine.run(20, |machine| went(machine, 0, false, |pdu| pdu[2] == 0x7f)));
    let sap = machine.trace.iter().find(|(ours, pdu)| !ours && pdu[2] == 0x7f).unwrap().1[1];
    machine.renew_to(sap);
    let now = machine.now();
    machine.link.connect(now);
    machine.drain();
    machine.link.handle_frame(now, &[SAP, sap, 0x7f]);
    assert!(
        machine.run(20, |machine| machine.received == b"hello from linux"),
        "{:?}",
        machine.trace
    );
    let is_over = machine.run(20, |machine| machine.link.state() == State::Disconnected);
    assert!(is_over, "{}", machine.last());
}

/// Lose one frame in a hundred by chance, in both directions.
fn one_in_a_hundred(mut state: u64) -> Drops {
    Box::new(move |_, _| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33).is_multiple_of(100)
    })
}

/// `LLC_BULK_BYTES` says how many; by default 100,000.
fn bulk(machine: &mut Machine) {
    let asked = std::env::var("LLC_BULK_BYTES").ok().and_then(|text| text.parse().ok());
    let bytes: usize = asked.unwrap_or(100_000);
    let seconds = 60 + bytes as u64 / 20_000;
    let said = machine.console().len();
    machine.connect();
    machine.drops = one_in_a_hundred(0x1234_5678);
    machine.send(format!("g{bytes}").as_bytes());
    let start = machine.now();
    assert!(
        machine.run(seconds, |machine| machine.received.len() == bytes),
        "{} of {bytes}",
        machine.received.len()
    );
    assert!(machine.received == pattern(bytes));
    println!(
        "{bytes} from Linux in {} ms, {:?}",
        machine.now().nanos_since(start) / 1_000_000,
        machine.link.counts()
    );
    machine.disconnect();

    let octets = pattern(bytes - 1);
    machine.connect();
    machine.drops = one_in_a_hundred(0x8765_4321);
    machine.send(b"s");
    for part in octets.chunks(1_400) {
        machine.send(part);
    }
    let start = machine.now();
    assert!(
        machine.run(seconds, |machine| machine.to_send.is_empty() && machine.link.is_drained())
    );
    println!(
        "{bytes} to Linux in {} ms, {:?}",
        machine.now().nanos_since(start) / 1_000_000,
        machine.link.counts()
    );
    machine.disconnect();
    // The sum that the guest computes over the same octets.
    let sum = std::iter::once(&b's')
        .chain(&octets)
        .fold(0_u64, |sum, octet| sum.wrapping_mul(31).wrapping_add(u64::from(*octet)));
    machine.says(said, &format!("total {bytes} sum {sum}"));
}
