//! Combined result of a copy's workers.

use lanlab_units::Instant;

use super::{Hashes, Meters, Worked};
use crate::messages::{Copied, CopyVerify, CpuTime, Failure, HostWindow, LeftOut, Verified};

pub struct Copying {
    pub start: Instant,
    pub files: usize,
    pub bytes: u64,
    pub host: Option<HostWindow>,
    pub left_out: LeftOut,
}

/// Combined result; of several failures, the first that is not merely a consequence of stopping.
pub struct Totals {
    pub copied: Copied,
    pub meters: Meters,
    pub hashes: Hashes,
    pub failure: Option<Failure>,
}

pub fn add_up(copying: Copying, workers: Vec<Worked>) -> Totals {
    let mut meters = Meters::default();
    let (mut hashes, mut connect_ns, mut cpu) = (Hashes::new(), Vec::new(), CpuTime::default());
    let mut failure: Option<Failure> = None;
    let mut agreed = None;
    for worked in workers {
        meters.add(worked.meters);
        hashes.extend(worked.hashes);
        connect_ns.push(worked.connect_ns);
        cpu = cpu.plus(worked.cpu);
        agreed.get_or_insert((worked.facts, worked.capabilities));
        // A cancelled worker does not know the cause.
        let is_news = failure.as_ref().is_none_or(|known| known.code == "cancelled");
        if is_news && worked.failure.is_some() {
            failure = worked.failure;
        }
    }
    let (facts, manner) = agreed.expect("there is at least one worker");
    let Copying { start, files, bytes, host, left_out } = copying;
    let first = meters.files.iter().map(|file| file.opened).min().unwrap_or(start);
    let last = meters.files.iter().map(|file| file.closed).max().unwrap_or(first);
    let copied = Copied {
        elapsed_ns: last.nanos_since(first),
        exchanges: None,
        start_skew_ns: first.signed_nanos_from(start),
        files: files as u64,
        bytes,
        copied_files: meters.files.len() as u64,
        copied_bytes: meters.files.iter().map(|file| file.bytes).sum(),
        retries: meters.retries,
        faults: meters.faults.clone(),
        connect_ns,
        facts,
        carrier: None,
        stack: None,
        manner,
        first_byte: meters.first_byte.finish(),
        file_time: meters.file_time.finish(),
        operations: meters.operation_times(),
        stalls: meters.stalls(manner.in_order),
        cpu,
        host,
        verified: Verified { how: CopyVerify::None, files: 0, bytes: 0 },
        left_out,
    };
    Totals { copied, meters, hashes, failure }
}
