//! Stock clients of SMB 2 and 3 at the embedded server.

use lanlab_files::ServiceKind::Smb;
use smb2::client::connection::Connection;
use smb2::client::session::Session;
use smb2::client::tree::Tree;
use smb2::msg::create::{
    CreateDisposition, CreateRequest, CreateResponse, ImpersonationLevel, ShareAccess,
};
use smb2::msg::write::WriteRequest;
use smb2::pack::{ReadCursor, Unpack};
use smb2::types::flags::FileAccessMask as Mask;
use smb2::types::status::NtStatus;
use smb2::types::{Command, FileId, OplockLevel};
use std::time::Duration;

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
fn a_file_grows_for_who_may_write_its_data() {
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
