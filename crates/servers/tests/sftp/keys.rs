//! Kinds of keys: of servers as their packages install them, and of users as programs write them.

use std::path::Path;
use std::process::Command;

use lanlab_clients::connect;
use lanlab_files::{Class, Credentials, Result, ServiceKind, Session, Target, Trust};
use tempfile::TempDir;

use super::SFTP;
use crate::stage::{self, Running, can_run, path, put, run, target, user};

const PASSPHRASE: &str = "a passphrase";

fn command(program: &str, arguments: &[&str]) {
    let done = Command::new(program).args(arguments).output().unwrap();
    assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
}

fn ssh_keygen(file: &Path, kind: &str, more: &[&str]) {
    let file = file.display().to_string();
    // A short one, as tests calculate slowly.
    let more = if kind == "rsa" { [&["-b", "2048"], more].concat() } else { more.to_vec() };
    command("ssh-keygen", &[&["-q", "-t", kind, "-f", &file], &more[..]].concat());
}

/// OpenSSH's server with these lines of configuration beyond the usual.
fn openssh(folder: &Path, home: &Path, lines: &str) -> (Running, u16) {
    // It insists on a directory for its unprivileged half.
    std::fs::create_dir_all("/run/sshd").unwrap();
    let port = stage::free_port();
    let configuration = format!(
        "ListenAddress 127.0.0.1:{port}\nPidFile none\nUsePAM no\nPasswordAuthentication yes\n\
         StrictModes no\nSubsystem sftp internal-sftp\n{lines}"
    );
    let file = folder.join(format!("conf{port}"));
    std::fs::write(&file, configuration).unwrap();
    let command = format!("/usr/sbin/sshd -D -e -f {}", file.display());
    (stage::start_with_user(folder, home, &command, port), port)
}

async fn log_in(folder: &Path, port: u16, known: &[&str]) -> Result<String> {
    let file = folder.join("known_hosts");
    let of = |key: &str| {
        let key = std::fs::read_to_string(folder.join(format!("{key}.pub"))).unwrap();
        format!("[127.0.0.1]:{port} {key}")
    };
    std::fs::write(&file, known.iter().copied().map(of).collect::<String>()).unwrap();
    let trust = Trust::File(file.display().to_string());
    let session = connect(&Target { trust, ..target(SFTP, port) }).await?;
    let facts = session.facts();
    session.end().await?;
    Ok(facts.protection)
}

#[test]
fn servers_are_verified_by_each_kind_of_host_key() {
    if !can_run("/usr/sbin/sshd", true) || !can_run("openssl", false) {
        return;
    }
    let (folder, home) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    for kind in ["ed25519", "ecdsa", "rsa"] {
        ssh_keygen(&folder.path().join(kind), kind, &["-N", ""]);
    }
    let here = folder.path().display();
    for (key, algorithm) in [
        ("ed25519", "ssh-ed25519"),
        ("ecdsa", "ecdsa-sha2-nistp256"),
        ("rsa", "rsa-sha2-512"),
        ("rsa", "rsa-sha2-256"),
        ("rsa", "ssh-rsa"),
    ] {
        let lines = format!("HostKey {here}/{key}\nHostKeyAlgorithms {algorithm}\n");
        let (_running, port) = openssh(folder.path(), home.path(), &lines);
        let protection = run(log_in(folder.path(), port, &[key])).unwrap();
        assert_eq!(protection.ends_with("SHA-1"), algorithm == "ssh-rsa", "{protection}");
        let fault = run(log_in(folder.path(), port, &["other"; 0])).unwrap_err();
        assert_eq!(fault.class, Class::Certificate, "{fault}");
    }
    // Of a server with all of them one is known.
    let lines = ["ed25519", "ecdsa", "rsa"].map(|key| format!("HostKey {here}/{key}\n")).concat();
    let (_running, port) = openssh(folder.path(), home.path(), &lines);
    for known in ["ed25519", "ecdsa", "rsa"] {
        run(log_in(folder.path(), port, &[known])).unwrap();
    }
}

#[test]
fn a_forced_command_instead_of_sftp_is_named() {
    if !can_run("/usr/sbin/sshd", true) || !can_run("openssl", false) {
        return;
    }
    let (folder, home) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    ssh_keygen(&folder.path().join("key"), "ed25519", &["-N", ""]);
    let key = format!("HostKey {}/key\n", folder.path().display());
    for (command, status) in [("/bin/false", 1), ("exit 7", 7), ("exec >&-; sleep 0.2; exit 3", 3)]
    {
        let lines = format!("{key}ForceCommand {command}\n");
        let (_running, port) = openssh(folder.path(), home.path(), &lines);
        let fault = run(log_in(folder.path(), port, &["key"])).unwrap_err();
        assert_eq!(fault.class, Class::Unsupported, "{fault}");
        assert!(fault.message.ends_with(&format!("ended at once with status {status}")), "{fault}");
        assert!(fault.hint.is_some_and(|hint| hint.contains("a forced command")));
    }
}

