//! The server service of Windows NT over a named pipe: lists shares by remote procedure calls.
//!
//! Source: [C706] 12 (messages of DCE RPC), 14 (data), [MS-SRVS] 2.2.4, 3.1.4.8. One call is one message.

use std::fmt::Debug;

/// The pipe, case-insensitive; some clients omit the first character.
pub const PIPE: &str = "\\srvsvc";
const SECONDARY_ADDRESS: &[u8] = b"\\PIPE\\srvsvc\0";

const HEADER_LEN: usize = 16;
const REQUEST: u8 = 0;
const RESPONSE: u8 = 2;
const FAULT: u8 = 3;
const BIND: u8 = 11;
const BIND_ACK: u8 = 12;
const WHOLE: u8 = 3;
const DATA_REPRESENTATION: [u8; 4] = [0x10, 0, 0, 0];
const MAX_FRAGMENT: u16 = 4280;
/// The interface, version 3.0, and the transfer syntax NDR, version 2.
const INTERFACE: [u8; 20] = [
    0xc8, 0x4f, 0x32, 0x4b, 0x70, 0x16, 0xd3, 0x01, 0x12, 0x78, 0x5a, 0x47, 0xbf, 0x6e, 0xe1, 0x88,
    3, 0, 0, 0,
];
const NDR: [u8; 20] = [
    0x04, 0x5d, 0x88, 0x8a, 0xeb, 0x1c, 0xc9, 0x11, 0x9f, 0xe8, 0x08, 0x00, 0x2b, 0x10, 0x48, 0x60,
    2, 0, 0, 0,
];
const SHARE_ENUMS: [u16; 2] = [15, 36];
const NO_SUCH_CALL: u32 = 0x1c01_0002;
const PROTOCOL_ERROR: u32 = 0x1c01_000b;
const INVALID_LEVEL: u32 = 124;
const POINTER: u32 = 0x0002_0000;

#[derive(Debug, Clone, Copy)]
pub struct Share<'a> {
    pub name: &'a str,
    pub is_pipes: bool,
}

