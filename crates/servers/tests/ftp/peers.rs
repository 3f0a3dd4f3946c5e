//! Peers of others: curl with the embedded server, vsftpd with the client.

use std::path::Path;
use std::process::Command;

use lanlab_clients::{AnySession, connect};
use lanlab_files::{Access, Class, Credentials, ServiceKind, Session, Target, Trust};
use tempfile::TempDir;

use super::BOTH;
use crate::stage::{self, can_run, content, get, path, put, run, served, target, user};

#[test]
fn curl_works_with_the_embedded_server() {
    if !can_run("curl", false) {
        return;
    }
    for service in BOTH {
        run(async {
            let root = TempDir::new().unwrap();
            let (serving, _) = served(service, root.path()).await;
            let data = content(3_000_000, 6);
            let local = TempDir::new().unwrap();
            std::fs::write(local.path().join("up"), &data).unwrap();
            let url = format!("ftp://127.0.0.1:{}/a%20file", serving.port());
            let up = local.path().join("up").display().to_string();
            let down = local.path().join("down").display().to_string();
            for way in [["-T", up.as_str()], ["-o", down.as_str()]] {
                let mut curl = Command::new("curl");
                curl.args(["-sS", "-m", "20", "-k", "-u", "station:top secret"]).args(way);
                if service == ServiceKind::Ftps {
                    curl.arg("--ssl-reqd");
                }
                curl.arg(&url);
                let output = tokio::task::spawn_blocking(move || curl.output().unwrap());
                let output = output.await.unwrap();
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{way:?}: {said}");
            }
            assert!(std::fs::read(root.path().join("a file")).unwrap() == data);
            assert!(std::fs::read(local.path().join("down")).unwrap() == data);
        });
    }
}

/// rclone reads nothing from an upload's connection, and closes it when it has written all.
#[test]
fn rclone_works_with_the_embedded_server() {
    if !can_run("rclone", false) {
        return;
    }
    for service in BOTH {
        run(async {
            let root = TempDir::new().unwrap();
            let (serving, _) = served(service, root.path()).await;
            let data = content(30 << 20, 41);
            let local = TempDir::new().unwrap();
            std::fs::write(local.path().join("up"), &data).unwrap();
            let (port, here) = (serving.port(), local.path().to_owned());
            let talk = move || {
                let obscured = Command::new("rclone").args(["obscure", "top secret"]).output();
                let obscured = String::from_utf8(obscured.unwrap().stdout).unwrap();
                let rclone = |from: &str, to: &str| {
                    let mut rclone = Command::new("rclone");
                    rclone.args(["copyto", from, to, "--config", "/dev/null", "--retries", "1"]);
                    rclone.args(["--low-level-retries", "1", "--ftp-no-check-certificate"]);
                    rclone.args(["--ftp-host", "127.0.0.1", "--ftp-port", &port.to_string()]);
                    rclone.args(["--ftp-user", "station", "--ftp-pass", obscured.trim()]);
                    if service == ServiceKind::Ftps {
                        rclone.arg("--ftp-explicit-tls");
                    }
                    let output = rclone.output().unwrap();
                    let said = String::from_utf8_lossy(&output.stderr).into_owned();
                    assert!(output.status.success(), "{from} to {to}: {said}");
                };
                let (up, down) = (here.join("up"), here.join("down"));
                for number in 0..5 {
                    rclone(&up.display().to_string(), &format!(":ftp:f{number}"));
                }
                rclone(":ftp:f0", &down.display().to_string());
                std::fs::read(down).unwrap()
            };
            assert!(tokio::task::spawn_blocking(talk).await.unwrap() == data);
            for number in 0..5 {
                assert!(std::fs::read(root.path().join(format!("f{number}"))).unwrap() == data);
            }
        });
    }
}

/// vsftpd, which demands that a data connection resumes the TLS of the control connection, has no
/// MLSD, and has the same words for many a refusal.
fn with_vsftpd(service: ServiceKind, test: impl AsyncFnOnce(Target, &Path)) {
    // Debian has one server of FTP installed at a time: with the other, this one cannot be asked for.
    if Path::new("/usr/sbin/proftpd").exists() {
        stage::skipped("vsftpd: ProFTPD is installed in its place");
        return;
    }
    if !can_run("/usr/sbin/vsftpd", true) || !can_run("openssl", false) {
        return;
    }
    let (folder, home) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (here, port) = (folder.path().display().to_string(), stage::free_port());
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-nodes", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=CA:FALSE"])
        .args(["-keyout", &format!("{here}/key.pem"), "-out", &format!("{here}/cert.pem")])
        .output()
        .unwrap();
    assert!(made.status.success());
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let tls = if service == ServiceKind::Ftps { "YES" } else { "NO" };
    let configuration = format!(
        "listen=YES\nlisten_address=127.0.0.1\nlisten_port={port}\nbackground=NO\n\
         anonymous_enable=NO\nlocal_enable=YES\nwrite_enable=YES\nlocal_umask=022\n\
         pam_service_name=vsftpd\nsecure_chroot_dir={here}/empty\nseccomp_sandbox=NO\n\
         ssl_enable={tls}\nforce_local_logins_ssl={tls}\nforce_local_data_ssl={tls}\n\
         require_ssl_reuse=YES\nrsa_cert_file={here}/cert.pem\n\
         rsa_private_key_file={here}/key.pem\nssl_tlsv1=YES\n"
    );
    std::fs::write(folder.path().join("conf"), configuration).unwrap();
    let command = format!("/usr/sbin/vsftpd {here}/conf");
    let _running = stage::start_with_user(folder.path(), home.path(), &command, port);
    let mut target = target(service, port);
    target.trust = Trust::File(format!("{here}/cert.pem"));
    run(test(target, home.path()));
}

