//! The start of a session: negotiation, login and share by the `smb2` crate on our connection,
//! which is then taken over with the negotiated settings.
//!
//! The crate's own calls probe, retry and wait by rules of their own, but a laboratory must know
//! what each call did.

use std::future::Future;
use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lanlab_files::{Class, Fault, Result, Target};
use smb2::client::Cipher;
use smb2::client::connection::Connection;
use smb2::client::session::Session as Login;
use smb2::client::tree::Tree;
use smb2::crypto::kdf::PreauthHasher;
use smb2::transport::{TransportReceive, TransportSend};
use smb2::types::flags::Capabilities;
use smb2::types::{Dialect, TreeId};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::Mutex;

use crate::transport;

use super::status;

const USUAL_PORT: u16 = 445;

/// Maximum length of an answer before the session exists: many times what servers send.
const LONGEST: usize = 1 << 18;

const CAPABILITIES_OCTET: usize = 72;

/// Bytes of a call that one credit covers ([MS-SMB2] section 3.1.5.2).
pub const CREDIT_OCTETS: u32 = 1 << 16;

pub struct Agreed {
    pub stream: TcpStream,
    pub dialect: Dialect,
    pub session_id: u64,
    pub tree_id: TreeId,
    pub next_message_id: u64,
    pub credits: u16,
    pub read_octets: u32,
    pub write_octets: u32,
    pub list_octets: u32,
    pub signing: Option<(smb2::crypto::signing::SigningAlgorithm, Vec<u8>)>,
    /// How to encrypt messages, if the server requires it: cipher and keys for both directions.
    pub encryption: Option<(Cipher, Vec<u8>, Vec<u8>)>,
}

pub async fn agree(target: &Target) -> Result<Agreed> {
    let share = target.share.clone().ok_or_else(|| {
        Fault::new(Class::Missing, "found no share").hint("name the share of the server")
    })?;
    let stream = transport::connect(target, USUAL_PORT).await?;
    let server_name = transport::server_name(target)?;
    let (reading, writing) = stream.into_split();
    let wire = Arc::new(Wire {
        reading: Mutex::new(Some(reading)),
        writing: Mutex::new(Some(writing)),
        over: AtomicBool::new(false),
        negotiation: parking_lot::Mutex::default(),
    });
    let halves = (Box::new(Half(Arc::clone(&wire))), Box::new(Half(Arc::clone(&wire))));
    let mut connection = Connection::from_transport(halves.0, halves.1, server_name);
    connection.set_keepalive(None);
    connection.set_compression_requested(false);

    let negotiation = async {
        connection.negotiate().await.map_err(|error| {
            let fault = status::fault("negotiate", &error);
            if fault.class != Class::Reset {
                return fault;
            }
            fault.hint(
                "it did not answer an offer of SMB 2 and 3, as a server with SMB 1 alone does \
                 (`smb1://`), or one of another service",
            )
        })
    };
    transport::within(target, "negotiate", negotiation).await?;
    // Keys are derived from the messages as they were on the wire.
    let begun = wire.negotiation.lock().clone();
    connection.with_preauth_hasher_mut(|hasher| {
        *hasher = PreauthHasher::new();
        for message in &begun {
            hasher.update(message);
        }
    });
    let agreed = connection
        .params()
        .ok_or_else(|| Fault::new(Class::Protocol, "negotiate: nothing was agreed on"))?;

    // A client without a user name uses this one, which servers with guest access accept as a
    // guest.
    let guest = ("Guest".to_owned(), String::new(), String::new());
    let (user, secret, domain) = target.credentials.as_ref().map_or(guest, |who| {
        (who.user.clone(), who.secret.clone(), who.domain.clone().unwrap_or_default())
    });
    let login = async {
        let login = Login::setup(&mut connection, &user, &secret, &domain).await;
        login.map_err(|error| status::login_fault(&user, &error, target.credentials.is_some()))
    };
    let login = transport::within(target, "log in", login).await?;

    let what = format!("share `{share}`");
    let tree = async {
        let tree = Tree::connect(&mut connection, &share).await;
        tree.map_err(|error| status::fault(&what, &error))
    };
    let tree = transport::within(target, &what, tree).await?;

    let (next_message_id, credits) = (connection.next_message_id(), connection.credits());
    drop(connection);
    let stream = transport::within(target, "begin the session", wire.take_back()).await?;
    let encryption = if login.should_encrypt || tree.encrypt_data {
        // [MS-SMB2] section 3.2.5.3.1: the cipher of 3.0 and 3.0.2, which do not negotiate one.
        let cipher = agreed.cipher.unwrap_or(Cipher::Aes128Ccm);
        let keys = login.encryption_key.zip(login.decryption_key).ok_or_else(|| {
            let message = format!("{what}: the server wants encryption, and agreed on none");
            Fault::new(Class::Unsupported, message)
        })?;
        Some((cipher, keys.0, keys.1))
    } else {
        None
    };
    let must_sign = agreed.signing_required && login.should_sign && encryption.is_none();
    let signing = must_sign.then_some((login.signing_algorithm, login.signing_key));
    // Without large messages, each call costs one credit (section 3.2.4.1.2).
    let most = if agreed.capabilities.contains(Capabilities::LARGE_MTU) {
        super::MAX_DATA_OCTETS
    } else {
        CREDIT_OCTETS
    };
    Ok(Agreed {
        stream,
        dialect: agreed.dialect,
        session_id: login.session_id.0,
        tree_id: tree.tree_id,
        next_message_id,
        credits,
        read_octets: agreed.max_read_size.min(most),
        write_octets: agreed.max_write_size.min(most),
        list_octets: agreed.max_transact_size.min(CREDIT_OCTETS),
        signing,
        encryption,
    })
}

