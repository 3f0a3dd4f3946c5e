//! Any octets as an Ethernet frame with LLC and NetBIOS, for the fuzz target and for the test that feeds it all
//! seeds: what is read is written the same, and read again.

use lanlab_wire::ethernet::{Frame, Framing, HEADER_LEN, MIN_FRAME_LEN};
use lanlab_wire::llc::{FrameReject, Header, Identification, UnknownControl};
use lanlab_wire::nbf::{AdapterStatus, NameHeader, SessionHeader};

pub fn nbf_frames(octets: &[u8]) {
    if let Ok(frame) = Frame::parse(octets) {
        let mut again = Vec::new();
        if frame.payload.len() <= 1500 - frame.header.framing.inner_len() {
            frame.emit(&mut again).unwrap();
            assert!(again.len() >= MIN_FRAME_LEN);
            let end = HEADER_LEN + frame.header.framing.inner_len() + frame.payload.len();
            assert_eq!(again[..end], octets[..end]);
            // A type says no length: what was padded is longer then.
            if !matches!(frame.header.framing, Framing::Type(_)) {
                assert_eq!(Frame::parse(&again), Ok(frame));
            }
        }
        llc(frame.payload);
    }
    llc(octets);
    netbios(octets);
}

fn llc(pdu: &[u8]) {
    match Header::parse(pdu) {
        Ok((header, information)) => {
            let mut again = Vec::new();
            header.emit(&mut again);
            again.extend_from_slice(information);
            assert_eq!(Header::parse(&again), Ok((header, information)));
            netbios(information);
            if let Ok(rejected) = FrameReject::parse(information) {
                assert_eq!(FrameReject::parse(&rejected.to_wire()), Ok(rejected));
            }
            if let Ok(identification) = Identification::parse(information) {
                assert_eq!(Identification::parse(&identification.to_wire()), Ok(identification));
            }
        }
        Err(_) => {
            let _ = UnknownControl::parse(pdu);
        }
    }
}

fn netbios(information: &[u8]) {
    let mut again = Vec::new();
    if let Ok((header, data)) = NameHeader::parse(information) {
        header.emit(&mut again);
        again.extend_from_slice(data);
        assert_eq!(again, information);
        if let Ok(status) = AdapterStatus::parse(data) {
            let mut octets = Vec::new();
            status.emit(&mut octets);
            assert_eq!(AdapterStatus::parse(&octets), Ok(status));
        }
    } else if let Ok((header, data)) = SessionHeader::parse(information) {
        header.emit(&mut again);
        again.extend_from_slice(data);
        assert_eq!(again, information);
    }
}
