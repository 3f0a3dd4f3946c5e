//! SMB 1 on a directory: the server of the `stack` crate on connections of the kernel's TCP, or on sessions
//! of `NetBEUI`.
//!
//! A connection may begin with a session request of `NetBIOS`, as on port 139, or go without, as on
//! port 445. Passwords of these dialects are worth little: docs/security.md says how little.

mod carried;
mod files;
mod station;

use std::future::{Future, pending, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::task::Poll;
use std::time::{SystemTime, UNIX_EPOCH};

use lanlab_files::{Fault, Result};
use lanlab_stack::smb::Dialect;
use lanlab_stack::smb::client::User;
use lanlab_stack::smb::server::{self, Server, Session};
use lanlab_units::Instant;
use lanlab_wire::nbss::Kind;
use lanlab_wire::smb1::strings::CodePage;
use lanlab_wire::smb1::time::ticks_from_unix_ns;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

use crate::admission::{Admission, Proof};
use crate::login;
use crate::{Bounds, Offer, Serving, listen};

use carried::Carried;
use files::{Files, Served};

/// The server and its one share, unless other names are asked for.
const NAME: &str = "lanlab";

/// Octets of the longest message: 128 KiB of data, as clients of Windows and Samba write them, and what
/// stands before them.
const LONGEST_MESSAGE: usize = (128 << 10) + 1024;

/// Memory of a message that is kept beside the data of a read.
const KEPT_BYTES: usize = 80 << 10;

/// The same of a client that has not logged in.
const LONGEST_OF_STRANGERS: usize = 8 << 10;

/// What a connection takes before it has logged in.
const STRANGER_BYTES: usize = 32 << 10;

/// A client that gives so many wrong passwords is sent away.
const MAX_FAILED_LOGINS: u32 = 5;

/// Begin to serve.
pub async fn serve(offer: &Offer, bounds: &Bounds) -> Result<Serving> {
    let root = Served::new(&offer.root, offer.read_only)
        .map_err(|error| Fault::of_file(offer.root.display(), &error))?;
    let root = Arc::new(root);
    let user = offer.credentials.as_ref().map(|user| User {
        name: user.user.clone(),
        password: user.secret.clone(),
        domain: user.domain.clone().unwrap_or_default(),
    });
    let share = offer.names.share.clone().unwrap_or_else(|| NAME.to_owned());
    let server = Server::new(server::Offer {
        name: offer.names.server.clone().unwrap_or_else(|| NAME.to_owned()),
        share: share.clone(),
        user,
        read_only: offer.read_only,
        // As the client takes it.
        code_page: CodePage::Cp850,
        dialects: dialect(offer.dialects.0)..=dialect(offer.dialects.1),
    });
    let server = if offer.requires_signatures { server.requiring_signatures() } else { server };
    let accepted = Arc::new(AtomicU64::new(0));
    if let Some(station) = &offer.station {
        let begin = move |port, proof| {
            let (server, files) = (server.clone(), Files::new(Arc::clone(&root)));
            async move {
                if let Some(connection) =
                    Connection::new(Carried::Wired(port), &server, files, proof)
                {
                    // An error here is the client's, which is gone then.
                    let _ = connection.run().await;
                }
            }
        };
        let (node, task) = station::serve(station, bounds, &accepted, begin).await?;
        let (share, station) = (Some(share), Some(node));
        return Ok(Serving { port: 0, share, trust_sha256: None, accepted, station, task });
    }
    let (listener, port) = listen(offer)?;
    let admission = Admission::new(bounds, STRANGER_BYTES, &accepted);
    let task = tokio::spawn(admission.serve(listener, move |stream, _, proof| {
        let (server, files) = (server.clone(), Files::new(Arc::clone(&root)));
        async move {
            let carried = Carried::over_tcp(stream, LONGEST_OF_STRANGERS);
            if let Some(connection) = Connection::new(carried, &server, files, proof) {
                // An error here is the client's, which is gone then.
                let _ = connection.run().await;
            }
        }
    }));
    Ok(Serving { port, share: Some(share), trust_sha256: None, accepted, station: None, task })
}

fn dialect(dialect: lanlab_files::Dialect) -> Dialect {
    match dialect {
        lanlab_files::Dialect::Core => Dialect::Core,
        lanlab_files::Dialect::Lanman1 => Dialect::LanMan1,
        lanlab_files::Dialect::Lm12x002 => Dialect::LanMan2,
        lanlab_files::Dialect::Nt1 => Dialect::Nt,
    }
}

/// A client, and what it has.
struct Connection {
    carried: Carried,
    session: Session,
    files: Files,
    /// That the client is one: strangers have a time to show it.
    proof: Proof,
    is_known: bool,
    failed_logins: u32,
    /// When it began: time zero of its session.
    began: std::time::Instant,
}

impl Connection {
    fn new(carried: Carried, server: &Server, files: Files, proof: Proof) -> Option<Self> {
        let mut challenge = [0; 8];
        getrandom::fill(&mut challenge).ok()?;
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let time = ticks_from_unix_ns(since_1970.as_nanos().cast_signed());
        let session = server.session(carried.facts(LONGEST_MESSAGE), challenge, time);
        let began = std::time::Instant::now();
        Some(Self { carried, session, files, proof, is_known: false, failed_logins: 0, began })
    }

    async fn run(mut self) -> io::Result<()> {
        let served = self.serve().await;
        // What the client has left open is closed, and removed if it asked for that.
        self.session.end();
        self.carry_out_calls(&mut Vec::new());
        served
    }

    async fn serve(&mut self) -> io::Result<()> {
        let (mut message, mut head, mut data) = (Vec::new(), Vec::new(), Vec::new());
        while !self.session.is_over() {
            let received = self.wait(&mut message).await?;
            if received == Some(Kind::Request) {
                self.carried.answer_request(&message).await?;
                continue;
            }
            self.session.handle_timeout(self.now());
            if received.is_some() {
                self.session.handle_message(&mut message);
            }
            let has_data = self.answer(&mut head, &mut data).await?;
            if received.is_some() {
                message = self.session.memory();
                if has_data && message.capacity() > KEPT_BYTES {
                    message = Vec::new();
                }
            }
        }
        Ok(())
    }

    fn now(&self) -> Instant {
        Instant::ZERO + self.began.elapsed()
    }

    /// Wait for a message, or until the session has something to say without one. Of a message that has
    /// not come whole, `message` keeps what there is.
    async fn wait(&mut self, message: &mut Vec<u8>) -> io::Result<Option<Kind>> {
        let timeout = self.session.poll_timeout();
        let mut timer = pin!(async {
            match timeout {
                Some(at) => {
                    tokio::time::sleep_until((self.began + (at - Instant::ZERO)).into()).await;
                }
                None => pending().await,
            }
        });
        let (carried, session) = (&mut self.carried, &mut self.session);
        poll_fn(|cx| {
            if let Poll::Ready(received) = carried.poll_receive(cx, message) {
                return Poll::Ready(received.map(Some));
            }
            if session.poll_woken(cx).is_ready() || timer.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Ok(None));
            }
            Poll::Pending
        })
        .await
    }

    /// Carry out what the session asks of files.
    fn carry_out_calls(&mut self, data: &mut Vec<u8>) {
        let Some(mut call) = self.session.poll_file_call(data) else { return };
        while_others_run(|| {
            loop {
                let answer = self.files.carry_out(call, data);
                self.session.handle_file_answer(answer, data);
                match self.session.poll_file_call(data) {
                    Some(next) => call = next,
                    None => return,
                }
            }
        });
    }

    /// Carry out what the session asks, and send what it says. Whether that was data.
    async fn answer(&mut self, head: &mut Vec<u8>, data: &mut Vec<u8>) -> io::Result<bool> {
        let mut has_data = false;
        loop {
            self.carry_out_calls(data);
            if !self.session.poll_message(head, data) {
                return Ok(has_data);
            }
            self.judge_login().await?;
            poll_fn(|cx| self.carried.poll_send(cx, [&*head, &*data])).await?;
            has_data |= !data.is_empty();
        }
    }

    async fn judge_login(&mut self) -> io::Result<()> {
        if !self.is_known && self.session.is_known() {
            self.is_known = true;
            self.carried.set_longest(LONGEST_MESSAGE);
            self.proof.give();
        }
        let failed_logins = self.session.failed_logins();
        if failed_logins > self.failed_logins {
            self.failed_logins = failed_logins;
            tokio::time::sleep(login::DELAY).await;
        }
        if failed_logins > MAX_FAILED_LOGINS {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(())
    }
}

/// Do work that may wait for a disk. Another thread of the runtime takes over its other tasks. A runtime of
/// one thread, as it is used for virtual time, has none: its other tasks wait.
fn while_others_run<R>(work: impl FnOnce() -> R) -> R {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => block_in_place(work),
        _ => work(),
    }
}
