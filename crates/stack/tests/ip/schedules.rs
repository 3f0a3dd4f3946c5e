//! Two ends of TCP in random schedules: frames are lost, doubled and overtaken, programs write and read in
//! pieces and pause, so that windows close, and each closes its direction when it has sent all.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use lanlab_stack::ip::{ConnectionId, Event, Interface, Received, TcpProfile};
use lanlab_units::Instant;

use super::pair::{ADDRESSES, RECEIVER, SENDER, hosts};
use super::{PORT, pattern};

const MS: u64 = 1_000_000;
/// In which all is over: time-outs of TCP double up to a minute.
const LONGEST_NS: u64 = 24 * 3_600_000 * MS;
/// Schedules of the ordinary test.
const FEW: u64 = 200;
/// Largest amount that one read asks for.
const READ_BYTES: usize = 2_000;

/// Numbers of a seed (`SplitMix64`, Steele and others 2014).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn is(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// What happens to frames, in per cent of them, and to programs, in per cent of their calls.
#[derive(Debug)]
struct Faults {
    lost: u64,
    doubled: u64,
    /// Longest time that a frame takes beyond the shortest: others overtake it.
    delay_ns: u64,
    paused: u64,
}

#[derive(Debug)]
struct Program {
    id: Option<ConnectionId>,
    to_send: u64,
    sent: u64,
    received: u64,
    writes_from: Instant,
    reads_from: Instant,
    has_closed: bool,
    has_ended: bool,
}

impl std::fmt::Debug for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { profile, faults, programs, now, .. } = self;
        let facts =
            [SENDER, RECEIVER].map(|host| programs[host].id.map(|id| self.hosts[host].facts(id)));
        write!(f, "{profile:?} {faults:?} at {now:?}: {programs:?} {facts:?}")
    }
}

struct Schedule {
    profile: TcpProfile,
    numbers: Numbers,
    faults: Faults,
    hosts: [Interface; 2],
    programs: [Program; 2],
    now: Instant,
    /// Frames by when they come, and to whom.
    on_their_way: BTreeMap<(Instant, u64), (usize, Vec<u8>)>,
    frames: u64,
}

impl Schedule {
    fn new(seed: u64) -> Self {
        let mut numbers = Numbers(seed);
        let profile = TcpProfile {
            mss_bytes: numbers.one_of(&[None, Some(536), Some(100)]),
            receive_buffer_bytes: numbers.one_of(&[1_460, 2_920, 4_096, 8_192, 16_384]),
            send_buffer_bytes: numbers.one_of(&[1_460, 2_920, 4_096, 8_192, 16_384]),
            send_rings: TcpProfile::LONG_SEND_RINGS,
            delayed_ack_ns: numbers.one_of(&[None, Some(40 * MS), Some(200 * MS)]),
            is_modern: false,
            nagle: numbers.is(50),
        };
        let faults = Faults {
            lost: numbers.one_of(&[0, 0, 1, 5, 20]),
            doubled: numbers.one_of(&[0, 0, 5, 20]),
            delay_ns: numbers.one_of(&[0, 0, 5, 50]) * MS,
            paused: numbers.one_of(&[0, 5, 30]),
        };
        let mut hosts = hosts(&profile, seed);
        hosts[RECEIVER].listen(PORT);
        let family = numbers.below(2) as usize;
        let to = SocketAddr::new(ADDRESSES[RECEIVER][family], PORT);
        let opened = hosts[SENDER].connect(Instant::ZERO, 1024, to).unwrap();
        let program = |id, to_send| Program {
            id,
            to_send,
            sent: 0,
            received: 0,
            writes_from: Instant::ZERO,
            reads_from: Instant::ZERO,
            has_closed: false,
            has_ended: false,
        };
        let amounts = [0, 1, 700, 5_000, 20_000];
        let programs = [
            program(Some(opened), numbers.one_of(&amounts)),
            program(None, numbers.one_of(&amounts)),
        ];
        let (now, on_their_way) = (Instant::ZERO, BTreeMap::new());
        Self { profile, numbers, faults, hosts, programs, now, on_their_way, frames: 0 }
    }

