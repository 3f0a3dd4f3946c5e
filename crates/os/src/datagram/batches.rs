//! Buffers for many datagrams, in the form of `sendmmsg` and `recvmmsg`.

use super::control::{CONTROL_BYTES, Control, ControlNotes};
use crate::{BATCH_MESSAGES, Received};

#[derive(Debug)]
pub struct SendBatch {
    pub(super) message_bytes: usize,
    pub(super) octets: Vec<u8>,
    vectors: Vec<libc::iovec>,
    pub(super) headers: Vec<libc::mmsghdr>,
}

impl SendBatch {
    /// Room for `messages` messages of `message_bytes`, filled with `padding`'s bytes in turn.
    pub fn new(messages: usize, message_bytes: usize, padding: impl FnMut() -> u8) -> Self {
        let messages = messages.clamp(1, BATCH_MESSAGES);
        let octets = std::iter::repeat_with(padding).take(messages * message_bytes).collect();
        let vector = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        // SAFETY: all-zero is a valid mmsghdr.
        let header: libc::mmsghdr = unsafe { std::mem::zeroed() };
        Self {
            message_bytes,
            octets,
            vectors: vec![vector; messages],
            headers: vec![header; messages],
        }
    }

    pub fn capacity(&self) -> usize {
        self.headers.len()
    }

    pub fn message(&mut self, index: usize) -> &mut [u8] {
        let start = index * self.message_bytes;
        &mut self.octets[start..start + self.message_bytes]
    }

    /// Point the headers at the bytes, which may have moved with `self` since the last call.
    pub(super) fn point(&mut self, count: usize) -> usize {
        let count = count.clamp(1, self.headers.len());
        for (index, message) in
            self.octets.chunks_mut(self.message_bytes.max(1)).take(count).enumerate()
        {
            self.vectors[index] =
                libc::iovec { iov_base: message.as_mut_ptr().cast(), iov_len: message.len() };
            self.headers[index].msg_hdr.msg_iov = &raw mut self.vectors[index];
            self.headers[index].msg_hdr.msg_iovlen = 1;
        }
        count
    }
}

#[derive(Debug)]
pub struct ReceiveBatch {
    buffer_bytes: usize,
    pub(super) octets: Vec<u8>,
    controls: Vec<Control>,
    vectors: Vec<libc::iovec>,
    pub(super) headers: Vec<libc::mmsghdr>,
    pub(super) received: usize,
    pub(super) is_plain: bool,
}

impl ReceiveBatch {
    /// Room for `buffers` datagrams of at most `buffer_bytes`; longer ones are truncated.
    pub fn new(buffers: usize, buffer_bytes: usize) -> Self {
        let buffers = buffers.clamp(1, BATCH_MESSAGES);
        let vector = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        // SAFETY: all-zero is a valid mmsghdr.
        let header: libc::mmsghdr = unsafe { std::mem::zeroed() };
        Self {
            buffer_bytes,
            octets: vec![0; buffers * buffer_bytes],
            controls: vec![Control([0; CONTROL_BYTES]); buffers],
            vectors: vec![vector; buffers],
            headers: vec![header; buffers],
            received: 0,
            is_plain: false,
        }
    }

    /// Room for one datagram without control messages: drops and timestamps are not reported, and joined datagrams
    /// are not split. Saves a tenth of a microsecond.
    pub fn plain(buffer_bytes: usize) -> Self {
        Self { is_plain: true, ..Self::new(1, buffer_bytes) }
    }

    pub fn capacity(&self) -> usize {
        self.headers.len()
    }

    pub fn received(&self) -> impl Iterator<Item = Received<'_>> {
        self.headers[..self.received].iter().enumerate().map(|(index, header)| {
            let start = index * self.buffer_bytes;
            let length = (header.msg_len as usize).min(self.buffer_bytes);
            let notes = ControlNotes::of(&header.msg_hdr);
            Received {
                bytes: &self.octets[start..start + length],
                segment_bytes: notes.segment_bytes,
                drops: notes.drops,
                kernel_realtime_ns: notes.kernel_realtime_ns,
            }
        })
    }

    /// Point the headers at the buffers, which may have moved with `self`, and restore the lengths
    /// that the last receive has overwritten.
    pub(super) fn point(&mut self) {
        let buffers = self.octets.chunks_mut(self.buffer_bytes.max(1));
        for (index, buffer) in buffers.enumerate().take(self.headers.len()) {
            self.vectors[index] =
                libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
            let header = &mut self.headers[index].msg_hdr;
            header.msg_iov = &raw mut self.vectors[index];
            header.msg_iovlen = 1;
            header.msg_control = self.controls[index].0.as_mut_ptr().cast();
            header.msg_controllen = CONTROL_BYTES as _;
        }
    }
}
