//! The server's side of a login by NTLMSSP.
//!
//! Source: [MS-NLMP] 2.2.1 and 3.2.5. The server sends no time, so that clients send no message integrity code, and
//! accepts no client-generated key: the session key is that of the response.

use super::ntlmssp::{begin, field, flags, long, message_in, put_place};
use super::responses::{CHALLENGE_LEN, utf16};

const KEPT: u32 = flags::UNICODE
    | flags::REQUEST_TARGET
    | flags::SIGN
    | flags::ALWAYS_SIGN
    | flags::EXTENDED_SESSION_SECURITY
    | flags::KEY_128
    | flags::KEY_56;
/// Length of a CHALLENGE message before its fields, and of an old client's AUTHENTICATE message.
const CHALLENGE_LEN_WITHOUT_FIELDS: usize = 48;
const AUTHENTICATE_LEN: usize = 52;
/// Names in the list of [MS-NLMP] 2.2.2.1.
const COMPUTER: u16 = 1;
const DOMAIN: u16 = 2;
const DNS_COMPUTER: u16 = 3;

#[derive(Debug, PartialEq, Eq)]
pub enum Message<'a> {
    Negotiate { flags: u32 },
    Authenticate(Authenticate<'a>),
}

#[derive(Debug, PartialEq, Eq)]
pub struct Authenticate<'a> {
    /// LM response; with extended session security and a response of version 1, the client's nonce.
    pub lm: &'a [u8],
    pub nt: &'a [u8],
    pub domain: &'a [u8],
    pub user: &'a [u8],
    pub is_unicode: bool,
    has_nonce: bool,
}

impl Authenticate<'_> {
    /// The client's nonce, if it is part of a version 1 response.
    pub fn nonce(&self) -> Option<[u8; CHALLENGE_LEN]> {
        self.lm.first_chunk().copied().filter(|_| self.has_nonce)
    }
}

impl<'a> Message<'a> {
    /// Parse the message in a token. `None` if it is not a client message.
    pub fn parse(token: &'a [u8]) -> Option<Self> {
        let message = message_in(token)?;
        match long(message, 8)? {
            1 => Some(Self::Negotiate { flags: long(message, 12)? }),
            3 if message.len() >= AUTHENTICATE_LEN => {
                // Clients before Windows 2000 send no flags.
                let flags = long(message, 60).unwrap_or(0);
                Some(Self::Authenticate(Authenticate {
                    lm: field(message, 12)?,
                    nt: field(message, 20)?,
                    domain: field(message, 28)?,
                    user: field(message, 36)?,
                    is_unicode: flags & flags::UNICODE != 0,
                    has_nonce: flags & flags::EXTENDED_SESSION_SECURITY != 0,
                }))
            }
            _ => None,
        }
    }
}