    /// Until both ends have all, and the end of it, and have left.
    fn run(&mut self) {
        self.go_on_until(|schedule| {
            schedule.programs.iter().all(|program| program.has_ended && program.has_closed)
        });
        for host in [SENDER, RECEIVER] {
            let id = self.programs[host].id.unwrap();
            self.hosts[host].leave(self.now, id);
        }
        // The last acknowledgement may be lost, too.
        self.go_on_until(|schedule| {
            let is_over =
                |host: usize| schedule.hosts[host].is_over(schedule.programs[host].id.unwrap());
            is_over(SENDER) && is_over(RECEIVER)
        });
    }

    fn go_on_until(&mut self, is_done: impl Fn(&Self) -> bool) {
        while !is_done(self) {
            let is_due = self.step();
            assert!(is_due || is_done(self), "both ends wait for ever: {self:?}");
        }
    }

    /// Do all that is due now, and go on to what is due next. Gives whether anything is.
    fn step(&mut self) -> bool {
        for host in [SENDER, RECEIVER] {
            self.drain(host);
            self.write(host);
            self.read(host);
            self.drain(host);
        }
        let pauses = self.programs.iter().flat_map(|one| [one.writes_from, one.reads_from]);
        let next = pauses
            .filter(|at| *at > self.now)
            .chain(self.hosts.iter().filter_map(Interface::poll_timeout))
            .chain(self.on_their_way.keys().next().map(|(at, _)| *at))
            .min();
        let Some(next) = next else { return false };
        assert!(next.as_nanos() < LONGEST_NS, "it does not end: {self:?}");
        self.now = self.now.max(next);
        for host in &mut self.hosts {
            host.handle_timeout(self.now);
        }
        while let Some(first) = self.on_their_way.first_entry()
            && first.key().0 <= self.now
        {
            let (host, frame) = first.remove();
            self.hosts[host].handle_frame(self.now, &frame);
        }
        true
    }

    fn drain(&mut self, host: usize) {
        let mut frame = Vec::new();
        loop {
            while let Some(event) = self.hosts[host].poll_event() {
                if let Event::Accepted(id, _) = event {
                    let before = self.programs[host].id.replace(id);
                    assert_eq!(before, None, "one connection was opened");
                }
            }
            let has_frame = self.hosts[host].poll_transmit(self.now, &mut frame);
            let held_bytes = self.hosts[host].held_bytes();
            let most_bytes = Interface::most_bytes(&self.profile, 1, 4, READ_BYTES);
            assert!(held_bytes <= most_bytes, "{held_bytes} above {most_bytes}: {self:?}");
            if !has_frame {
                return;
            }
            let copies = 1 + usize::from(self.numbers.is(self.faults.doubled));
            for _ in 0..copies {
                if self.numbers.is(self.faults.lost) {
                    continue;
                }
                self.frames += 1;
                let took_ns = MS + self.numbers.below(self.faults.delay_ns + 1);
                let at = (self.now.plus_nanos(took_ns), self.frames);
                self.on_their_way.insert(at, (1 - host, frame.clone()));
            }
        }
    }

    fn pause(&mut self) -> Instant {
        let pauses = self.numbers.is(self.faults.paused);
        let pause_ns = if pauses { 1 + self.numbers.below(3_000 * MS) } else { 0 };
        self.now.plus_nanos(pause_ns)
    }

    fn write(&mut self, host: usize) {
        let Some(id) = self.programs[host].id else { return };
        while self.now >= self.programs[host].writes_from {
            let left = self.programs[host].to_send - self.programs[host].sent;
            if left == 0 {
                // Closed only once: a close is not repeated either.
                if !self.programs[host].has_closed && self.hosts[host].is_open(id) {
                    self.programs[host].has_closed = true;
                    self.hosts[host].close(self.now, id);
                }
                return;
            }
            let piece = left.min(1 + self.numbers.below(3_000));
            let octets = pattern(self.programs[host].sent + host as u64, piece as usize);
            let taken = self.hosts[host].send(self.now, id, &octets);
            if taken == 0 {
                return;
            }
            self.programs[host].sent += taken as u64;
            self.programs[host].writes_from = self.pause();
        }
    }

