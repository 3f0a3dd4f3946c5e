//! Our client of SMB 1 at Samba with its old dialects.

use lanlab_clients::connect;
use lanlab_files::ServiceKind::Smb1;
use lanlab_files::{Access, Class, Dialect, ServiceOptions, Session, Signing, Smb1Options, Target};

use super::{Samba, passes_all};
use crate::multiplexed::{content, get, path, put, run};

/// What lets in clients of every dialect that Samba still speaks.
const OLD: &str = "server min protocol = LANMAN1\nntlm auth = yes\nlanman auth = yes\n\
                   client min protocol = LANMAN1";

fn target(samba: &Samba, dialect: Option<Dialect>) -> Target {
    target_with(samba, Smb1Options { dialect, ..Smb1Options::default() })
}

fn target_with(samba: &Samba, options: Smb1Options) -> Target {
    Target { service: Smb1, options: ServiceOptions::Smb1(options), ..samba.target() }
}

#[test]
fn nt_lm_0_12_works_with_samba() {
    let Some(samba) = Samba::start(OLD) else { return };
    run(async {
        let target = target(&samba, None);
        let share = samba.folder.path().join("share");
        let session = connect(&target).await.unwrap();
        assert_eq!(session.facts().protocol, "SMB 1, NT LM 0.12, NTLMSSP login");
        assert_eq!(session.facts().protection, "none");
        session.end().await.unwrap();
        passes_all(target, &share).await;
    });
}

#[test]
fn lan_manager_dialects_work_with_samba() {
    let Some(samba) = Samba::start(OLD) else { return };
    for (dialect, name) in [(Dialect::Lanman1, "LANMAN1.0"), (Dialect::Lm12x002, "LM1.2X002")] {
        run(async {
            let target = target(&samba, Some(dialect));
            let session = connect(&target).await.unwrap();
            assert_eq!(session.facts().protocol, format!("SMB 1, {name}, LM login"));
            assert_eq!(session.facts().protection, "none");
            let data = content(300_000, 5);
            put(&session, &path("file.dat"), &data).await;
            assert_eq!(get(&session, &path("file.dat")).await, data);
            session.make_directory(&path("dir")).await.unwrap();
            let again = session.make_directory(&path("dir")).await.unwrap_err();
            assert_eq!(again.class, Class::Exists, "{again}");
            for number in 0..600 {
                let name = format!("dir/f{number:05}.dat");
                put(&session, &path(&name), b"some").await;
            }
            let mut entries = session.list(Some(&path("dir"))).await.unwrap();
            entries.sort();
            assert_eq!(entries.len(), 600);
            for (number, entry) in entries.iter().enumerate() {
                assert_eq!(entry.name, format!("f{number:05}.dat"));
                assert_eq!((entry.size_bytes, entry.is_directory), (4, false));
            }
            let full = session.remove_directory(&path("dir")).await.unwrap_err();
            assert_eq!(full.class, Class::Exists, "{full}");
            let there = Access::Create { size_bytes: 1 };
            let there = session.open(&path("file.dat"), there).await.unwrap_err();
            assert_eq!(there.class, Class::Exists, "{there}");
            let missing = session.open(&path("none.dat"), Access::Read).await.unwrap_err();
            assert_eq!(missing.class, Class::Missing, "{missing}");
            for number in 0..600 {
                session.remove(&path(&format!("dir/f{number:05}.dat"))).await.unwrap();
            }
            session.remove_directory(&path("dir")).await.unwrap();
            session.remove(&path("file.dat")).await.unwrap();
            assert_eq!(session.list(None).await.unwrap(), []);
            session.end().await.unwrap();
        });
    }
}