/// Each refusal that comes after TLS has begun can use up a session ticket. Whether it does depends on
/// which end is quicker: once no ticket is left, vsftpd takes no further data connection of the session.
/// That must be named as a reset of the session, which a new one mends, and not as a matter of certificates.
async fn refusals_may_cost_the_session(service: ServiceKind, session: AnySession) {
    assert_eq!(get(&session, &path("s1")).await, b"small");
    for _ in 0..20 {
        let missing = session.open(&path("no"), Access::Read).await.unwrap_err();
        assert_eq!(missing.class, Class::Missing, "{missing}");
        let written = async {
            let file = session.open(&path("no/x"), Access::Create { size_bytes: 0 }).await?;
            session.close(file).await
        };
        let fault = written.await.unwrap_err();
        assert!(fault.message.contains("says `553"), "{fault}");
    }
    match session.list(None).await {
        Ok(listed) => assert_eq!(listed.len(), 21),
        Err(fault) => {
            assert_eq!(service, ServiceKind::Ftps, "{fault}");
            assert_eq!(fault.class, Class::Reset, "{fault}");
            assert!(fault.message.contains("522"), "{fault}");
        }
    }
}

#[test]
fn the_client_works_with_vsftpd() {
    for service in BOTH {
        with_vsftpd(service, async |target, home| {
            let session = connect(&target).await.unwrap();
            let data = content(10_000_000, 8);
            put(&session, &path("a file"), &data).await;
            assert!(std::fs::read(home.join("a file")).unwrap() == data);
            assert!(get(&session, &path("a file")).await == data);
            // More transfers than TLS tickets that came with the control connection.
            for number in 0..20 {
                put(&session, &path(&format!("s{number}")), b"small").await;
                assert_eq!(get(&session, &path(&format!("s{number}"))).await, b"small");
            }
            session.make_directory(&path("d e")).await.unwrap();
            put(&session, &path("d e/ö"), b"1234").await;
            let inside = session.list(Some(&path("d e"))).await.unwrap();
            assert_eq!((inside[0].name.as_str(), inside[0].size_bytes), ("ö", 4));
            assert_eq!(session.list(None).await.unwrap().len(), 22);
            let exists = session.make_directory(&path("d e")).await.unwrap_err();
            assert_eq!(exists.class, Class::Exists, "{exists}");
            let full = session.remove_directory(&path("d e")).await.unwrap_err();
            assert_eq!(full.class, Class::Exists, "{full}");
            let missing = session.open(&path("no"), Access::Read).await.unwrap_err();
            assert_eq!(missing.class, Class::Missing, "{missing}");
            let again = session.open(&path("s1"), Access::Create { size_bytes: 0 }).await;
            assert_eq!(again.unwrap_err().class, Class::Exists);
            // Given up in the middle.
            let file = session.open(&path("a file"), Access::Read).await.unwrap();
            session.read_at(&file, 5_000_000, &mut [0; 10]).await.unwrap();
            session.close(file).await.unwrap();
            session.remove(&path("d e/ö")).await.unwrap();
            session.remove_directory(&path("d e")).await.unwrap();
            session.end().await.unwrap();
            let again = connect(&target).await.unwrap();
            refusals_may_cost_the_session(service, again).await;
            assert_eq!(get(&connect(&target).await.unwrap(), &path("s1")).await, b"small");

            let secret = "wrong".to_owned();
            let wrong =
                Target { credentials: Some(Credentials { secret, ..user() }), ..target.clone() };
            assert_eq!(connect(&wrong).await.unwrap_err().class, Class::Login);
            if service == ServiceKind::Ftps {
                let stranger = Target { trust: Trust::System, ..target.clone() };
                let fault = connect(&stranger).await.unwrap_err();
                assert_eq!(fault.class, Class::Certificate, "{fault}");
            }
        });
    }
}
