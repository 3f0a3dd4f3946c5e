//! Frames of another encoder: what is read from them is what tshark reads, and is written the same.

use lanlab_wire::Error;
use lanlab_wire::ethernet::Frame;
use lanlab_wire::ipx::{Header, framing};
use lanlab_wire::ncp::envelope::{Envelope, Reply, kind};
use lanlab_wire::ncp::function::{self as f, Function};
use lanlab_wire::ncp::text::unpadded;
use lanlab_wire::ncp::{bindery, burst, directories, file_entry, files, negotiation, search};

const FRAMES: &str = include_str!("frames/ncp.txt");

type Field = (&'static str, String);

/// Octets of a frame, and the fields that tshark saw in it.
fn frames() -> Vec<(Vec<u8>, Vec<Field>)> {
    let lines: Vec<&str> = FRAMES.lines().filter(|line| !line.starts_with('#')).collect();
    let pairs = lines.chunks(2).map(|pair| {
        let fields = pair[1].trim().split('\t').map(|field| field.split_once('=').unwrap());
        let fields = fields.map(|(name, value)| (name, value.to_owned())).collect();
        (hex::decode(pair[0]).unwrap(), fields)
    });
    pairs.collect()
}

fn text(octets: &[u8]) -> String {
    String::from_utf8(octets.to_vec()).unwrap()
}

/// What a message says, and how it is written again.
type Seen = (Vec<Field>, Vec<u8>);

/// Read a message, write it again, and name its fields.
macro_rules! seen {
    ($type:path, $octets:expr, $message:ident => $($name:literal: $value:expr),*) => {{
        let $message = <$type>::parse($octets)?;
        let mut again = Vec::new();
        $message.emit(&mut again);
        let fields: Vec<Field> = vec![$(($name, $value.to_string())),*];
        (fields, again)
    }};
}

fn of_request(function: Function, data: &[u8]) -> Result<Seen, Error> {
    Ok(match function {
        f::NEGOTIATE_BUFFER => {
            seen!(negotiation::Buffer, data, one => "ncp.buffer_size": one.octets)
        }
        f::NEGOTIATE_PACKET => {
            seen!(negotiation::Packet, data, one => "ncp.proposed_max_size": one.octets)
        }
        f::OBJECT_ID => seen!(bindery::Named, data, one =>
            "ncp.object_name": text(one.name.0), "ncp.object_type": format!("{:#06x}", one.kind)),
        f::LOG_IN_KEYED => seen!(bindery::KeyedLogin, data, one =>
            "ncp.object_name": text(one.name.0), "ncp.object_type": format!("{:#06x}", one.kind)),
        f::LOG_IN => seen!(bindery::PlainLogin, data, one =>
            "ncp.object_type": format!("{:#06x}", one.kind), "ncp.client_name": text(one.name.0)),
        f::ALLOCATE_PERMANENT | f::ALLOCATE_TEMPORARY | f::MAKE_DIRECTORY | f::REMOVE_DIRECTORY => {
            seen!(directories::Allocate, data, one =>
            "ncp.dir_handle": one.handle, "ncp.path": text(one.path.0))
        }
        f::RENAME_DIRECTORY => seen!(directories::Rename, data, one =>
            "ncp.dir_handle": one.handle, "ncp.path": text(one.path.0)),
        f::GET_PATH | f::VOLUME_OF_HANDLE | f::FREE_HANDLE => {
            seen!(directories::Handle, data, one => "ncp.dir_handle": one.handle)
        }
        f::SEARCH_BEGIN => seen!(directories::Path, data, one =>
            "ncp.dir_handle": one.handle, "ncp.path": text(one.path.0)),
        f::SEARCH_ON => seen!(search::Continue, data, one => "ncp.path": text(one.pattern.0)),
        f::SEARCH => seen!(search::Search, data, one => "ncp.dir_handle": one.handle),
        f::OPEN => seen!(files::Open, data, one => "ncp.dir_handle": one.handle),
        f::CREATE | f::CREATE_NEW | f::ERASE => {
            seen!(files::OfPath, data, one => "ncp.dir_handle": one.handle)
        }
        f::RENAME => seen!(files::Rename, data, one => "ncp.dir_handle": one.handle),
        f::CLOSE | f::COMMIT | f::SIZE => {
            seen!(files::OfFile, data, one => "ncp.file_handle": hex::encode(one.file))
        }
        f::READ => seen!(files::Read, data, one =>
            "ncp.file_handle": hex::encode(one.file), "ncp.file_offset": one.offset,
            "ncp.max_bytes": one.count),
        f::WRITE => {
            assert_eq!(files::Write::parse(data)?.octets()?, b"abcde");
            seen!(files::Write, data, one =>
                "ncp.file_handle": hex::encode(one.file), "ncp.file_offset": one.offset,
                "ncp.max_bytes": one.count)
        }
        f::OFFER_BURST => seen!(burst::Offer, data, one =>
            "ncp.local_connection_id": format!("{:#010x}", one.connection),
            "ncp.local_max_packet_size": one.packet,
            "ncp.local_target_socket": format!("{:#010x}", one.socket),
            "ncp.local_max_send_size": one.most_sent, "ncp.local_max_recv_size": one.most_taken),
        f::SERVER_INFORMATION | f::GET_KEY | f::GET_TIME | f::LOG_OUT => (vec![], data.to_vec()),
        other => panic!("{other:?}"),
    })
}

fn of_reply(function: Function, offset: u32, data: &[u8]) -> Result<Seen, Error> {
    Ok(match function {
        f::NEGOTIATE_BUFFER => {
            seen!(negotiation::Buffer, data, one => "ncp.buffer_size": one.octets)
        }
        f::NEGOTIATE_PACKET => seen!(negotiation::AcceptedPacket, data, one =>
            "ncp.accepted_max_size": one.octets, "ncp.echo_socket": format!("{:#06x}", one.echo_socket)),
        f::SERVER_INFORMATION => seen!(negotiation::ServerInformation, data, one =>
            "ncp.server_name": text(unpadded(&one.name)), "ncp.os_major_version": one.version,
            "ncp.os_minor_version": one.subversion, "ncp.connections_in_use": one.connections),
        f::OBJECT_ID => seen!(bindery::Object, data, one =>
            "ncp.object_type": format!("{:#06x}", one.kind)),
        f::ALLOCATE_PERMANENT | f::ALLOCATE_TEMPORARY => {
            seen!(directories::Allocated, data, one => "ncp.dir_handle": one.handle)
        }
        f::GET_PATH => seen!(directories::Whole, data, one => "ncp.path": text(one.path.0)),
        f::VOLUME_OF_HANDLE => seen!(directories::Volume, data, one =>
            "ncp.sectors_per_cluster": one.sectors_per_block,
            "ncp.total_volume_clusters": one.blocks, "ncp.available_clusters": one.free_blocks,
            "ncp.volume_name": text(unpadded(&one.name))),
        f::SEARCH_BEGIN => seen!(search::Begun, data, one =>),
        f::SEARCH_ON => {
            let (mut fields, again) = seen!(search::Found, data, one =>
                "ncp.search_sequence_word": one.place);
            let entry = file_entry::FileEntry::parse(&search::Found::parse(data)?.entry)?;
            fields.push(("ncp.file_size", entry.size.to_string()));
            (fields, again)
        }
        f::SEARCH => {
            let entry = file_entry::FileEntry::parse(&search::Found::parse(data)?.entry)?;
            assert_eq!(unpadded(&entry.name), b"README.TXT");
            assert_eq!((entry.written().date, entry.written().time), (0x1a23, 0x6b44));
            seen!(search::Found, data, one => "ncp.file_size": entry.size)
        }
        f::OPEN | f::CREATE | f::CREATE_NEW => seen!(files::Opened, data, one =>
            "ncp.file_handle": hex::encode(one.file), "ncp.file_size": one.entry.size),
        f::SIZE => seen!(files::Size, data, one => "ncp.file_size": one.size),
        f::READ => {
            let read = files::parse_data(offset, data)?;
            let mut again = Vec::new();
            files::emit_before_data(offset, read.len() as u16, &mut again);
            again.extend_from_slice(read);
            assert!(b"abcde".ends_with(read));
            (vec![("ncp.num_bytes", read.len().to_string())], again)
        }
        f::GET_TIME => seen!(negotiation::Moment, data, one =>),
        f::OFFER_BURST => {
            let (fields, mut again) = seen!(burst::Accepted, data, one =>
                "ncp.remote_target_id": format!("{:#010x}", one.connection),
                "ncp.remote_max_packet_size": one.packet);
            let limits = burst::Limits::parse(&data[burst::ACCEPTED_LEN..])?;
            assert_eq!((limits.most_sent, limits.most_taken), (34_416, 14_340));
            limits.emit(&mut again);
            (fields, again)
        }
        f::GET_KEY => (vec![], data.to_vec()),
        _ => (vec![], vec![]),
    })
}

/// A packet of a burst: its fields, and how it is written again.
fn of_burst(octets: &[u8]) -> Seen {
    let packet = burst::Packet::parse(octets).unwrap();
    let missing: Vec<_> = packet.missing().collect();
    let (header, mut again) = (packet.header, vec![]);
    header.emit(&missing, packet.data, &mut again);
    let mut total = header.total.to_string();
    let mut fields = vec![];
    // What a client sends first is what it asks for.
    if header.burst == header.ack && header.offset == 0 && !packet.data.is_empty() {
        let asked = burst::Operation::parse(packet.data).unwrap();
        let number = u32::from_be_bytes(asked.operation.number.to_le_bytes());
        fields.push(("ncp.burst_command", format!("{number:#010x}")));
        fields.push(("ncp.burst_file_handle", format!("0x{}", hex::encode(asked.file))));
        fields.push(("ncp.burst_offset", asked.offset.to_string()));
        total = format!("{total},{}", asked.count);
    }
    if header.missing > 0 {
        assert_eq!(missing, [burst::Fragment { offset: 12, length: 8 }]);
    }
    fields.extend([
        ("ncp.type", format!("{:#06x}", header.kind)),
        ("ncp.system_flags", format!("{:#04x}", header.flags)),
        ("ncp.stream_type", format!("{:#04x}", header.stream)),
        ("ncp.src_connection", header.source.to_string()),
        ("ncp.dst_connection", header.destination.to_string()),
        ("ncp.packet_seqno", header.packet.to_string()),
        ("ncp.delay_time", header.delay.to_string()),
        ("ncp.burst_seqno", header.burst.to_string()),
        ("ncp.ack_seqno", header.ack.to_string()),
        ("ncp.burst_len", total),
        ("ncp.data_offset", header.offset.to_string()),
        ("ncp.data_bytes", header.length.to_string()),
        ("ncp.missing_fraglist_count", header.missing.to_string()),
    ]);
    (fields, again)
}

#[test]
fn burst_packets_match_tshark_and_round_trip() {
    let mut count = 0;
    for (octets, expected) in frames() {
        let frame = Frame::parse(&octets).unwrap();
        let (_, packet) = Header::parse(framing::packet(&frame).unwrap().0).unwrap();
        if packet.starts_with(&kind::BURST.to_be_bytes()) {
            let (mut fields, again) = of_burst(packet);
            assert_eq!(hex::encode(&again), hex::encode(packet), "{expected:?}");
            let mut expected = expected;
            fields.sort();
            expected.sort();
            assert_eq!(fields, expected);
            count += 1;
        }
    }
    assert_eq!(count, 9);
}

#[test]
fn captured_frames_match_tshark_and_round_trip() {
    let mut last = (f::LOG_OUT, 0);
    let mut functions = std::collections::BTreeSet::new();
    for (octets, expected) in frames() {
        let frame = Frame::parse(&octets).unwrap();
        let (packet, found) = framing::packet(&frame).unwrap();
        assert_eq!(found, framing::RAW_802_3);
        let (header, packet) = Header::parse(packet).unwrap();
        assert_eq!(header.kind, lanlab_wire::ipx::packet_type::NCP);
        let (envelope, rest) = Envelope::parse(packet).unwrap();
        if envelope.kind == kind::BURST {
            continue;
        }
        let mut again = Vec::new();
        let mut fields: Vec<Field> = vec![
            ("ncp.type", format!("{:#06x}", envelope.kind)),
            ("ncp.seq", envelope.sequence.to_string()),
            ("ncp.connection", envelope.connection.to_string()),
            ("ncp.task", envelope.task.to_string()),
        ];
        let (mut said, message) = match envelope.kind {
            kind::REQUEST => {
                let (function, data) = Function::parse(rest).unwrap();
                let offset = files::Read::parse(data).map_or(0, |read| read.offset);
                last = (function, offset);
                functions.insert(function);
                fields.push(("ncp.func", format!("{:#04x}", function.number)));
                fields.extend(function.part.map(|part| ("ncp.subfunc", part.to_string())));
                envelope.emit(&mut again);
                let (said, data) = of_request(function, data).unwrap();
                let mut message = vec![];
                function.emit(&mut message, |out| out.extend_from_slice(&data));
                (said, message)
            }
            kind::REPLY | kind::BUSY => {
                let (reply, data) = Reply::parse(packet).unwrap();
                reply.emit(&mut again);
                fields.push(("ncp.completion_code", format!("{:#04x}", reply.completion)));
                fields.push(("ncp.connection_status", reply.status.to_string()));
                let is_answer = reply.completion == 0 && !data.is_empty();
                let (function, offset) = last;
                if is_answer { of_reply(function, offset, data).unwrap() } else { (vec![], vec![]) }
            }
            _ => {
                envelope.emit(&mut again);
                (vec![], rest.to_vec())
            }
        };
        again.extend_from_slice(&message);
        assert_eq!(hex::encode(&again), hex::encode(packet), "{expected:?}");
        fields.append(&mut said);
        for field in &fields {
            assert!(expected.contains(field), "{field:?} of {expected:?}");
        }
        // The function of a reply is what tshark remembers of its request.
        let is_reply = envelope.kind != kind::REQUEST;
        let other = expected.iter().filter(|one| {
            let is_of_request = is_reply && matches!(one.0, "ncp.func" | "ncp.subfunc");
            !is_of_request && !fields.contains(one)
        });
        assert_eq!(other.collect::<Vec<_>>(), Vec::<&Field>::new(), "{fields:?}");
    }
    assert_eq!(functions.len(), 30);
}
