//! SMB 1 on a directory: the server of the `stack` crate on connections of the kernel's TCP, or on sessions
//! of a carrier on Ethernet.
//!
//! A connection may begin with a session request of `NetBIOS`, as on port 139, or go without, as on
//! port 445. Passwords of these dialects are worth little: docs/security.md says how little.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{SystemTime, UNIX_EPOCH};

use lanlab_connections::{MessageTransport, Messages, SessionClock};
use lanlab_files::{Fault, Result};
use lanlab_served::{Files, Served};
use lanlab_sessions::{self as sessions, FileAnswers, Logins};
use lanlab_stack::file_server::{FileServer, Session};
use lanlab_stack::files::{FileCall, FileStore};
use lanlab_stack::smb::client::User;
use lanlab_stack::smb::server::{self, Server};
use lanlab_wire::nbss::Framing;
use lanlab_wire::smb1::strings::CodePage;
use lanlab_wire::smb1::time::ticks_from_unix_ns;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

use crate::admission::{Admission, Proof};
use crate::login;
use crate::{Bounds, Offer, Serving, listen, station};

/// The server and its one share, unless other names are asked for.
const NAME: &str = "lanlab";

/// Octets of the longest message: 128 KiB of data, as clients of Windows and Samba write them, and what
/// stands before them.
const LONGEST_MESSAGE: usize = (128 << 10) + 1024;

/// The same of a client that has not logged in.
const LONGEST_OF_STRANGERS: usize = 8 << 10;

/// What a connection takes before it has logged in.
const STRANGER_BYTES: usize = 32 << 10;

/// Wrong passwords after which a client is disconnected.
const MAX_FAILED_LOGINS: u32 = 5;

/// Begin to serve.
pub async fn serve(offer: &Offer, bounds: &Bounds) -> Result<Serving> {
    let root = Served::new(&offer.root, offer.read_only, server::can_be_asked_for)
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
        dialects: offer.dialects.0.into()..=offer.dialects.1.into(),
    });
    let server = if offer.requires_signatures { server.requiring_signatures() } else { server };
    let accepted = Arc::new(AtomicU64::new(0));
    if let Some(station) = &offer.station {
        let begin = move |port, proof| {
            let (server, files) = (server.clone(), Files::new(Arc::clone(&root)));
            async move {
                // An error here is the client's, which is gone then.
                let transport = MessageTransport::Frames(port);
                let _ = serve_client(transport, server, files, proof).await;
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
            let messages = Messages::new(stream, Framing::Direct, LONGEST_OF_STRANGERS);
            let transport = MessageTransport::Tcp(messages.with_requests());
            // An error here is the client's, which is gone then.
            let _ = serve_client(transport, server, files, proof).await;
        }
    }));
    Ok(Serving { port, share: Some(share), trust_sha256: None, accepted, station: None, task })
}

/// Serve a client until it has gone.
async fn serve_client(
    mut transport: MessageTransport,
    server: Server,
    files: Files,
    proof: Proof,
) -> io::Result<()> {
    let mut challenge = [0; 8];
    getrandom::fill(&mut challenge).map_err(io::Error::other)?;
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let time = ticks_from_unix_ns(since_1970.as_nanos().cast_signed());
    let mut session = server.session(transport.facts(LONGEST_MESSAGE), challenge, time);
    let clock = SessionClock::new();
    let mut logins = LoginRules { proof };
    sessions::serve(&mut session, &mut transport, &mut Waited(files), &mut logins, &clock).await
}

/// Strangers have a time to log in, and few attempts.
struct LoginRules {
    proof: Proof,
}

impl Logins for LoginRules {
    fn longest_message(&self) -> usize {
        LONGEST_MESSAGE
    }

    fn succeeded(&mut self) {
        self.proof.give();
    }

    async fn failed(&mut self, count: u32) -> io::Result<()> {
        tokio::time::sleep(login::DELAY).await;
        if count > MAX_FAILED_LOGINS {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(())
    }
}

/// Files that a thread of the runtime waits for.
struct Waited(Files);

impl FileAnswers for Waited {
    async fn carry_out(&mut self, first: FileCall, session: &mut Session, data: &mut Vec<u8>) {
        while_others_run(|| {
            let mut call = first;
            loop {
                let answer = self.0.carry_out(call, data);
                session.handle_file_answer(answer, data);
                match session.poll_file_call(data) {
                    Some(next) => call = next,
                    None => return,
                }
            }
        });
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
