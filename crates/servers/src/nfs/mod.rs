//! NFS version 3 (RFC 1813) on a directory, with its mount protocol and a portmapper at the same port.
//!
//! It ignores credentials: every client that reaches the address is served. Writes are answered before they reach
//! the disk, and COMMIT flushes them, as kernel servers do.

use std::sync::Arc;

use lanlab_files::{Fault, Result};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use crate::admission::{Admission, Proof};
use crate::visits::Visits;
use crate::{Bounds, Offer, Serving, listen};

pub mod answer;
pub mod files;
pub mod handles;
mod read_procedures;
pub mod records;
#[cfg(test)]
mod replay_tests;
mod write_procedures;

use files::Files;
use records::{Held, Records, read_record, write_answer};

const EXPORT: &str = "/lanlab";

pub const MAX_DATA_OCTETS: u32 = 1 << 20;

/// Longest call: data and headers, bytes.
pub const MAX_RECORD_OCTETS: usize = MAX_DATA_OCTETS as usize + (16 << 10);

const STRANGER_BYTES: usize = 16 << 10;

/// Reading a large directory occupies a thread for seconds; other calls need some.
const LISTINGS_AT_ONCE: usize = 4;

pub fn serve(offer: &Offer, bounds: &Bounds) -> Result<Serving> {
    let mut files = Files::new(&offer.root, offer.read_only)
        .map_err(|error| Fault::of_file(offer.root.display(), &error))?;
    let (listener, port) = listen(offer)?;
    files.port = port;
    let files = Arc::new(files);
    let listings = Arc::new(Semaphore::new(LISTINGS_AT_ONCE));
    let visits = Arc::new(Visits::default());
    let records = Records::new(bounds);
    // Clients that have not logged in: half of their memory is for connections, half for RPC records.
    let strangers_bytes = bounds.strangers_bytes / 2;
    let admission = Admission::new(&Bounds { strangers_bytes, ..*bounds }, STRANGER_BYTES, &visits);
    let task = tokio::spawn(admission.serve(listener, move |stream, peer, proof| {
        serve_one(
            stream,
            (Arc::clone(&files), Arc::clone(&listings)),
            Held::new(Arc::clone(&records), peer.ip().into()),
            proof,
        )
    }));
    let share = Some(EXPORT.to_owned());
    Ok(Serving { port, share, trust_sha256: None, visits, station: None, task })
}

async fn serve_one(
    mut stream: TcpStream,
    (files, listings): (Arc<Files>, Arc<Semaphore>),
    mut held: Held,
    proof: Proof,
) {
    let (mut record, mut memory) = (Vec::new(), Vec::new());
    while read_record(&mut stream, &mut record, &mut held).await.is_some() {
        let longest = answer::longest(&record);
        if held.make_room(longest, &mut memory).await.is_none() {
            return;
        }
        let is_listing = answer::is_listing(&record);
        let _turn = if is_listing { listings.acquire().await.ok() } else { None };
        let files = Arc::clone(&files);
        // File calls block their thread.
        let answering = tokio::task::spawn_blocking(move || {
            let reply = answer::answer(&files, &record, memory);
            let refused = reply.as_ref().and_then(|reply| answer::refused(&record, reply));
            (record, reply, refused)
        });
        let Ok((used, Some(reply), refused)) = answering.await else { return };
        (record, memory) = (used, reply);
        if !std::mem::replace(&mut held.is_known, true) {
            proof.admit(None, None);
        }
        if let Some(refused) = refused {
            proof.visitor().refused(&refused);
        }
        if write_answer(&mut stream, &memory, &held).await.is_none() {
            return;
        }
        held.release([&mut record, &mut memory]);
    }
}
