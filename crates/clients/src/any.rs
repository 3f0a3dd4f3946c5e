//! All services behind one type. A match costs nothing compared with an operation; a boxed future
//! would cost an allocation.

use lanlab_files::{
    Access, Class, Entry, Facts, Fault, Result, ServiceKind, ServicePath, Session, Target,
    TransferCapabilities,
};

/// Maximum number of shares or buckets in a list.
const MAX_PLACES: usize = 1_000;

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
        pub enum AnyFile {
            $(
                #[doc = concat!("See `", stringify!($module), "`.")]
                $Service(crate::$module::File),
            )+
        }

        /// Connect and log in.
        ///
        /// # Errors
        /// A fault of the server, its address, or the user.
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
                    $((AnySession::$Service($session), AnyFile::$Service($of)) => $call,)+
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

            fn facts(&self) -> Facts {
                each!(self, session => session.facts())
            }

            fn largest_file_bytes(&self) -> u64 {
                each!(self, session => session.largest_file_bytes())
            }

            fn has_directories(&self) -> bool {
                each!(self, session => session.has_directories())
            }

            async fn open(&self, path: &ServicePath, access: Access) -> Result<AnyFile> {
                match self {
                    $(Self::$Service(session) => {
                        session.open(path, access).await.map(AnyFile::$Service)
                    })+
                }
            }

            async fn read_at(
                &self,
                file: &AnyFile,
                offset: u64,
                buffer: &mut [u8],
            ) -> Result<usize> {
                each_file!(self, file, session, of => session.read_at(of, offset, buffer).await)
            }

            async fn write_at(&self, file: &AnyFile, offset: u64, data: &[u8]) -> Result<()> {
                each_file!(self, file, session, of => session.write_at(of, offset, data).await)
            }

            async fn write_parts_at(
                &self,
                file: &AnyFile,
                offset: u64,
                parts: [&[u8]; 2],
            ) -> Result<()> {
                each_file!(self, file, session, of => {
                    session.write_parts_at(of, offset, parts).await
                })
            }

            async fn sync(&self, file: &AnyFile) -> Result<()> {
                each_file!(self, file, session, of => session.sync(of).await)
            }

            async fn close(&self, file: AnyFile) -> Result<()> {
                each_file!(self, file, session, of => session.close(of).await)
            }

            async fn remove(&self, path: &ServicePath) -> Result<()> {
                each!(self, session => session.remove(path).await)
            }

            async fn list(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
                each!(self, session => session.list(path).await)
            }

            async fn make_directory(&self, path: &ServicePath) -> Result<()> {
                each!(self, session => session.make_directory(path).await)
            }

            async fn remove_directory(&self, path: &ServicePath) -> Result<()> {
                each!(self, session => session.remove_directory(path).await)
            }

            async fn stat(&self, path: &ServicePath) -> Result<Entry> {
                each!(self, session => session.stat(path).await)
            }

            async fn rename(&self, from: &ServicePath, to: &ServicePath) -> Result<()> {
                each!(self, session => session.rename(from, to).await)
            }

            async fn end(self) -> Result<()> {
                let ending = async { each!(self, session => session.end().await) };
                crate::exchanges::uncounted(ending).await
            }
        }
    };
}

/// Names of the shares or buckets that a server offers to a user, for a target without one.
///
/// # Errors
/// The service has no such names, or the server, its address or the user is invalid.
pub async fn places(target: &Target) -> Result<Vec<String>> {
    check_secret(target)?;
    let listed = match target.service {
        ServiceKind::Smb => crate::smb::shares(target).await,
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