#[test]
fn raw_reads_and_writes_work_with_samba() {
    let Some(samba) = Samba::start(OLD) else { return };
    for dialect in [Dialect::Lanman1, Dialect::Lm12x002, Dialect::Nt1] {
        run(async {
            let options =
                Smb1Options { raw: true, dialect: Some(dialect), ..Smb1Options::default() };
            let target = target_with(&samba, options);
            let session = connect(&target).await.unwrap();
            assert!(session.facts().protocol.ends_with(" login, raw"), "{:?}", session.facts());
            assert_eq!(session.capabilities().depth, 1);
            let data = content(1_000_001, 11);
            put(&session, &path("raw.dat"), &data).await;
            assert!(std::fs::metadata(samba.folder.path().join("share")).unwrap().is_dir());
            assert!(get(&session, &path("raw.dat")).await == data);
            // Several at once wait for each other, and calls of other kinds for them.
            let file = session.open(&path("raw.dat"), Access::Update).await.unwrap();
            let (mut first, mut last) = ([0; 9], [0; 9]);
            let (one, two, listed) = tokio::join!(
                session.read_at(&file, 0, &mut first),
                session.read_at(&file, 999_992, &mut last),
                session.list(None),
            );
            assert_eq!((one.unwrap(), two.unwrap(), listed.unwrap().len()), (9, 9, 1));
            assert!(first == data[..9] && last == data[999_992..]);
            assert_eq!(session.read_at(&file, 1_000_001, &mut first).await.unwrap(), 0);
            session.close(file).await.unwrap();
            // A read-only file shows how a write that is refused ends.
            let file = session.open(&path("raw.dat"), Access::Read).await.unwrap();
            let refused = session.write_at(&file, 0, b"x").await.unwrap_err();
            assert!(matches!(refused.class, Class::Denied | Class::Protocol), "{refused}");
            session.close(file).await.unwrap();
            assert!(get(&session, &path("raw.dat")).await == data);
            session.remove(&path("raw.dat")).await.unwrap();
            session.end().await.unwrap();
        });
    }
}

#[test]
fn names_beyond_8_3_are_refused_in_old_dialects() {
    let Some(samba) = Samba::start(OLD) else { return };
    run(async {
        let session = connect(&target(&samba, Some(Dialect::Lanman1))).await.unwrap();
        for name in ["ninechars", "a.long", "a.b.c", "with space", "a+b"] {
            let fault = session.open(&path(name), Access::Read).await.unwrap_err();
            assert_eq!(fault.class, Class::Name, "{fault}");
        }
    });
}

#[test]
fn a_server_without_the_core_dialect_is_reported() {
    let Some(samba) = Samba::start(OLD) else { return };
    run(async {
        let fault = connect(&target(&samba, Some(Dialect::Core))).await.unwrap_err();
        assert!(matches!(fault.class, Class::Unsupported | Class::Reset), "{fault}");
    });
}

#[test]
fn required_signatures_are_made_or_the_session_is_refused() {
    for (setting, has_them) in [("auto", true), ("disabled", false)] {
        let Some(samba) = Samba::start(&format!("{OLD}\nserver signing = {setting}")) else {
            return;
        };
        run(async {
            let options = Smb1Options { signing: Signing::Required, ..Smb1Options::default() };
            let target = target_with(&samba, options);
            let session = match connect(&target).await {
                Ok(session) => session,
                Err(fault) => {
                    assert!(!has_them && fault.to_string().contains("it does not sign"), "{fault}");
                    assert_eq!(fault.class, Class::Unsupported);
                    return;
                }
            };
            assert!(has_them, "{setting}");
            assert_eq!(session.facts().protection, "signed, MD5");
            let data = content(1_000_000, 7);
            put(&session, &path("file"), &data).await;
            assert_eq!(get(&session, &path("file")).await, data);
            session.end().await.unwrap();
        });
    }
}

#[test]
fn every_login_and_signing_mode_works_with_samba() {
    for (settings, protection) in
        [("ntlm auth = ntlmv2-only", "none"), ("server signing = mandatory", "signed, MD5")]
    {
        let Some(samba) = Samba::start(&format!("{OLD}\n{settings}")) else { return };
        run(async {
            let session = connect(&target(&samba, None)).await.unwrap();
            assert_eq!(session.facts().protection, protection, "{settings}");
            let data = content(1_000_000, 7);
            put(&session, &path("file"), &data).await;
            assert_eq!(get(&session, &path("file")).await, data);
            session.end().await.unwrap();
        });
    }
}

