//! SMB 2 and 3: what the conformance suite does not ask, and real peers where they are installed.

use crate::multiplexed::{
    Pass, content, does_what_all_do, ends_wholly, get, keeps_read_only, notices_a_shrunk_file,
    offer, path, proxy, put, read_through, run, served, stays_in_its_directory, survives_a_cut,
    survives_nonsense, target, tells_of_a_full_disk, user,
};
use lanlab_clients::connect;
use lanlab_files::ServiceKind::Smb;
use lanlab_files::{Access, Class, Credentials, Session, Target};
use lanlab_servers::{Offer, serve};
use tempfile::TempDir;

tests! {
    the_common_service_tests_pass => does_what_all_do(Smb);
    a_read_only_server_refuses_every_change => keeps_read_only(Smb);
    no_link_leads_out_of_the_served_directory => stays_in_its_directory(Smb);
    stopping_a_server_ends_its_connections => ends_wholly(Smb);
    a_shrinking_file_is_reported => notices_a_shrunk_file(Smb);
    a_full_disk_is_reported => tells_of_a_full_disk(Smb);
    a_cut_connection_is_reported => survives_a_cut(Smb);
    malformed_replies_are_reported => survives_nonsense(Smb);
}

#[test]
fn names_are_stored_unchanged_or_refused() {
    run(async {
        let (root, serving, target) = served(Smb).await;
        let session = connect(&target).await.unwrap();
        for name in ["who?", "\"quoted\"", "a:b", "<x|y>", "dot.", "space ", "folder?/x", "a*"] {
            let new = session.open(&path(name), Access::Create { size_bytes: 1 }).await;
            let fault = new.unwrap_err();
            assert_eq!(fault.class, Class::Name, "{fault}");
            assert!(fault.message.contains("SMB cannot hold the name"), "{fault}");
        }
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
        serving.end().await;
    });
}

/// In an answer to READ ([MS-SMB2] section 2.2.20), behind a header of 64 octets.
const DATA_OFFSET: usize = 64 + 2;
const DATA_LENGTH: usize = 64 + 4;

#[test]
fn false_lengths_from_a_server_are_reported() {
    run(async {
        for lie in [1, 100_000, 4_000_000_000] {
            let fault = read_through(Smb, 5_000_000_000, move |frame| {
                let length =
                    u32::from_le_bytes(frame[DATA_LENGTH..DATA_LENGTH + 4].try_into().unwrap());
                let lie = length.wrapping_add(lie);
                frame[DATA_LENGTH..DATA_LENGTH + 4].copy_from_slice(&lie.to_le_bytes());
                Pass::On
            })
            .await;
            assert_eq!(fault.class, Class::Length, "{lie}: {fault}");
        }
        let fault = read_through(Smb, 5_000_000_000, |frame| {
            frame[DATA_OFFSET] = 255;
            Pass::On
        })
        .await;
        assert_eq!(fault.class, Class::Length, "{fault}");
    });
}

#[test]
fn unrequested_replies_are_reported() {
    run(async {
        let fault = read_through(Smb, 5_000_000_000, |frame| {
            frame[24] ^= 0x40; // Its number ([MS-SMB2] section 2.2.1).
            Pass::On
        })
        .await;
        assert_eq!(fault.class, Class::Protocol, "{fault}");
    });
}

#[test]
fn waiting_for_credits_times_out() {
    run(async {
        let (_root, serving, target) = served(Smb).await;
        let mut answers = 0;
        let (port, _) = proxy(serving.port(), move |frame| {
            answers += 1;
            // After the session has begun, nothing more is granted (section 2.2.1, CreditResponse).
            if answers > 4 {
                frame[14..16].fill(0);
            }
            Pass::On
        });
        let target = Target { port: Some(port), timeout_ns: 2_000_000_000, ..target };
        let session = connect(&target).await.unwrap();
        let mut last = Ok(());
        for _ in 0..10_000 {
            last = session.list(None).await.map(drop);
            if last.is_err() {
                break;
            }
        }
        assert_eq!(last.unwrap_err().class, Class::TimedOut);
        serving.end().await;
    });
}