struct Wire {
    reading: Mutex<Option<OwnedReadHalf>>,
    writing: Mutex<Option<OwnedWriteHalf>>,
    over: AtomicBool,
    negotiation: parking_lot::Mutex<Vec<Vec<u8>>>,
}

/// Announce encryption in NEGOTIATE: the crate announces it only in a context, which Samba and
/// servers below SMB 3.1.1 ignore ([MS-SMB2] section 2.2.3).
fn announce_encryption(negotiate: &mut [u8]) {
    if let Some(capabilities) = negotiate.get_mut(CAPABILITIES_OCTET) {
        *capabilities |= Capabilities::ENCRYPTION as u8;
    }
}

impl Wire {
    async fn take_back(&self) -> Result<TcpStream> {
        // The reading task has been aborted, or will be in a moment.
        let reading = self.reading.lock().await.take();
        let writing = self.writing.lock().await.take();
        let halves = reading.zip(writing).filter(|_| !self.over.load(Ordering::Relaxed));
        halves
            .and_then(|(reading, writing)| reading.reunite(writing).ok())
            .ok_or_else(|| Fault::new(Class::Reset, "the connection ended while the session began"))
    }
}

struct Half(Arc<Wire>);

type Sent<'a, T> = Pin<Box<dyn Future<Output = smb2::Result<T>> + Send + 'a>>;

impl TransportSend for Half {
    fn send<'life0, 'life1, 'async_trait>(
        &'life0 self,
        data: &'life1 [u8],
    ) -> Sent<'async_trait, ()>
    where
        'life0: 'async_trait,
        'life1: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async move {
            let mut writing = self.0.writing.lock().await;
            let half = writing.as_mut().ok_or(smb2::Error::Disconnected)?;
            let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
            // A single write, because two would wait for Nagle's algorithm, if enabled.
            let mut message = [&length.to_be_bytes(), data].concat();
            {
                let mut begun = self.0.negotiation.lock();
                if begun.is_empty() {
                    announce_encryption(&mut message[4..]);
                    begun.push(message[4..].to_vec());
                }
            }
            Ok(half.write_all(&message).await?)
        })
    }
}

impl TransportReceive for Half {
    fn receive<'life0, 'async_trait>(&'life0 self) -> Sent<'async_trait, Vec<u8>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async move {
            let mut reading = self.0.reading.lock().await;
            let half = reading.as_mut().ok_or(smb2::Error::Disconnected)?;
            let mut header = [0; 4];
            // The crate releases the connection when it is aborted before anything has arrived.
            let begun = loop {
                half.readable().await?;
                match half.try_read(&mut header) {
                    Ok(0) => return Err(smb2::Error::Disconnected),
                    Ok(count) => break count,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error.into()),
                }
            };
            self.0.over.store(true, Ordering::Relaxed);
            half.read_exact(&mut header[begun..]).await?;
            let length = u32::from_be_bytes(header) as usize;
            if length > LONGEST {
                let message = format!("an answer of {length} octets; allowed: {LONGEST}");
                return Err(smb2::Error::InvalidData { message });
            }
            let mut message = vec![0; length];
            half.read_exact(&mut message).await?;
            self.0.over.store(false, Ordering::Relaxed);
            let mut begun = self.0.negotiation.lock();
            if begun.len() == 1 {
                begun.push(message.clone());
            }
            Ok(message)
        })
    }
}
