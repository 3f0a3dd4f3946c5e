//! Counts and times of one thread during a copy.

use std::collections::BTreeMap;

use lanlab_units::Instant;

use crate::measure::{DistributionMeter, find_stalls};
use crate::messages::{FileTimes, OperationTimes, Stall};

/// Files per line of times: six columns of up to 20 digits stay well below the limit of a line.
const FILES_A_LINE: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Open,
    Read,
    Write,
    Sync,
    Close,
}

const OPERATIONS: [(Operation, &str); 5] = [
    (Operation::Open, "open"),
    (Operation::Read, "read"),
    (Operation::Write, "write"),
    (Operation::Sync, "sync"),
    (Operation::Close, "close"),
];

#[derive(Debug, Clone, Copy)]
pub struct FileTime {
    pub number: usize,
    pub bytes: u64,
    pub opened: Instant,
    pub first_byte: Instant,
    pub closed: Instant,
    pub retries: u64,
}

#[derive(Debug, Default)]
pub struct Meters {
    operations: [DistributionMeter; OPERATIONS.len()],
    bytes: [u64; OPERATIONS.len()],
    pub first_byte: DistributionMeter,
    pub file_time: DistributionMeter,
    pub files: Vec<FileTime>,
    pub faults: BTreeMap<String, u64>,
    pub retries: u64,
}

impl Meters {
    /// A call of the service took from `began` to `ended` and moved `bytes`.
    pub fn operation(&mut self, kind: Operation, began: Instant, ended: Instant, bytes: u64) {
        self.operations[kind as usize].record(ended.nanos_since(began).cast_signed());
        self.bytes[kind as usize] += bytes;
    }

    pub fn file(&mut self, time: FileTime) {
        let since = |instant: Instant| instant.nanos_since(time.opened).cast_signed();
        self.first_byte.record(since(time.first_byte));
        self.file_time.record(since(time.closed));
        self.files.push(time);
    }

    pub fn add(&mut self, other: Self) {
        for (own, more) in self.operations.iter_mut().zip(&other.operations) {
            own.add(more);
        }
        for (own, more) in self.bytes.iter_mut().zip(other.bytes) {
            *own += more;
        }
        self.first_byte.add(&other.first_byte);
        self.file_time.add(&other.file_time);
        self.files.extend(other.files);
        for (class, count) in other.faults {
            *self.faults.entry(class).or_default() += count;
        }
        self.retries += other.retries;
    }

    pub fn operation_times(&self) -> OperationTimes {
        let of = |kind: Operation| self.operations[kind as usize].finish();
        OperationTimes {
            open: of(Operation::Open),
            read: of(Operation::Read),
            write: of(Operation::Write),
            sync: of(Operation::Sync),
            close: of(Operation::Close),
        }
    }

    /// Calls that wait for a timer; syncs, which wait for the disk, are excluded.
    ///
    /// `is_stream`: files are sent in order ([`lanlab_files::TransferCapabilities::in_order`]), so closing one
    /// waits until the written data is sent.
    pub fn stalls(&self, is_stream: bool) -> Vec<Stall> {
        OPERATIONS
            .iter()
            .filter(|(kind, _)| *kind != Operation::Sync)
            .flat_map(|(kind, name)| {
                let is_sending = is_stream && *kind == Operation::Close;
                let moves = if is_sending { Operation::Write } else { *kind };
                let (times, bytes) = (&self.operations[*kind as usize], self.bytes[moves as usize]);
                find_stalls(name, times, bytes, is_stream)
            })
            .collect()
    }

    /// Times of all files since `start`, in lines of bounded length.
    pub fn file_lines(&self, start: Instant) -> impl Iterator<Item = FileTimes> {
        self.files.chunks(FILES_A_LINE).map(move |files| {
            let column = |of: &dyn Fn(&FileTime) -> u64| files.iter().map(of).collect();
            FileTimes {
                id: 0,
                number: column(&|file| file.number as u64),
                bytes: column(&|file| file.bytes),
                opened_ns: column(&|file| file.opened.nanos_since(start)),
                first_byte_ns: column(&|file| file.first_byte.nanos_since(start)),
                closed_ns: column(&|file| file.closed.nanos_since(start)),
                retries: column(&|file| file.retries),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{MAX_REPLY_BYTES, Reply};

    #[test]
    fn a_line_of_times_is_within_its_bound() {
        let mut meters = Meters::default();
        let far = Instant::from_nanos(u64::MAX);
        for number in 0..=FILES_A_LINE {
            let time = FileTime {
                number,
                bytes: u64::MAX,
                opened: far,
                first_byte: far,
                closed: far,
                retries: u64::MAX,
            };
            meters.files.push(time);
        }
        let lines: Vec<_> = meters.file_lines(Instant::ZERO).collect();
        assert_eq!(lines.iter().map(|line| line.number.len()).sum::<usize>(), FILES_A_LINE + 1);
        for line in lines {
            let text = serde_json::to_vec(&Reply::CopiedFiles(line)).unwrap();
            assert!(text.len() < MAX_REPLY_BYTES, "{} bytes", text.len());
        }
    }
}
