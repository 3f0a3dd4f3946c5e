//! Packets of other clients and servers, with what tshark makes of them.

use std::collections::BTreeMap;

use lanlab_wire::nbss::HEADER_LEN;

const FRAMES: &str = include_str!("../frames/smb1.txt");

/// A packet and what tshark makes of it.
pub struct Frame {
    /// Whether a client sent it.
    pub from_client: bool,
    /// The packet with its NBSS header.
    pub packet: Vec<u8>,
    /// Fields of tshark, without `smb.` before their names.
    pub fields: BTreeMap<&'static str, &'static str>,
}

impl Frame {
    pub fn message(&self) -> &[u8] {
        &self.packet[HEADER_LEN..]
    }
}

pub fn frames() -> Vec<Frame> {
    let lines: Vec<_> = FRAMES.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines.len(), 586, "two lines for each packet");
    let pairs = lines.chunks_exact(2);
    pairs
        .map(|pair| Frame {
            from_client: pair[0].starts_with('>'),
            packet: hex::decode(&pair[0][2..]).unwrap(),
            fields: pair[1].trim().split('\t').filter_map(|field| field.split_once('=')).collect(),
        })
        .collect()
}

pub fn messages() -> Vec<Frame> {
    let is_message = |frame: &Frame| frame.message().starts_with(b"\xffSMB");
    frames().into_iter().filter(is_message).collect()
}
