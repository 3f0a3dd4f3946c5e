//! Signatures of messages.
//!
//! Source: [MS-CIFS] 3.1.4.1 and 3.1.5.1: MD5 of the key and the message, in which the number of the
//! message stands in the place of the signature. A request has an even number, its response the next.

use lanlab_wire::smb1::header;
use md5::{Digest, Md5};

/// Signs and checks the messages of one connection.
#[derive(Clone)]
pub struct Signing {
    key: Vec<u8>,
    next: u32,
}

impl Signing {
    /// Begin with the session key and the response to the challenge that made it. The first two
    /// numbers are those of the login.
    pub fn new(session_key: [u8; 16], response: &[u8]) -> Self {
        Self { key: [&session_key[..], response].concat(), next: 2 }
    }

    fn signature(&self, message: &[u8], number: u32) -> [u8; 8] {
        let mut field = [0; 8];
        field[..4].copy_from_slice(&number.to_le_bytes());
        let mut hash = Md5::new();
        hash.update(&self.key);
        hash.update(&message[..header::SIGNATURE.start]);
        hash.update(field);
        hash.update(&message[header::SIGNATURE.end..]);
        let hash = hash.finalize();
        core::array::from_fn(|index| hash[index])
    }

    /// Sign a request, and give the number that its response will have.
    pub fn sign(&mut self, message: &mut [u8]) -> u32 {
        let number = self.next;
        self.next = self.next.wrapping_add(2);
        let signature = self.signature(message, number);
        message[header::SIGNATURE].copy_from_slice(&signature);
        number.wrapping_add(1)
    }

    /// Whether a response is signed with its number.
    pub fn is_signed(&self, message: &[u8], number: u32) -> bool {
        message[header::SIGNATURE] == self.signature(message, number)
    }
}
