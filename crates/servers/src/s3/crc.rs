//! The cyclic redundancy checks that S3 knows, eight octets at a time.
//!
//! Source: the CRC catalogue of G. Cook, "CRC-32/ISO-HDLC", "CRC-32/ISCSI" and "CRC-64/NVME": all
//! are reflected, and begin and end with all ones. Eight at a time: M. Kounavis and F. Berry, "A
//! Systematic Approach to Building High Performance Software-Based CRC Generators", 2005.

/// Tables of one polynomial.
type Tables = [[u64; 256]; 8];

static CRC32: Tables = tables(0xedb8_8320);
static CRC32C: Tables = tables(0x82f6_3b78);
static CRC64NVME: Tables = tables(0x9a6c_9329_ac4b_c9b5);

const fn tables(reflected: u64) -> Tables {
    let mut tables = [[0; 256]; 8];
    let mut octet = 0;
    while octet < 256 {
        let mut value = octet as u64;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { value >> 1 ^ reflected } else { value >> 1 };
            bit += 1;
        }
        tables[0][octet] = value;
        octet += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut octet = 0;
        while octet < 256 {
            let value = tables[table - 1][octet];
            tables[table][octet] = value >> 8 ^ tables[0][(value & 0xff) as usize];
            octet += 1;
        }
        table += 1;
    }
    tables
}

/// A check under way.
#[derive(Clone)]
pub struct Crc {
    tables: &'static Tables,
    bits: u32,
    value: u64,
}

impl Crc {
    /// CRC-32 of ISO 3309, as zip has it.
    pub fn crc32() -> Self {
        Self { tables: &CRC32, bits: 32, value: u64::from(u32::MAX) }
    }

    /// CRC-32C of RFC 3720.
    pub fn crc32c() -> Self {
        Self { tables: &CRC32C, bits: 32, value: u64::from(u32::MAX) }
    }

    /// CRC-64 of NVM Express.
    pub fn crc64nvme() -> Self {
        Self { tables: &CRC64NVME, bits: 64, value: u64::MAX }
    }

    /// Take in what came next.
    pub fn update(&mut self, data: &[u8]) {
        let (mut value, tables) = (self.value, self.tables);
        let mut eights = data.chunks_exact(8);
        for eight in &mut eights {
            let mut octets = [0; 8];
            octets.copy_from_slice(eight);
            let word = (value ^ u64::from_le_bytes(octets)).to_le_bytes();
            value = 0;
            for (at, octet) in word.into_iter().enumerate() {
                value ^= tables[7 - at][usize::from(octet)];
            }
        }
        for octet in eights.remainder() {
            value = value >> 8 ^ tables[0][usize::from(value as u8 ^ octet)];
        }
        self.value = value;
    }

    /// The check, the most significant octet first.
    pub fn finish(&self) -> Vec<u8> {
        match self.bits {
            32 => (!(self.value as u32)).to_be_bytes().to_vec(),
            _ => (!self.value).to_be_bytes().to_vec(),
        }
    }
}

impl std::fmt::Debug for Crc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Crc of {} bits", self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The check values of the catalogue.
    #[test]
    fn checks_are_those_of_the_catalogue() {
        let of = |mut crc: Crc| {
            crc.update(b"123456789");
            crc.finish()
        };
        assert_eq!(of(Crc::crc32()), [0xcb, 0xf4, 0x39, 0x26]);
        assert_eq!(of(Crc::crc32c()), [0xe3, 0x06, 0x92, 0x83]);
        let nvme = [0xae, 0x8b, 0x14, 0x86, 0x0a, 0x79, 0x98, 0x88];
        assert_eq!(of(Crc::crc64nvme()), nvme);
        assert_eq!(Crc::crc64nvme().finish(), [0; 8]);
    }

    proptest! {
        #[test]
        fn how_it_is_cut_changes_nothing(data: Vec<u8>, at: usize) {
            let at = at % (data.len() + 1);
            for mut whole in [Crc::crc32(), Crc::crc32c(), Crc::crc64nvme()] {
                let mut cut = whole.clone();
                whole.update(&data);
                cut.update(&data[..at]);
                cut.update(&data[at..]);
                prop_assert_eq!(whole.finish(), cut.finish());
            }
        }
    }
}
