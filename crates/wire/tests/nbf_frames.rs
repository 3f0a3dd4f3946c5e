//! Frames of other encoders: what is read from them is what tshark reads, and is written the same.

mod tshark;

use lanlab_wire::ethernet::{Frame, Framing};
use lanlab_wire::llc::{Control, Header};
use lanlab_wire::nbf::{NameHeader, SessionHeader};
use tshark::{compared, frames, number};

const FRAMES: &str = include_str!("frames/nbf.txt");

/// What our parsers see, by tshark's names of fields. Also what the frame is written as again.
fn seen(octets: &[u8]) -> (Vec<(&'static str, u64)>, Vec<u8>) {
    let frame = Frame::parse(octets).unwrap();
    let mut fields = vec![];
    let inner = frame.header.framing.inner_len();
    match frame.header.framing {
        Framing::Type(protocol) => fields.push(("eth.type", u64::from(protocol))),
        _ => fields.push(("eth.len", (inner + frame.payload.len()) as u64)),
    }
    if let Framing::Snap { organization, protocol } = frame.header.framing {
        assert_eq!(organization, [0; 3]);
        fields.push(("llc.type", u64::from(protocol)));
    }
    let mut payload = vec![];
    if frame.header.framing == Framing::Llc {
        llc(frame.payload, &mut fields, &mut payload);
    } else {
        payload.extend_from_slice(frame.payload);
    }
    let mut again = vec![];
    Frame { header: frame.header, payload: &payload }.emit(&mut again).unwrap();
    (fields, again)
}

fn llc(pdu: &[u8], fields: &mut Vec<(&'static str, u64)>, again: &mut Vec<u8>) {
    let (header, information) = Header::parse(pdu).unwrap();
    header.emit(again);
    fields.push(("llc.dsap", u64::from(header.destination_sap)));
    fields.push(("llc.ssap.cr", u64::from(header.is_response)));
    let poll = if header.is_response { "llc.control.f" } else { "llc.control.p" };
    fields.push((poll, u64::from(header.control.poll())));
    let [first, _] = header.control.to_wire();
    match header.control {
        Control::Information { send_number, receive_number, .. } => {
            fields.push(("llc.control.n_s", u64::from(send_number)));
            fields.push(("llc.control.n_r", u64::from(receive_number)));
        }
        Control::Supervisory { receive_number, .. } => {
            fields.push(("llc.control.n_r", u64::from(receive_number)));
            fields.push(("llc.control.s_ftype", u64::from(first >> 2)));
        }
        Control::Unnumbered { .. } => {
            // The five bits of the modifier, without P or F between them.
            let modifier = u64::from((first & 0xec) >> 2);
            let name = if header.is_response { "resp" } else { "cmd" };
            let names =
                [("cmd", "llc.control.u_modifier_cmd"), ("resp", "llc.control.u_modifier_resp")];
            fields.push((names.iter().find(|(kind, _)| *kind == name).unwrap().1, modifier));
        }
    }
    if header.destination_sap != 0xf0 || information.get(3) != Some(&0xef) {
        again.extend_from_slice(information);
        return;
    }
    if let Control::Information { .. } = header.control {
        let (session, data) = SessionHeader::parse(information).unwrap();
        session.emit(again);
        again.extend_from_slice(data);
        fields.extend([
            ("netbios.command", u64::from(session.command.to_wire())),
            ("netbios.xmit_corrl", u64::from(session.transmit_correlator)),
            ("netbios.resp_corrl", u64::from(session.response_correlator)),
            ("netbios.remote_session", u64::from(session.destination_number)),
            ("netbios.local_session", u64::from(session.source_number)),
            ("netbios.max_data_recv_size", u64::from(session.data2)),
            ("netbios.num_data_bytes_accepted", u64::from(session.data2)),
            ("netbios.termination_indicator", u64::from(session.data2)),
            ("netbios.resync_indicator", u64::from(session.data2)),
        ]);
    } else {
        let (name, data) = NameHeader::parse(information).unwrap();
        name.emit(again);
        again.extend_from_slice(data);
        fields.extend([
            ("netbios.command", u64::from(name.command.to_wire())),
            ("netbios.xmit_corrl", u64::from(name.transmit_correlator)),
            ("netbios.resp_corrl", u64::from(name.response_correlator)),
        ]);
    }
}

#[test]
fn parsed_fields_match_tshark() {
    let mut count = 0;
    for (octets, expected) in frames(FRAMES) {
        let (found, again) = seen(&octets);
        assert_eq!(again, octets, "{}", hex::encode(&octets));
        count += compared(&octets, &expected, &found);
    }
    assert!(count > 250, "{count} fields");
}

#[test]
fn the_captured_frames_cover_every_framing_and_command() {
    let frames: Vec<_> = frames(FRAMES).collect();
    let mut commands: Vec<u64> = frames
        .iter()
        .flat_map(|(_, fields)| fields)
        .filter(|(name, _)| *name == "netbios.command")
        .map(|(_, value)| number(value))
        .collect();
    commands.sort_unstable();
    commands.dedup();
    assert_eq!(commands.len(), 22);
    let framings = frames.iter().map(|(octets, _)| Frame::parse(octets).unwrap().header.framing);
    let of = |want: fn(&Framing) -> bool| framings.clone().filter(want).count();
    assert_eq!(of(|framing| matches!(framing, Framing::Type(0x8137))), 1);
    assert_eq!(of(|framing| matches!(framing, Framing::Snap { protocol: 0x8137, .. })), 1);
    assert_eq!(of(|framing| matches!(framing, Framing::ThreeCom(0x0600))), 1);
    assert_eq!(of(|framing| matches!(framing, Framing::Raw)), 1);
}
