//! A file of frames in virtual time.

use std::fs::File;
use std::io::{BufWriter, Write};

use lanlab_wire::pcap;

use crate::messages::Failure;

/// A pcap file under way. It did not exist before.
pub struct PcapFile {
    file: BufWriter<File>,
    path: String,
    octets: Vec<u8>,
    written_bytes: u64,
    /// The first error of writing.
    written: std::io::Result<()>,
}

impl PcapFile {
    /// Begin a file.
    ///
    /// # Errors
    /// If it exists, or cannot be made.
    pub fn create(path: &str) -> Result<Self, Failure> {
        let file =
            File::create_new(path).map_err(|error| Failure::system(format!("`{path}`"), &error))?;
        let mut octets = Vec::new();
        pcap::emit_header(&mut octets);
        let mut file = BufWriter::new(file);
        let written = file.write_all(&octets);
        Ok(Self {
            file,
            path: path.to_owned(),
            written_bytes: octets.len() as u64,
            octets,
            written,
        })
    }

    /// Add a frame that was delivered at `at_ns`. After an error nothing more is written.
    pub fn add(&mut self, at_ns: u64, frame: &[u8]) {
        if self.written.is_err() {
            return;
        }
        self.octets.clear();
        pcap::emit_record(at_ns, frame, &mut self.octets);
        self.written_bytes += self.octets.len() as u64;
        self.written = self.file.write_all(&self.octets);
    }

    /// How long the file is.
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// End the file.
    ///
    /// # Errors
    /// The first error of writing.
    pub fn end(mut self) -> Result<(), Failure> {
        self.written
            .and_then(|()| self.file.flush())
            .map_err(|error| Failure::system(format!("`{}`", self.path), &error))
    }
}
