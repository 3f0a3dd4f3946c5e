use proptest::prelude::*;

use super::*;

fn any_name() -> impl Strategy<Value = Name> {
    any::<[u8; 16]>().prop_map(Name)
}

#[test]
fn name_queries_have_the_documented_layout() {
    let header = NameHeader {
        command: NameCommand::NameQuery,
        data1: 0,
        data2: 0x0005,
        transmit_correlator: 0,
        response_correlator: 0x1234,
        destination: Name::new("SERVER", 0x20).unwrap(),
        source: Name::new("STATION", 0).unwrap(),
    };
    let mut octets = Vec::new();
    header.emit(&mut octets);
    assert_eq!(octets[..12], [0x2c, 0, 0xff, 0xef, 0x0a, 0, 5, 0, 0, 0, 0x34, 0x12]);
    assert_eq!(&octets[12..28], b"SERVER         \x20");
    assert_eq!(&octets[28..], b"STATION        \0");
    assert_eq!(NameHeader::parse(&octets), Ok((header, &[][..])));
}

#[test]
fn a_wrong_length_delimiter_or_command_is_named() {
    let mut octets = vec![0; SESSION_HEADER_LEN];
    octets[..5].copy_from_slice(&[0x0e, 0, 0xff, 0xef, 0x1d]);
    let error = |octets: &[u8]| SessionHeader::parse(octets).unwrap_err().to_string();
    assert_eq!(error(&octets), "nbf: field `command` at octet 4 has forbidden value 0x1d");
    octets[3] = 0xee;
    assert_eq!(error(&octets), "nbf: field `delimiter` at octet 2 has forbidden value 0xeeff");
    octets[0] = 0x2c;
    assert_eq!(error(&octets), "nbf: field `length` at octet 0 has forbidden value 0x2c");
    assert_eq!(error(&octets[..13]), "nbf: need 14 octets, got 13");
}

#[test]
fn the_permanent_name_ends_in_the_address() {
    let name = permanent_name(Mac([1, 2, 3, 4, 5, 6]));
    assert_eq!(name.0, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn truncated_status_replies_keep_the_name_count() {
    let entry = |number| NameEntry { name: NO_NAME, number, state: NameEntry::REGISTERED };
    let status = AdapterStatus {
        mac: Mac([2, 0, 0, 0, 0, 1]),
        major_version: 3,
        adapter_type: 0xfe,
        minutes: 7,
        frame_rejects_received: 1,
        frame_rejects_sent: 2,
        information_receive_errors: 3,
        aborted_transmissions: 4,
        sent_packets: 5,
        received_packets: 6,
        information_send_errors: 8,
        lost_for_buffers: 9,
        t1_expiries: 10,
        ti_expiries: 11,
        control_blocks: [12, 13, 14],
        send_buffer_shortages: 15,
        longest_datagram_bytes: 512,
        sessions: [1, 254, 254],
        longest_session_packet_bytes: 1482,
        name_count: 2,
        ..AdapterStatus::default()
    };
    let mut octets = Vec::new();
    status.emit(&mut octets);
    entry(2).emit(&mut octets);
    assert_eq!((octets.len(), octets[6]), (60 + 18, 3));
    assert_eq!((&octets[32..36], &octets[40..42]), (&[10, 0, 11, 0][..], &[12, 0][..]));
    assert_eq!(octets[58..60], [2, 0]);
    assert_eq!(AdapterStatus::parse(&octets), Ok(status));
    assert_eq!(NameEntry::parse(&octets[60..]), Ok(entry(2)));
}

proptest! {
    #[test]
    fn name_frames_round_trip(
        index in 0..NameCommand::ALL.len(),
        data1: u8,
        data2: u16,
        correlators: [u16; 2],
        destination in any_name(),
        source in any_name(),
        data: Vec<u8>,
    ) {
        let [transmit_correlator, response_correlator] = correlators;
        let command = NameCommand::ALL[index];
        let header = NameHeader {
            command, data1, data2, transmit_correlator, response_correlator, destination, source,
        };
        let mut octets = Vec::new();
        header.emit(&mut octets);
        octets.extend_from_slice(&data);
        prop_assert_eq!(NameHeader::parse(&octets), Ok((header, &data[..])));
    }

    #[test]
    fn session_frames_round_trip(
        index in 0..SessionCommand::ALL.len(),
        data1: u8,
        data2: u16,
        correlators: [u16; 2],
        numbers: [u8; 2],
        data: Vec<u8>,
    ) {
        let [transmit_correlator, response_correlator] = correlators;
        let [destination_number, source_number] = numbers;
        let command = SessionCommand::ALL[index];
        let header = SessionHeader {
            command, data1, data2, transmit_correlator, response_correlator,
            destination_number, source_number,
        };
        let mut octets = Vec::new();
        header.emit(&mut octets);
        octets.extend_from_slice(&data);
        prop_assert_eq!(SessionHeader::parse(&octets), Ok((header, &data[..])));
    }

    #[test]
    fn parse_never_panics(mut octets: Vec<u8>, is_name: bool) {
        let _ = NameHeader::parse(&octets);
        let _ = SessionHeader::parse(&octets);
        let _ = AdapterStatus::parse(&octets);
        let start = if is_name { [0x2c, 0, 0xff, 0xef] } else { [0x0e, 0, 0xff, 0xef] };
        octets.splice(0..0, start);
        let _ = NameHeader::parse(&octets);
        let _ = SessionHeader::parse(&octets);
    }
}
