//! Samba's server, client and tests, where they are installed.

mod smb1;
mod torture;

use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use lanlab_clients::connect;
use lanlab_files::ServiceKind::Smb;
use lanlab_files::{Class, Credentials, Session, Target};
use tempfile::TempDir;

use crate::multiplexed::{
    LOOPBACK, content, get, holds_names, lists_many, moves_a_large_file, path, put, run, served,
    shares_a_file, target, tells_why_not, user,
};
use crate::peer_programs::{can_run, free_port, missing};

const SECRET: &str = "not-shown";

/// Its end is `smbd`'s, with all processes that it made.
struct Samba {
    process: Child,
    folder: TempDir,
    port: u16,
    user: String,
}

impl Drop for Samba {
    fn drop(&mut self) {
        // The group is its own.
        let group = format!("-{}", self.process.id());
        let _ = Command::new("kill").args(["-TERM", "--", &group]).status();
        let _ = self.process.wait();
    }
}

impl Samba {
    /// Start it with more settings, unless it is missing or this user may not.
    fn start(settings: &str) -> Option<Self> {
        if !can_run("smbd", false) || !can_run("smbpasswd", false) {
            return None;
        }
        let folder = TempDir::new().unwrap();
        let at = folder.path().to_str().unwrap();
        for name in ["share", "state", "private"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let user =
            String::from_utf8(Command::new("id").arg("-un").output().unwrap().stdout).unwrap();
        let user = user.trim().to_owned();
        let port = free_port();
        let folders = ["lock", "state", "cache", "pid"]
            .map(|kind| format!("{kind} directory = {at}/state\n"));
        let config = format!(
            "[global]\nsmb ports = {port}\ninterfaces = lo\nbind interfaces only = yes\n\
             private dir = {at}/private\n{}ncalrpc dir = {at}/state/ncalrpc\n\
             passdb backend = tdbsam:{at}/private/passdb.tdb\nlog file = {at}/state/log\n\
             disable spoolss = yes\nload printers = no\nserver role = standalone\n{settings}\n\
             [lanlab]\npath = {at}/share\nread only = no\n\n",
            folders.concat()
        );
        let file = folder.path().join("smb.conf");
        fs::write(&file, config).unwrap();
        let file = file.to_str().unwrap();
        let added = Command::new("sh")
            .args([
                "-c",
                "printf '%s\\n%s\\n' \"$1\" \"$1\" | smbpasswd -c \"$2\" -s -a \"$3\"",
                "sh",
            ])
            .args([SECRET, file, &user])
            .output()
            .unwrap();
        if !added.status.success() {
            missing(&format!("smbpasswd: {}", String::from_utf8_lossy(&added.stderr).trim()));
            return None;
        }
        let process = Command::new("smbd")
            .args(["-F", "--no-process-group", "-s", file, "-l", at])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let samba = Self { process, folder, port, user };
        let until = Instant::now() + Duration::from_mins(1);
        while TcpStream::connect((LOOPBACK, port)).is_err() {
            assert!(Instant::now() < until, "smbd does not listen at {port}");
            thread::sleep(Duration::from_millis(50));
        }
        Some(samba)
    }

    fn target(&self) -> Target {
        let (user, secret) = (self.user.clone(), SECRET.to_owned());
        let credentials = Credentials { user, secret, domain: None, passphrase: None };
        Target { credentials: Some(credentials), ..target(Smb, self.port) }
    }
}

/// What every service must do, in the share that lies there; and a wrong password is refused.
async fn passes_all(target: Target, share: &Path) {
    moves_a_large_file(&target, share).await;
    holds_names(&target, share).await;
    shares_a_file(&target).await;
    tells_why_not(&target).await;
    lists_many(&target, share).await;
    let wrong = Credentials { secret: "wrong".to_owned(), ..target.credentials.clone().unwrap() };
    let fault = connect(&Target { credentials: Some(wrong), ..target }).await.unwrap_err();
    assert_eq!(fault.class, Class::Login, "{fault}");
}

#[test]
fn the_client_works_with_samba() {
    let Some(samba) = Samba::start("") else { return };
    run(async {
        let target = samba.target();
        let share = samba.folder.path().join("share");
        let session = connect(&target).await.unwrap();
        assert_eq!(session.facts().protocol, "SMB 3.1.1");
        assert_eq!(session.facts().protection, "none");
        session.end().await.unwrap();
        passes_all(target, &share).await;
    });
}

#[test]
fn every_dialect_and_protection_works_with_samba() {
    for (settings, protocol, protection) in [
        ("server max protocol = SMB2_02", "SMB 2.0.2", "none"),
        ("server max protocol = SMB2_10", "SMB 2.1", "none"),
        ("server max protocol = SMB3_00", "SMB 3.0", "none"),
        ("server max protocol = SMB3_02", "SMB 3.0.2", "none"),
        // Never the 16 credits of a block.
        ("smb2 max credits = 2", "SMB 3.1.1", "none"),
        ("server signing = mandatory", "SMB 3.1.1", "signed, AES-128-GMAC"),
        (
            "server signing = mandatory\nserver max protocol = SMB3_00",
            "SMB 3.0",
            "signed, AES-128-CMAC",
        ),
        (
            "server signing = mandatory\nserver max protocol = SMB2_10",
            "SMB 2.1",
            "signed, HMAC-SHA256",
        ),
        ("smb encrypt = required", "SMB 3.1.1", "encrypted, AES-128-GCM"),
        (
            "smb encrypt = required\nserver max protocol = SMB3_00",
            "SMB 3.0",
            "encrypted, AES-128-CCM",
        ),
        (
            "smb encrypt = required\nserver max protocol = SMB3_02",
            "SMB 3.0.2",
            "encrypted, AES-128-CCM",
        ),
    ] {
        let Some(samba) = Samba::start(settings) else { return };
        run(async {
            let session = connect(&samba.target()).await;
            let session = session.unwrap_or_else(|fault| panic!("{settings}: {fault:?}"));
            let facts = session.facts();
            assert_eq!(
                (facts.protocol.as_str(), facts.protection.as_str()),
                (protocol, protection)
            );
            let data = content(3_000_001, 4);
            put(&session, &path("x"), &data).await;
            assert!(get(&session, &path("x")).await == data, "{settings}");
            assert_eq!(session.list(None).await.unwrap().len(), 1);
            session.end().await.unwrap();
        });
    }
}

#[test]
fn smbclient_works_with_the_embedded_server_in_each_dialect() {
    if !can_run("smbclient", false) {
        return;
    }
    for dialect in ["SMB2_02", "SMB2_10", "SMB3_00", "SMB3_02", "SMB3_11"] {
        run(async {
            let (root, serving, target) = served(Smb).await;
            let local = TempDir::new().unwrap();
            let data = content(3_000_001, 6);
            fs::write(local.path().join("there"), &data).unwrap();
            let port = serving.port().to_string();
            let who = target.credentials.unwrap();
            let folder = local.path().to_owned();
            // The server lives on this thread, so that the client is waited for on another.
            let done = tokio::task::spawn_blocking(move || {
                Command::new("smbclient")
                    .args(["//127.0.0.1/lanlab", "-p", &port, "-m", dialect, "-s", "/dev/null"])
                    .args(["-U", &format!("{}%{}", who.user, who.secret)])
                    .args(["-c", "put there; mkdir folder; get there back; ls"])
                    .current_dir(folder)
                    .output()
            });
            let done = done.await.unwrap().unwrap();
            let said = String::from_utf8_lossy(&done.stdout);
            assert!(done.status.success(), "{dialect}: {said}");
            assert!(fs::read(root.path().join("there")).unwrap() == data, "{dialect}");
            assert!(fs::read(local.path().join("back")).unwrap() == data, "{dialect}");
            assert!(root.path().join("folder").is_dir(), "{dialect}");
            serving.end().await;
        });
    }
}
