//! Responses to the challenge of a server: LM, NTLM version 1 and version 2.
//!
//! Source: [MS-NLMP] 3.3. Strength: LM uses DES with halves of the upper-case password as keys,
//! NTLM unsalted MD4. All except NTLM version 2 can be broken in hours on one machine.

use des::Des;
use des::cipher::{BlockCipherEncrypt, KeyInit};
use hmac::{Hmac, Mac};
use lanlab_wire::smb1::strings;
use md4::{Digest, Md4};
use md5::Md5;

pub const CHALLENGE_LEN: usize = 8;
/// Octets of an LM or NTLM response of version 1.
pub const RESPONSE_LEN: usize = 24;
const LM_TEXT: [u8; 8] = *b"KGS!@#$%";
/// Octets of the proof in a version 2 response.
const PROOF_LEN: usize = 16;

/// A response of NTLM version 2 with its session key.
#[derive(Clone)]
pub struct Version2 {
    pub nt: Vec<u8>,
    pub lm: [u8; RESPONSE_LEN],
    pub session_key: [u8; 16],
}

/// A DES key from 7 bytes: 7 bits in each byte, parity ignored.
fn des_key(seven: &[u8]) -> [u8; 8] {
    let bits = seven.iter().fold(0_u64, |bits, octet| bits << 8 | u64::from(*octet));
    core::array::from_fn(|index| ((bits >> (49 - 7 * index)) as u8 & 0x7f) << 1)
}

fn encrypt(key: &[u8], text: [u8; 8]) -> [u8; 8] {
    let mut block = text.into();
    Des::new(&des_key(key).into()).encrypt_block(&mut block);
    block.into()
}

/// Encrypt the challenge with a 16-byte hash, zero-padded to three keys.
fn desl(hash: [u8; 16], challenge: [u8; CHALLENGE_LEN]) -> [u8; RESPONSE_LEN] {
    let mut keys = [0; 21];
    keys[..16].copy_from_slice(&hash);
    let mut response = [0; RESPONSE_LEN];
    for (part, key) in response.chunks_exact_mut(8).zip(keys.chunks_exact(7)) {
        part.copy_from_slice(&encrypt(key, challenge));
    }
    response
}

pub fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// LM hash. `None` if the password is longer than 14 characters or not in the code page.
pub fn lm_hash(password: &str) -> Option<[u8; 16]> {
    let mut octets = [0; 14];
    let mut places = octets.iter_mut();
    for character in password.chars().flat_map(char::to_uppercase) {
        *places.next()? = strings::octet(character)?;
    }
    let mut hash = [0; 16];
    hash[..8].copy_from_slice(&encrypt(&octets[..7], LM_TEXT));
    hash[8..].copy_from_slice(&encrypt(&octets[7..], LM_TEXT));
    Some(hash)
}

pub fn nt_hash(password: &str) -> [u8; 16] {
    Md4::digest(utf16(password)).into()
}

/// LM response. `None` as for [`lm_hash`].
pub fn lm(password: &str, challenge: [u8; CHALLENGE_LEN]) -> Option<[u8; RESPONSE_LEN]> {
    Some(desl(lm_hash(password)?, challenge))
}

/// NTLM response of version 1.
pub fn nt(password: &str, challenge: [u8; CHALLENGE_LEN]) -> [u8; RESPONSE_LEN] {
    desl(nt_hash(password), challenge)
}

