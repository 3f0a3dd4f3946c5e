//! Stock clients of SMB 2 and 3 at the embedded server.

use std::net::SocketAddr;
use std::ops::Range;

use lanlab_files::Credentials;
use lanlab_files::ServiceKind::Smb;
use lanlab_servers::{Offer, serve};
use lanlab_stack::smb::responses::version2;
use smb2::client::connection::Connection;
use smb2::client::session::Session;
use smb2::client::tree::Tree;
use smb2::msg::create::{
    CreateDisposition, CreateRequest, CreateResponse, ImpersonationLevel, ShareAccess,
};
use smb2::msg::read::{ReadRequest, ReadResponse};
use smb2::msg::write::WriteRequest;
use smb2::pack::{ReadCursor, Unpack};
use smb2::types::flags::FileAccessMask as Mask;
use smb2::types::status::NtStatus;
use smb2::types::{Command, FileId, OplockLevel};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::multiplexed::{content, offer, run, served, user};

/// Open a file with these rights, and no others.
async fn open(
    connection: &Connection,
    tree: &Tree,
    name: &str,
    rights: Mask,
    create_disposition: CreateDisposition,
) -> FileId {
    let request = CreateRequest {
        requested_oplock_level: OplockLevel::None,
        impersonation_level: ImpersonationLevel::Impersonation,
        desired_access: rights,
        file_attributes: 0,
        share_access: ShareAccess(0),
        create_disposition,
        create_options: 0x40,
        name: name.to_owned(),
        create_contexts: Vec::new(),
    };
    let opened = connection.execute(Command::Create, &request, Some(tree.tree_id)).await.unwrap();
    assert_eq!(opened.header.status, NtStatus::SUCCESS, "{name}");
    CreateResponse::unpack(&mut ReadCursor::new(&opened.body)).unwrap().file_id
}

async fn write(
    connection: &Connection,
    tree: &Tree,
    file_id: FileId,
    offset: u64,
    data: &[u8],
) -> NtStatus {
    let request = WriteRequest {
        data_offset: 112,
        offset,
        file_id,
        channel: 0,
        remaining_bytes: 0,
        write_channel_info_offset: 0,
        write_channel_info_length: 0,
        flags: 0,
        data: data.to_vec(),
    };
    connection.execute(Command::Write, &request, Some(tree.tree_id)).await.unwrap().header.status
}

/// impacket, smbprotocol and the helpers of the crate `smb2` open so; Windows and Samba let them write.
#[test]
fn clients_with_write_access_extend_files() {
    run(async {
        let (root, serving, _) = served(Smb).await;
        let address = format!("127.0.0.1:{}", serving.port());
        let mut connection = Connection::connect(&address, Duration::from_secs(20)).await.unwrap();
        connection.negotiate().await.unwrap();
        let who = user();
        Session::setup(&mut connection, &who.user, &who.secret, "").await.unwrap();
        let tree = Tree::connect(&mut connection, "lanlab").await.unwrap();
        let on_disk = |name: &str| std::fs::read(root.path().join(name)).unwrap();
        for (name, size_bytes) in [("small", 1000), ("large", 3_000_001)] {
            let data = content(size_bytes, 3);
            tree.write_file(&mut connection, name, &data).await.unwrap();
            assert!(on_disk(name) == data, "{name}");
        }
        tree.write_file_compound_exclusive(&mut connection, "new", b"content").await.unwrap();
        assert_eq!(on_disk("new"), b"content");
        // Emptied, written past its end, and over itself.
        let emptied = CreateDisposition::FileOverwriteIf;
        let file = open(&connection, &tree, "small", Mask(Mask::FILE_WRITE_DATA), emptied).await;
        assert_eq!(write(&connection, &tree, file, 3, b"abc").await, NtStatus::SUCCESS);
        assert_eq!(write(&connection, &tree, file, 1, b"xy").await, NtStatus::SUCCESS);
        assert_eq!(on_disk("small"), b"\0xyabc");
        // Who may append alone may not write over what is there.
        let append = Mask(Mask::FILE_APPEND_DATA);
        let file = open(&connection, &tree, "new", append, CreateDisposition::FileOpenIf).await;
        assert_eq!(write(&connection, &tree, file, 7, b"!").await, NtStatus::SUCCESS);
        assert_eq!(write(&connection, &tree, file, 0, b"C").await, NtStatus::ACCESS_DENIED);
        assert_eq!(on_disk("new"), b"content!");
        drop(connection);
        serving.end().await;
    });
}

