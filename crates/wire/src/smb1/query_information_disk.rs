//! Size of the disk and its free space. The request is an empty block.
//!
//! Source: [MS-CIFS] 2.2.4.57.

use super::blocks::block;

block! {
    /// Response. A disk too large for 16 bits is reported with the largest possible size.
    Response: words(5) {
        total_units: u16,
        blocks_per_unit: u16,
        block_size: u16,
        free_units: u16,
    }
}

impl Response {
    /// The closest response for a disk of `total` octets, of which `free` are free. Blocks have 512
    /// octets; a unit has as many blocks as the size requires, up to 32,767 units of 16 MiB.
    pub const fn of_bytes(total: u64, free: u64) -> Self {
        let block_size = 512;
        let mut blocks_per_unit: u64 = 1;
        while total / (block_size * blocks_per_unit) > 0x7fff && blocks_per_unit < 0x8000 {
            blocks_per_unit *= 2;
        }
        let unit = block_size * blocks_per_unit;
        let total_units = if total / unit > 0x7fff { 0x7fff } else { total / unit };
        let free_units = if free / unit > total_units { total_units } else { free / unit };
        Self {
            total_units: total_units as u16,
            blocks_per_unit: blocks_per_unit as u16,
            block_size: block_size as u16,
            free_units: free_units as u16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disk_sizes_are_exact_to_one_unit() {
        for total in [0, 1_000, 20 << 20, 623 << 20, 400 << 30] {
            let response = Response::of_bytes(total, total / 2);
            let unit = u64::from(response.blocks_per_unit) * 512;
            let (said, free) =
                (unit * u64::from(response.total_units), unit * u64::from(response.free_units));
            assert!(said <= total && total - said < unit, "{total}");
            assert!(free <= total / 2 && total / 2 - free < unit, "{total}");
        }
    }

    #[test]
    fn oversized_disks_are_reported_as_the_maximum() {
        let response = Response::of_bytes(u64::MAX, u64::MAX);
        assert_eq!((response.total_units, response.free_units), (0x7fff, 0x7fff));
    }
}