#[test]
fn the_rsa_key_of_dropbear_is_checked() {
    // Debian's has no server of SFTP in it: its host key is checked before one is asked for.
    if !can_run("dropbear", true) || !can_run("ssh-keyscan", false) {
        return;
    }
    let folder = TempDir::new().unwrap();
    let (here, port) = (folder.path().display().to_string(), stage::free_port());
    command("dropbearkey", &["-t", "rsa", "-s", "2048", "-f", &format!("{here}/host")]);
    let address = format!("127.0.0.1:{port}");
    let child = Command::new("dropbear")
        .args(["-F", "-E", "-r", &format!("{here}/host"), "-p", &address, "-P", ""])
        .stderr(std::process::Stdio::null())
        .spawn();
    let mut running = Running(child.unwrap());
    while std::net::TcpStream::connect(&address).is_err() {
        assert!(running.0.try_wait().unwrap().is_none(), "dropbear ended");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let scan = ["-t", "rsa", "-p", &port.to_string(), "127.0.0.1"];
    let known = Command::new("ssh-keyscan").args(scan).output().unwrap();
    std::fs::write(folder.path().join("known"), known.stdout).unwrap();
    let trust = Trust::File(format!("{here}/known"));
    let fault = run(connect(&Target { trust, ..target(SFTP, port) })).unwrap_err();
    assert_eq!(fault.class, Class::Login, "the key was taken, and no user is: {fault}");
}

#[test]
fn private_keys_of_every_file_format_log_in() {
    if !can_run("/usr/sbin/sshd", true) || !can_run("openssl", false) {
        return;
    }
    let (folder, home) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let file = |name: &str| folder.path().join(name);
    ssh_keygen(&file("host"), "ed25519", &["-N", ""]);
    let mut keys: Vec<(String, bool)> = Vec::new();
    for kind in ["rsa", "ecdsa"] {
        for form in ["PEM", "PKCS8", "RFC4716"] {
            ssh_keygen(&file(&format!("{kind}-{form}")), kind, &["-m", form, "-N", ""]);
            keys.push((format!("{kind}-{form}"), false));
        }
        let locked = format!("{kind}-PKCS8-locked");
        ssh_keygen(&file(&locked), kind, &["-m", "PKCS8", "-N", PASSPHRASE]);
        keys.push((locked, true));
    }
    ssh_keygen(&file("rsa-PEM-locked"), "rsa", &["-m", "PEM", "-N", PASSPHRASE]);
    ssh_keygen(&file("ed25519-locked"), "ed25519", &["-N", PASSPHRASE]);
    keys.extend([("rsa-PEM-locked".to_owned(), true), ("ed25519-locked".to_owned(), true)]);
    if can_run("puttygen", false) {
        for (name, new) in [("putty", ""), ("putty-locked", PASSPHRASE)] {
            let (ppk, public) = (file(name), file(&format!("{name}.pub")));
            let (ppk, public) = (ppk.to_str().unwrap(), public.to_str().unwrap());
            std::fs::write(file("new"), new).unwrap();
            let to =
                ["-O", "private", "-o", ppk, "--new-passphrase", file("new").to_str().unwrap()]
                    .map(str::to_owned);
            let to = to.iter().map(String::as_str);
            let from = file("rsa-RFC4716");
            let arguments: Vec<_> = [from.to_str().unwrap()].into_iter().chain(to).collect();
            command("puttygen", &arguments);
            std::fs::copy(file("rsa-RFC4716.pub"), public).unwrap();
            keys.push((name.to_owned(), !new.is_empty()));
        }
    }
    let allowed: String = keys
        .iter()
        .map(|(name, _)| std::fs::read_to_string(file(&format!("{name}.pub"))).unwrap())
        .collect();
    std::fs::write(file("allowed"), allowed).unwrap();
    let here = folder.path().display();
    let lines = format!("HostKey {here}/host\nAuthorizedKeysFile {here}/allowed\n");
    let (_running, port) = openssh(folder.path(), home.path(), &lines);
    let known = std::fs::read_to_string(file("host.pub")).unwrap();
    std::fs::write(file("known"), format!("[127.0.0.1]:{port} {known}")).unwrap();
    let with = |secret: String, passphrase: Option<&str>| {
        let passphrase = passphrase.map(str::to_owned);
        Target {
            trust: Trust::File(file("known").display().to_string()),
            credentials: Some(Credentials { secret, passphrase, ..user() }),
            ..target(SFTP, port)
        }
    };
    run(async {
        for (name, is_locked) in &keys {
            let text = std::fs::read_to_string(file(name)).unwrap();
            let above = format!("\u{feff}\r\nBag Attributes\r\n{}", text.replace('\n', "\r\n"));
            let secret = if *is_locked { text.clone() } else { above };
            let session = connect(&with(secret, is_locked.then_some(PASSPHRASE))).await;
            let session = session.unwrap_or_else(|fault| panic!("{name}: {fault}"));
            put(&session, &path(name), b"x").await;
            session.end().await.unwrap();
            if *is_locked {
                let wrong = connect(&with(text, Some("another"))).await.unwrap_err();
                assert!(wrong.message.ends_with("it was not sent"), "{name}: {wrong}");
            }
        }
    });
}

/// A service that would get a key is not even connected to: nothing listens at the port.
#[test]
fn a_private_key_is_not_sent_as_a_password() {
    for text in [
        "-----BEGIN RSA PRIVATE KEY-----\nMII",
        "\u{feff}\r\n \r\n-----BEGIN PRIVATE KEY-----\r\nMII",
        "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n",
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n",
    ] {
        for service in [
            ServiceKind::Ftp,
            ServiceKind::Webdav,
            ServiceKind::Smb,
            ServiceKind::Smb1,
            ServiceKind::S3,
            ServiceKind::Ncp,
        ] {
            let credentials = Some(Credentials { secret: text.to_owned(), ..user() });
            let of = Target { credentials, ..target(service, stage::free_port()) };
            let fault = run(connect(&of)).unwrap_err();
            assert_eq!(fault.class, Class::Login, "{service:?}: {fault}");
            assert!(fault.message.ends_with("it was not sent"), "{service:?}: {fault}");
        }
    }
}
