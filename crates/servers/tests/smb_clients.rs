//! Stock clients of SMB 2 and 3 at the embedded server.

use std::net::SocketAddr;

use lanlab_files::ServiceKind::Smb;
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
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::multiplexed::{content, run, served, user};

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