const IMPACKET: &str = include_str!("frames/smb2-impacket.txt");
/// Fields of an SMB 2 header after the 4 bytes of length ([MS-SMB2] 2.2.1.2).
const STATUS: Range<usize> = 12..16;
const COMMAND: Range<usize> = 16..18;
const MESSAGE: Range<usize> = 28..36;
const TREE: Range<usize> = 40..44;
const SESSION: Range<usize> = 44..52;
/// File of CREATE's response (2.2.14), and of the requests WRITE and CLOSE (2.2.21, 2.2.15).
const CREATED: Range<usize> = 132..148;
const WRITING: Range<usize> = 84..100;
const CLOSING: Range<usize> = 76..92;
/// Bytes that a WRITE response counts (2.2.22).
const COUNT: Range<usize> = 72..76;

/// impacket's answer to a challenge with the names and the nonce of the capture, for another password.
fn proved(request: &mut [u8], said: &[u8], who: &Credentials) {
    let at = |message: &[u8]| message.windows(8).position(|part| part == b"NTLMSSP\0").unwrap();
    let (asked, answer) = (at(said), at(request));
    let challenge = said[asked + 24..asked + 32].try_into().unwrap();
    // Where both responses begin and the list of names ends ([MS-NLMP] 2.2.1.3, 2.2.2.7).
    let (lm, nt) = (answer + 74, answer + 98);
    let time = u64::from_le_bytes(request[nt + 24..nt + 32].try_into().unwrap());
    let nonce = request[nt + 32..nt + 40].try_into().unwrap();
    let names = request[nt + 44..request.len() - 4].to_vec();
    let of = version2((&who.user, "", &who.secret), challenge, nonce, time, &names);
    request[lm..nt].copy_from_slice(&of.lm);
    request[nt..].copy_from_slice(&of.nt);
}

#[test]
fn every_request_of_impacket_that_puts_a_file_succeeds() {
    run(async {
        let root = TempDir::new().unwrap();
        let who = Credentials { user: "judge".to_owned(), ..user() };
        let credentials = Some(who.clone());
        let serving = serve(&Offer { credentials, ..offer(Smb, root.path()) }).await.unwrap();
        let mut server = TcpStream::connect(("127.0.0.1", serving.port())).await.unwrap();
        let (mut said, mut created) = (vec![], [0; 16]);
        let [theirs, ours] = [r"\\10.77.0.1\DATA", r"\\10.77.0\lanlab"]
            .map(|share| share.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>());
        let lines = IMPACKET.lines().filter(|line| !line.starts_with('#'));
        for (number, line) in (0_u64..).zip(lines) {
            let mut request = hex::decode(line.split_once(' ').unwrap().1).unwrap();
            match request[COMMAND.start] {
                1 if number == 2 => proved(&mut request, &said, &who),
                3 => {
                    let at = request.len() - theirs.len();
                    assert_eq!(request[at..], theirs);
                    request[at..].copy_from_slice(&ours);
                }
                9 => request[WRITING].copy_from_slice(&created),
                6 => request[CLOSING].copy_from_slice(&created),
                _ => {}
            }
            if number > 1 {
                request[SESSION].copy_from_slice(&said[SESSION]);
            }
            if number > 3 {
                request[TREE].copy_from_slice(&said[TREE]);
            }
            server.write_all(&request).await.unwrap();
            let length = server.read_u32().await.unwrap();
            said = length.to_be_bytes().to_vec();
            said.resize(4 + length as usize, 0);
            server.read_exact(&mut said[4..]).await.unwrap();
            let more = NtStatus::MORE_PROCESSING_REQUIRED;
            let expected = if number == 1 { more } else { NtStatus::SUCCESS };
            assert_eq!(said[STATUS], expected.0.to_le_bytes(), "request {number}: {said:02x?}");
            assert_eq!(said[COMMAND], request[COMMAND], "request {number}");
            assert_eq!(said[MESSAGE], number.to_le_bytes(), "request {number}");
            match said[COMMAND.start] {
                5 => created.copy_from_slice(&said[CREATED]),
                9 => assert_eq!(said[COUNT], 300_u32.to_le_bytes()),
                _ => {}
            }
        }
        assert_eq!(std::fs::read(root.path().join("IM.BIN")).unwrap(), [b'x'; 300]);
        drop(server);
        serving.end().await;
    });
}

