//! Directory handles, directories and volumes.

use crate::fields::fields;

use super::text::{Name, messages};

/// Octets of the field of a volume's name.
pub const VOLUME_NAME_LEN: usize = 16;
/// Octets of a sector.
pub const SECTOR_BYTES: u64 = 512;
/// Every right in a directory.
pub const ALL_RIGHTS: u8 = 0xff;
/// Rights to see, open and read only.
pub const READ_RIGHTS: u8 = 0x45;

fields! {
    /// A volume.
    Volume, Big, "ncp volume" => {
        /// Sectors of a block.
        sectors_per_block: u16,
        /// Blocks in all.
        blocks: u16,
        /// Free blocks.
        free_blocks: u16,
        /// Entries of directories that it has room for.
        directory_slots: u16,
        /// Free ones.
        free_directory_slots: u16,
        /// Its name, with zeros behind it.
        name: [u8; VOLUME_NAME_LEN],
        /// Whether it can be taken out.
        is_removable: u16,
    }
}

fields! {
    /// A handle.
    Allocated, Big, "ncp directory handle" => {
        /// The handle.
        handle: u8,
        /// Rights there.
        rights: u8,
    }
}

fields! {
    /// A handle alone.
    Handle, Big, "ncp handle" => {
        /// The handle.
        handle: u8,
    }
}

messages! {
    /// A handle, and a path from there on.
    Path<'a>, "ncp path" => {
        /// Zero: the path names its volume.
        handle: u8,
        /// The path.
        path: Name<'a>,
    }

    /// Asks for a handle of a directory; or to make or remove one, with a mask of rights in the place of the
    /// letter.
    Allocate<'a>, "ncp directory" => {
        /// The handle that the path begins at.
        handle: u8,
        /// Letter of a drive that the client gives the handle, or a mask of rights.
        letter: u8,
        /// The path.
        path: Name<'a>,
    }



    /// A whole path, with its volume.
    Whole<'a>, "ncp whole path" => {
        /// As in `SYS:PUBLIC`.
        path: Name<'a>,
    }

    /// Another name for a directory.
    Rename<'a>, "ncp rename directory" => {
        /// The handle that the path begins at.
        handle: u8,
        /// Its path.
        path: Name<'a>,
        /// Its new name.
        new: Name<'a>,
    }
}

impl Volume {
    /// Space in octets: in all, and free.
    pub fn bytes(&self) -> (u64, u64) {
        let block = u64::from(self.sectors_per_block) * SECTOR_BYTES;
        (u64::from(self.blocks) * block, u64::from(self.free_blocks) * block)
    }

    /// A volume of this space: blocks are as long as that there are no more than 16 bits count. What is more
    /// than these can say is not said.
    #[must_use]
    pub fn with_bytes(self, total: u64, free: u64) -> Self {
        let most = u64::from(u16::MAX);
        // From 4 KiB on, as volumes of NetWare have them.
        let mut sectors = 8_u16;
        while sectors < 1 << 15 && total / (u64::from(sectors) * SECTOR_BYTES) > most {
            sectors *= 2;
        }
        let blocks = |bytes: u64| (bytes / (u64::from(sectors) * SECTOR_BYTES)).min(most) as u16;
        let (blocks, free_blocks) = (blocks(total), blocks(free));
        Self { sectors_per_block: sectors, blocks, free_blocks, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_as_long_as_the_space_needs() {
        for (total, free, sectors, said) in [
            (100 << 20, 50 << 20, 8, (100 << 20, 50 << 20)),
            (1 << 39, 1 << 38, 1 << 15, (1 << 39, 1 << 38)),
            (1 << 50, 1 << 50, 1 << 15, (65_535 << 24, 65_535 << 24)),
        ] {
            let volume = Volume::default().with_bytes(total, free);
            assert_eq!((volume.sectors_per_block, volume.bytes()), (sectors, said), "{total}");
        }
    }

    #[test]
    fn a_volume_is_28_octets_and_a_rename_two_names() {
        let mut octets = Vec::new();
        Volume { name: *b"SYS\0\0\0\0\0\0\0\0\0\0\0\0\0", ..Volume::default() }.emit(&mut octets);
        assert_eq!((octets.len(), &octets[10..13]), (28, &b"SYS"[..]));
        let rename = Rename::parse(b"\x02\x03OLD\x03NEW").unwrap();
        assert_eq!((rename.handle, rename.path.0, rename.new.0), (2, &b"OLD"[..], &b"NEW"[..]));
    }
}
