//! The SPNEGO wrapper of NTLMSSP messages in extended security, with NTLMSSP as its only mechanism.
//!
//! Source: RFC 4178, sections 4.2.1 and 4.2.2, in DER; [MS-SPNG] 2.2.1. `ntlmssp::message_in` finds the client's
//! message in its token; this module builds the server's tokens.

const SEQUENCE: u8 = 0x30;
const OCTETS: u8 = 0x04;
const ENUMERATED: u8 = 0x0a;
const APPLICATION: u8 = 0x60;
const CONTEXT: u8 = 0xa0;
/// Object identifiers with their tag: SPNEGO, and NTLMSSP (1.3.6.1.4.1.311.2.2.10).
const SPNEGO: [u8; 8] = [0x06, 0x06, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x02];
const NTLMSSP: [u8; 12] = [0x06, 0x0a, 0x2b, 0x06, 0x01, 0x04, 0x01, 0x82, 0x37, 0x02, 0x02, 0x0a];
const COMPLETED: u8 = 0;
const INCOMPLETE: u8 = 1;

/// A value with its tag and length, of at most 65,535 bytes.
fn tagged(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let value = parts.concat();
    let [high, low] = (value.len() as u16).to_be_bytes();
    let mut octets = vec![tag];
    match (high, low) {
        (0, 0..0x80) => octets.push(low),
        (0, _) => octets.extend_from_slice(&[0x81, low]),
        _ => octets.extend_from_slice(&[0x82, high, low]),
    }
    octets.extend_from_slice(&value);
    octets
}

pub fn offer() -> Vec<u8> {
    let mechanisms = tagged(CONTEXT, &[&tagged(SEQUENCE, &[&NTLMSSP])]);
    let init = tagged(CONTEXT, &[&tagged(SEQUENCE, &[&mechanisms])]);
    tagged(APPLICATION, &[&SPNEGO, &init])
}

/// An NTLMSSP message after which the client has to continue.
pub fn incomplete(message: &[u8]) -> Vec<u8> {
    let state = tagged(CONTEXT, &[&tagged(ENUMERATED, &[&[INCOMPLETE]])]);
    let mechanism = tagged(CONTEXT | 1, &[&NTLMSSP]);
    let token = tagged(CONTEXT | 2, &[&tagged(OCTETS, &[message])]);
    tagged(CONTEXT | 1, &[&tagged(SEQUENCE, &[&state, &mechanism, &token])])
}

pub fn completed() -> Vec<u8> {
    let state = tagged(CONTEXT, &[&tagged(ENUMERATED, &[&[COMPLETED]])]);
    tagged(CONTEXT | 1, &[&tagged(SEQUENCE, &[&state])])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_match_captured_ones() {
        // Sent by Samba 4.17, without its hint.
        let expected = "601c06062b0601050502a0123010a00e300c060a2b06010401823702020a";
        assert_eq!(hex::encode(offer()), expected);
        assert_eq!(hex::encode(completed()), "a1073005a0030a0100");
        let expected = "a11b3019a0030a0101a10c060a2b06010401823702020aa20404026869";
        assert_eq!(hex::encode(incomplete(b"hi")), expected);
    }

    #[test]
    fn lengths_use_the_shortest_encoding() {
        for (len, head) in
            [(0x7f, vec![4, 0x7f]), (0x80, vec![4, 0x81, 0x80]), (256, vec![4, 0x82, 1, 0])]
        {
            assert!(tagged(OCTETS, &[&vec![0; len]]).starts_with(&head), "{len}");
        }
    }
}