/// A negotiation of SMB 1 that offers `SMB 2.002` alone, as [MS-SMB2] 3.2.4.2.2.1 has it and pysmb sends it.
fn oldest_alone() -> Vec<u8> {
    let mut frame = b"\xffSMB\x72".to_vec();
    frame.resize(33, 0);
    frame.extend([11, 0, 2]);
    frame.extend(b"SMB 2.002\0");
    frame
}

async fn relayed_frame(from: &mut TcpStream, to: &mut TcpStream) {
    let length = from.read_u32().await.unwrap();
    let mut frame = vec![0; length as usize];
    from.read_exact(&mut frame).await.unwrap();
    to.write_u32(length).await.unwrap();
    to.write_all(&frame).await.unwrap();
}

/// Where a client gets to the server whose first call has become this one.
async fn beginning_with(first: Vec<u8>, server: u16) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut client = listener.accept().await.unwrap().0;
        let mut server = TcpStream::connect(("127.0.0.1", server)).await.unwrap();
        let length = client.read_u32().await.unwrap();
        client.read_exact(&mut vec![0; length as usize]).await.unwrap();
        server.write_u32(u32::try_from(first.len()).unwrap()).await.unwrap();
        server.write_all(&first).await.unwrap();
        relayed_frame(&mut server, &mut client).await;
        let _ = copy_bidirectional(&mut client, &mut server).await;
    });
    address
}

/// pysmb asks for as much as the server offers, and takes no message of 128 KiB.
#[test]
fn smb_2_0_2_reads_stay_within_64_kib() {
    run(async {
        let (root, serving, _) = served(Smb).await;
        let data = content(200_000, 3);
        std::fs::write(root.path().join("file"), &data).unwrap();
        let address = beginning_with(oldest_alone(), serving.port()).await;
        let patience = Duration::from_secs(20);
        let mut connection = Connection::connect(&address.to_string(), patience).await.unwrap();
        connection.negotiate().await.unwrap();
        let who = user();
        Session::setup(&mut connection, &who.user, &who.secret, "").await.unwrap();
        let tree = Tree::connect(&mut connection, "lanlab").await.unwrap();
        let rights = Mask(Mask::FILE_READ_DATA);
        let file_id = open(&connection, &tree, "file", rights, CreateDisposition::FileOpen).await;
        let request = ReadRequest {
            padding: 0x50,
            flags: 0,
            length: 200_000,
            offset: 1,
            file_id,
            minimum_count: 0,
            channel: 0,
            remaining_bytes: 0,
            read_channel_info: Vec::new(),
        };
        let answer = connection.execute(Command::Read, &request, Some(tree.tree_id)).await.unwrap();
        let read = ReadResponse::unpack(&mut ReadCursor::new(&answer.body)).unwrap().data;
        assert!(read == data[1..=65_536], "{} bytes", read.len());
        drop(connection);
        serving.end().await;
    });
}
