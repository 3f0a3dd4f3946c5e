//! Counts and times of a copy's workers, added up by hand.

use std::cell::Cell;

use lanlab_files::{Class, Facts, Fault, TransferCapabilities};
use lanlab_units::{Clock, Instant};

use super::meters::Operation;
use super::*;
use crate::Progress;
use crate::guard::Guard;
use crate::messages::{CpuTime, Failure, LeftOut};
use crate::virtual_time::VirtualTime;

const MS: u64 = 1_000_000;

fn at_ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * MS)
}

/// Meters with `count` calls of a kind that took `ms` each and moved as many bytes together.
fn called(kind: Operation, ms: u64, count: u64, bytes: u64) -> Meters {
    let mut meters = Meters::default();
    for _ in 0..count {
        meters.operation(kind, at_ms(100), at_ms(100 + ms), bytes / count);
    }
    meters
}

#[test]
fn timer_waits_are_found_and_disk_waits_are_not() {
    let stalls = |meters: &Meters| -> Vec<String> {
        meters.stalls(false).into_iter().map(|stall| stall.operation).collect()
    };
    for (kind, name) in [
        (Operation::Open, "open"),
        (Operation::Read, "read"),
        (Operation::Write, "write"),
        (Operation::Close, "close"),
    ] {
        assert_eq!(stalls(&called(kind, 41, 20, 0)), [name]);
        // A MiB each: a slow link, not a timer.
        assert_eq!(stalls(&called(kind, 41, 20, 20 << 20)), [""; 0]);
    }
    assert_eq!(stalls(&called(Operation::Sync, 41, 20, 0)), [""; 0]);
}

fn file(number: usize, opened: u64, first_byte: u64, closed: u64, retries: u64) -> FileTime {
    FileTime {
        number,
        bytes: 1_000 * number as u64,
        opened: at_ms(opened),
        first_byte: at_ms(first_byte),
        closed: at_ms(closed),
        retries,
    }
}

fn worked(files: &[FileTime], connect_ns: u64, failure: Option<Failure>) -> Worked {
    let mut meters = called(Operation::Open, 3, 2, 0);
    for time in files {
        meters.file(*time);
    }
    meters.retries = connect_ns;
    meters.faults = [("reset".to_owned(), connect_ns)].into();
    let none = || "none".to_owned();
    Worked {
        meters,
        hashes: vec![(files.len(), vec![connect_ns])],
        capabilities: TransferCapabilities {
            in_order: false,
            block_bytes: 4_096,
            depth: 4,
            blocking: false,
            can_update: true,
            can_create: true,
        },
        facts: Facts {
            protocol: format!("of {connect_ns}"),
            protection: none(),
            server: None,
            no_delay: None,
            tcp: None,
        },
        connect_ns,
        cpu: CpuTime { user_ns: connect_ns, system_ns: 10 * connect_ns, ..CpuTime::default() },
        failure,
    }
}

fn copying() -> Copying {
    Copying { start: at_ms(90), files: 9, bytes: 99, host: None, left_out: LeftOut::default() }
}

#[test]
fn worker_counts_add_up() {
    let one = worked(&[file(3, 100, 104, 110, 0), file(2, 95, 96, 98, 2)], 5, None);
    let other = worked(&[file(7, 101, 108, 130, 1)], 7, None);
    let totals = add_up(copying(), vec![one, other]);
    let copied = &totals.copied;
    assert_eq!((copied.files, copied.bytes), (9, 99));
    assert_eq!((copied.copied_files, copied.copied_bytes), (3, 12_000));
    // From the first open to the last close, and how late the first was.
    assert_eq!((copied.elapsed_ns, copied.start_skew_ns), (35 * MS, 5_000_000));
    assert_eq!((copied.retries, copied.faults["reset"]), (12, 12));
    assert_eq!((copied.connect_ns.as_slice(), copied.cpu.user_ns), ([5, 7].as_slice(), 12));
    assert_eq!((copied.cpu.system_ns, copied.facts.protocol.as_str()), (120, "of 5"));
    let (first, whole) = (&copied.first_byte, &copied.file_time);
    assert_eq!((first.samples, first.min_ns, first.max_ns), (3, 1_000_000, 7_000_000));
    assert_eq!((whole.samples, whole.min_ns, whole.max_ns), (3, 3_000_000, 29_000_000));
    assert_eq!((copied.operations.open.samples, copied.operations.open.max_ns), (4, 3_000_000));
    assert_eq!(totals.hashes, [(2, vec![5]), (1, vec![7])]);
    assert!(totals.failure.is_none());

    let lines: Vec<_> = totals.meters.file_lines(at_ms(90)).collect();
    assert_eq!(lines.len(), 1);
    let line = &lines[0];
    assert_eq!(
        (line.number.as_slice(), line.bytes.as_slice()),
        ([3, 2, 7].as_slice(), [3_000, 2_000, 7_000].as_slice())
    );
    assert_eq!(line.opened_ns, [10 * MS, 5 * MS, 11 * MS]);
    assert_eq!(line.first_byte_ns, [14 * MS, 6 * MS, 18 * MS]);
    assert_eq!(
        (line.closed_ns.as_slice(), line.retries.as_slice()),
        ([20 * MS, 8 * MS, 40 * MS].as_slice(), [0, 2, 1].as_slice())
    );
}