/// The answer to a client message; `None` for other messages.
pub fn answer(message: &[u8], shares: &[Share<'_>]) -> Option<Vec<u8>> {
    let (header, body) = message.split_at_checked(HEADER_LEN)?;
    if header[0] != 5 || header[4..8] != DATA_REPRESENTATION {
        return None;
    }
    let call = word(header, 12)?;
    match header[2] {
        BIND => Some(finish(BIND_ACK, call, bound(body)?)),
        REQUEST if header[3] & WHOLE == WHOLE => Some(requested(body, call, shares)?),
        REQUEST => Some(fault(call, 0, PROTOCOL_ERROR)),
        _ => None,
    }
}

fn bound(body: &[u8]) -> Option<Vec<u8>> {
    let count = usize::from(*body.get(8)?);
    let mut out = Vec::new();
    out.extend(MAX_FRAGMENT.to_le_bytes());
    out.extend(MAX_FRAGMENT.to_le_bytes());
    out.extend(1_u32.to_le_bytes());
    out.extend((SECONDARY_ADDRESS.len() as u16).to_le_bytes());
    out.extend(SECONDARY_ADDRESS);
    out.resize(out.len().next_multiple_of(4), 0);
    out.extend([count as u8, 0, 0, 0]);
    let mut rest = body.get(12..)?;
    for _ in 0..count {
        let (context, syntaxes) = rest.split_at_checked(24)?;
        let (syntaxes, after) = syntaxes.split_at_checked(20 * usize::from(context[2]))?;
        rest = after;
        let is_ours = context[4..24] == INTERFACE;
        let has_ndr = syntaxes.chunks_exact(20).any(|syntax| syntax == NDR);
        // Result and reason: accepted, interface unknown, or all transfer syntaxes unknown.
        let (result, reason, syntax): (u16, u16, _) = match (is_ours, has_ndr) {
            (true, true) => (0, 0, NDR),
            (false, _) => (2, 1, [0; 20]),
            (true, false) => (2, 2, [0; 20]),
        };
        out.extend(result.to_le_bytes());
        out.extend(reason.to_le_bytes());
        out.extend(syntax);
    }
    Some(out)
}

fn requested(body: &[u8], call: u32, shares: &[Share<'_>]) -> Option<Vec<u8>> {
    let (context, operation) = (half(body, 4)?, half(body, 6)?);
    if !SHARE_ENUMS.contains(&operation) {
        return Some(fault(call, context, NO_SUCH_CALL));
    }
    let Some(level) = level(body.get(8..)?) else {
        return Some(fault(call, context, PROTOCOL_ERROR));
    };
    let stub = listed(level, shares);
    let mut out = Vec::new();
    out.extend((stub.len() as u32).to_le_bytes());
    out.extend(context.to_le_bytes());
    out.extend([0, 0]);
    out.extend(stub);
    Some(finish(RESPONSE, call, out))
}

fn level(stub: &[u8]) -> Option<u32> {
    let mut at = 4;
    if word(stub, 0)? != 0 {
        let characters = usize::try_from(word(stub, 12)?).ok()?;
        at = 16_usize.checked_add(characters.checked_mul(2)?)?.checked_next_multiple_of(4)?;
    }
    word(stub, at)
}

fn listed(level: u32, shares: &[Share<'_>]) -> Vec<u8> {
    let mut out = Words::default();
    out.put(&[level, level]);
    if level > 1 {
        out.put(&[0, 0, 0, INVALID_LEVEL]);
        return out.0;
    }
    let count = shares.len() as u32;
    out.put(&[POINTER, count, POINTER, count]);
    for share in shares {
        out.put(&[POINTER]);
        if level == 1 {
            // Types of shares: special and pipe, or disk.
            out.put(&[if share.is_pipes { 0x8000_0003 } else { 0 }, POINTER]);
        }
    }
    for share in shares {
        out.text(share.name);
        if level == 1 {
            out.text("");
        }
    }
    // Total count, no resume handle, no error.
    out.put(&[count, 0, 0]);
    out.0
}

#[derive(Default)]
struct Words(Vec<u8>);

impl Words {
    fn put(&mut self, words: &[u32]) {
        self.0.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }

    fn text(&mut self, text: &str) {
        let units: Vec<u16> = text.encode_utf16().chain([0]).collect();
        let count = units.len() as u32;
        self.put(&[count, 0, count]);
        self.0.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }
}

fn fault(call: u32, context: u16, status: u32) -> Vec<u8> {
    let mut out = vec![0; 4];
    out.extend(context.to_le_bytes());
    out.extend([0, 0]);
    out.extend(status.to_le_bytes());
    out.extend([0; 4]);
    finish(FAULT, call, out)
}

fn finish(kind: u8, call: u32, body: Vec<u8>) -> Vec<u8> {
    let mut out = vec![5, 0, kind, WHOLE];
    out.extend(DATA_REPRESENTATION);
    out.extend(((HEADER_LEN + body.len()) as u16).to_le_bytes());
    out.extend([0, 0]);
    out.extend(call.to_le_bytes());
    out.extend(body);
    out
}

fn half(octets: &[u8], at: usize) -> Option<u16> {
    octets.get(at..)?.first_chunk().map(|half| u16::from_le_bytes(*half))
}

fn word(octets: &[u8], at: usize) -> Option<u32> {
    octets.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SHARES: [Share<'static>; 2] =
        [Share { name: "lanlab", is_pipes: false }, Share { name: "IPC$", is_pipes: true }];

    fn hexadecimal(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(|octet| !octet.is_ascii_whitespace()).collect();
        let octet =
            |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.chunks(2).map(octet).collect()
    }

    /// The bind of pysmb 1.2.15, and one for another interface.
    #[test]
    fn only_srvsvc_binds_are_accepted() {
        let bind = hexadecimal(
            "05000b03 10000000 48000000 02000000 b810b810 00000000 01000000 00000100
             c84f324b 7016d301 12785a47 bf6ee188 03000000 045d888a eb1cc911 9fe80800 2b104860 02000000",
        );
        let ack = answer(&bind, &SHARES).unwrap();
        assert_eq!(ack[..4], [5, 0, 12, 3]);
        assert_eq!(usize::from(half(&ack, 8).unwrap()), ack.len());
        assert_eq!(word(&ack, 12), Some(2), "the call");
        assert_eq!(ack[ack.len() - 24..][..4], [0; 4], "accepted");
        assert_eq!(ack[ack.len() - 20..], NDR);
        let mut other = bind;
        other[33] ^= 1;
        let ack = answer(&other, &SHARES).unwrap();
        assert_eq!(ack[ack.len() - 24..][..4], [2, 0, 1, 0]);
    }

    #[test]
    fn shares_are_listed_by_level_and_other_calls_are_faults() {
        let request = |operation: u16, level: u32| {
            let mut stub = Words::default();
            stub.put(&[POINTER]);
            stub.text("\\\\host");
            stub.put(&[level, level, POINTER, 0, 0, u32::MAX, 0]);
            let mut body = (stub.0.len() as u32).to_le_bytes().to_vec();
            body.extend([0, 0]);
            body.extend(operation.to_le_bytes());
            body.extend(stub.0);
            answer(&finish(REQUEST, 7, body), &SHARES).unwrap()
        };
        let said = request(SHARE_ENUMS[0], 1);
        let text =
            |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
        for name in ["lanlab\0", "IPC$\0"] {
            let name = text(name);
            assert!(said.windows(name.len()).any(|found| found == name));
        }
        assert_eq!((said[2], word(&said, 12)), (RESPONSE, Some(7)));
        assert_eq!(word(&said, said.len() - 4), Some(0));
        let refused = request(SHARE_ENUMS[0], 502);
        assert_eq!(word(&refused, refused.len() - 4), Some(INVALID_LEVEL));
        let other = request(21, 101);
        assert_eq!((other[2], word(&other, 24)), (FAULT, Some(NO_SUCH_CALL)));
    }

    proptest! {
        #[test]
        fn no_message_panics(kind: u8, flags: u8, body in prop::collection::vec(any::<u8>(), 0..90)) {
            let mut message = finish(kind, 1, body);
            message[3] = flags;
            if let Some(answer) = answer(&message, &SHARES) {
                prop_assert!(answer.len() < 9000);
            }
        }
    }
}