#[test]
fn anonymous_login_works_only_where_enabled() {
    run(async {
        let root = TempDir::new().unwrap();
        let open = Offer { credentials: None, ..offer(Smb, root.path()) };
        let serving = serve(&open).await.unwrap();
        let guest = Target { credentials: None, ..target(Smb, serving.port()) };
        let session = connect(&guest).await.unwrap();
        put(&session, &path("x"), b"by a guest").await;
        assert_eq!(get(&session, &path("x")).await, b"by a guest");
        assert_eq!(session.facts().protection, "none");
        serving.end().await;

        let serving = serve(&offer(Smb, root.path())).await.unwrap();
        let guest = Target { credentials: None, ..target(Smb, serving.port()) };
        let fault = connect(&guest).await.unwrap_err();
        assert!(matches!(fault.class, Class::Login | Class::Denied), "{fault:?}");
        let stranger = Credentials { user: "stranger".to_owned(), ..user() };
        let stranger = Target { credentials: Some(stranger), ..target(Smb, serving.port()) };
        assert_eq!(connect(&stranger).await.unwrap_err().class, Class::Login);
        serving.end().await;
    });
}

/// By the crate that the embedded server is made of, with what an offer does not ask of it.
#[test]
fn required_encryption_and_signing_are_used() {
    use smb_server::{Access, LocalFsBackend, Share, SmbServer};
    run(async {
        for (encrypts, signs, protection) in [
            (true, false, "encrypted, AES-128-GCM"),
            (false, true, "signed, AES-128-CMAC"),
            (false, false, "none"),
        ] {
            let root = TempDir::new().unwrap();
            let backend = LocalFsBackend::new(root.path()).unwrap();
            let server = SmbServer::builder()
                .listen("127.0.0.1:0".parse().unwrap())
                .encrypt_data(encrypts)
                .require_signing(signs)
                .user(user().user, user().secret)
                .share(Share::new("lanlab", backend).user(user().user, Access::ReadWrite))
                .build()
                .unwrap();
            let port = server.bind().await.unwrap().port();
            let serving = tokio::spawn(server.serve());
            let session = connect(&target(Smb, port)).await.unwrap();
            assert_eq!(session.facts().protection, protection);
            // More than one message holds.
            let data = content(1_200_001, 4);
            put(&session, &path("x"), &data).await;
            assert!(get(&session, &path("x")).await == data, "{protection}");
            session.end().await.unwrap();

            // An octet that is changed on the way does not pass for data, where it is protected.
            let (through, _) = proxy(port, |frame| {
                let last = frame.len() - 1;
                frame[last] ^= u8::from(frame.len() > 50_000);
                Pass::On
            });
            let session = connect(&target(Smb, through)).await.unwrap();
            let file = session.open(&path("x"), lanlab_files::Access::Read).await.unwrap();
            let read = session.read_at(&file, 0, &mut vec![0; 60_000]).await;
            if encrypts || signs {
                assert_eq!(read.unwrap_err().class, Class::Protocol, "{protection}");
            } else {
                assert_eq!(read.unwrap(), 60_000);
            }
            serving.abort();
        }
    });
}

#[test]
fn a_hundred_clients_are_served_at_once() {
    run(async {
        let (_root, serving, target) = served(Smb).await;
        let mut sessions = Vec::new();
        for number in 0..100 {
            let session = connect(&target).await.unwrap();
            put(&session, &path(&format!("of {number}")), &content(750, number)).await;
            sessions.push(session);
        }
        for (number, session) in sessions.iter().enumerate() {
            assert_eq!(
                get(session, &path(&format!("of {number}"))).await,
                content(750, number as u64)
            );
        }
        assert_eq!(serving.accepted(), 100);
        serving.end().await;
    });
}
