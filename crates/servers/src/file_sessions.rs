//! Sessions of historic services over the kernel's TCP or an Ethernet carrier, each with a server of the `stack`
//! crate and files of a directory.

use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use lanlab_connections::{MessageTransport, SessionClock};
use lanlab_served::Files;
use lanlab_sessions::{self as sessions, FileAnswers, Logins};
use lanlab_stack::file_server::{FileServer, Remark, Session};
use lanlab_stack::files::FileCall;
use lanlab_wire::smb1::time::ticks_from_unix_ns;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

use crate::admission::Proof;
use crate::login;
use crate::visits::READ_ONLY;

/// Longest message: 128 KiB of data, as clients of Windows and Samba write, plus headers, bytes.
const LONGEST_MESSAGE: usize = (128 << 10) + 1024;

/// File calls of a client before those of others: a search without a match makes thousands.
const CALLS_AT_ONCE: usize = 4;

const MAX_FAILED_LOGINS: u32 = 5;

/// Serve a client until it disconnects, or an error ends its connection.
pub async fn serve_client(
    mut transport: MessageTransport,
    server: impl FileServer,
    files: Files,
    proof: Proof,
) {
    let mut challenge = [0; 8];
    if getrandom::fill(&mut challenge).is_err() {
        return;
    }
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let time = ticks_from_unix_ns(since_1970.as_nanos().cast_signed());
    let mut session = server.session(transport.facts(LONGEST_MESSAGE), challenge, time);
    let clock = SessionClock::new();
    let mut logins = LoginRules { proof };
    let mut files = Waited(files);
    let _ = sessions::serve(&mut session, &mut transport, &mut files, &mut logins, &clock).await;
}

struct LoginRules {
    proof: Proof,
}

impl Logins for LoginRules {
    fn longest_message(&self) -> usize {
        LONGEST_MESSAGE
    }

    fn heard(&mut self) {
        self.proof.went_on();
    }

    fn succeeded(&mut self) {
        self.proof.give();
    }

    fn remarked(&mut self, remark: Remark) {
        let visitor = self.proof.visitor();
        match remark {
            Remark::Admitted { user, dialect } => visitor.admitted(user.as_deref(), Some(dialect)),
            Remark::SharePassword { dialect } => visitor.knew_the_share_password(dialect),
            Remark::WrongPassword { user: Some(user), dialect } => {
                visitor.wrong_password(&user, Some(dialect));
            }
            Remark::WrongPassword { user: None, dialect } => {
                visitor.refused(&format!("wrong password of the share ({dialect})"));
            }
            Remark::ReadOnly => visitor.refused(READ_ONLY),
            Remark::Refused(what) => visitor.refused(&what),
        }
    }

    async fn failed(&mut self, count: u32) -> io::Result<()> {
        tokio::time::sleep(login::DELAY).await;
        if count > MAX_FAILED_LOGINS {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(())
    }
}

struct Waited(Files);

impl FileAnswers for Waited {
    async fn carry_out(&mut self, first: FileCall, session: &mut Session, data: &mut Vec<u8>) {
        let mut call = Some(first);
        while let Some(next) = call {
            let mut is_waiting = false;
            call = while_others_run(|| {
                let mut next = next;
                for _ in 0..CALLS_AT_ONCE {
                    let Some(answer) = self.0.carry_out(&next, data) else {
                        is_waiting = true;
                        break;
                    };
                    session.handle_file_answer(answer, data);
                    next = session.poll_file_call(data)?;
                }
                Some(next)
            });
            if is_waiting {
                tokio::time::sleep(Files::WAIT).await;
            } else if call.is_some() {
                tokio::task::yield_now().await;
            }
        }
    }
}

/// Do work that may block on a disk. Another thread of the runtime takes over other tasks. A single-threaded
/// runtime, as used for virtual time, has none, so its other tasks wait.
pub fn while_others_run<R>(work: impl FnOnce() -> R) -> R {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => block_in_place(work),
        _ => work(),
    }
}
