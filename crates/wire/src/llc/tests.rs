use super::*;
use proptest::prelude::*;

const KINDS: [Unnumbered; 8] = [
    Unnumbered::Information,
    Unnumbered::Identification,
    Unnumbered::Test,
    Unnumbered::Connect,
    Unnumbered::Disconnect,
    Unnumbered::Acknowledgement,
    Unnumbered::Disconnected,
    Unnumbered::FrameReject,
];

fn any_control() -> impl Strategy<Value = Control> {
    let number = 0..MODULUS;
    prop_oneof![
        (number.clone(), number.clone(), any::<bool>()).prop_map(
            |(send_number, receive_number, poll)| Control::Information {
                send_number,
                receive_number,
                poll
            }
        ),
        (0..3_usize, number, any::<bool>()).prop_map(|(kind, receive_number, poll)| {
            let kinds =
                [Supervisory::ReceiveReady, Supervisory::ReceiveNotReady, Supervisory::Reject];
            Control::Supervisory { kind: kinds[kind], receive_number, poll }
        }),
        (0..KINDS.len(), any::<bool>())
            .prop_map(|(kind, poll)| Control::Unnumbered { kind: KINDS[kind], poll }),
    ]
}

#[test]
fn unknown_control_fields_are_refused_and_reportable() {
    // LLC has no SNRM (80 without P), and 0d is not an S frame.
    for (pdu, control) in
        [(&[0xf0, 0xf1, 0x83][..], [0x83, 0]), (&[0xf0, 0xf1, 0x0d, 0x02], [0x0d, 0x02])]
    {
        let error = Header::parse(pdu).unwrap_err();
        assert!(error.to_string().starts_with("llc: field `control` at octet 2"), "{error}");
        let unknown = UnknownControl::parse(pdu).unwrap();
        assert_eq!((unknown.control, unknown.is_response), (control, true));
    }
    let error = Header::parse(&[0xf0, 0xf0, 0x00]).unwrap_err();
    assert_eq!(error.to_string(), "llc: need 4 octets, got 3");
}

#[test]
fn xid_and_frmr_information_match_the_standard() {
    let identification = Identification { has_type_2: true, receive_window: 2 };
    assert_eq!(identification.to_wire(), [0x81, 0x03, 0x04]);
    assert_eq!(Identification::parse(&[0x81, 0x03, 0x04]), Ok(identification));
    assert!(Identification::parse(&[0x82, 0x03, 0x04]).is_err());
    assert!(Identification::parse(&[0x81, 0x03]).is_err());
    let reject = FrameReject {
        control: [0x01, 0x54],
        send_state: 3,
        receive_state: 5,
        was_response: true,
        reasons: Reasons::RECEIVE_NUMBER,
    };
    assert_eq!(reject.to_wire(), [0x01, 0x54, 0x06, 0x0b, 0x08]);
}

proptest! {
    #[test]
    fn headers_round_trip(
        destination_sap: u8,
        source_sap: u8,
        is_response: bool,
        control in any_control(),
        data: Vec<u8>,
    ) {
        let source_sap = source_sap & !RESPONSE;
        let header = Header { destination_sap, source_sap, is_response, control };
        let mut octets = Vec::new();
        header.emit(&mut octets);
        prop_assert_eq!(octets.len(), header.octets());
        octets.extend_from_slice(&data);
        prop_assert_eq!(Header::parse(&octets), Ok((header, &data[..])));
    }

    #[test]
    fn frame_rejects_round_trip(mut octets: [u8; FRAME_REJECT_LEN]) {
        octets[2] &= 0xfe;
        prop_assert_eq!(FrameReject::parse(&octets).unwrap().to_wire(), octets);
    }

    #[test]
    fn parse_never_panics(octets: Vec<u8>) {
        let _ = Header::parse(&octets);
        let _ = UnknownControl::parse(&octets);
        let _ = FrameReject::parse(&octets);
        let _ = Identification::parse(&octets);
    }
}
