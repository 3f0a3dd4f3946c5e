//! SFTP: the client against servers that lie, break off and dawdle, the embedded server against
//! clients that try to get out, and each against OpenSSH.

mod stage;

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use lanlab_services::{
    Access, Class, Credentials, Fault, ServiceKind, Session, Target, Trust, connect,
};
use russh::keys::PrivateKey;
use russh::keys::ssh_key::private::Ed25519Keypair;
use russh::server::{Auth, ChannelOpenHandle, Config, Handler, Msg, run_stream};
use russh::{Channel, ChannelId, ChannelMsg};
use stage::{
    LOOPBACK, can_run, content, get, impatient, keeps_awkward_names, path, put, run, served,
    target, user,
};
use tempfile::TempDir;

const SFTP: ServiceKind = ServiceKind::Sftp;

#[test]
fn a_large_file_comes_back_as_it_went() {
    run(async {
        let root = TempDir::new().unwrap();
        let (_serving, target) = served(SFTP, root.path()).await;
        let session = connect(&target).await.unwrap();
        let data = content(64 << 20, 1);
        put(&session, &path("large"), &data).await;
        assert!(get(&session, &path("large")).await == data);
        let facts = session.facts();
        assert_eq!(facts.no_delay, Some(true));
        assert!(facts.protection.contains("aes"), "{facts:?}");
        assert_eq!(facts.server.as_deref(), Some("lanlab"));
        session.end().await.unwrap();
    });
}

