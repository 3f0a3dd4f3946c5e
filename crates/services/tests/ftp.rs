//! FTP: the client against servers that lie, break off and dawdle, the embedded server against
//! clients that try to get out, and each against a peer of others.

mod stage;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use lanlab_services::{
    Access, Class, Credentials, Fault, ServiceKind, Session, Target, Trust, connect,
};
use stage::{
    LOOPBACK, can_run, content, get, impatient, keeps_awkward_names, path, put, run, served,
    target, user,
};
use tempfile::TempDir;

const BOTH: [ServiceKind; 2] = [ServiceKind::Ftp, ServiceKind::Ftps];

#[test]
fn a_large_file_comes_back_as_it_went() {
    for service in BOTH {
        run(async {
            let root = TempDir::new().unwrap();
            let (_serving, target) = served(service, root.path()).await;
            let session = connect(&target).await.unwrap();
            let data = content(64 << 20, 1);
            put(&session, &path("large"), &data).await;
            assert!(get(&session, &path("large")).await == data);
            let facts = session.facts();
            assert_eq!(facts.no_delay, Some(true));
            assert_eq!(facts.protection == "none", service == ServiceKind::Ftp, "{facts:?}");
            session.end().await.unwrap();
        });
    }
}

#[test]
fn small_files_do_not_wait_for_acknowledgements() {
    for service in BOTH {
        run(async {
            let root = TempDir::new().unwrap();
            let (_serving, target) = served(service, root.path()).await;
            stage::moves_small_files_without_stalls(&connect(&target).await.unwrap()).await;
        });
    }
}

#[test]
fn names_come_back_as_they_went() {
    run(async {
        let root = TempDir::new().unwrap();
        let (_serving, target) = served(ServiceKind::Ftp, root.path()).await;
        let session = connect(&target).await.unwrap();
        keeps_awkward_names(&session, root.path()).await;
        let too_long = path(&"x".repeat(256));
        let fault = session.open(&too_long, Access::Create { size_bytes: 1 }).await.unwrap_err();
        assert_eq!(fault.class, Class::Name, "{fault}");
    });
}