pub fn session_key(password: &str) -> [u8; 16] {
    Md4::digest(nt_hash(password)).into()
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; 16] {
    let mut mac = Hmac::<Md5>::new_from_slice(key).unwrap_or_else(|_| unreachable!("any length"));
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

fn version2_key(user: &str, domain: &str, password: &str) -> [u8; 16] {
    let user = user.to_uppercase();
    hmac(&nt_hash(password), &[&utf16(&user), &utf16(domain)])
}

/// The list of names ([MS-NLMP] 2.2.2.1) with only the domain.
pub fn names_of(domain: &str) -> Vec<u8> {
    let name = utf16(domain);
    let mut names = vec![2, 0];
    names.extend_from_slice(&(name.len() as u16).to_le_bytes());
    names.extend_from_slice(&name);
    names.extend_from_slice(&[0; 4]);
    names
}

/// Responses of version 2. `nonce` is random, `time` in 100 ns since 1601, `names` the server's.
pub fn version2(
    (user, domain, password): (&str, &str, &str),
    challenge: [u8; CHALLENGE_LEN],
    nonce: [u8; 8],
    time: u64,
    names: &[u8],
) -> Version2 {
    let key = version2_key(user, domain, password);
    // [MS-NLMP] 2.2.2.7.
    let mut blob = vec![1, 1, 0, 0, 0, 0, 0, 0];
    blob.extend_from_slice(&time.to_le_bytes());
    blob.extend_from_slice(&nonce);
    blob.extend_from_slice(&[0; 4]);
    blob.extend_from_slice(names);
    blob.extend_from_slice(&[0; 4]);
    let proof = hmac(&key, &[&challenge, &blob]);
    let mut lm = [0; RESPONSE_LEN];
    lm[..16].copy_from_slice(&hmac(&key, &[&challenge, &nonce]));
    lm[16..].copy_from_slice(&nonce);
    Version2 { nt: [&proof[..], &blob].concat(), lm, session_key: hmac(&key, &[&proof]) }
}

/// Session key, if `response` is a correct version 1 or 2 response to `challenge`. `nonce` is the client's, if
/// extended session security puts it into version 1 responses. Comparison takes constant time.
pub fn nt_key(
    (user, domain, password): (&str, &str, &str),
    challenge: [u8; CHALLENGE_LEN],
    nonce: Option<[u8; CHALLENGE_LEN]>,
    response: &[u8],
) -> Option<[u8; 16]> {
    if response.len() == RESPONSE_LEN {
        let (expected, key) = match nonce {
            Some(nonce) => with_nonce(password, challenge, nonce),
            None => (nt(password, challenge), session_key(password)),
        };
        return same(&expected, response).then_some(key);
    }
    let (proof, blob) = response.split_at_checked(PROOF_LEN)?;
    let key = version2_key(user, domain, password);
    let is_right = !blob.is_empty() && same(&hmac(&key, &[&challenge, blob]), proof);
    is_right.then(|| hmac(&key, &[proof]))
}

/// Version 1 response with a client nonce, and its session key ([MS-NLMP] 3.3.1, 3.4.5.1).
fn with_nonce(
    password: &str,
    challenge: [u8; CHALLENGE_LEN],
    nonce: [u8; CHALLENGE_LEN],
) -> ([u8; RESPONSE_LEN], [u8; 16]) {
    let both = [challenge, nonce].concat();
    let hash = Md5::digest(&both);
    let mixed = core::array::from_fn(|index| hash[index]);
    (nt(password, mixed), hmac(&session_key(password), &[&both]))
}

/// Whether `response` is a correct LM response, or a version 2 response in its field.
pub fn is_lm(
    (user, domain, password): (&str, &str, &str),
    challenge: [u8; CHALLENGE_LEN],
    response: &[u8],
) -> bool {
    let Some((proof, nonce)) = response.split_at_checked(PROOF_LEN) else { return false };
    if response.len() != RESPONSE_LEN {
        return false;
    }
    let key = version2_key(user, domain, password);
    let of_version2 = same(&hmac(&key, &[&challenge, nonce]), proof);
    let of_version1 = lm(password, challenge);
    of_version2 || of_version1.is_some_and(|expected| same(&expected, response))
}

/// Constant-time comparison of two secrets.
pub(crate) fn same(expected: &[u8], found: &[u8]) -> bool {
    let differences =
        expected.iter().zip(found).fold(0, |differences, (one, other)| differences | (one ^ other));
    expected.len() == found.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    // Values of [MS-NLMP] 4.2: user `User`, domain `Domain`, password `Password`.
    const CHALLENGE: [u8; 8] = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef];
    const WHO: (&str, &str, &str) = ("User", "Domain", "Password");

    #[test]
    fn version_1_responses_match_the_specification() {
        let expected = "67c43011f30298a2ad35ece64f16331c44bdbed927841f94";
        assert_eq!(hex::encode(nt("Password", CHALLENGE)), expected);
        let expected = "98def7b87f88aa5dafe2df779688a172def11c7d5ccdef13";
        let found = lm("Password", CHALLENGE).unwrap();
        assert_eq!(hex::encode(found), expected);
        assert_eq!(hex::encode(session_key("Password")), "d87262b0cde4b1cb7499becccdf10784");
        let key = nt_key(WHO, CHALLENGE, None, &nt("Password", CHALLENGE));
        assert_eq!(key, Some(session_key("Password")));
        assert!(is_lm(WHO, CHALLENGE, &found));
        assert_eq!(nt_key(WHO, CHALLENGE, None, &nt("password", CHALLENGE)), None);
    }

    /// [MS-NLMP] 4.2.3.
    #[test]
    fn responses_with_a_nonce_match_the_specification() {
        let response = hex::decode("7537f803ae367128ca458204bde7caf81e97ed2683267232").unwrap();
        let key = nt_key(WHO, CHALLENGE, Some([0xaa; 8]), &response).unwrap();
        assert_eq!(hex::encode(key), "eb93429a8bd952f8b89c55b87f475edc");
        assert_eq!(nt_key(WHO, CHALLENGE, Some([0xab; 8]), &response), None);
        assert_eq!(nt_key(WHO, CHALLENGE, None, &response), None);
    }

    #[test]
    fn version_2_responses_match_the_specification() {
        let responses = version2(WHO, CHALLENGE, [0xaa; 8], 0, &names_of("Domain"));
        let expected = "86c35097ac9cec102554764a57cccc19aaaaaaaaaaaaaaaa";
        assert_eq!(hex::encode(responses.lm), expected);
        let key = nt_key(WHO, CHALLENGE, None, &responses.nt);
        assert_eq!(key, Some(responses.session_key));
        assert!(is_lm(WHO, CHALLENGE, &responses.lm));
        assert_eq!(nt_key(("User", "Domain", "other"), CHALLENGE, None, &responses.nt), None);
        // The specification's blob, but with the domain as its only name ([MS-NLMP] 2.2.2.7).
        let blob = "01010000000000000000000000000000aaaaaaaaaaaaaaaa0000000002000c0044006f006d00610069006e000000000000000000";
        assert_eq!(hex::encode(&responses.nt[16..]), blob);
        // Even a correct proof is rejected without its blob.
        let key = version2_key("User", "Domain", "Password");
        assert_eq!(nt_key(WHO, CHALLENGE, None, &hmac(&key, &[&CHALLENGE])), None);
    }

    #[test]
    fn secrets_are_compared_byte_by_byte() {
        assert!(same(b"", b"") && same(b"ab", b"ab"));
        // Two differences must not cancel out.
        for other in [&b"a"[..], b"abc", b"aa", b"bb", b"ba", b""] {
            assert!(!same(b"ab", other), "{other:?}");
        }
        assert!(!same(&[1, 1], &[0, 0]));
    }

    #[test]
    fn an_invalid_response_proves_nothing() {
        for len in [0, 1, 15, 16, 23, 25] {
            assert_eq!(nt_key(WHO, CHALLENGE, None, &vec![0; len]), None, "{len}");
            assert!(!is_lm(WHO, CHALLENGE, &vec![0; len]), "{len}");
        }
        assert_eq!(lm_hash("fifteen letters"), None);
        assert_eq!(lm_hash("€"), None);
    }
}