pub fn challenge(
    client_flags: u32,
    challenge: [u8; CHALLENGE_LEN],
    server: &str,
    domain: &str,
) -> Vec<u8> {
    let mut flags =
        client_flags & KEPT | flags::NTLM | flags::TARGET_INFO | flags::TARGET_IS_SERVER;
    let target = if flags & flags::UNICODE == 0 {
        flags |= flags::OEM;
        server.as_bytes().to_vec()
    } else {
        utf16(server)
    };
    let mut names = Vec::new();
    // Clients may derive a service name from the DNS name, as impacket does.
    let dns = server.to_lowercase();
    for (id, name) in [(DOMAIN, domain), (COMPUTER, server), (DNS_COMPUTER, &dns)] {
        let name = utf16(name);
        names.extend_from_slice(&id.to_le_bytes());
        names.extend_from_slice(&(name.len() as u16).to_le_bytes());
        names.extend_from_slice(&name);
    }
    names.extend_from_slice(&[0; 4]);

    let mut message = begin(2);
    put_place(&mut message, &target, CHALLENGE_LEN_WITHOUT_FIELDS);
    message.extend_from_slice(&flags.to_le_bytes());
    message.extend_from_slice(&challenge);
    message.extend_from_slice(&[0; 8]);
    put_place(&mut message, &names, CHALLENGE_LEN_WITHOUT_FIELDS + target.len());
    message.extend_from_slice(&target);
    message.extend_from_slice(&names);
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smb::ntlmssp;
    use crate::smb::plan::User;
    use crate::smb::responses::nt_key;

    #[test]
    fn our_client_response_is_accepted_with_the_same_key() {
        let Some(Message::Negotiate { flags }) = Message::parse(&ntlmssp::negotiate()) else {
            panic!("a message of the client")
        };
        let token = challenge(flags, [5; 8], "SERVER", "GROUP");
        let asked = ntlmssp::Challenge::parse(&token).unwrap();
        let user = User { name: "me".into(), password: "Secret-1".into(), domain: "D".into() };
        let (message, key) = ntlmssp::authenticate(&asked, &user, [9; 8], 77);
        let Some(Message::Authenticate(found)) = Message::parse(&message) else {
            panic!("a proof")
        };
        assert!(found.is_unicode);
        assert_eq!((found.user, found.domain), (&b"m\0e\0"[..], &b"D\0"[..]));
        let who = ("me", "D", "Secret-1");
        assert_eq!(nt_key(who, [5; 8], found.nonce(), found.nt), Some(key));
        assert_eq!(nt_key(who, [6; 8], found.nonce(), found.nt), None);
        for len in 0..message.len() {
            let cut = Message::parse(&message[..len]);
            assert!(cut.is_none() || len >= 64, "{len}");
        }
    }

    /// [MS-NLMP] 2.2.1.2: the name at 48, the challenge, then domain, computer and DNS name.
    #[test]
    fn a_challenge_is_laid_out_as_in_the_specification() {
        let names = "0200020047000100040053005600030004007300760000000000";
        // NTLM 0x200, server name 0x20000, with names 0x800000; and the accepted client flags.
        for (asked, flags, target) in [
            (0, "02028200", "5356"),
            (0x0000_0001, "01028200", "53005600"),
            (0xffff_ffff, "15828aa0", "53005600"),
            (0xffff_fffe, "16828aa0", "5356"),
        ] {
            let (len, place) = (target.len() / 2, 48 + target.len() / 2);
            let found = hex::encode(challenge(asked, [5; 8], "SV", "G"));
            let head = format!("4e544c4d5353500002000000{len:02x}00{len:02x}0030000000");
            let rest = format!(
                "{}{}1a001a00{place:02x}000000{target}{names}",
                "05".repeat(8),
                "00".repeat(8)
            );
            assert_eq!(found, format!("{head}{flags}{rest}"), "{asked:#x}");
        }
    }

    /// Messages of clients before Windows 2000 end with these fields and have no flags.
    #[test]
    fn a_message_without_flags_uses_the_code_page_and_no_nonce() {
        let mut message = begin(3);
        for (len, at) in [(2_u8, 52_u8), (0, 54), (0, 54), (2, 54), (0, 56)] {
            message.extend_from_slice(&[len, 0, len, 0, at, 0, 0, 0]);
        }
        assert_eq!(message.len(), 52);
        message.extend_from_slice(b"lmME");
        let Some(Message::Authenticate(found)) = Message::parse(&message) else { panic!() };
        assert_eq!((found.lm, found.user, found.is_unicode), (&b"lm"[..], &b"ME"[..], false));
        assert_eq!(found.nonce(), None);
        assert_eq!(Message::parse(&message[..51]), None);
        // With extended session security, the LM response begins with the nonce.
        let mut message = ntlmssp::negotiate();
        message[8] = 3;
        message.resize(96, 9);
        message[12..52].fill(0);
        message[12] = 24;
        message[16] = 64;
        for (flags, nonce) in [(0x0008_0000_u32, Some([9; 8])), (!0x0008_0000, None)] {
            message[60..64].copy_from_slice(&flags.to_le_bytes());
            let Some(Message::Authenticate(found)) = Message::parse(&message) else { panic!() };
            assert_eq!((found.nonce(), found.is_unicode), (nonce, flags & 1 != 0));
        }
    }

    #[test]
    fn messages_with_offsets_outside_are_rejected() {
        let mut message = begin(3);
        message.resize(64, 0);
        assert!(Message::parse(&message).is_some());
        for at in [16, 24, 32, 40] {
            let mut far = message.clone();
            far[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
            assert_eq!(Message::parse(&far), None, "{at}");
        }
        assert_eq!(Message::parse(b"NTLMSSP"), None);
    }
}
