//! Incoming records and outgoing replies, within the server's memory budget.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::BufMut;
use lanlab_wire::nfs3::rpc;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::Bounds;
use crate::admission::{MemoryBudget, Reservation, Whose};

use super::MAX_RECORD_OCTETS;

/// Largest record or reply that fits each connection's own buffer, bytes.
pub const SMALL_OCTETS: usize = 8 << 10;

/// Buffers for long records kept for reuse: as many as a few processors use at once.
const MAX_SPARE: usize = 8;

/// While others wait for room, a long record without progress for this time is dropped.
const CROWDED: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct Records {
    known: Arc<MemoryBudget>,
    strangers: Arc<MemoryBudget>,
    spare: Mutex<Vec<Vec<u8>>>,
    patience: Duration,
}

impl Records {
    pub fn new(bounds: &Bounds) -> Arc<Self> {
        Arc::new(Self {
            known: MemoryBudget::new(bounds.records_bytes, CROWDED.min(bounds.record)),
            strangers: MemoryBudget::new(bounds.strangers_bytes / 2, bounds.crowded),
            spare: Mutex::default(),
            patience: bounds.record,
        })
    }
}

#[derive(Debug)]
pub struct Held {
    records: Arc<Records>,
    whose: Whose,
    hold: Option<Reservation>,
    pub is_known: bool,
}

impl Held {
    pub fn new(records: Arc<Records>, whose: Whose) -> Self {
        Self { records, whose, hold: None, is_known: false }
    }

    pub async fn make_room(&mut self, octets: usize, buffer: &mut Vec<u8>) -> Option<()> {
        if octets > SMALL_OCTETS && self.hold.is_none() {
            let records = &self.records;
            let room = if self.is_known { &records.known } else { &records.strangers };
            self.hold = Some(room.hold(octets, self.whose).await?);
            if let Some(mut spare) = self.records.spare.lock().pop() {
                spare.clear();
                spare.extend_from_slice(buffer);
                *buffer = spare;
            }
        }
        Some(())
    }

    pub fn release(&mut self, buffers: [&mut Vec<u8>; 2]) {
        for buffer in buffers {
            if buffer.capacity() <= SMALL_OCTETS {
                continue;
            }
            let long = std::mem::take(buffer);
            let mut spare = self.records.spare.lock();
            if spare.len() < MAX_SPARE {
                spare.push(long);
            }
        }
        self.hold = None;
    }

    async fn step(&self, work: impl Future<Output = io::Result<usize>>) -> Option<usize> {
        let ended = async {
            match &self.hold {
                Some(hold) => hold.ended().await,
                None => std::future::pending().await,
            }
        };
        let done = tokio::select! {
            biased;
            done = work => done.ok()?,
            () = ended => return None,
            () = tokio::time::sleep(self.records.patience) => return None,
        };
        if let Some(hold) = &self.hold {
            hold.moved();
        }
        (done > 0).then_some(done)
    }
}

/// Read one record of bounded size, reserving memory as it arrives.
pub async fn read_record(
    stream: &mut (impl AsyncRead + Unpin),
    record: &mut Vec<u8>,
    held: &mut Held,
) -> Option<()> {
    record.clear();
    let mut is_first = true;
    loop {
        let mut header = [0; 4];
        let reading = stream.read_exact(&mut header);
        if std::mem::take(&mut is_first) {
            // Idle clients have no time limit.
            reading.await.ok()?;
        } else {
            held.step(reading).await?;
        }
        let (length, last) = rpc::fragment(header);
        let whole = record.len() + length;
        if whole > MAX_RECORD_OCTETS || (length == 0 && !last) {
            return None;
        }
        // Reserving room bit by bit could deadlock two waiting connections.
        let longest = if last { whole } else { MAX_RECORD_OCTETS };
        held.make_room(longest, record).await?;
        while record.len() < whole {
            let missing = whole - record.len();
            held.step(stream.read_buf(&mut (&mut *record).limit(missing))).await?;
        }
        if last {
            return Some(());
        }
    }
}

pub async fn write_answer(
    stream: &mut (impl AsyncWrite + Unpin),
    mut answer: &[u8],
    held: &Held,
) -> Option<()> {
    while !answer.is_empty() {
        let count = held.step(stream.write(answer)).await?;
        answer = &answer[count..];
    }
    Some(())
}