#[test]
fn call_times_are_kept_by_kind() {
    let mut meters = called(Operation::Open, 1, 1, 10);
    for (kind, ms) in
        [(Operation::Read, 2), (Operation::Write, 3), (Operation::Sync, 4), (Operation::Close, 5)]
    {
        meters.add(called(kind, ms, ms, 10));
    }
    let times = meters.operation_times();
    let all = [&times.open, &times.read, &times.write, &times.sync, &times.close];
    assert_eq!(all.map(|each| each.samples), [1, 2, 3, 4, 5]);
    assert_eq!(all.map(|each| each.max_ns / 1_000_000), [1, 2, 3, 4, 5]);
}

#[test]
fn summed_worker_bytes_tell_slow_links_from_timers() {
    // 16 KiB per call on average, although the first half moved nothing.
    let mut meters = called(Operation::Read, 41, 10, 0);
    meters.add(called(Operation::Read, 41, 10, 20 << 14));
    assert!(meters.stalls(false).is_empty());
    let mut meters = called(Operation::Read, 41, 10, 0);
    meters.add(called(Operation::Read, 41, 10, (20 << 14) - 20));
    assert_eq!(meters.stalls(false).len(), 1);
}

/// A file of 50 kB takes 40 ms at 10 Mbit/s, and closing waits for that.
#[test]
fn closing_a_stream_waits_for_written_data() {
    let mut meters = called(Operation::Close, 41, 20, 0);
    meters.add(called(Operation::Write, 0, 20, 20 * 50_000));
    assert!(meters.stalls(true).is_empty());
    assert_eq!(meters.stalls(false).len(), 1);
}

#[test]
fn the_first_real_failure_is_reported() {
    let failed = |failures: [Option<&'static str>; 3]| {
        let workers = failures
            .map(|code| worked(&[], 1, code.map(|code| Failure::new(code, "words"))))
            .into();
        add_up(copying(), workers).failure.map(|failure| failure.code)
    };
    assert_eq!(failed([None; 3]), None);
    assert_eq!(failed([None, Some("cancelled"), None]), Some("cancelled"));
    let (reset, denied) = (Some("service.reset"), Some("service.denied"));
    assert_eq!(failed([Some("cancelled"), reset, denied]), reset);
    assert_eq!(failed([reset, Some("cancelled"), denied]), reset);
    assert_eq!(failed([Some("cancelled"), reset, None]), reset);
    // Without a file, no time is measured.
    let copied = add_up(copying(), vec![worked(&[], 1, None)]).copied;
    assert_eq!((copied.elapsed_ns, copied.start_skew_ns, copied.copied_bytes), (0, 0, 0));
}

#[test]
fn a_guard_ends_work_at_deadline_stop_or_cancellation() {
    let (time, progress) = (VirtualTime::new(), Progress::default());
    time.advance_to(at_ms(1_000));
    let mut spec = super::transfer::tests::spec(None, None);
    spec.longest_ns = Some(3_999 * MS);
    let code = |guard: &Guard<VirtualTime>| guard.check().err().map(|failure| failure.code);
    let guard = Guard::bounded(time.clone(), &progress, &spec);
    time.advance_to(Instant::from_nanos(4_999 * MS - 1));
    assert_eq!(code(&guard), None);
    time.advance_to(at_ms(4_999));
    assert_eq!(code(&guard), Some("copy.too_long"));
    assert_eq!(guard.check().unwrap_err().message, "not done within 3 s");
    let guard = Guard::new(time.clone(), &progress);
    assert_eq!((code(&guard), guard.timeout_ns), (None, 30_000 * MS));
    guard.stop();
    assert_eq!(code(&guard), Some("cancelled"));
    let guard = Guard::new(time.clone(), &progress);
    progress.cancel();
    assert_eq!(code(&guard), Some("cancelled"));
    assert_eq!(time.now(), at_ms(4_999));
}

/// Connect patiently to a server that replies with `says` in turn and then accepts. Also returns
/// the number of attempts and the total time, ms.
fn patiently(attempts: u32, says: &'static [Class]) -> (Result<u64, Failure>, usize, u64) {
    let time = VirtualTime::new();
    let clock = time.clone();
    let work = async move {
        let (progress, asked) = (Progress::default(), Cell::new(0));
        let guard = Guard::new(clock.clone(), &progress);
        let connect = || async {
            let number = asked.replace(asked.get() + 1);
            clock.sleep_until(clock.now().plus_nanos(5 * MS)).await;
            says.get(number).map_or(Ok(()), |class| Err(Fault::new(*class, "no")))
        };
        let connected = connect_patiently(&guard, attempts, || async {}, connect).await;
        let took = connected.map(|((), took_ns)| took_ns / MS);
        (took.map_err(CopyError::into_failure), asked.get())
    };
    let (connected, asked) = time.run(work).expect("no deadlock");
    (connected, asked, time.now().as_nanos() / MS)
}

#[test]
fn temporary_refusals_are_retried_and_final_ones_not() {
    use Class::{Login, Refused, Reset, TimedOut};
    // The reported time is that of the successful attempt.
    let (connected, asked, took_ms) = patiently(7, &[Reset, Refused]);
    assert_eq!((connected.unwrap(), asked), (5, 3));
    assert!((315..=380).contains(&took_ms), "{took_ms}");
    for (attempts, says, wanted) in [
        (7, &[Reset; 9][..], 7),
        (3, &[Refused; 9], 3),
        (7, &[Login; 9], 1),
        (7, &[TimedOut; 9], 1),
    ] {
        let (connected, asked, _) = patiently(attempts, says);
        let failure = connected.unwrap_err();
        assert_eq!(asked, wanted, "{says:?}");
        let repeated = failure.message.contains(&format!("(given up after {wanted} attempts)"));
        assert_eq!(repeated, wanted > 1, "{}", failure.message);
    }
}
