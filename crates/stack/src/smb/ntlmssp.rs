//! Client side of extended security: NTLM version 2 in NTLMSSP messages.
//!
//! Source: [MS-NLMP] 2.2.1. Servers accept these messages without SPNEGO ([MS-SMB] 3.2.4.2.4).

use super::plan::User;
use super::responses::{self, CHALLENGE_LEN, utf16};

pub const SIGNATURE: [u8; 8] = *b"NTLMSSP\0";
const AUTHENTICATE_LEN: usize = 64;
const CHALLENGE_HEAD_LEN: usize = 48;
const TIMESTAMP: u16 = 7;

/// Bits of `NegotiateFlags` (2.2.2.5).
pub mod flags {
    pub const UNICODE: u32 = 0x0000_0001;
    pub const OEM: u32 = 0x0000_0002;
    pub const REQUEST_TARGET: u32 = 0x0000_0004;
    pub const SIGN: u32 = 0x0000_0010;
    pub const NTLM: u32 = 0x0000_0200;
    pub const ALWAYS_SIGN: u32 = 0x0000_8000;
    pub const TARGET_IS_SERVER: u32 = 0x0002_0000;
    /// Version 1 responses include a nonce of the client.
    pub const EXTENDED_SESSION_SECURITY: u32 = 0x0008_0000;
    pub const TARGET_INFO: u32 = 0x0080_0000;
    pub const KEY_128: u32 = 0x2000_0000;
    pub const KEY_56: u32 = 0x8000_0000;
}

const FLAGS: u32 = flags::UNICODE
    | flags::REQUEST_TARGET
    | flags::SIGN
    | flags::NTLM
    | flags::ALWAYS_SIGN
    | flags::EXTENDED_SESSION_SECURITY
    | flags::TARGET_INFO
    | flags::KEY_128;

pub fn begin(kind: u32) -> Vec<u8> {
    let mut message = SIGNATURE.to_vec();
    message.extend_from_slice(&kind.to_le_bytes());
    message
}

/// Write the place of a field: its length, maximum length and offset.
pub fn put_place(message: &mut Vec<u8>, field: &[u8], offset: usize) {
    let len = (field.len() as u16).to_le_bytes();
    message.extend_from_slice(&len);
    message.extend_from_slice(&len);
    message.extend_from_slice(&(offset as u32).to_le_bytes());
}

pub fn long(message: &[u8], at: usize) -> Option<u32> {
    message.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}

/// The field whose place is at `at`.
pub fn field(message: &[u8], at: usize) -> Option<&[u8]> {
    let len = message.get(at..)?.first_chunk().copied().map(u16::from_le_bytes)?;
    let offset = long(message, at + 4)? as usize;
    message.get(offset..offset.checked_add(usize::from(len))?)
}

pub fn negotiate() -> Vec<u8> {
    let mut message = begin(1);
    message.extend_from_slice(&FLAGS.to_le_bytes());
    message.resize(message.len() + 16, 0);
    message
}

pub fn message_in(token: &[u8]) -> Option<&[u8]> {
    let at = token.windows(SIGNATURE.len()).position(|window| window == SIGNATURE)?;
    Some(&token[at..])
}

#[derive(Debug, PartialEq, Eq)]
pub struct Challenge<'a> {
    flags: u32,
    challenge: [u8; CHALLENGE_LEN],
    names: &'a [u8],
}

impl<'a> Challenge<'a> {
    /// Find and parse the message in a token. `None` if there is none.
    pub fn parse(token: &'a [u8]) -> Option<Self> {
        let message = message_in(token)?;
        if long(message, 8)? != 2 || message.len() < CHALLENGE_HEAD_LEN {
            return None;
        }
        let challenge = *message[24..].first_chunk()?;
        Some(Self { flags: long(message, 20)?, challenge, names: field(message, 40)? })
    }

    /// The server's time, 100 ns since 1601.
    fn time(&self) -> Option<u64> {
        let mut rest = self.names;
        while let Some((head, after)) = rest.split_first_chunk::<4>() {
            let [id, len] = [[head[0], head[1]], [head[2], head[3]]].map(u16::from_le_bytes);
            let (value, after) = after.split_at_checked(usize::from(len))?;
            if id == TIMESTAMP {
                return value.try_into().ok().map(u64::from_le_bytes);
            }
            rest = after;
        }
        None
    }
}

