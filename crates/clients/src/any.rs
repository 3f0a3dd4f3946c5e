//! All services behind one type. A match costs nothing compared with an operation; a boxed future
//! would cost an allocation.

use lanlab_files::fault::{during, shown};
use lanlab_files::{
    Access, Class, Entry, Facts, Fault, Result, ServiceKind, ServicePath, Session, Target,
    TransferCapabilities,
};
use parking_lot::Mutex;

/// Maximum number of shares, exports or buckets in a list.
const MAX_PLACES: usize = 1_000;

/// Logins that a server refused, each with its fault: further attempts may lock the user out.
static REFUSED: Mutex<Vec<(Target, Fault)>> = Mutex::new(Vec::new());

macro_rules! services {
    ($($Service:ident in $module:ident for $($kind:ident)|+;)+) => {
        #[derive(Debug)]
        pub enum AnySession {
            $(
                #[doc = concat!("See `", stringify!($module), "`.")]
                $Service(crate::$module::Session),
            )+
        }

        #[derive(Debug)]
        enum Opened {
            $(
                $Service(crate::$module::File),
            )+
        }

        /// Connect and log in.
        pub async fn connect(target: &Target) -> Result<AnySession> {
            check_secret(target)?;
            match target.service {
                $($(ServiceKind::$kind)|+ => {
                    crate::$module::connect(target).await.map(AnySession::$Service)
                })+
            }
            .map_err(|fault| at_beginning(fault, target.service))
        }

        macro_rules! each {
            ($self:expr, $session:ident => $call:expr) => {
                match $self { $(AnySession::$Service($session) => $call,)+ }
            };
        }

        macro_rules! each_file {
            ($self:expr, $file:expr, $session:ident, $of:ident => $call:expr) => {
                match ($self, $file) {
                    $((AnySession::$Service($session), Opened::$Service($of)) => $call,)+
                    #[allow(unreachable_patterns, reason = "needed from the second service on")]
                    _ => Err(Fault::new(Class::Unsupported, "a file of another session")),
                }
            };
        }

        impl Session for AnySession {
            type File = AnyFile;

            fn capabilities(&self) -> TransferCapabilities {
                each!(self, session => session.capabilities())
            }

            fn one_way_capabilities(&self, reads: bool) -> TransferCapabilities {
                each!(self, session => session.one_way_capabilities(reads))
            }

            fn facts(&self) -> Facts {
                each!(self, session => session.facts())
            }

            fn largest_file_bytes(&self) -> u64 {
                each!(self, session => session.largest_file_bytes())
            }

            fn has_directories(&self) -> bool {
                each!(self, session => session.has_directories())
            }

            async fn open(&self, name: &ServicePath, access: Access) -> Result<AnyFile> {
                let path = name.as_str().to_owned();
                let opened = match self {
                    $(Self::$Service(session) => {
                        session.open(name, access).await.map(Opened::$Service)
                    })+
                };
                let of = opened.map_err(self.during("open", &path))?;
                Ok(AnyFile { of, path })
            }

            async fn read_at(
                &self,
                file: &AnyFile,
                offset: u64,
                buffer: &mut [u8],
            ) -> Result<usize> {
                each_file!(self, &file.of, session, of => session.read_at(of, offset, buffer).await)
                    .map_err(self.during("read", &file.path))
            }

            async fn write_at(&self, file: &AnyFile, offset: u64, data: &[u8]) -> Result<()> {
                each_file!(self, &file.of, session, of => session.write_at(of, offset, data).await)
                    .map_err(self.during("write", &file.path))
            }

            async fn write_parts_at(
                &self,
                file: &AnyFile,
                offset: u64,
                parts: [&[u8]; 2],
            ) -> Result<()> {
                each_file!(self, &file.of, session, of => {
                    session.write_parts_at(of, offset, parts).await
                })
                .map_err(self.during("write", &file.path))
            }

            async fn sync(&self, file: &AnyFile) -> Result<()> {
                each_file!(self, &file.of, session, of => session.sync(of).await)
                    .map_err(self.during("sync", &file.path))
            }

            async fn close(&self, file: AnyFile) -> Result<()> {
                each_file!(self, file.of, session, of => session.close(of).await)
                    .map_err(self.during("close", &file.path))
            }

            async fn remove(&self, path: &ServicePath) -> Result<()> {
                each!(self, session => session.remove(path).await)
                    .map_err(self.during("remove", path.as_str()))
            }

            async fn list(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
                each!(self, session => session.list(path).await)
                    .map_err(self.during("list", shown(path)))
            }

            async fn make_directory(&self, path: &ServicePath) -> Result<()> {
                each!(self, session => session.make_directory(path).await)
                    .map_err(self.during("make directory", path.as_str()))
            }

            async fn remove_directory(&self, path: &ServicePath) -> Result<()> {
                each!(self, session => session.remove_directory(path).await)
                    .map_err(self.during("remove directory", path.as_str()))
            }

            async fn stat(&self, path: &ServicePath) -> Result<Entry> {
                each!(self, session => session.stat(path).await)
                    .map_err(self.during("stat", path.as_str()))
            }

            async fn rename(&self, from: &ServicePath, to: &ServicePath) -> Result<()> {
                each!(self, session => session.rename(from, to).await)
                    .map_err(self.during("rename", from.as_str()))
            }

            async fn end(self) -> Result<()> {
                let ending = async { each!(self, session => session.end().await) };
                crate::exchanges::uncounted(ending).await
            }
        }
    };
}

