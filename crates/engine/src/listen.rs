//! `listen`: receives frames on a segment without sending any.

use std::time::Duration;

use lanlab_clients::{RECORDER_BYTES, Recorder};
use lanlab_files::LinkPlace;
use lanlab_os::{self as os, Interest, RawFrames, RawLink, RawLinkPlace, Readiness};
use lanlab_units::Instant;
use lanlab_wire::ethernet::Mac;
use lanlab_workloads::listen::{MEMORY_BYTES, Observer};

use crate::cost::{Cost, OWN_THREADS};
use crate::medium::check_interface;
use crate::messages::{Failure, Heard, Listen, Outcome};
use crate::recording;
use crate::running::{Measured, Running, conclude};
use crate::task::Task;

const TIMES_NS: std::ops::RangeInclusive<u64> = 1_000_000..=86_400_000_000_000;
const FRAMES: std::ops::RangeInclusive<u64> = 1..=1_000_000_000;
/// Longest frame read; no Ethernet-like interface has longer ones.
const LONGEST_FRAME_BYTES: usize = 65_536 + 18;
/// Longest interval between checks for cancellation.
const LOOK_NS: u64 = 50_000_000;
/// Maximum frames read between checks for the end.
const TURN_FRAMES: u64 = 1000;
const TELL_NS: u64 = 250_000_000;

/// Listen until the time is over, enough frames arrived, or the driver cancels.
pub fn listen(request: Listen) -> Result<Task, Failure> {
    if !TIMES_NS.contains(&request.longest_ns) {
        return Err(Failure::value("longest_ns", request.longest_ns, "1 ms to 1 day"));
    }
    if !FRAMES.contains(&request.most_frames) {
        return Err(Failure::value("most_frames", request.most_frames, "1 to 1,000,000,000"));
    }
    let place = place_of(&request.link)?;
    let recorded = request.pcap.as_ref().map_or(0, |_| RECORDER_BYTES);
    let cost = Cost { memory_bytes: MEMORY_BYTES + recorded, threads: OWN_THREADS + 1 };
    Ok(Task::new(cost, move |running| run(&request, &place, running)))
}

pub fn place_of(link: &LinkPlace) -> Result<RawLinkPlace, Failure> {
    match link {
        LinkPlace::Interface(name) => {
            check_interface(name)?;
            Ok(RawLinkPlace::Interface(name.clone()))
        }
        // Lower descriptors belong to the engine's dialogue with its driver.
        LinkPlace::Descriptor(number @ 3..) => Ok(RawLinkPlace::Descriptor(*number)),
        LinkPlace::Recorded { .. } => {
            Err(Failure::value("link", "`recorded`", "`interface` or `descriptor`"))
        }
        LinkPlace::Descriptor(number) => {
            Err(Failure::value("descriptor", number, "an open one from 3 on"))
        }
    }
}

pub fn link_failure(place: &RawLinkPlace, error: &std::io::Error) -> Failure {
    let what = match place {
        RawLinkPlace::Interface(name) => format!("interface `{name}`"),
        RawLinkPlace::Descriptor(number) => format!("descriptor {number}"),
    };
    let failure = Failure::new("link.open", format!("{what}: {error}"));
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => failure.hint("run lanlab as root, e.g. with sudo"),
        std::io::ErrorKind::NetworkDown => failure.hint("enable it: `ip link set dev NAME up`"),
        _ => failure,
    }
}

fn run(request: &Listen, place: &RawLinkPlace, running: &Running) -> Measured {
    // Create the file first, so that an unwritable one is reported before anything is received.
    let mut recorder = request.pcap.as_deref().map(recording::create).transpose()?;
    let link = RawLink::open(place, RawFrames::All).map_err(|error| link_failure(place, &error))?;
    running.ready(Vec::new(), None);
    let start = os::monotonic();
    let mut observer = Observer::new(Mac(link.mac()), start);
    let listened = receive(request, &link, &mut observer, &mut recorder, running);
    let now = os::monotonic();
    let ended = recording::end(recorder.as_mut());
    let (recorded_frames, unrecorded_frames) = recorder.as_ref().map_or((0, 0), Recorder::counts);
    let heard = Heard {
        interface: link.interface().to_owned(),
        kernel_drops: link.new_drops(),
        recorded_frames,
        unrecorded_frames,
        ..observer.heard(now)
    };
    conclude(Outcome::Heard(Box::new(heard)), ended.and(listened).err())
}

fn receive(
    request: &Listen,
    link: &RawLink,
    observer: &mut Observer,
    recorder: &mut Option<Recorder>,
    running: &Running,
) -> Result<(), Failure> {
    let start = os::monotonic();
    let end = start.plus_nanos(request.longest_ns);
    let system = |error: std::io::Error| Failure::system("the interface", &error);
    let mut readiness = Readiness::new(1).map_err(system)?;
    readiness.watch(link, 0, Interest::Read).map_err(system)?;
    let mut buffer = vec![0; LONGEST_FRAME_BYTES];
    let mut reported_at = start;
    let mut bytes = 0;
    loop {
        let now = os::monotonic();
        running.check()?;
        if now >= end || observer.frames() >= request.most_frames {
            return Ok(());
        }
        if now.nanos_since(reported_at) >= TELL_NS {
            reported_at = now;
            running.tell_progress(now.nanos_since(start), observer.frames(), bytes);
        }
        if let Some(recorder) = recorder {
            recorder.tick(now);
        }
        let wait_ns = LOOK_NS.min(end.nanos_since(now));
        readiness.wait(Duration::from_nanos(wait_ns)).map_err(system)?.for_each(drop);
        let mut left = TURN_FRAMES.min(request.most_frames - observer.frames());
        while left > 0
            && let Some(length) = link.receive(&mut buffer).map_err(gone)?
        {
            let at: Instant = os::monotonic();
            observer.see(at, &buffer[..length]);
            bytes += length as u64;
            if let Some(recorder) = recorder {
                recorder.record(at, &buffer[..length]);
            }
            left -= 1;
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` gives it")]
fn gone(error: std::io::Error) -> Failure {
    Failure::system("the interface", &error).hint("it was taken down or removed")
}