pub fn authenticate(
    challenge: &Challenge<'_>,
    user: &User,
    nonce: [u8; 8],
    time: u64,
) -> (Vec<u8>, [u8; 16]) {
    let who = (user.name.as_str(), user.domain.as_str(), user.password.as_str());
    let server_time = challenge.time();
    let time = server_time.unwrap_or(time);
    let names = if challenge.names.is_empty() { &[0; 4] } else { challenge.names };
    let found = responses::version2(who, challenge.challenge, nonce, time, names);
    // If the server sends its time, the LM response is zeros (3.1.5.1.2).
    let lm = if server_time.is_some() { [0; responses::RESPONSE_LEN] } else { found.lm };
    let (domain, name, host) = (utf16(&user.domain), utf16(&user.name), utf16("LANLAB"));

    let mut message = begin(3);
    let fields: [&[u8]; 6] = [&lm, &found.nt, &domain, &name, &host, &[]];
    let mut at = AUTHENTICATE_LEN;
    for field in fields {
        put_place(&mut message, field, at);
        at += field.len();
    }
    message.extend_from_slice(&(FLAGS & challenge.flags).to_le_bytes());
    for field in fields {
        message.extend_from_slice(field);
    }
    (message, found.session_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The CHALLENGE message of [MS-NLMP] 4.2.4.3.
    const CHALLENGE: &str = "4e544c4d53535000020000000c000c003800000033828ae20123456789abcdef\
                             00000000000000002400240044000000060070170000000f53006500720076006500\
                             720002000c0044006f006d00610069006e0001000c00530065007200760065007200\
                             00000000";

    fn user() -> User {
        let (name, password) = ("User".to_owned(), "Password".to_owned());
        User { name, password, domain: "Domain".to_owned() }
    }

    #[test]
    fn the_published_challenge_gets_the_published_response() {
        let octets = hex::decode(CHALLENGE).unwrap();
        let challenge = Challenge::parse(&octets).unwrap();
        let (message, key) = authenticate(&challenge, &user(), [0xaa; 8], 0);
        assert_eq!(hex::encode(key), "8de40ccadbc14a82f15cb0ad0de95ca3");
        let lm = "86c35097ac9cec102554764a57cccc19aaaaaaaaaaaaaaaa";
        let nt = "68cd0ab851e51c96aabc927bebef6a1c";
        assert_eq!(hex::encode(&message[64..104]), format!("{lm}{nt}"));
    }

    /// [MS-NLMP] 2.2.1.1 and 2.2.1.3: client flags, and six fields with length, maximum length and offset.
    #[test]
    fn messages_are_laid_out_as_in_the_specification() {
        let flags = "15828820";
        let expected = format!("4e544c4d5353500001000000{flags}{}", "0".repeat(32));
        assert_eq!(hex::encode(negotiate()), expected);
        let octets = hex::decode(CHALLENGE).unwrap();
        let (message, _) = authenticate(&Challenge::parse(&octets).unwrap(), &user(), [0xaa; 8], 0);
        let nt = message.len() - 64 - 24 - 12 - 8 - 12;
        let mut fields = Vec::new();
        let mut at = 64_u32;
        for len in [24, nt as u16, 12, 8, 12, 0] {
            fields.extend([len.to_le_bytes(), len.to_le_bytes()].concat());
            fields.extend(at.to_le_bytes());
            at += u32::from(len);
        }
        assert_eq!(&message[..12], b"NTLMSSP\0\x03\0\0\0");
        assert_eq!(message[12..60], fields);
        // Of the client's flags, only those that the server also sets.
        assert_eq!(hex::encode(&message[60..64]), "11828820");
        let names = [&utf16("Domain")[..], &utf16("User"), &utf16("LANLAB")].concat();
        assert_eq!(message[64 + 24 + nt..], names);
    }

    /// [MS-NLMP] 3.1.5.1.2: the response contains the server's time, so the LM response is zeros.
    #[test]
    fn the_server_time_has_priority_over_the_client_time() {
        let base = hex::decode(CHALLENGE).unwrap();
        let time = 0x0123_4567_89ab_cdef_u64.to_le_bytes();
        let timed = [&[2, 0, 2, 0, b'D', 0, 7, 0, 8, 0][..], &time, &[0; 4]].concat();
        let own = 77_u64.to_le_bytes();
        for (names, expected, is_timed) in [
            (&timed[..], &time, true),
            (&[2, 0, 2, 0, b'D', 0, 0, 0, 0, 0], &own, false),
            (&[7, 0, 4, 0, 1, 2, 3, 4], &own, false),
            (&[7, 0, 9, 0, 1, 2, 3, 4], &own, false),
            (&[], &own, false),
        ] {
            let mut octets = base[..48].to_vec();
            octets[40..42].copy_from_slice(&(names.len() as u16).to_le_bytes());
            octets[44..48].copy_from_slice(&48_u32.to_le_bytes());
            octets.extend_from_slice(names);
            let challenge = Challenge::parse(&octets).unwrap();
            let (message, _) = authenticate(&challenge, &user(), [0xaa; 8], 77);
            // The blob begins after 24 bytes of LM response and 16 of proof; its time is 8 bytes later.
            assert_eq!(message[64 + 24 + 16 + 8..][..8], *expected, "{names:?}");
            assert_eq!(message[64..88] == [0; 24], is_timed, "{names:?}");
            // Without names, the list is empty.
            let listed = if names.is_empty() { &[0; 4] } else { names };
            assert!(message[64 + 24 + 16 + 28..].starts_with(listed), "{names:?}");
        }
    }

    #[test]
    fn invalid_challenges_are_rejected() {
        let octets = hex::decode(CHALLENGE).unwrap();
        for len in 0..octets.len() {
            let cut = &octets[..len];
            assert!(Challenge::parse(cut).is_none_or(|found| found.names.len() < 36), "{len}");
        }
        assert_eq!(Challenge::parse(&negotiate()), None);
        let mut far = octets;
        far[44..48].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(Challenge::parse(&far), None);
    }
}
