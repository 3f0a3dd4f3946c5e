//! Clients of others at our server.

use std::fs;
use std::process::Command;

use lanlab_files::ServiceKind::Smb1;
use lanlab_servers::{Offer, serve};
use tempfile::TempDir;

use crate::multiplexed::{content, offer, run, served, user};
use crate::peer_programs::can_run;

/// What Samba's client says of a command at our server, and whether it was served.
async fn smbclient(port: u16, options: &'static [&'static str]) -> (bool, String) {
    // The server lives on this thread, so that the client is waited for on another.
    let who = user();
    let done = tokio::task::spawn_blocking(move || {
        Command::new("smbclient")
            .args(["//127.0.0.1/lanlab", "-p", &port.to_string(), "-s", "/dev/null"])
            .args(["--option=clientminprotocol=LANMAN1"])
            .args(options)
            .args(["-U", &format!("{}%{}", who.user, who.secret), "-c", "mkdir d; ls; rmdir d"])
            .output()
    });
    let done = done.await.unwrap().unwrap();
    (done.status.success(), String::from_utf8_lossy(&done.stdout).into_owned())
}

#[test]
fn samba_signs_or_is_refused_when_signing_is_required() {
    if !can_run("smbclient", false) {
        return;
    }
    run(async {
        let root = TempDir::new().unwrap();
        let required = Offer { options: super::signing(), ..offer(Smb1, root.path()) };
        let serving = serve(&required).await.unwrap();
        for (options, is_served) in [
            (&["-m", "NT1"][..], true),
            (&["-m", "NT1", "--client-protection=sign"], true),
            (&["-m", "NT1", "--option=clientusespnego=no"], true),
            (&["-m", "NT1", "--client-protection=off"], false),
            (&["-m", "LANMAN2", "--option=clientlanmanauth=yes"], false),
        ] {
            let (was_served, said) = smbclient(serving.port(), options).await;
            assert_eq!(was_served, is_served, "{options:?}: {said}");
        }
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
        serving.end().await;
    });
}

#[test]
fn smbclient_works_with_our_smb_1_server() {
    if !can_run("smbclient", false) {
        return;
    }
    let old = &["--option=clientlanmanauth=yes", "--option=clientntlmv2auth=no"][..];
    let signed = &["--client-protection=sign"][..];
    for (dialect, options) in [
        ("NT1", &[][..]),
        ("NT1", signed),
        ("NT1", &["--option=clientusespnego=no"]),
        ("NT1", &["--option=clientusespnego=no", "--client-protection=sign"]),
        // Responses of version 1, with a nonce of the client and without.
        ("NT1", &["--option=clientntlmv2auth=no"]),
        ("NT1", &["--option=clientntlmv2auth=no", "--client-protection=sign"]),
        ("NT1", &["--option=clientntlmv2auth=no", "--option=clientusespnego=no"]),
        ("LANMAN2", old),
        ("LANMAN1", old),
    ] {
        run(async {
            let (root, serving, target) = served(Smb1).await;
            let local = TempDir::new().unwrap();
            let data = content(3_000_001, 6);
            fs::write(local.path().join("there.dat"), &data).unwrap();
            let port = serving.port().to_string();
            let who = target.credentials.unwrap();
            let folder = local.path().to_owned();
            // The server lives on this thread, so that the client is waited for on another.
            let done = tokio::task::spawn_blocking(move || {
                Command::new("smbclient")
                    .args(["//127.0.0.1/lanlab", "-p", &port, "-m", dialect, "-s", "/dev/null"])
                    .args(["--option=clientminprotocol=LANMAN1"])
                    .args(options)
                    .args(["-U", &format!("{}%{}", who.user, who.secret)])
                    .args([
                        "-c",
                        "put there.dat; mkdir folder; get there.dat back; ls; rename there.dat x; \
                         cd folder; put back two.dat; ls *.dat; rm two.dat; cd ..; rmdir folder; du",
                    ])
                    .current_dir(folder)
                    .output()
            });
            let done = done.await.unwrap().unwrap();
            let said = String::from_utf8_lossy(&done.stdout);
            assert!(done.status.success(), "{dialect} {options:?}: {said}");
            assert!(!said.contains("NT_STATUS"), "{dialect} {options:?}: {said}");
            assert!(said.to_lowercase().contains("there.dat"), "{dialect} {options:?}: {said}");
            let names: Vec<_> = fs::read_dir(root.path()).unwrap().collect();
            assert_eq!(names.len(), 1, "{dialect} {options:?}: {names:?}: {said}");
            let renamed = names.into_iter().next().unwrap().unwrap();
            assert!(renamed.file_name().eq_ignore_ascii_case("x"), "{dialect} {options:?}");
            assert!(fs::read(renamed.path()).unwrap() == data, "{dialect} {options:?}");
            assert!(fs::read(local.path().join("back")).unwrap() == data, "{dialect} {options:?}");
            serving.end().await;
        });
    }
}

