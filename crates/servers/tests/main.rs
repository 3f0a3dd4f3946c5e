//! The tests of clients and servers, in one program. Clients and servers are futures, and those are
//! compiled anew in each program that awaits them: a program for each file took four times as long.
#![allow(clippy::large_futures, reason = "a test has room on its stack")]

/// A test by each of these names, which runs what stands behind it.
macro_rules! tests {
    ($($name:ident => $work:expr;)+) => {
        $(#[test]
        fn $name() {
            crate::multiplexed::run($work);
        })+
    };
}

// What tests share.
mod http_support;
mod multiplexed;
mod peer_programs;
mod stage;

mod conformance;
mod contested;
mod corpus;
mod ftp;
mod ganesha;
mod memory;
mod nbf;
mod nfs;
mod replaced;
mod s3;
mod s3_hostile;
mod s3_peers;
mod s3_server;
mod s3_signed;
mod samba;
mod sftp;
mod smb;
mod smb1;
mod smb_clients;
mod strangers;
mod webdav;
mod webdav_peers;
mod webdav_server;
