//! A file, or a part of one, as a response body.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::task::JoinHandle;

const BLOCK_BYTES: u64 = 1 << 18;

type Read1 = JoinHandle<(File, io::Result<Bytes>)>;

/// The next block is read while the last one is sent; no more is buffered.
#[derive(Debug)]
pub struct FileBody {
    reading: Option<Read1>,
    first: Option<Bytes>,
    left_bytes: u64,
    unread_bytes: u64,
}

impl FileBody {
    /// `size_bytes` bytes of `file` from `offset` on. Reads the first block, so call it where blocking is allowed,
    /// in a runtime.
    pub fn new(mut file: File, offset: u64, size_bytes: u64) -> io::Result<Self> {
        if offset > 0 {
            file.seek(SeekFrom::Start(offset))?;
        }
        let mut body = Self::empty();
        body.left_bytes = size_bytes;
        body.unread_bytes = size_bytes;
        if size_bytes > 0 {
            let block = read_block(&mut file, size_bytes.min(BLOCK_BYTES))?;
            body.unread_bytes -= block.len() as u64;
            body.first = Some(block);
            body.read_on(file);
        }
        Ok(body)
    }

    pub fn empty() -> Self {
        Self { reading: None, first: None, left_bytes: 0, unread_bytes: 0 }
    }

    fn read_on(&mut self, mut file: File) {
        if self.unread_bytes > 0 {
            let wanted = self.unread_bytes.min(BLOCK_BYTES);
            self.unread_bytes -= wanted;
            self.reading = Some(tokio::task::spawn_blocking(move || {
                let block = read_block(&mut file, wanted);
                (file, block)
            }));
        }
    }

    fn sent(&mut self, block: Bytes) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.left_bytes -= block.len() as u64;
        Poll::Ready(Some(Ok(Frame::data(block))))
    }
}

/// Read exactly `wanted` bytes. If the file has shrunk, the connection ends: the client must not get other bytes
/// than announced.
fn read_block(file: &mut File, wanted: u64) -> io::Result<Bytes> {
    let mut block = Vec::with_capacity(wanted as usize);
    file.take(wanted).read_to_end(&mut block)?;
    if block.len() as u64 != wanted {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(block.into())
}

impl Body for FileBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let body = self.get_mut();
        if let Some(first) = body.first.take() {
            return body.sent(first);
        }
        let Some(reading) = &mut body.reading else { return Poll::Ready(None) };
        let read = ready!(Pin::new(reading).poll(context));
        body.reading = None;
        let (file, block) = read.map_err(io::Error::other)?;
        let block = block?;
        body.read_on(file);
        body.sent(block)
    }

    fn is_end_stream(&self) -> bool {
        self.left_bytes == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left_bytes)
    }
}