#[test]
fn many_calls_at_once_each_get_their_own_answer() {
    run(async {
        let root = TempDir::new().unwrap();
        let data = content(8 << 20, 2);
        std::fs::write(root.path().join("x"), &data).unwrap();
        let (_serving, target) = served(SFTP, root.path()).await;
        let session = connect(&target).await.unwrap();
        let file = session.open(&path("x"), Access::Update).await.unwrap();
        // Reads of the whole in pieces, at once, with writes of the same octets between them.
        let mut pieces: Vec<_> = data.chunks(100_000).map(|piece| vec![0; piece.len()]).collect();
        let mut reads: Vec<_> = pieces
            .iter_mut()
            .enumerate()
            .map(|(number, piece)| {
                let (session, file, data) = (&session, &file, &data);
                Box::pin(async move {
                    let offset = number * 100_000;
                    if number % 3 == 0 {
                        let same = &data[offset..offset + piece.len()];
                        session.write_at(file, offset as u64, same).await.unwrap();
                    }
                    let count = session.read_at(file, offset as u64, piece).await.unwrap();
                    assert_eq!(count, piece.len());
                })
            })
            .collect();
        std::future::poll_fn(|context| {
            reads.retain_mut(|read| read.as_mut().poll(context).is_pending());
            if reads.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
        drop(reads);
        assert!(pieces.concat() == data);
        session.sync(&file).await.unwrap();
        session.close(file).await.unwrap();
        assert!(std::fs::read(root.path().join("x")).unwrap() == data);
    });
}

#[test]
fn small_files_do_not_wait_for_acknowledgements() {
    run(async {
        let root = TempDir::new().unwrap();
        let (_serving, target) = served(SFTP, root.path()).await;
        stage::moves_small_files_without_stalls(&connect(&target).await.unwrap()).await;
    });
}

#[test]
fn names_come_back_as_they_went() {
    run(async {
        let root = TempDir::new().unwrap();
        let (_serving, target) = served(SFTP, root.path()).await;
        let session = connect(&target).await.unwrap();
        keeps_awkward_names(&session, root.path()).await;
        let too_long = path(&"x".repeat(256));
        let fault = session.open(&too_long, Access::Create { size_bytes: 1 }).await.unwrap_err();
        assert_eq!(fault.class, Class::Name, "{fault}");
    });
}

#[test]
fn what_is_there_is_not_overwritten() {
    run(async {
        let root = TempDir::new().unwrap();
        let (_serving, target) = served(SFTP, root.path()).await;
        let session = connect(&target).await.unwrap();
        check_refusals(&session).await;
    });
}

async fn check_refusals(session: &impl Session) {
    put(session, &path("a"), b"first").await;
    let again = session.open(&path("a"), Access::Create { size_bytes: 1 }).await;
    assert_eq!(again.err().unwrap().class, Class::Exists);
    session.make_directory(&path("d")).await.unwrap();
    assert_eq!(session.make_directory(&path("d")).await.unwrap_err().class, Class::Exists);
    put(session, &path("d/x"), b"x").await;
    assert_eq!(session.remove_directory(&path("d")).await.unwrap_err().class, Class::Exists);
    assert_eq!(session.remove(&path("no")).await.unwrap_err().class, Class::Missing);
    assert_eq!(session.remove_directory(&path("no")).await.unwrap_err().class, Class::Missing);
    assert_eq!(session.list(Some(&path("no"))).await.unwrap_err().class, Class::Missing);
    assert_eq!(session.make_directory(&path("no/d")).await.unwrap_err().class, Class::Missing);
    let missing = session.open(&path("no"), Access::Update).await;
    assert_eq!(missing.err().unwrap().class, Class::Missing);
    assert_eq!(get(session, &path("a")).await, b"first");
    // Far beyond the end, and where nothing is.
    let file = session.open(&path("a"), Access::Update).await.unwrap();
    session.write_at(&file, 1 << 32, b"end").await.unwrap();
    let mut buffer = [1; 8];
    assert_eq!(session.read_at(&file, (1 << 32) - 1, &mut buffer).await.unwrap(), 4);
    assert_eq!(buffer, *b"\0end\x01\x01\x01\x01");
    assert_eq!(session.read_at(&file, 1 << 33, &mut buffer).await.unwrap(), 0);
    session.close(file).await.unwrap();
    for name in ["d/x", "a"] {
        session.remove(&path(name)).await.unwrap();
    }
    session.remove_directory(&path("d")).await.unwrap();
}

#[test]
fn a_server_takes_its_connections_with_it() {
    run(async {
        let root = TempDir::new().unwrap();
        let (serving, target) = served(SFTP, root.path()).await;
        let (one, two) = (connect(&target).await.unwrap(), connect(&target).await.unwrap());
        put(&one, &path("x"), &content(1000, 3)).await;
        let file = two.open(&path("x"), Access::Read).await.unwrap();
        assert_eq!(serving.accepted(), 2);
        let port = serving.port();
        serving.end().await;
        drop(TcpListener::bind((LOOPBACK, port)).expect("the port is free"));
        assert_eq!(one.list(None).await.unwrap_err().class, Class::Reset);
        assert_eq!(two.read_at(&file, 0, &mut [0; 10]).await.unwrap_err().class, Class::Reset);
        assert_eq!(connect(&target).await.unwrap_err().class, Class::Refused);
    });
}

#[test]
fn a_session_works_in_its_directory() {
    run(async {
        let root = TempDir::new().unwrap();
        std::fs::create_dir_all(root.path().join("a/b")).unwrap();
        std::fs::write(root.path().join("file"), "x").unwrap();
        let (_serving, target) = served(SFTP, root.path()).await;
        let inner = Target { directory: "a/b".to_owned(), ..target.clone() };
        let session = connect(&inner).await.unwrap();
        put(&session, &path("x"), b"x").await;
        assert!(root.path().join("a/b/x").exists());
        for nowhere in ["c", "file"] {
            let none = Target { directory: nowhere.to_owned(), ..target.clone() };
            assert_eq!(connect(&none).await.unwrap_err().class, Class::Missing, "{nowhere}");
        }
        let out = Target { directory: "../..".to_owned(), ..target };
        assert_eq!(connect(&out).await.unwrap_err().class, Class::Name);
    });
}

/// Keys that are known, from a file as OpenSSH writes it.
#[test]
fn a_host_key_is_taken_from_known_hosts() {
    run(async {
        let root = TempDir::new().unwrap();
        let (serving, target) = served(SFTP, root.path()).await;
        let port = serving.port();
        let scan = move || {
            Command::new("ssh-keyscan").args(["-p", &port.to_string(), "127.0.0.1"]).output()
        };
        let Ok(scan) = tokio::task::spawn_blocking(scan).await.unwrap() else {
            eprintln!("skipped: ssh-keyscan: it is not installed");
            return;
        };
        let file = root.path().join("known_hosts");
        std::fs::write(&file, &scan.stdout).unwrap();
        let trust = Trust::File(file.display().to_string());
        connect(&Target { trust: trust.clone(), ..target.clone() }).await.unwrap();
        // Of another server.
        let (_other, elsewhere) = served(SFTP, root.path()).await;
        let text = String::from_utf8(scan.stdout).unwrap();
        let text = text.replace(&port.to_string(), &elsewhere.port.unwrap().to_string());
        std::fs::write(&file, text).unwrap();
        let fault = connect(&Target { trust, ..elsewhere }).await.unwrap_err();
        assert_eq!(fault.class, Class::Certificate, "{fault}");
        let none = Trust::File(root.path().join("none").display().to_string());
        assert_eq!(
            connect(&Target { trust: none, ..target }).await.unwrap_err().class,
            Class::Missing
        );
    });
}

/// A server at the level of TCP: what it does with a connection.
fn below(act: impl FnOnce(std::net::TcpStream) + Send + 'static) -> Fault {
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || act(listener.accept().unwrap().0));
    run(async { connect(&impatient(SFTP, port)).await.unwrap_err() })
}

#[test]
fn a_server_that_is_none_is_told_apart() {
    let silent = below(|stream| {
        thread::sleep(Duration::from_secs(1));
        drop(stream);
    });
    assert_eq!(silent.class, Class::TimedOut, "{silent}");
    let gone = below(drop);
    assert_eq!(gone.class, Class::Reset, "{gone}");
    let other = below(|mut stream| {
        let _ = stream.write_all(b"220 an FTP server\r\n");
        thread::sleep(Duration::from_secs(1));
    });
    assert!(matches!(other.class, Class::Protocol | Class::TimedOut), "{other:?}");
    let endless = below(|mut stream| while stream.write_all(&[b'x'; 4096]).is_ok() {});
    assert!(!matches!(endless.class, Class::Local), "{endless:?}");
    let garbage = below(|mut stream| {
        let _ = stream.write_all(b"SSH-2.0-x\r\n");
        let _ = stream.write_all(&content(100_000, 5));
        let _ = stream.read(&mut [0; 100]);
        thread::sleep(Duration::from_secs(1));
    });
    assert!(
        matches!(garbage.class, Class::Protocol | Class::Reset | Class::TimedOut),
        "{garbage:?}"
    );
}

/// What a scripted SFTP server says to a message: its type and number, and where it begins.
type Script = fn(u8, u32) -> Vec<u8>;

struct Scripted {
    script: Script,
    channels: HashMap<ChannelId, Channel<Msg>>,
}

impl Handler for Scripted {
    type Error = russh::Error;

    async fn auth_password(&mut self, _: &str, _: &str) -> Result<Auth, russh::Error> {
        Ok(Auth::Accept)
    }

    async fn channel_open_session(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut russh::server::Session,
    ) -> Result<(), russh::Error> {
        self.channels.insert(channel.id(), channel);
        reply.accept().await;
        Ok(())
    }

    async fn subsystem_request(
        &mut self,
        id: ChannelId,
        _: &str,
        session: &mut russh::server::Session,
    ) -> Result<(), russh::Error> {
        session.channel_success(id)?;
        let (mut channel, script) = (self.channels.remove(&id).unwrap(), self.script);
        tokio::spawn(async move {
            let mut come = Vec::new();
            while let Some(message) = channel.wait().await {
                let ChannelMsg::Data { data } = message else { continue };
                come.extend_from_slice(&data);
                while come.len() >= 9 {
                    let length = u32::from_be_bytes(come[..4].try_into().unwrap()) as usize + 4;
                    if come.len() < length {
                        break;
                    }
                    let number = u32::from_be_bytes(come[5..9].try_into().unwrap());
                    let reply = script(come[4], number);
                    come.drain(..length);
                    if reply == b"hang up" {
                        let _ = channel.close().await;
                        return;
                    }
                    if channel.data_bytes(reply).await.is_err() {
                        return;
                    }
                }
            }
        });
        Ok(())
    }
}

fn framed(kind: u8, number: u32, rest: &[u8]) -> Vec<u8> {
    let mut message = ((5 + rest.len()) as u32).to_be_bytes().to_vec();
    message.push(kind);
    message.extend_from_slice(&number.to_be_bytes());
    message.extend_from_slice(rest);
    message
}

fn string(octets: &[u8]) -> Vec<u8> {
    [&(octets.len() as u32).to_be_bytes()[..], octets].concat()
}

/// What a well-behaved server says: a handle of octets that are no text, and so on.
fn well(kind: u8, number: u32) -> Vec<u8> {
    match kind {
        1 => framed(2, 3, b""),
        3 | 11 => framed(102, number, &string(&[0xff, 0xfe, 0, 0x80])),
        16 => framed(
            104,
            number,
            &[&1_u32.to_be_bytes()[..], &string(b"/"), &string(b"/"), &[0; 4]].concat(),
        ),
        17 => {
            framed(105, number, &[&4_u32.to_be_bytes()[..], &0o040_755_u32.to_be_bytes()].concat())
        }
        _ => framed(101, number, &[&0_u32.to_be_bytes()[..], &string(b""), &string(b"")].concat()),
    }
}

/// What comes of reading a file from a server by a script.
fn reading(script: Script) -> Result<usize, Fault> {
    run(async {
        let listener = tokio::net::TcpListener::bind((LOOPBACK, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let key = PrivateKey::from(Ed25519Keypair::from_seed(&[7; 32]));
        let hash = sha256(&key.public_key().to_bytes().unwrap());
        let config = Arc::new(Config { keys: vec![key], ..Config::default() });
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let handler = Scripted { script, channels: HashMap::new() };
            let _ = run_stream(config, stream, handler).await.unwrap().await;
        });
        let of =
            Target { trust: Trust::Sha256(hash), timeout_ns: 3_000_000_000, ..target(SFTP, port) };
        let session = connect(&of).await?;
        let file = session.open(&path("f"), Access::Read).await?;
        let count = session.read_at(&file, 0, &mut [0; 100]).await?;
        session.close(file).await?;
        Ok(count)
    })
}

fn sha256(octets: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(octets).iter().map(|octet| format!("{octet:02x}")).collect()
}

#[test]
fn a_server_that_does_not_tell_the_truth_is_not_believed() {
    let class = |script: Script| reading(script).unwrap_err().class;
    assert_eq!(
        reading(|kind, number| match kind {
            5 => framed(103, number, &string(b"12345")),
            _ => well(kind, number),
        }),
        Ok(5)
    );
    // More than was asked for; nothing; cut off; a number of octets that do not follow.
    assert_eq!(
        class(|kind, number| match kind {
            5 => framed(103, number, &string(&[0; 101])),
            _ => well(kind, number),
        }),
        Class::Length
    );
    assert_eq!(
        class(|kind, number| match kind {
            5 => framed(103, number, &string(b"")),
            _ => well(kind, number),
        }),
        Class::Length
    );
    assert_eq!(
        class(|kind, number| match kind {
            5 => framed(103, number, &100_u32.to_be_bytes()),
            _ => well(kind, number),
        }),
        Class::Length
    );
    // A reply to something else, one that cannot be, and one without end.
    assert_eq!(
        class(|kind, number| match kind {
            5 => framed(105, number, b""),
            _ => well(kind, number),
        }),
        Class::Protocol
    );
    assert_eq!(
        class(|kind, number| match kind {
            5 => vec![0, 0, 0, 1, 103],
            _ => well(kind, number),
        }),
        Class::Protocol
    );
    assert_eq!(
        class(|kind, number| match kind {
            5 => vec![0x7f; 64],
            _ => well(kind, number),
        }),
        Class::Protocol
    );
    // The channel ends in the middle; no answer at all, or one to a question nobody asked.
    assert_eq!(
        class(|kind, number| match kind {
            5 => b"hang up".to_vec(),
            _ => well(kind, number),
        }),
        Class::Reset
    );
    assert_eq!(
        class(|kind, number| match kind {
            5 => framed(103, number + 1000, &string(b"12345")),
            _ => well(kind, number),
        }),
        Class::TimedOut
    );
    // What a shell prints before.
    assert_eq!(class(|_, _| b"Welcome to this host!\n".to_vec()), Class::Protocol);
    assert_eq!(
        class(|kind, number| match kind {
            3 => framed(
                101,
                number,
                &[&4_u32.to_be_bytes()[..], &string(b"No space left"), &string(b"")].concat()
            ),
            _ => well(kind, number),
        }),
        Class::NoSpace
    );
}

/// OpenSSH's sftp with a password: it asks a program for it.
fn sftp_batch(port: u16, folder: &std::path::Path, batch: &str) -> std::process::Output {
    let ask = folder.join("ask");
    std::fs::write(&ask, format!("#!/bin/sh\necho '{}'\n", user().secret)).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&ask, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    let mut child = Command::new("sftp")
        .args([
            "-F",
            "none",
            "-o",
            "StrictHostKeyChecking=no",
            "-o",
            "UserKnownHostsFile=/dev/null",
        ])
        .args(["-o", "ConnectTimeout=10", "-o", "BatchMode=no", "-b", "-", "-P", &port.to_string()])
        .arg(format!("{}@127.0.0.1", user().user))
        .env("SSH_ASKPASS", ask)
        .env("SSH_ASKPASS_REQUIRE", "force")
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(batch.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[cfg(unix)]
#[test]
fn openssh_and_the_embedded_server_understand_each_other() {
    if !can_run("sftp", false) {
        return;
    }
    run(async {
        let (root, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let local = TempDir::new().unwrap();
        std::fs::write(outside.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("link")).unwrap();
        let (serving, _) = served(SFTP, root.path()).await;
        let data = content(5_000_000, 9);
        std::fs::write(local.path().join("up"), &data).unwrap();
        let port = serving.port();
        let folder = local.path().to_owned();
        let batch = "mkdir d\ncd d\nput -p up \"a file\"\nls -la\nrename \"a file\" b\nget b down\n\
                     -get ../../../../etc/passwd out1\n-get /link/secret out2\n-get ../link/secret out3\n\
                     -symlink /etc/passwd l\n-ln b hard\nrm b\ncd /\nrmdir d\npwd\n";
        let output = tokio::task::spawn_blocking(move || sftp_batch(port, &folder, batch));
        let output = output.await.unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(std::fs::read(local.path().join("down")).unwrap() == data);
        for out in ["out1", "out2", "out3"] {
            assert!(!local.path().join(out).exists(), "{out}: {said}");
        }
        let left: Vec<_> = std::fs::read_dir(root.path()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "only the link that was there: {left:?}");
    });
}

#[cfg(target_os = "linux")]
#[test]
fn openssh_and_the_client_understand_each_other() {
    if !can_run("/usr/sbin/sshd", true) || !can_run("openssl", false) {
        return;
    }
    let (folder, home) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (here, port) = (folder.path().display().to_string(), stage::free_port());
    for name in ["key", "user_key", "other_key"] {
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-f", &format!("{here}/{name}")])
            .output()
            .unwrap();
        assert!(made.status.success());
    }
    // It insists on a directory for its unprivileged half.
    std::fs::create_dir_all("/run/sshd").unwrap();
    let configuration = format!(
        "ListenAddress 127.0.0.1:{port}\nHostKey {here}/key\nPidFile none\nUsePAM no\n\
         PasswordAuthentication yes\nStrictModes no\nSubsystem sftp internal-sftp\n\
         AuthorizedKeysFile {here}/user_key.pub\n"
    );
    std::fs::write(folder.path().join("conf"), configuration).unwrap();
    let command = format!("/usr/sbin/sshd -D -e -f {here}/conf");
    let _running = stage::start_with_user(folder.path(), home.path(), &command, port);
    let key = std::fs::read_to_string(folder.path().join("key.pub")).unwrap();
    let known = folder.path().join("known_hosts");
    std::fs::write(&known, format!("[127.0.0.1]:{port} {key}")).unwrap();
    let trust = Trust::File(known.display().to_string());
    let of = Target { trust, ..target(SFTP, port) };
    run(async {
        let session = connect(&of).await.unwrap();
        let facts = session.facts();
        assert!(facts.server.as_deref().unwrap().starts_with("OpenSSH"), "{facts:?}");
        let data = content(10_000_000, 8);
        put(&session, &path("large"), &data).await;
        assert!(std::fs::read(home.path().join("large")).unwrap() == data);
        assert!(get(&session, &path("large")).await == data);
        session.remove(&path("large")).await.unwrap();
        check_refusals(&session).await;
        keeps_awkward_names(&session, home.path()).await;
        let file = session.open(&path("s"), Access::Create { size_bytes: 1 }).await.unwrap();
        session.write_at(&file, 0, b"x").await.unwrap();
        session.sync(&file).await.unwrap();
        session.close(file).await.unwrap();
        let too_long = path(&"x".repeat(256));
        let fault = session.open(&too_long, Access::Create { size_bytes: 1 }).await.unwrap_err();
        assert_eq!(fault.class, Class::Name, "{fault}");
        session.end().await.unwrap();

        let with = |secret: String| Target {
            credentials: Some(Credentials { secret, ..user() }),
            ..of.clone()
        };
        let key = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let session = connect(&with(key("user_key"))).await.unwrap();
        put(&session, &path("by key"), b"x").await;
        session.end().await.unwrap();
        let broken = key("user_key").replace("AAAA", "AAAB");
        for wrong in ["wrong".to_owned(), key("other_key"), broken] {
            let fault = connect(&with(wrong)).await.unwrap_err();
            assert_eq!(fault.class, Class::Login, "{fault}");
            assert!(!fault.message.contains("BEGIN"), "{fault}");
        }
    });
}