/// As Windows 9x are: without Unicode strings, whose names in listings end with a counted zero.
#[test]
fn code_page_clients_read_every_name() {
    if !can_run("smbclient", false) {
        return;
    }
    run(async {
        let (root, serving, target) = served(Smb1).await;
        fs::write(root.path().join("a long name.txt"), b"some").unwrap();
        fs::write(root.path().join("short"), b"more").unwrap();
        let port = serving.port().to_string();
        let who = target.credentials.unwrap();
        let done = tokio::task::spawn_blocking(move || {
            Command::new("smbclient")
                .args(["//127.0.0.1/lanlab", "-p", &port, "-m", "NT1", "-s", "/dev/null"])
                .args(["--option=clientminprotocol=LANMAN1", "--option=unicode=no"])
                .args(["-U", &format!("{}%{}", who.user, who.secret)])
                .args(["-c", "ls; volume; get \"a long name.txt\" -; rm short"])
                .output()
        });
        let done = done.await.unwrap().unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success(), "{said}");
        assert!(!said.contains("NT_STATUS"), "{said}");
        // The label is UTF-16LE here as well, as at Samba's server; so are names of 8.3, which this
        // client reads wrongly there, too.
        for part in ["  a long name.txt ", "  short ", "|LANLAB|", "some"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(!root.path().join("short").exists(), "{said}");
        serving.end().await;
    });
}

/// Samba's `rpcclient` asks by the pipe of the server service alone.
#[test]
fn srvsvc_lists_shares() {
    if !can_run("rpcclient", false) {
        return;
    }
    run(async {
        let (_root, serving, target) = served(Smb1).await;
        let (port, who) = (serving.port().to_string(), target.credentials.unwrap());
        let asked = tokio::task::spawn_blocking(move || {
            Command::new("rpcclient")
                .args(["-p", &port, "-s", "/dev/null", "-m", "NT1"])
                .args(["--option=clientminprotocol=LANMAN1"])
                .args(["-U", &format!("{}%{}", who.user, who.secret)])
                .args(["-c", "netshareenum 1; netshareenumall 1", "127.0.0.1"])
                .output()
        });
        let asked = asked.await.unwrap().unwrap();
        let said = String::from_utf8_lossy(&asked.stdout);
        assert!(asked.status.success(), "{said} {}", String::from_utf8_lossy(&asked.stderr));
        assert_eq!(said.matches("netname: lanlab").count(), 2, "{said}");
        assert_eq!(said.matches("netname: IPC$").count(), 2, "{said}");
        serving.end().await;
    });
}

/// Who is served without a password is a guest, by any name.
#[test]
fn an_open_server_admits_any_name_as_guest() {
    if !can_run("smbclient", false) {
        return;
    }
    run(async {
        let root = TempDir::new().unwrap();
        let open = Offer { credentials: None, ..offer(Smb1, root.path()) };
        let serving = serve(&open).await.unwrap();
        for options in [&["-m", "NT1"][..], &["-m", "NT1", "--option=clientusespnego=no"]] {
            let (was_served, said) = smbclient(serving.port(), options).await;
            assert!(was_served, "{options:?}: {said}");
        }
        serving.end().await;
    });
}