/// An open file of any service, with its name for errors.
#[derive(Debug)]
pub struct AnyFile {
    of: Opened,
    path: String,
}

impl AnySession {
    /// Name the operation and the file in a fault, unless the service's client does so itself.
    fn during<'a>(&self, verb: &'a str, path: &'a str) -> impl Fn(Fault) -> Fault + use<'a> {
        type S = AnySession;
        let is_unnamed = matches!(self, S::Memory(_) | S::Nfs(_) | S::Nfs4(_) | S::Smb(_));
        move |fault| if is_unnamed { during(verb, path)(fault) } else { fault }
    }
}

/// Names of the shares, exports or buckets that a server offers to a user, for a target without one.
pub async fn places(target: &Target) -> Result<Vec<String>> {
    check_secret(target)?;
    let listed = match target.service {
        ServiceKind::Smb => crate::smb::shares(target).await,
        ServiceKind::Nfs => crate::nfs::mounting::exported(target).await,
        ServiceKind::Nfs4 => crate::nfs4::exports(target).await,
        ServiceKind::S3 | ServiceKind::S3s => crate::s3::buckets(target).await,
        _ => {
            let message = "this service has no list of shares";
            return Err(Fault::new(Class::Unsupported, message));
        }
    };
    let mut names = listed.map_err(|fault| at_beginning(fault, target.service))?;
    names.retain(|name| !name.chars().any(char::is_control));
    names.truncate(MAX_PLACES);
    Ok(names)
}

fn check_secret(target: &Target) -> Result<()> {
    let is_key = target.credentials.as_ref().is_some_and(|login| login.private_key().is_some());
    if !is_key || target.service == ServiceKind::Sftp {
        return Ok(());
    }
    let message = "the password is a private key, which only SFTP uses; it was not sent";
    Err(Fault::new(Class::Login, message).hint("give the user's password"))
}

/// Connect and log in, unless the server has refused this login in this process.
///
/// # Errors
/// As [`connect`]; the same fault again if the server has refused this user before.
pub async fn connect_unless_refused(target: &Target) -> Result<AnySession> {
    let refused = || REFUSED.lock();
    if let Some((_, fault)) = refused().iter().find(|(other, _)| target.has_login_of(other)) {
        return Err(fault.clone());
    }
    connect(target).await.inspect_err(|fault| {
        if fault.class == Class::Login && target.credentials.is_some() {
            refused().push((target.clone(), fault.clone()));
        }
    })
}

/// A fault during connecting, with a hint. No file is involved yet.
fn at_beginning(fault: Fault, service: ServiceKind) -> Fault {
    if fault.hint.is_some() {
        return fault;
    }
    let hint = match fault.class {
        Class::Missing => "check that the share, bucket or directory exists",
        Class::Name => "see whether the name of the server and the directory are right",
        Class::Reset => "check that it is a server of this service and accepts this host",
        Class::TimedOut if service == ServiceKind::Ftps => {
            "lanlab does not support implicit TLS (often port 990); if the server answers slowly, allow \
             more by `--timeout`"
        }
        Class::TimedOut => {
            "check that it is a server of this service; if it answers slowly, allow more by `--timeout`"
        }
        _ => return fault,
    };
    fault.hint(hint)
}

services! {
    Directory in directory for Directory;
    Memory in memory for Memory;
    Ftp in ftp for Ftp | Ftps;
    Sftp in sftp for Sftp;
    Webdav in webdav for Webdav | Webdavs;
    Nfs in nfs for Nfs;
    Nfs4 in nfs4 for Nfs4;
    Smb in smb for Smb;
    Smb1 in smb1 for Smb1;
    Ncp in ncp for Ncp;
    S3 in s3 for S3 | S3s;
}
