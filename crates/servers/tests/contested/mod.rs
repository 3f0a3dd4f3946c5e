//! A served directory that others change at the same moment: programs of this host that put links,
//! pipes and directories in the place of files, and clients that want the same names.

mod names;
mod swaps;

use lanlab_files::{ServiceKind, Target};
use lanlab_servers::{Bounds, Offer, Serving};
use tempfile::TempDir;

use crate::stage::{offer, served_within};

/// Services whose files are served by code of this crate.
const ALL: [ServiceKind; 9] = [
    ServiceKind::Ftp,
    ServiceKind::Ftps,
    ServiceKind::Sftp,
    ServiceKind::Webdav,
    ServiceKind::Webdavs,
    ServiceKind::S3,
    ServiceKind::S3s,
    ServiceKind::Nfs,
    ServiceKind::Smb1,
];

async fn open_to_all(service: ServiceKind, base: &TempDir) -> (Serving, Target) {
    let offer = Offer { credentials: None, ..offer(service, &base.path().join("root")) };
    served_within(&offer, &Bounds::default()).await
}

/// How often a long test does what it repeats: as `CONTESTED` says, else as often as takes about a minute.
pub fn repeats(usual: usize) -> usize {
    std::env::var("CONTESTED").map_or(usual, |text| text.parse().expect("a number"))
}

fn threads() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().unwrap()
}