#[test]
fn a_file_is_read_from_anywhere_by_starting_again() {
    run(async {
        let root = TempDir::new().unwrap();
        let sparse = std::fs::File::create(root.path().join("sparse")).unwrap();
        sparse.set_len((1 << 30) + 10).unwrap();
        std::fs::write(root.path().join("x"), content(100_000, 3)).unwrap();
        let (_serving, target) = served(ServiceKind::Ftp, root.path()).await;
        let session = connect(&target).await.unwrap();
        let file = session.open(&path("sparse"), Access::Read).await.unwrap();
        let mut buffer = [1; 100];
        assert_eq!(session.read_at(&file, 1 << 30, &mut buffer).await.unwrap(), 10);
        assert_eq!(buffer[..11], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        session.close(file).await.unwrap();
        let file = session.open(&path("x"), Access::Read).await.unwrap();
        for offset in [50_000, 7, 99_999] {
            let count = session.read_at(&file, offset as u64, &mut buffer).await.unwrap();
            assert!(buffer[..count] == content(100_000, 3)[offset..offset + count]);
        }
        // Given up in the middle, and the session goes on.
        session.close(file).await.unwrap();
        assert_eq!(session.list(None).await.unwrap().len(), 2);
    });
}

#[test]
fn what_is_there_is_not_overwritten() {
    run(async {
        let root = TempDir::new().unwrap();
        let (_serving, target) = served(ServiceKind::Ftp, root.path()).await;
        let session = connect(&target).await.unwrap();
        put(&session, &path("a"), b"first").await;
        let again = session.open(&path("a"), Access::Create { size_bytes: 1 }).await;
        assert_eq!(again.unwrap_err().class, Class::Exists);
        session.make_directory(&path("d")).await.unwrap();
        assert_eq!(session.make_directory(&path("d")).await.unwrap_err().class, Class::Exists);
        put(&session, &path("d/x"), b"x").await;
        assert_eq!(session.remove_directory(&path("d")).await.unwrap_err().class, Class::Exists);
        assert_eq!(session.remove(&path("no")).await.unwrap_err().class, Class::Missing);
        assert_eq!(session.remove_directory(&path("no")).await.unwrap_err().class, Class::Missing);
        assert_eq!(session.list(Some(&path("no"))).await.unwrap_err().class, Class::Missing);
        assert_eq!(session.make_directory(&path("no/d")).await.unwrap_err().class, Class::Missing);
        assert_eq!(get(&session, &path("a")).await, b"first");
        // One file at a time; an answer to one is never taken for that to another.
        let file = session.open(&path("a"), Access::Read).await.unwrap();
        assert_eq!(session.remove(&path("d/x")).await.unwrap_err().class, Class::Unsupported);
        session.close(file).await.unwrap();
        session.remove(&path("d/x")).await.unwrap();
    });
}

#[test]
fn two_sessions_move_files_at_once_in_their_directories() {
    run(async {
        let root = TempDir::new().unwrap();
        for name in ["one", "two"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
        }
        let (serving, target) = served(ServiceKind::Ftps, root.path()).await;
        let one = Target { directory: "one".to_owned(), ..target.clone() };
        let two = Target { directory: "two".to_owned(), ..target.clone() };
        let (one, two) = (connect(&one).await.unwrap(), connect(&two).await.unwrap());
        let (a, b) = (content(3_000_000, 4), content(3_000_000, 5));
        let name = path("f");
        tokio::join!(put(&one, &name, &a), put(&two, &name, &b));
        let back = tokio::join!(get(&two, &name), get(&one, &name));
        assert!(back == (b, a));
        assert_eq!(serving.accepted(), 2);
        let nowhere = Target { directory: "three".to_owned(), ..target };
        assert_eq!(connect(&nowhere).await.unwrap_err().class, Class::Missing);
    });
}

#[test]
fn a_server_takes_its_connections_with_it() {
    run(async {
        let root = TempDir::new().unwrap();
        let (serving, target) = served(ServiceKind::Ftp, root.path()).await;
        std::fs::write(root.path().join("x"), vec![0; 32 << 20]).unwrap();
        let idle = connect(&target).await.unwrap();
        let busy = connect(&target).await.unwrap();
        let file = busy.open(&path("x"), Access::Read).await.unwrap();
        let port = serving.port();
        serving.end().await;
        drop(TcpListener::bind((LOOPBACK, port)).expect("the port is free"));
        assert_eq!(idle.list(None).await.unwrap_err().class, Class::Reset);
        let mut buffer = vec![0; 1 << 20];
        let mut offset = 0;
        let fault = loop {
            match busy.read_at(&file, offset, &mut buffer).await {
                Ok(0) => panic!("32 MiB came of a server that had ended"),
                Ok(count) => offset += count as u64,
                Err(fault) => break fault,
            }
        };
        assert_eq!(fault.class, Class::Reset, "{fault}");
    });
}

/// Says lines to a server and takes its last line for each.
struct Raw(BufReader<TcpStream>);

impl Raw {
    fn new(port: u16) -> Self {
        let stream = TcpStream::connect((LOOPBACK, port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut raw = Self(BufReader::new(stream));
        assert!(raw.reply().starts_with("220 "));
        raw
    }

    fn reply(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the server hung up");
            if line.as_bytes()[3] == b' ' && line.as_bytes()[0].is_ascii_digit() {
                return line;
            }
        }
    }

    fn say(&mut self, line: &str) -> String {
        self.0.get_mut().write_all(format!("{line}\r\n").as_bytes()).unwrap();
        self.reply()
    }

    fn log_in(&mut self) {
        assert!(self.say("USER station").starts_with("331"));
        assert!(self.say("PASS top secret").starts_with("230"));
    }
}

#[cfg(unix)]
#[test]
fn no_client_gets_out_of_the_directory() {
    run(async {
        let (outside, root) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        std::fs::write(outside.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("link")).unwrap();
        let (serving, _) = served(ServiceKind::Ftp, root.path()).await;
        let (port, outside) = (serving.port(), outside.path().to_owned());
        let talk = move || {
            let mut raw = Raw::new(port);
            assert!(raw.say("SIZE x").starts_with("530"));
            raw.log_in();
            assert!(raw.say("CWD ../../..").starts_with("250"));
            assert!(raw.say("PWD").starts_with("257 \"/\""));
            for verb in ["SIZE", "CWD", "MLST", "DELE", "RNFR", "RMD", "MDTM", "RETR", "STOR"] {
                let out = outside.join("secret").display().to_string();
                for way in ["link/secret", "../link/secret", &out, "../../etc/passwd", "link"] {
                    let said = raw.say(&format!("{verb} {way}"));
                    // What is not there could be stored there, but for the data connection.
                    assert!(
                        said.starts_with('5') || said.starts_with("425"),
                        "{verb} {way}: {said}"
                    );
                }
            }
            assert!(raw.say("PORT 127,0,0,1,0,22").starts_with("502"));
            assert!(raw.say("EPRT |1|127.0.0.1|22|").starts_with("502"));
            assert!(raw.say("MKD a\\..\\b").starts_with("553"));
        };
        tokio::task::spawn_blocking(talk).await.unwrap();
    });
}

#[test]
fn a_password_is_guessed_three_times_and_slowly() {
    run(async {
        let root = TempDir::new().unwrap();
        let (serving, _) = served(ServiceKind::Ftp, root.path()).await;
        let port = serving.port();
        let talk = move || {
            let (mut raw, start) = (Raw::new(port), Instant::now());
            for wanted in ["530", "530", "421"] {
                assert!(raw.say("USER station").starts_with("331"));
                let said = raw.say("PASS guess");
                assert!(said.starts_with(wanted), "{said}");
            }
            assert!(start.elapsed() >= Duration::from_millis(500));
            // A line without an end ends the connection.
            let mut raw = Raw::new(port);
            let _ = raw.0.get_mut().write_all(&vec![b'x'; 1 << 20]);
            let mut rest = Vec::new();
            let _ = raw.0.read_to_end(&mut rest);
            assert!(rest.is_empty());
        };
        tokio::task::spawn_blocking(talk).await.unwrap();
    });
}

/// A server by a script: what it says to a line, `None` for what every server says.
fn scripted(mut script: impl FnMut(&str, &TcpListener) -> Option<String> + Send + 'static) -> u16 {
    let control = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let port = control.local_addr().unwrap().port();
    thread::spawn(move || {
        let data = TcpListener::bind((LOOPBACK, 0)).unwrap();
        let data_port = data.local_addr().unwrap().port();
        let (stream, _) = control.accept().unwrap();
        let mut lines = BufReader::new(stream);
        let greeting = script("", &data).unwrap_or_else(|| "220 hello".to_owned());
        let mut next = greeting;
        loop {
            if next == "hang up" || lines.get_mut().write_all(next.as_bytes()).is_err() {
                return;
            }
            let _ = lines.get_mut().write_all(b"\r\n");
            let mut line = String::new();
            if lines.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let line = line.trim_end();
            next = script(line, &data).unwrap_or_else(|| match line.split(' ').next().unwrap() {
                "USER" => "331 password".to_owned(),
                "PASS" => "230 in".to_owned(),
                "FEAT" => "211-There is\r\n SIZE\r\n MLST\r\n211 End".to_owned(),
                "PWD" => "257 \"/\"".to_owned(),
                "SIZE" => "550 no".to_owned(),
                "EPSV" => format!("229 come (|||{data_port}|)"),
                _ => "200 ok".to_owned(),
            });
        }
    });
    port
}

fn fault_of_connect(
    script: impl FnMut(&str, &TcpListener) -> Option<String> + Send + 'static,
) -> Fault {
    let port = scripted(script);
    run(async { connect(&impatient(ServiceKind::Ftp, port)).await.unwrap_err() })
}

#[test]
fn a_server_that_is_none_is_told_apart() {
    let greets =
        |text: String| move |line: &str, _: &TcpListener| (line.is_empty()).then(|| text.clone());
    let class = |text: &str| fault_of_connect(greets(text.to_owned())).class;
    assert_eq!(class("SSH-2.0-OpenSSH_9.2"), Class::Protocol);
    assert_eq!(class("421 too many users"), Class::Refused);
    assert_eq!(class("hang up"), Class::Reset);
    assert_eq!(class(&"x".repeat(1 << 20)), Class::Protocol);
    assert_eq!(class(&"220-more\r\n".repeat(10_000)), Class::Protocol);
    // Accepts and says nothing.
    let silent = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let port = silent.local_addr().unwrap().port();
    let fault = run(async { connect(&impatient(ServiceKind::Ftp, port)).await.unwrap_err() });
    assert_eq!(fault.class, Class::TimedOut, "{fault}");
    let nobody = stage::free_port();
    let fault = run(async { connect(&target(ServiceKind::Ftp, nobody)).await.unwrap_err() });
    assert_eq!(fault.class, Class::Refused, "{fault}");
}

#[test]
fn a_refused_login_says_so_and_keeps_the_secret() {
    let fault = fault_of_connect(|line, _| {
        line.starts_with("PASS").then(|| "530 Login incorrect".to_owned())
    });
    assert_eq!(fault.class, Class::Login);
    assert!(!format!("{fault:?}").contains("top secret"), "{fault:?}");
    let secret = "a\r\nDELE b".to_owned();
    let mut of = target(ServiceKind::Ftp, scripted(|_, _| None));
    of.credentials = Some(Credentials { secret, ..user() });
    assert_eq!(run(async { connect(&of).await.unwrap_err() }).class, Class::Login);
    // What is said in clear behind the consent to TLS is not taken for something said over TLS.
    let port = scripted(|line, _| {
        line.starts_with("AUTH").then(|| "234 go on\r\n230 you are in".to_owned())
    });
    let fault = run(async { connect(&impatient(ServiceKind::Ftps, port)).await.unwrap_err() });
    assert_eq!(fault.class, Class::Protocol, "{fault}");
    let port = scripted(|line, _| line.starts_with("AUTH").then(|| "502 no TLS".to_owned()));
    let fault = run(async { connect(&impatient(ServiceKind::Ftps, port)).await.unwrap_err() });
    assert_eq!(fault.class, Class::Unsupported, "{fault}");
}

/// A server that has a file of `said` octets, sends `sent` of them, and then says `ends`.
fn reading_fault(said: usize, sent: usize, ends: &'static str) -> Fault {
    let port = scripted(move |line, data| match line.split(' ').next().unwrap() {
        "SIZE" => Some(format!("213 {said}")),
        "RETR" => {
            let (mut to, _) = data.accept().unwrap();
            let _ = to.write_all(&vec![7; sent]);
            drop(to);
            Some(if ends == "hang up" { ends.to_owned() } else { format!("150 ok\r\n{ends}") })
        }
        _ => None,
    });
    run(async {
        let session = connect(&impatient(ServiceKind::Ftp, port)).await.unwrap();
        let read = async {
            let file = session.open(&path("f"), Access::Read).await?;
            let (mut offset, mut buffer) = (0, vec![0; 4096]);
            loop {
                match session.read_at(&file, offset, &mut buffer).await? {
                    0 => return session.close(file).await,
                    count => offset += count as u64,
                }
            }
        };
        read.await.expect_err("a file that is not whole was taken for one")
    })
}

#[test]
fn a_file_that_is_not_whole_is_never_taken_for_one() {
    assert_eq!(reading_fault(100_000, 1000, "426 broke").class, Class::Reset);
    assert_eq!(reading_fault(100_000, 1000, "hang up").class, Class::Reset);
    assert_eq!(reading_fault(100_000, 1000, "226 all of it").class, Class::Length);
    assert_eq!(reading_fault(1000, 100_000, "226 all of it").class, Class::Length);
    assert_eq!(reading_fault(1000, 1000, "451 disk error").class, Class::Protocol);
    assert_eq!(reading_fault(1000, 1000, "").class, Class::Protocol);
}

#[test]
fn an_answer_that_does_not_come_is_not_waited_for_and_not_confused_with_another() {
    let port = scripted(|line, _| {
        line.starts_with("DELE").then(|| {
            thread::sleep(Duration::from_millis(700));
            "250 gone".to_owned()
        })
    });
    run(async {
        let session = connect(&impatient(ServiceKind::Ftp, port)).await.unwrap();
        assert_eq!(session.remove(&path("a")).await.unwrap_err().class, Class::TimedOut);
        tokio::time::sleep(Duration::from_millis(600)).await;
        let fault = session.make_directory(&path("b")).await.unwrap_err();
        assert_eq!(fault.class, Class::TimedOut, "{fault}");
    });
}

#[test]
fn a_server_may_not_send_the_client_elsewhere() {
    let port = scripted(|line, _| match line {
        "EPSV" => Some("500 what?".to_owned()),
        "PASV" => Some("227 go (10,1,2,3,0,22)".to_owned()),
        _ => None,
    });
    run(async {
        let session = connect(&impatient(ServiceKind::Ftp, port)).await.unwrap();
        let fault = session.list(None).await.unwrap_err();
        assert_eq!(fault.class, Class::Protocol);
        assert!(fault.message.contains("10.1.2.3"), "{fault}");
    });
}

#[test]
fn no_space_is_told_whenever_the_server_says_it() {
    for late in [false, true] {
        let port = scripted(move |line, data| {
            line.starts_with("STOR").then(|| {
                if !late {
                    return "452 no space".to_owned();
                }
                let data = data.try_clone().unwrap();
                thread::spawn(move || data.accept().unwrap().0.read(&mut [0; 100]));
                "150 ok\r\n552 quota".to_owned()
            })
        });
        run(async {
            let session = connect(&impatient(ServiceKind::Ftp, port)).await.unwrap();
            let write = async {
                let size_bytes = 32 << 20;
                let file = session.open(&path("f"), Access::Create { size_bytes }).await?;
                for block in 0..32 {
                    session.write_at(&file, block << 20, &vec![0; 1 << 20]).await?;
                }
                session.close(file).await
            };
            assert_eq!(write.await.unwrap_err().class, Class::NoSpace);
        });
    }
}

#[test]
fn curl_and_the_embedded_server_understand_each_other() {
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

/// vsftpd, which demands that a data connection resumes the TLS of the control connection, has no
/// MLSD, and has the same words for many a refusal.
#[cfg(target_os = "linux")]
fn with_vsftpd(service: ServiceKind, test: impl AsyncFnOnce(Target, &Path)) {
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

#[cfg(target_os = "linux")]
#[test]
fn vsftpd_and_the_client_understand_each_other() {
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
