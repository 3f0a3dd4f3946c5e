//! SFTP version 3 over SSH: a password, one subsystem, and nothing else of SSH.
//!
//! The host key is made for the server's life. Each connection buffers a message each way and some packets, and has
//! open files; all are bounded.

mod handles;
pub mod requests;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use lanlab_connections::ssh::{CIPHERS, Cut};
use lanlab_connections::tls;
use lanlab_files::{Class, Credentials, Fault, Result};
use lanlab_wire::sftp::Frames;
use russh::keys::PrivateKey;
use russh::keys::ssh_key::private::Ed25519Keypair;
use russh::server::{Auth, ChannelOpenHandle, Config, Handler, Msg, Session, run_stream};
use russh::{
    Channel, ChannelId, ChannelMsg, ChannelOpenFailure, MethodKind, MethodSet, Preferred, SshId,
    compression,
};
use tokio::task::JoinSet;

use crate::admission::{Admission, Proof};
use crate::visits::{READ_ONLY, Visits};
use crate::{Bounds, Offer, Serving, login};
use lanlab_served::Confined;

use requests::Requests;

const MAX_CHANNELS: usize = 8;

/// Memory of a connection before login: the longest packet that russh accepts, which it allocates when announced,
/// and the key exchange.
const STRANGER_BYTES: usize = 320 << 10;

/// Maximum packets queued per channel: more than the requests a client has in flight, since the window does not grow
/// while they wait.
const WAITING_PACKETS: usize = 512;

/// Bytes that a client may send before the window is extended, and largest packet.
const WINDOW_OCTETS: u32 = 1 << 23;
const PACKET_OCTETS: u32 = 32_768;

#[derive(Debug)]
pub struct Shared {
    pub confined: Confined,
    pub credentials: Option<Credentials>,
}

pub fn serve(offer: &Offer, bounds: &Bounds) -> Result<Serving> {
    let (listener, port) = crate::listen(offer)?;
    let broken = |what: String| Fault::new(Class::Local, format!("host key: {what}"));
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| broken(error.to_string()))?;
    let key = PrivateKey::from(Ed25519Keypair::from_seed(&seed));
    let blob = key.public_key().to_bytes().map_err(|error| broken(error.to_string()))?;
    let config = Arc::new(Config {
        server_id: SshId::Standard(Cow::Borrowed("SSH-2.0-lanlab")),
        methods: MethodSet::from(&[MethodKind::None, MethodKind::Password][..]),
        auth_rejection_time: login::DELAY,
        auth_rejection_time_initial: Some(Duration::ZERO),
        keys: vec![key],
        window_size: WINDOW_OCTETS,
        maximum_packet_size: PACKET_OCTETS,
        channel_buffer_size: WAITING_PACKETS,
        max_auth_attempts: 3,
        // Idle stations have no time limit.
        inactivity_timeout: None,
        preferred: Preferred {
            cipher: Cow::Borrowed(&CIPHERS),
            compression: Cow::Borrowed(&[compression::NONE]),
            ..Preferred::DEFAULT
        },
        nodelay: true,
        ..Config::default()
    });
    let shared = Arc::new(Shared {
        confined: crate::confined(offer)?,
        credentials: offer.credentials.clone(),
    });
    let visits = Arc::new(Visits::default());
    let admission = Admission::new(bounds, STRANGER_BYTES, &visits);
    let task = tokio::spawn(admission.serve(listener, move |stream, _, proof| {
        let client = Client {
            shared: Arc::clone(&shared),
            proof,
            channels: HashMap::new(),
            work: JoinSet::new(),
        };
        let config = Arc::clone(&config);
        async move {
            let Ok((_cut, stream)) = Cut::of(stream) else { return };
            // An error means that the client disconnected.
            if let Ok(running) = run_stream(config, stream, client).await {
                let _ = running.await;
            }
        }
    }));
    let trust_sha256 = Some(tls::sha256_hex(&blob));
    Ok(Serving { port, share: None, trust_sha256, visits, station: None, task })
}

struct Client {
    shared: Arc<Shared>,
    proof: Proof,
    channels: HashMap<ChannelId, Channel<Msg>>,
    work: JoinSet<()>,
}

impl Client {
    fn admit(&self, user: &str) -> Auth {
        self.proof.admit(self.shared.credentials.as_ref().map(|_| user), None);
        Auth::Accept
    }
}

impl Handler for Client {
    type Error = russh::Error;

    async fn auth_none(&mut self, user: &str) -> std::result::Result<Auth, russh::Error> {
        if self.shared.credentials.is_some() {
            // Clients use this to query the login methods.
            return Ok(Auth::reject());
        }
        Ok(self.admit(user))
    }

    async fn auth_password(
        &mut self,
        user: &str,
        password: &str,
    ) -> std::result::Result<Auth, russh::Error> {
        if login::admits(self.shared.credentials.as_ref(), user, password) {
            return Ok(self.admit(user));
        }
        self.proof.visitor().wrong_password(user, None);
        Ok(Auth::reject())
    }

    async fn channel_open_session(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> std::result::Result<(), russh::Error> {
        while self.work.try_join_next().is_some() {}
        if self.channels.len() + self.work.len() >= MAX_CHANNELS {
            reply.reject(ChannelOpenFailure::ResourceShortage).await;
            return Ok(());
        }
        self.channels.insert(channel.id(), channel);
        reply.accept().await;
        Ok(())
    }

    async fn subsystem_request(
        &mut self,
        id: ChannelId,
        name: &str,
        session: &mut Session,
    ) -> std::result::Result<(), russh::Error> {
        match self.channels.remove(&id) {
            Some(channel) if name == "sftp" => {
                session.channel_success(id)?;
                let requests = Requests::new(Arc::clone(&self.shared));
                self.work.spawn(answer(channel, requests, self.proof.clone()));
            }
            Some(channel) => {
                self.channels.insert(id, channel);
                session.channel_failure(id)?;
            }
            None => session.channel_failure(id)?,
        }
        Ok(())
    }

    async fn shell_request(
        &mut self,
        id: ChannelId,
        session: &mut Session,
    ) -> std::result::Result<(), russh::Error> {
        self.proof.visitor().refused("a command of a shell: files are served, by sftp");
        session.channel_failure(id)
    }

    async fn exec_request(
        &mut self,
        id: ChannelId,
        _command: &[u8],
        session: &mut Session,
    ) -> std::result::Result<(), russh::Error> {
        self.proof.visitor().refused("a command of a shell: files are served, by sftp");
        session.channel_failure(id)
    }

    async fn channel_close(
        &mut self,
        id: ChannelId,
        _session: &mut Session,
    ) -> std::result::Result<(), russh::Error> {
        self.channels.remove(&id);
        Ok(())
    }
}

async fn answer(channel: Channel<Msg>, mut requests: Requests, proof: Proof) {
    let (mut reading, writing) = channel.split();
    let mut frames = Frames::default();
    'all: while let Some(message) = reading.wait().await {
        match message {
            ChannelMsg::Data { data } => frames.push(&data),
            ChannelMsg::Eof | ChannelMsg::Close => break,
            _ => continue,
        }
        loop {
            match frames.next_message() {
                Ok(Some(request)) => {
                    let Some(reply) = requests.answer(&request) else { break 'all };
                    if requests.has_refused_change {
                        proof.visitor().refused(READ_ONLY);
                    }
                    if writing.data_bytes(reply).await.is_err() {
                        break 'all;
                    }
                }
                Ok(None) => break,
                Err(_) => break 'all,
            }
        }
    }
    // The client may have closed it already.
    let _ = writing.eof().await;
    let _ = writing.close().await;
}