    fn read(&mut self, host: usize) {
        let Some(id) = self.programs[host].id else { return };
        let mut buffer = [0; READ_BYTES];
        while self.now >= self.programs[host].reads_from && !self.programs[host].has_ended {
            let most = 1 + self.numbers.below(buffer.len() as u64) as usize;
            match self.hosts[host].receive(self.now, id, &mut buffer[..most]) {
                Received::Bytes(bytes) => {
                    let peer = 1 - host as u64;
                    let wanted = pattern(self.programs[host].received + peer, bytes);
                    assert_eq!(buffer[..bytes], wanted);
                    self.programs[host].received += bytes as u64;
                    self.programs[host].reads_from = self.pause();
                }
                Received::Nothing => return,
                Received::End => self.programs[host].has_ended = true,
                Received::Broken => panic!("the connection is broken"),
            }
        }
    }

    /// What both ends have counted is what was sent; and nothing was sent again without a cause.
    fn check(&self) {
        for host in [SENDER, RECEIVER] {
            let (own, peer) = (&self.programs[host], &self.programs[1 - host]);
            let facts = self.hosts[host].facts(own.id.unwrap());
            assert_eq!((own.sent, own.received), (own.to_send, peer.to_send));
            assert_eq!((facts.accepted_bytes, facts.received_bytes), (own.sent, own.received));
            assert_eq!(facts.unacknowledged_bytes, 0);
            let Faults { lost, doubled, delay_ns, paused } = self.faults;
            if (lost, doubled, delay_ns, paused) == (0, 0, 0, 0) {
                assert_eq!(facts.retransmitted_segments, 0);
            }
        }
    }
}

fn comes_to_its_end(seed: u64) {
    // What fails says which it was.
    let failed = std::panic::catch_unwind(|| {
        let mut schedule = Schedule::new(seed);
        schedule.run();
        schedule.check();
    });
    assert!(failed.is_ok(), "schedule {seed}");
}

#[test]
fn both_programs_get_all_bytes_and_the_end_under_any_faults() {
    (0..FEW).for_each(comes_to_its_end);
}

/// Found among many: a reader that pauses for longer than the wait after the end.
#[test]
fn unread_data_stays_readable_after_both_ends_close() {
    comes_to_its_end(1_877);
}

/// Found among many: the word that a window is open overtakes the one that it is closed.
#[test]
fn a_window_closed_during_losses_is_probed() {
    comes_to_its_end(2_962);
}

/// Found among many: an old word that a window is closed comes after data were sent into it, and they are lost.
#[test]
fn losses_below_an_apparently_closed_window_are_resent() {
    comes_to_its_end(4_220);
}

/// Found among many: only the end is left to be acknowledged, and the same acknowledgement comes three times.
#[test]
fn a_lost_fin_is_resent_whatever_is_acknowledged_before() {
    comes_to_its_end(10_441);
}

/// Found among many: the last segment, with the end, is longer than the window that smoltcp knows of.
#[test]
fn a_fin_with_data_beyond_the_buffer_does_not_end_the_stream_early() {
    comes_to_its_end(322_367);
    comes_to_its_end(517_457);
}

/// `SCHEDULES=1000000 cargo test --release -p lanlab-stack --test ip -- --ignored schedules`.
#[test]
#[ignore = "long: 3,000 schedules, or as many as are asked for"]
fn random_fault_schedules_all_complete() {
    let number = |name: &str, otherwise| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    let (first, count) = (number("SCHEDULE_SEED", FEW), number("SCHEDULES", 3_000));
    (first..first + count).for_each(comes_to_its_end);
}