/// A way to a server of SMB 1 on which its offer becomes that of an older one: no extended security, and
/// only these capabilities ([MS-CIFS] 2.2.4.52.2). Gives its port; it ends with the test's process.
fn cut_down(server: u16, capabilities: u32) -> u16 {
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpListener, TcpStream};

    /// Words of the response of `NT LM 0.12` before its capabilities, octets.
    const BEFORE_CAPABILITIES: usize = 33 + 2 + 1 + 2 + 2 + 4 + 4 + 4;

    fn pass(mut from: TcpStream, mut to: TcpStream, edit: impl Fn(&mut [u8])) {
        let mut head = [0; 4];
        while from.read_exact(&mut head).is_ok() {
            let length = u32::from_be_bytes(head) & 0x1_ffff;
            let mut message = vec![0; length as usize];
            if from.read_exact(&mut message).is_err() {
                break;
            }
            edit(&mut message);
            if to.write_all(&[&head[..], &message[..]].concat()).is_err() {
                break;
            }
        }
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }

    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(samba) = TcpStream::connect(("127.0.0.1", server)) else { return };
            let (from, to) = (client.try_clone().unwrap(), samba.try_clone().unwrap());
            std::thread::spawn(move || {
                pass(from, to, |request| {
                    if request[4] == 0x72 {
                        request[11] &= !0x08;
                    }
                });
            });
            std::thread::spawn(move || {
                pass(samba, client, |answer| {
                    if answer[4] == 0x72 && answer[32] == 17 {
                        let place = BEFORE_CAPABILITIES..BEFORE_CAPABILITIES + 4;
                        let had = u32::from_le_bytes(answer[place.clone()].try_into().unwrap());
                        answer[place].copy_from_slice(&(had & capabilities).to_le_bytes());
                    }
                });
            });
        }
    });
    port
}

/// What a copy does: files, a directory, their listing, and all of it removed again.
async fn is_of_use(target: &Target, long_name: &str) {
    let session = connect(target).await.unwrap();
    let data = content(300_000, 5);
    session.make_directory(&path("dir")).await.unwrap();
    for number in 0..60 {
        let name = format!("dir/{number:03}-{long_name}");
        put(&session, &path(&name), &data[..number * 100]).await;
    }
    put(&session, &path("dir/large"), &data).await;
    assert_eq!(get(&session, &path("dir/large")).await, data);
    let mut entries = session.list(Some(&path("dir"))).await.unwrap();
    entries.sort();
    assert_eq!(entries.len(), 61);
    for (number, entry) in entries.iter().take(60).enumerate() {
        assert_eq!(entry.name, format!("{number:03}-{long_name}"));
        assert_eq!((entry.size_bytes, entry.is_directory), (number as u64 * 100, false));
    }
    assert_eq!((entries[60].name.as_str(), entries[60].size_bytes), ("large", 300_000));
    for entry in entries {
        session.remove(&path(&format!("dir/{}", entry.name))).await.unwrap();
    }
    session.remove_directory(&path("dir")).await.unwrap();
    assert_eq!(session.list(None).await.unwrap(), []);
    session.end().await.unwrap();
}

#[test]
fn names_use_the_code_page_of_a_server_without_unicode() {
    let Some(samba) = Samba::start(&format!("{OLD}\nunicode = no\ndos charset = CP850")) else {
        return;
    };
    run(async {
        // Names end with a zero that is counted.
        is_of_use(&target(&samba, None), "a long name.txt").await;
    });
}

#[test]
fn the_client_falls_back_to_commands_before_windows_nt() {
    let old = format!("{OLD}\nntlm auth = ntlmv1-permitted");
    let Some(samba) = Samba::start(&old) else { return };
    for (capabilities, protocol) in [
        (0xffff, "NT LM 0.12"),
        (0xfffb, "NT LM 0.12"),
        // Windows 98: no Unicode, no commands of Windows NT.
        (0x0211, "NT LM 0.12"),
        (0x03e9, "NT LM 0.12 with commands of LM1.2X002"),
        (0x0011, "NT LM 0.12 with listings of LM1.2X002"),
        (0x0001, "NT LM 0.12 with commands and listings of LM1.2X002"),
    ] {
        run(async {
            let port = Some(cut_down(samba.port, capabilities));
            let target = Target { port, ..target(&samba, None) };
            let session = connect(&target).await;
            let session = session.unwrap_or_else(|fault| panic!("{capabilities:#x}: {fault:?}"));
            let found = session.facts().protocol;
            assert!(
                found.starts_with(&format!("SMB 1, {protocol}, ")),
                "{capabilities:#x}: {found}"
            );
            let largest = if capabilities & 8 == 0 { u64::from(u32::MAX) } else { u64::MAX };
            assert_eq!(session.largest_file_bytes(), largest, "{capabilities:#x}");
            session.end().await.unwrap();
            is_of_use(&target, "a long name.txt").await;
        });
    }
}
