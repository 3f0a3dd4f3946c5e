//! Signatures of messages.
//!
//! Source: [MS-CIFS] 3.1.4.1 and 3.1.5.1: MD5 of the key and the message, with the message number in the signature
//! field. Requests have even numbers, and each response the next number.

use lanlab_wire::smb1::header;
use md5::{Digest, Md5};

use super::responses::same;

#[derive(Clone)]
pub struct Signing {
    key: Vec<u8>,
    next: u32,
}

impl Signing {
    /// Begin with the session key and the challenge response of the login, which used message numbers 0 and 1.
    pub fn new(session_key: [u8; 16], response: &[u8]) -> Self {
        Self { key: [&session_key[..], response].concat(), next: 2 }
    }

    fn signature(&self, [head, data]: [&[u8]; 2], number: u32) -> [u8; 8] {
        let mut field = [0; 8];
        field[..4].copy_from_slice(&number.to_le_bytes());
        let mut hash = Md5::new();
        hash.update(&self.key);
        hash.update(&head[..header::SIGNATURE.start]);
        hash.update(field);
        hash.update(&head[header::SIGNATURE.end..]);
        hash.update(data);
        let hash = hash.finalize();
        core::array::from_fn(|index| hash[index])
    }

    /// Sign a request. Returns the number of its response.
    pub fn sign(&mut self, message: &mut [u8]) -> u32 {
        let number = self.next;
        self.next = self.next.wrapping_add(2);
        self.sign_as(message, &[], number);
        number.wrapping_add(1)
    }

    pub fn sign_as(&self, head: &mut [u8], data: &[u8], number: u32) {
        let signature = self.signature([head, data], number);
        head[header::SIGNATURE].copy_from_slice(&signature);
    }

    pub fn is_signed(&self, message: &[u8], number: u32) -> bool {
        same(&self.signature([message, &[]], number), &message[header::SIGNATURE])
    }

    /// Verify a client request. Returns the number of its response, or `None` if the signature is wrong. A request
    /// without a response uses one number instead of two.
    pub fn take_request(&mut self, message: &[u8], has_response: bool) -> Option<u32> {
        let number = self.next;
        self.next = number.wrapping_add(if has_response { 2 } else { 1 });
        self.is_signed(message, number).then(|| number.wrapping_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_sign_alike_and_detect_any_change() {
        let mut client = Signing::new([1; 16], b"response");
        let mut server = client.clone();
        for has_response in [true, true, false, true] {
            let mut request = vec![0; 40];
            let expected = client.sign(&mut request);
            if !has_response {
                client.next -= 1;
            }
            let number = server.take_request(&request, has_response);
            assert_eq!(number, Some(expected));
            let (mut head, data) = (vec![7; 36], vec![8; 5]);
            server.sign_as(&mut head, &data, expected);
            let mut whole = [head, data].concat();
            assert!(client.is_signed(&whole, expected) && !client.is_signed(&whole, expected + 1));
            whole[40] ^= 1;
            assert!(!client.is_signed(&whole, expected));
        }
        assert_eq!(server.take_request(&[0; 40], true), None);
    }
}
