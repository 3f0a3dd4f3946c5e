//! Messages of a session on the wire: framing, credits, signatures and encryption.

use std::sync::atomic::{AtomicU64, Ordering};

use lanlab_files::{Class, Fault, Result};
use smb2::client::Cipher;
use smb2::crypto::encryption::{decrypt_message, encrypt_message};
use smb2::crypto::signing::{SigningAlgorithm, sign_message, verify_signature};
use smb2::msg::header::Header;
use smb2::pack::{ReadCursor, Unpack};
use tokio::sync::Semaphore;

use crate::multiplex::Wire;

/// Length of a message's header ([MS-SMB2] section 2.2.1).
pub const HEADER_OCTETS: usize = 64;
/// Length of the header of an encrypted message (section 2.2.41).
const TRANSFORM_OCTETS: usize = 52;
const TRANSFORM_ID: [u8; 4] = [0xFD, b'S', b'M', b'B'];
/// Message number if there is no request: a lease or oplock break (section 2.2.23).
const UNASKED: u64 = u64::MAX;
/// The handshake has used the first nonces with these keys; none may be used twice.
const FIRST_NONCE: u64 = 1 << 32;
const MAX_CREDITS: usize = 8192;

pub struct Protection {
    pub longest: usize,
    pub session_id: u64,
    pub signing: Option<(SigningAlgorithm, Vec<u8>)>,
    pub encryption: Option<(Cipher, Vec<u8>, Vec<u8>)>,
    pub next_nonce: AtomicU64,
    pub credits: Semaphore,
}

impl Protection {
    pub fn new(
        session_id: u64,
        longest: usize,
        credits: u16,
        signing: Option<(SigningAlgorithm, Vec<u8>)>,
        encryption: Option<(Cipher, Vec<u8>, Vec<u8>)>,
    ) -> Self {
        let credits = Semaphore::new(usize::from(credits));
        let next_nonce = AtomicU64::new(FIRST_NONCE);
        Self { longest, session_id, signing, encryption, next_nonce, credits }
    }

    /// Whether messages are sent unprotected, so that their data need not be copied.
    pub fn is_plain(&self) -> bool {
        self.signing.is_none() && self.encryption.is_none()
    }

    pub fn seal(&self, mut message: Vec<u8>, message_id: u64) -> Result<Vec<u8>> {
        let failed = |error: smb2::Error| Fault::new(Class::Local, error.to_string());
        if let Some((cipher, key, _)) = &self.encryption {
            let mut nonce = [0; 16];
            let count = self.next_nonce.fetch_add(1, Ordering::Relaxed);
            nonce[..8].copy_from_slice(&count.to_le_bytes());
            let (mut sealed, encrypted) =
                encrypt_message(&message, key, *cipher, &nonce, self.session_id).map_err(failed)?;
            sealed.extend_from_slice(&encrypted);
            return Ok(sealed);
        }
        if let Some((algorithm, key)) = &self.signing {
            sign_message(&mut message, key, *algorithm, message_id, false).map_err(failed)?;
        }
        Ok(message)
    }

    fn open(&self, message: &mut Vec<u8>) -> Result<()> {
        let Some((cipher, _, key)) = &self.encryption else { return Ok(()) };
        if message.len() < TRANSFORM_OCTETS || message[..4] != TRANSFORM_ID {
            let what = "an answer that is not encrypted, as it must be";
            return Err(Fault::new(Class::Protocol, what));
        }
        let (transform, encrypted) = message.split_at(TRANSFORM_OCTETS);
        *message = decrypt_message(transform, encrypted, key, *cipher)
            .map_err(|error| Fault::new(Class::Protocol, error.to_string()))?;
        Ok(())
    }
}

impl Wire for Protection {
    fn length(&self, header: [u8; 4]) -> Result<(usize, bool)> {
        if header[0] != 0 {
            let message = format!("an answer that begins with {:#04x}; allowed: 0", header[0]);
            return Err(Fault::new(Class::Protocol, message));
        }
        Ok((u32::from_be_bytes(header) as usize, true))
    }

    fn longest(&self) -> usize {
        self.longest
    }

    fn accept(&self, answer: &mut Vec<u8>) -> Result<Option<u64>> {
        self.open(answer)?;
        let header = Header::unpack(&mut ReadCursor::new(answer))
            .map_err(|error| Fault::new(Class::Protocol, error.to_string()))?;
        if !header.is_response() || header.next_command != 0 {
            return Err(Fault::new(Class::Protocol, "not one answer to one call"));
        }
        if header.message_id.0 == UNASKED {
            return Ok(None);
        }
        let pending = header.status.is_pending();
        if let (Some((algorithm, key)), false) = (&self.signing, pending) {
            verify_signature(answer, key, *algorithm, header.message_id.0, false)
                .map_err(|error| Fault::new(Class::Protocol, error.to_string()))?;
        }
        // An answer's credits count even if it only says that another will follow (section
        // 3.2.5.1.4).
        let room = MAX_CREDITS.saturating_sub(self.credits.available_permits());
        self.credits.add_permits(usize::from(header.credits).min(room));
        Ok((!pending).then_some(header.message_id.0))
    }
}
