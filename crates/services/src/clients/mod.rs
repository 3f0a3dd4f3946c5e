//! One file for each service.

pub mod directory;
pub mod ftp;
pub(crate) mod http;
pub mod memory;
pub mod nfs;
pub mod s3;
pub mod sftp;
pub mod smb;
pub mod webdav;
