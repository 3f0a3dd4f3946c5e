//! The password proof of a keyed login.
//!
//! Source: B. Nance, Byte, March 1993; P. Szczerbina, Dr. Dobb's Journal, November 1993. It is weak: an
//! eavesdropper with a key and its proof can test passwords offline, at the speed of a table lookup.

use lanlab_wire::ncp::bindery::KEY_LEN;

const BLOCK: usize = 32;
const HASH_LEN: usize = BLOCK / 2;
/// Subtracted from each byte, so that its position matters.
const PLACES: [u8; BLOCK] = [
    0x48, 0x93, 0x46, 0x67, 0x98, 0x3d, 0xe6, 0x8d, 0xb7, 0x10, 0x7a, 0x26, 0x5a, 0xb9, 0xb1, 0x35,
    0x6b, 0x0f, 0xd5, 0x70, 0xae, 0xfb, 0xad, 0x11, 0xf4, 0x47, 0xdc, 0xa7, 0xec, 0xcf, 0x50, 0xc0,
];
const HALVES: &[u8; 256] = b"\
    780864e45c17bfa8f8cc941e46240ab92fb1d2195e7002660738293f7fcf64a0\
    23abd83a17cf189d9194e4c55c8b239e7769efc8d1a6ed077a01f54b7bec95d1\
    bd135de630bbf3649da3149483be5052cbd5d5d2d9aca0b3536951ee0e82d220\
    4f859686babf0728c73a1425f7ace593e712e1f4a6c6f430c036f87b2dc6aa8d";

const fn half(octet: u8) -> u8 {
    match HALVES[octet as usize] {
        digit @ b'0'..=b'9' => digit - b'0',
        letter => letter - b'a' + 10,
    }
}

fn hash(number: [u8; 4], octets: &[u8]) -> [u8; HASH_LEN] {
    let end = octets.iter().rposition(|octet| *octet != 0).map_or(0, |last| last + 1);
    let (whole, rest) = octets[..end].as_chunks::<BLOCK>();
    let mut block = [0; BLOCK];
    for part in whole {
        block.iter_mut().zip(part).for_each(|(to, from)| *to ^= from);
    }
    if !rest.is_empty() {
        // The rest is repeated, with one table entry between repetitions.
        let period = rest.len() + 1;
        for (at, (to, place)) in block.iter_mut().zip(PLACES).enumerate() {
            *to ^= rest.get(at % period).copied().unwrap_or(place);
        }
    }
    block.iter_mut().zip(number.iter().cycle()).for_each(|(to, from)| *to ^= from);
    let mut sum = 0_u8;
    for at in (0..BLOCK).chain(0..BLOCK) {
        let other = block[(at + usize::from(sum)) % BLOCK].wrapping_sub(PLACES[at]);
        block[at] = block[at].wrapping_add(sum) ^ other;
        sum = sum.wrapping_add(block[at]);
    }
    core::array::from_fn(|at| half(block[2 * at]) | half(block[2 * at + 1]) << 4)
}

/// The response of a user with this number and password to a key. Passwords are case-insensitive.
pub fn proof(user: u32, password: &str, key: [u8; KEY_LEN]) -> [u8; KEY_LEN] {
    let password = hash(user.to_be_bytes(), password.to_ascii_uppercase().as_bytes());
    let [a, b, c, d, rest @ ..] = key;
    let (one, other) = (hash([a, b, c, d], &password), hash(rest, &password));
    let both: [u8; HASH_LEN] = core::array::from_fn(|at| one[at] ^ other[HASH_LEN - 1 - at]);
    core::array::from_fn(|at| both[at] ^ both[HASH_LEN - 1 - at])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by the C code of FreeBSD 6's netncp, on 27 November 2026.
    #[test]
    fn password_proofs_match_another_implementation() {
        let (one, other) =
            ((1, [1, 2, 3, 4, 5, 6, 7, 8]), (0x1234_abcd, [0xff, 0, 0x80, 0x7f, 9, 8, 7, 6]));
        for (password, (user, key), expected) in [
            ("SECRET", one, "0bb6423892796724"),
            ("Secret", other, "3fdd82463c54ab88"),
            ("", one, "62158bbfd99410d5"),
            ("", other, "94f2f022b7cd5a74"),
            ("a password of more than 32 characters, which is long", one, "eda05587c84f2042"),
            ("A PASSWORD OF MORE THAN 32 CHARACTERS, WHICH IS LONG", other, "0d4fd9cdcd7a246a"),
            ("12345678901234567890123456789012", one, "e5541fbb4013d3df"),
            ("12345678901234567890123456789012", other, "4c8d26dcce27e052"),
        ] {
            assert_eq!(hex::encode(proof(user, password, key)), expected, "{password} {user}");
        }
    }
}
