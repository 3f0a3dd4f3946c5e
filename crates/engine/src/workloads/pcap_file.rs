//! A capture file with virtual times.

use std::fs::File;
use std::io::{BufWriter, Write};

use lanlab_wire::pcap;

use crate::messages::Failure;

pub struct PcapFile {
    file: BufWriter<File>,
    path: String,
    octets: Vec<u8>,
    pub written_bytes: u64,
    written: std::io::Result<()>,
}

impl PcapFile {
    /// Create a capture file.
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

    /// Add a frame delivered at `at_ns`. After an error nothing more is written.
    pub fn add(&mut self, at_ns: u64, frame: &[u8]) {
        if self.written.is_err() {
            return;
        }
        self.octets.clear();
        pcap::emit_record(at_ns, frame, &mut self.octets);
        self.written_bytes += self.octets.len() as u64;
        self.written = self.file.write_all(&self.octets);
    }

    pub fn end(mut self) -> Result<(), Failure> {
        self.written
            .and_then(|()| self.file.flush())
            .map_err(|error| Failure::system(format!("`{}`", self.path), &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_has_every_frame_and_the_reported_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("frames.pcap");
        let path = path.to_str().unwrap();
        let mut file = PcapFile::create(path).unwrap();
        // A header of 24 octets, and 16 before each frame.
        assert_eq!(file.written_bytes, 24);
        file.add(1, &[7; 60]);
        assert_eq!(file.written_bytes, 24 + 16 + 60);
        file.add(2, &[8; 100]);
        assert_eq!(file.written_bytes, 24 + 16 + 60 + 16 + 100);
        file.end().unwrap();
        let octets = std::fs::read(path).unwrap();
        assert_eq!(octets.len(), 216);
        assert_eq!((&octets[40..100], &octets[116..]), (&[7; 60][..], &[8; 100][..]));
        assert_eq!(PcapFile::create(path).err().map(|failure| failure.code), Some("system.call"));
    }

    #[test]
    fn write_errors_of_a_capture_are_reported_at_the_end() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut file = PcapFile {
            file: BufWriter::new(full),
            path: "/dev/full".to_owned(),
            octets: Vec::new(),
            written_bytes: 0,
            written: Ok(()),
        };
        file.add(1, &[7; 60]);
        let failure = file.end().unwrap_err();
        assert!(failure.message.starts_with("`/dev/full`: "), "{failure}");
    }
}
