//! Directory handles, directories and volumes.

use crate::fields::fields;

use super::text::{Name, messages};

pub const VOLUME_NAME_LEN: usize = 16;
pub const SECTOR_BYTES: u64 = 512;
/// Maximum number of directory entries that servers report here.
pub const SLOTS: u16 = u16::MAX;
/// Maximum sectors per block for DOS's 16-bit block counts: 65,535 blocks are then 2 GiB less 32
/// KiB.
const MOST_DOS_SECTORS: u8 = 64;
/// Maximum sectors per block of a 32-bit volume: the field has one octet.
const MOST_SECTORS: u8 = 128;
pub const ALL_RIGHTS: u8 = 0xff;
/// Rights to see, open and read only.
pub const READ_RIGHTS: u8 = 0x45;

fields! {
    Volume, Big, "ncp volume" => {
        sectors_per_block: u16,
        blocks: u16,
        free_blocks: u16,
        directory_slots: u16,
        free_directory_slots: u16,
        name: [u8; VOLUME_NAME_LEN],
        is_removable: u16,
    }
}

fields! {
    /// Space of a volume in 32-bit numbers, little-endian. Its name follows.
    VolumeUsage, Little, "ncp volume usage" => {
        blocks: u32,
        free_blocks: u32,
        purgeable: u32,
        not_yet_purgeable: u32,
        slots: u32,
        free_slots: u32,
        reserved: u32,
        sectors_per_block: u8,
    }
}

fields! {
    DirectoryUsage, Little, "ncp directory usage" => {
        blocks: u32,
        free_blocks: u32,
        slots: u32,
        free_slots: u32,
        reserved: u32,
        sectors_per_block: u8,
    }
}

fields! {
    Allocated, Big, "ncp directory handle" => {
        handle: u8,
        rights: u8,
    }
}

fields! {
    Handle, Big, "ncp handle" => {
        handle: u8,
    }
}

messages! {
    SetHandle<'a>, "ncp set handle" => {
        handle: u8,
        source: u8,
        path: Name<'a>,
    }

    Path<'a>, "ncp path" => {
        handle: u8,
        path: Name<'a>,
    }

    /// Requests a directory handle; or creates or removes a directory, with a rights mask instead
    /// of the drive letter.
    Allocate<'a>, "ncp directory" => {
        handle: u8,
        /// Drive letter to which the client assigns the handle, or a rights mask.
        letter: u8,
        path: Name<'a>,
    }



    Whole<'a>, "ncp whole path" => {
        path: Name<'a>,
    }

    Rename<'a>, "ncp rename directory" => {
        handle: u8,
        path: Name<'a>,
        new: Name<'a>,
    }
}

impl Volume {
    /// The space of a volume as DOS counts it; space beyond its limits is omitted.
    #[must_use]
    pub fn with_bytes(self, total: u64, free: u64) -> Self {
        let (sectors, blocks) = blocks([total, free], MOST_DOS_SECTORS, u16::MAX.into());
        let [blocks, free_blocks] = blocks.map(|count| count as u16);
        Self { sectors_per_block: sectors.into(), blocks, free_blocks, ..self }
    }
}

/// Sectors per block, and `bytes` in blocks. The block size is the smallest, from NetWare's 4 KiB
/// up, that yields at most `most` blocks.
fn blocks(bytes: [u64; 2], most_sectors: u8, most: u64) -> (u8, [u32; 2]) {
    let mut sectors = 8;
    let count = |bytes: u64, sectors: u8| bytes / (u64::from(sectors) * SECTOR_BYTES);
    while sectors < most_sectors && count(bytes[0], sectors) > most {
        sectors *= 2;
    }
    (sectors, bytes.map(|bytes| count(bytes, sectors).min(most) as u32))
}

impl VolumeUsage {
    /// Space of a volume, in 32-bit numbers.
    pub fn of(total: u64, free: u64) -> Self {
        let (sectors_per_block, [blocks, free_blocks]) =
            blocks([total, free], MOST_SECTORS, u32::MAX.into());
        let (slots, free_slots) = (SLOTS.into(), SLOTS.into());
        Self { blocks, free_blocks, slots, free_slots, sectors_per_block, ..Self::default() }
    }
}

impl From<VolumeUsage> for DirectoryUsage {
    fn from(volume: VolumeUsage) -> Self {
        let VolumeUsage { blocks, free_blocks, slots, free_slots, sectors_per_block, .. } = volume;
        Self { blocks, free_blocks, slots, free_slots, reserved: 0, sectors_per_block }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_length_grows_with_the_volume() {
        for (total, free, sectors, said) in [
            (100 << 20, 50 << 20, 8, (100 << 20, 50 << 20)),
            (1_000 << 20, 500 << 20, 32, (1_000 << 20, 500 << 20)),
            // 65,536 blocks of 16 KiB exceed the limit by one.
            (1 << 30, 1 << 29, 64, (1 << 30, 1 << 29)),
            (1 << 39, 1 << 38, 64, (65_535 << 15, 65_535 << 15)),
            (1 << 39, 100 << 20, 64, (65_535 << 15, 100 << 20)),
        ] {
            let volume = Volume::default().with_bytes(total, free);
            let block = u64::from(volume.sectors_per_block) * SECTOR_BYTES;
            let bytes = |blocks: u16| u64::from(blocks) * block;
            assert_eq!(volume.sectors_per_block, sectors, "{total}");
            assert_eq!((bytes(volume.blocks), bytes(volume.free_blocks)), said, "{total}");
        }
    }

    #[test]
    fn volumes_use_32_bit_sizes() {
        for (total, sectors) in [(1_u64 << 30, 8_u8), (1 << 42, 8), (1 << 44, 16), (1 << 47, 128)] {
            let usage = VolumeUsage::of(total, total / 2);
            let bytes = |blocks: u32| u64::from(blocks) * u64::from(sectors) * SECTOR_BYTES;
            assert_eq!(usage.sectors_per_block, sectors, "{total}");
            assert_eq!((bytes(usage.blocks), bytes(usage.free_blocks)), (total, total / 2));
        }
    }

    #[test]
    fn a_volume_takes_28_bytes_and_a_rename_holds_two_names() {
        let mut octets = Vec::new();
        Volume { name: *b"SYS\0\0\0\0\0\0\0\0\0\0\0\0\0", ..Volume::default() }.emit(&mut octets);
        assert_eq!((octets.len(), &octets[10..13]), (28, &b"SYS"[..]));
        let rename = Rename::parse(b"\x02\x03OLD\x03NEW").unwrap();
        assert_eq!((rename.handle, rename.path.0, rename.new.0), (2, &b"OLD"[..], &b"NEW"[..]));
    }
}
