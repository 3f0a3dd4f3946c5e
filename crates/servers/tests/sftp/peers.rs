//! OpenSSH: its client with the embedded server, its server with the client.

use std::io::Write;
use std::process::{Command, Stdio};

use lanlab_clients::connect;
use lanlab_files::{Access, Class, Credentials, Session, Target, Trust};
use tempfile::TempDir;

use super::SFTP;
use crate::stage::{
    self, can_run, check_refusals, content, get, keeps_awkward_names, path, put, run, served,
    target, user,
};

/// OpenSSH's sftp with a password: it asks a program for it.
fn sftp_batch(port: u16, folder: &std::path::Path, batch: &str) -> std::process::Output {
    let ask = folder.join("ask");
    std::fs::write(&ask, format!("#!/bin/sh\necho '{}'\n", user().secret)).unwrap();
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

#[test]
fn openssh_works_with_the_embedded_server() {
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

#[test]
fn openssh_sets_permissions_and_times_or_gets_an_error() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    if !can_run("sftp", false) {
        return;
    }
    run(async {
        let (root, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let (local, secret) = (TempDir::new().unwrap(), outside.path().join("secret"));
        std::fs::write(&secret, "x").unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("link")).unwrap();
        let up = local.path().join("up");
        std::fs::write(&up, "content").unwrap();
        std::fs::set_permissions(&up, std::fs::Permissions::from_mode(0o604)).unwrap();
        let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        let times = std::fs::FileTimes::new().set_modified(old).set_accessed(old);
        std::fs::File::options().write(true).open(&up).unwrap().set_times(times).unwrap();
        let before = std::fs::metadata(&secret).unwrap();
        let (serving, _) = served(SFTP, root.path()).await;
        let (port, folder) = (serving.port(), local.path().to_owned());
        let batch = "put -p up kept\nput up changed\nchmod 640 changed\nmkdir d\nchmod 711 d\n\
                     ls -l\nget -p kept back\n-chmod 4755 kept\n-chmod 777 link/secret\n-chmod 777 none\n";
        let output = tokio::task::spawn_blocking(move || sftp_batch(port, &folder, batch));
        let output = output.await.unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let of = |name: &str| {
            let found = std::fs::metadata(root.path().join(name)).unwrap();
            (found.mode() & 0o7777, found.mtime())
        };
        assert_eq!(of("kept"), (0o604, 1_000_000_000), "{said}");
        assert_eq!((of("changed").0, of("d").0), (0o640, 0o711), "{said}");
        assert_eq!(said.matches("unsupported").count(), 1, "{said}");
        let listed = String::from_utf8_lossy(&output.stdout);
        for mode in ["-rw----r--", "-rw-r-----", "drwx--x--x"] {
            assert!(listed.contains(mode), "{mode}: {listed}");
        }
        let back = std::fs::metadata(local.path().join("back")).unwrap();
        assert_eq!((back.mode() & 0o7777, back.mtime()), (0o604, 1_000_000_000));
        let after = std::fs::metadata(&secret).unwrap();
        assert_eq!((after.mode(), after.ctime()), (before.mode(), before.ctime()));
    });
}

#[test]
fn the_client_works_with_openssh() {
    if !can_run("/usr/sbin/sshd", true) || !can_run("openssl", false) {
        return;
    }
    let (folder, home) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (here, port) = (folder.path().display().to_string(), stage::free_port());
    for (name, kind, passphrase) in [
        ("key", "ed25519", ""),
        ("user_key", "ed25519", ""),
        ("other_key", "ed25519", ""),
        ("rsa_key", "rsa", ""),
        ("locked_key", "ed25519", "a passphrase"),
    ] {
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", kind, "-N", passphrase, "-f", &format!("{here}/{name}")])
            .output()
            .unwrap();
        assert!(made.status.success());
    }
    // It insists on a directory for its unprivileged half.
    std::fs::create_dir_all("/run/sshd").unwrap();
    let configuration = format!(
        "ListenAddress 127.0.0.1:{port}\nHostKey {here}/key\nPidFile none\nUsePAM no\n\
         PasswordAuthentication yes\nStrictModes no\nSubsystem sftp internal-sftp\nMaxAuthTries 2\n\
         AuthorizedKeysFile {here}/user_key.pub {here}/rsa_key.pub\n"
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
        let locked = key("locked_key");
        let fault = connect(&with(locked)).await.unwrap_err();
        assert!(fault.message.contains("the private key has a passphrase"), "{fault}");

        // By an agent: with a key of another and then the right ones, with wrong ones, without any.
        let agent = Agent::begin(folder.path());
        let by_agent = with(format!("ssh-agent:{}", agent.socket));
        let fault = connect(&by_agent).await.unwrap_err();
        assert!(fault.message.ends_with("the ssh-agent has no keys"), "{fault}");
        agent.add(&folder.path().join("other_key"));
        let fault = connect(&by_agent).await.unwrap_err();
        assert!(fault.message.ends_with("accepts none of the 1 keys of the ssh-agent"), "{fault}");
        for name in ["rsa_key", "user_key"] {
            agent.add(&folder.path().join(name));
            let session = connect(&by_agent).await.unwrap();
            put(&session, &path(name), b"x").await;
            session.end().await.unwrap();
        }
        drop(agent);
        // OpenSSH disconnects after the second wrong key.
        let agent = Agent::begin(folder.path());
        for name in ["other_key", "key", "user_key"] {
            agent.add(&folder.path().join(name));
        }
        let fault = connect(&by_agent).await.unwrap_err();
        assert!(fault.message.ends_with("`Too many authentication failures`"), "{fault}");
        assert_eq!(fault.class, Class::Login);
        drop(agent);
        let fault = connect(&by_agent).await.unwrap_err();
        assert!(fault.message.contains("no ssh-agent answers at"), "{fault}");
    });
}

/// An ssh-agent of OpenSSH.
struct Agent {
    child: std::process::Child,
    socket: String,
}

impl Agent {
    fn begin(folder: &std::path::Path) -> Self {
        let socket = folder.join("agent").display().to_string();
        let mut command = Command::new("ssh-agent");
        let command = command.args(["-D", "-a", &socket]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // It says where it listens once it does.
        let mut line = String::new();
        let said = child.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(said), &mut line).unwrap();
        assert!(line.contains(&socket), "{line}");
        Self { child, socket }
    }

    fn add(&self, key: &std::path::Path) {
        let mut command = Command::new("ssh-add");
        let added = command.arg(key).env("SSH_AUTH_SOCK", &self.socket).output().unwrap();
        assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.socket);
    }
}
