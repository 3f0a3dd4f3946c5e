//! Every frame of a copy, with its time, is what it was when the digests here were written down. Work that is not on
//! NetBEUI itself must not change them; where NetBEUI or SMB 1 is changed on purpose, write down the new ones.

use lanlab_stack::profile;
use lanlab_stack::smb::Dialect;

use super::smb::copy;

/// By profile: of a copy without loss by the oldest dialect and by the newest, and of the newest with loss.
const DIGESTS: [(&str, [u64; 3]); 7] = [
    ("lanlab", [0x6004_582b_4602_05da, 0x9423_cd83_8ebf_297e, 0xd988_32ac_aa0e_96a5]),
    ("ibm", [0x9698_ae68_8c94_a54d, 0x8847_0cd0_08c8_196a, 0x0d0c_f205_427c_4254]),
    ("nt", [0x2c99_747b_803b_3518, 0x9423_cd83_8ebf_297e, 0xd988_32ac_aa0e_96a5]),
    ("win9x", [0x7ab9_040f_2d21_4c8d, 0x9a71_6dec_edfc_80ac, 0xcaf5_20ea_a384_da1e]),
    ("wfw", [0x7ab9_040f_2d21_4c8d, 0x9a71_6dec_edfc_80ac, 0xcaf5_20ea_a384_da1e]),
    ("dos", [0x643e_d7af_8630_0281, 0x4dd7_9d48_d8df_89bf, 0xb96a_3fec_01a3_8452]),
    ("linux", [0x8ce5_4976_2742_84bf, 0x891c_c590_4848_023d, 0xb132_a21e_9bd3_6c01]),
];

/// FNV-1a, 64 bits.
fn digest(octets: &[u8]) -> u64 {
    octets.iter().fold(0xcbf2_9ce4_8422_2325, |hash, octet| {
        (hash ^ u64::from(*octet)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn a_copy_sends_the_same_frames_at_the_same_times() {
    let found = profile::ALL.map(|profile| {
        let of = |dialect, lost| {
            digest(copy(dialect, profile, 20_000, (lost, None)).capture.as_ref().unwrap())
        };
        (profile.name, [of(Dialect::Core, 0), of(Dialect::Nt, 0), of(Dialect::Nt, 3)])
    });
    assert_eq!(found, DIGESTS);
}
