//! Files of a simulated machine: what calls for them cost, its cache and its disk.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SimulatedCost;

/// What calls for files take of a machine's processor, its cache and its disk. Bytes of costs are those read
/// or written.
#[expect(clippy::struct_excessive_bools, reason = "four habits of a server, in any mix")]
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SimulatedStore {
    pub open: SimulatedCost,
    pub read: SimulatedCost,
    pub write: SimulatedCost,
    pub close: SimulatedCost,
    pub other: SimulatedCost,
    /// Whether calls of several clients are carried out at the same time; else one after the other.
    pub overlaps: bool,
    /// Bytes of a block of the cache, 512 to 1,048,576, whole sectors of 512.
    pub block_bytes: u32,
    /// Blocks in the cache, up to 1,048,576; 0: there is none.
    pub cache_blocks: u32,
    pub cache_of_client: bool,
    /// Blocks that are read beyond those asked for, up to 1,024.
    pub read_ahead_blocks: u32,
    /// Blocks that may wait to be written, up to those of the cache; 0: a write is answered when it is on the
    /// disk.
    pub write_behind_blocks: u32,
    /// How long they wait at most, ns, up to 600,000,000,000.
    pub write_behind_ns: u64,
    /// Whether one that is full is written at once, and the write that filled it answered then.
    pub writes_full: bool,
    /// Whether a block that is written in part waits in the cache until it leaves, where writes are not behind.
    pub keeps_parts: bool,
    /// Sectors of directories that are read to find a name, up to 1,024.
    pub name_sectors: u32,
    /// Sectors of directories that are written when one changes, up to 1,024.
    pub change_sectors: u32,
    pub disk: SimulatedDisk,
}

impl Default for SimulatedStore {
    fn default() -> Self {
        let cost = SimulatedCost::default();
        Self {
            open: cost,
            read: cost,
            write: cost,
            close: cost,
            other: cost,
            overlaps: true,
            block_bytes: 4096,
            cache_blocks: 0,
            cache_of_client: false,
            read_ahead_blocks: 0,
            write_behind_blocks: 0,
            write_behind_ns: 1_000_000_000,
            writes_full: false,
            keeps_parts: false,
            name_sectors: 0,
            change_sectors: 0,
            disk: SimulatedDisk::default(),
        }
    }
}

/// A disk. Sectors have 512 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SimulatedDisk {
    /// Positions of the arm, 1 or more.
    pub cylinders: u32,
    /// Tracks of a cylinder, 1 to 65,536.
    pub heads: u32,
    /// Sectors of a track, 1 to 4,096; in all up to 4,294,967,296.
    pub sectors_per_track: u32,
    /// Places from a sector to the next, from 1 up to the sectors of a track.
    pub interleave: u32,
    /// Time of a turn, ns, up to 10,000,000,000; 0: a disk of memory, which has no arm either.
    pub turn_ns: u64,
    /// Time to move the arm at all, ns, likewise.
    pub seek_each_ns: u64,
    /// Added for the square root of the cylinders that it moves over, ns, likewise.
    pub seek_per_root_ns: u64,
    /// Time of the controller before each access, ns, likewise.
    pub overhead_ns: u64,
    /// Time of the controller for each byte, ps, up to 1,000,000,000.
    pub per_byte_ps: u64,
    pub order: SimulatedDiskOrder,
    pub verifies: bool,
}

impl Default for SimulatedDisk {
    /// Memory of 2 GB that takes no time.
    fn default() -> Self {
        Self {
            cylinders: 1024,
            heads: 64,
            sectors_per_track: 64,
            interleave: 1,
            turn_ns: 0,
            seek_each_ns: 0,
            seek_per_root_ns: 0,
            overhead_ns: 0,
            per_byte_ps: 0,
            order: SimulatedDiskOrder::FirstCome,
            verifies: false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SimulatedDiskOrder {
    FirstCome,
    Elevator,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SimulatedStoreFacts {
    pub disk_accesses: u64,
    pub disk_sectors: u64,
    /// Time in which the disk worked, ns.
    pub disk_busy_ns: u64,
    pub disk_seek_ns: u64,
    /// Of that, it turned without reading or writing, ns.
    pub disk_rotation_ns: u64,
    pub disk_waited_ns: u64,
    pub cache_hits: u64,
    pub cache_misses: u64,
    /// Blocks that were not on the disk at the end.
    pub dirty_blocks: u64,
}
