//! NFS version 3 (RFC 1813) on a directory, with its mount protocol at the same port.
//!
//! It has no passwords, and no use for the credentials of an offer: whoever reaches the address is
//! served. What clients write is not on the disk when that is answered, and is brought there by COMMIT,
//! as by the server of a kernel.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::fault::{Fault, Result};
use crate::nfs3::rpc;
use crate::servers::{Offer, Serving, accept_all, listen};

pub mod answer;
mod change;
pub mod files;
pub mod handles;
mod look;

use files::Files;

/// The one export.
const EXPORT: &str = "/lanlab";

/// Octets of data that a call may carry or ask for.
pub const MAX_DATA_OCTETS: u32 = 1 << 20;

/// Octets of a call: data, and all that can stand before it.
pub const MAX_RECORD_OCTETS: usize = MAX_DATA_OCTETS as usize + (16 << 10);

/// Begin to serve.
#[expect(clippy::unused_async, reason = "as every service is begun")]
pub async fn serve(offer: &Offer) -> Result<Serving> {
    let files = Files::new(&offer.root, offer.read_only)
        .map_err(|error| Fault::of_file(offer.root.display(), &error))?;
    let files = Arc::new(files);
    let (listener, port) = listen(offer)?;
    let accepted = Arc::new(AtomicU64::new(0));
    // It owns the connections, so that they end with the task that accepts them.
    let mut connections = JoinSet::new();
    let task = tokio::spawn(accept_all(listener, Arc::clone(&accepted), move |stream, _| {
        while connections.try_join_next().is_some() {}
        connections.spawn(serve_one(stream, Arc::clone(&files)));
    }));
    Ok(Serving { port, share: Some(EXPORT.to_owned()), trust_sha256: None, accepted, task })
}

/// Answer calls in the order in which they come, until the client ends or makes no sense.
async fn serve_one(mut stream: TcpStream, files: Arc<Files>) {
    let (mut record, mut memory) = (Vec::new(), Vec::new());
    while read_record(&mut stream, &mut record).await.is_some() {
        let files = Arc::clone(&files);
        // Files are read and written by calls that keep their thread.
        let answering = tokio::task::spawn_blocking(move || {
            let reply = answer::answer(&files, &record, memory);
            (record, reply)
        });
        let Ok((used, Some(reply))) = answering.await else { return };
        record = used;
        if stream.write_all(&reply).await.is_err() {
            return;
        }
        memory = reply;
    }
}

/// Read one record of bounded size.
pub async fn read_record(
    stream: &mut (impl AsyncRead + Unpin),
    record: &mut Vec<u8>,
) -> Option<()> {
    use bytes::BufMut;
    record.clear();
    loop {
        let mut header = [0; 4];
        stream.read_exact(&mut header).await.ok()?;
        let (length, last) = rpc::fragment(header);
        let whole = record.len() + length;
        if whole > MAX_RECORD_OCTETS || (length == 0 && !last) {
            return None;
        }
        while record.len() < whole {
            let missing = whole - record.len();
            if stream.read_buf(&mut (&mut *record).limit(missing)).await.ok()? == 0 {
                return None;
            }
        }
        if last {
            return Some(());
        }
    }
}
