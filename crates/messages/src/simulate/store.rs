//! Files of a simulated machine: costs of calls, cache and disk.

use schemars::JsonSchema;
use serde::Serialize;

use super::cost::SimulatedCost;
use super::numbers::numbers;
use crate::Failure;

pub const SECTOR_BYTES: u64 = 512;

numbers! {
    /// Costs of file calls: CPU time, cache and disk. Bytes of costs are those read or written.
    #[derive(Copy)]
    pub struct SimulatedStore then check_blocks {
        open_ns: u64 = 0, in 0 to 10_000_000_000_u64, as "file_open_us",
            "CPU time of each file opened or created, and of each look-up of a name.";
        read: SimulatedCost = SimulatedCost::ZERO, as "file_read", "of each read call.";
        write: SimulatedCost = SimulatedCost::ZERO, as "file_write", "of each write call.";
        close_ns: u64 = 0, in 0 to 10_000_000_000_u64, as "file_close_us", "CPU time of each file closed.";
        other_ns: u64 = 0, in 0 to 10_000_000_000_u64, as "file_other_us",
            "CPU time of each other file call.";
        overlaps: bool = true, as "files_overlap",
            "1: processor and disk serve different clients at once. 0: file calls run one by one, as in DOS.";
        block_bytes: u32 = 4096, in 512 to 1_048_576, as "cache_block_bytes",
            "Block size of the file cache, a multiple of 512.";
        cache_blocks: u32 = 0, in 0 to 1_048_576, "Cache size.";
        cache_of_client: bool = false, "1: one cache of that size per client.";
        read_ahead_blocks: u32 = 0, in 0 to 1024, "Blocks read ahead.";
        write_behind_blocks: u32 = 0, in 0 to 1_048_576,
            "Blocks that may be written later. 0: a write is answered when it is on disk.";
        write_behind_ns: u64 = 1_000_000_000, in 0 to 600_000_000_000_u64, as "write_behind_ms",
            "Longest delay of a write.";
        writes_full: bool = false, as "write_behind_full",
            "1: write a full block at once, and answer its last write then.";
        keeps_parts: bool = false, as "write_behind_parts",
            "1: keep partly written blocks in the cache until evicted, as DOS does, if `write_behind_blocks` is 0.";
        name_sectors: u32 = 0, in 0 to 1024, "Directory sectors read to find a name.";
        change_sectors: u32 = 0, in 0 to 1024, "Sectors of directories and of the file map written per change.";
        disk: SimulatedDisk = SimulatedDisk::default(), as "disk", "The default is memory of 2 GB.";
    }
}

impl SimulatedStore {
    fn check_blocks(self, key: &str) -> Result<(), Failure> {
        let Self { block_bytes, write_behind_blocks, cache_blocks, .. } = self;
        if !u64::from(block_bytes).is_multiple_of(SECTOR_BYTES) {
            let allowed = format!("whole sectors of {SECTOR_BYTES}");
            return Err(Failure::value(&format!("{key}block_bytes"), block_bytes, allowed));
        }
        if write_behind_blocks > cache_blocks {
            let allowed = format!("0 to {cache_blocks}");
            return Err(Failure::value(
                &format!("{key}write_behind_blocks"),
                write_behind_blocks,
                allowed,
            ));
        }
        Ok(())
    }
}

numbers! {
    /// A disk. Sectors have 512 bytes.
    #[derive(Copy, Eq)]
    pub struct SimulatedDisk then check_sectors {
        cylinders: u32 = 1024, in 1 to 4_294_967_295_u32, "Cylinders.";
        heads: u32 = 64, in 1 to 65_536, "Tracks per cylinder.";
        sectors_per_track: u32 = 64, in 1 to 4096, "Sectors per track.";
        interleave: u32 = 1, in 1 to 4096, "Interleave factor, at most the sectors of a track.";
        turn_ns: u64 = 0, in 0 to 10_000_000_000_u64, as "turn_ms", "Time per revolution. 0: a RAM disk.";
        seek_each_ns: u64 = 0, in 0 to 10_000_000_000_u64, as "seek_ms", "Fixed time per seek.";
        seek_per_root_ns: u64 = 0, in 0 to 10_000_000_000_u64, as "seek_root_ms",
            "Seek time per square root of the cylinders crossed.";
        overhead_ns: u64 = 0, in 0 to 10_000_000_000_u64, as "overhead_us", "Controller time per access.";
        per_byte_ps: u64 = 0, in 0 to 1_000_000_000, as "ns_per_byte",
            "Controller time per byte, during which the disk goes on.";
        elevator: bool = false, "1: serve the nearest access in the arm's direction first.";
        verifies: bool = false, "1: read back each write.";
    }
}

impl SimulatedDisk {
    pub const fn sectors(&self) -> u64 {
        self.cylinders as u64 * self.heads as u64 * self.sectors_per_track as u64
    }

    pub const fn bytes(&self) -> u64 {
        self.sectors() * SECTOR_BYTES
    }

    fn check_sectors(self, key: &str) -> Result<(), Failure> {
        let [interleave, sectors] = [u64::from(self.interleave), self.sectors()];
        for (field, found, most) in [
            ("interleave", interleave, self.sectors_per_track.into()),
            ("sectors", sectors, 1 << 32),
        ] {
            if found > most {
                return Err(Failure::value(
                    &format!("{key}{field}"),
                    found,
                    format!("1 to {most}"),
                ));
            }
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SimulatedStoreFacts {
    pub disk_accesses: u64,
    pub disk_sectors: u64,
    /// Busy time of the disk, ns.
    pub disk_busy_ns: u64,
    pub disk_seek_ns: u64,
    /// Part of it in which the disk rotated without reading or writing, ns.
    pub disk_rotation_ns: u64,
    pub disk_waited_ns: u64,
    pub cache_hits: u64,
    /// Blocks read from the disk on request.
    pub cache_misses: u64,
    /// Blocks that were not on the disk at the end, excluding blocks that were being written.
    pub dirty_blocks: u64,
}
