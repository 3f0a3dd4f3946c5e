//! Servers by a script: what they say wrong, too early, too late or never.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use lanlab_clients::connect;
use lanlab_files::{Access, Class, Credentials, Fault, ServiceKind, Session};

use crate::stage::{self, LOOPBACK, impatient, path, run, target, user};

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
            // At once: what comes in two pieces waits 40 ms for an acknowledgement of the first.
            let said = [next.as_bytes(), b"\r\n"].concat();
            if next == "hang up" || lines.get_mut().write_all(&said).is_err() {
                return;
            }
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
    run(async { connect(&target(ServiceKind::Ftp, port)).await.unwrap_err() })
}

#[test]
fn a_port_of_another_service_is_recognised() {
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
    let closed = stage::free_port();
    let fault = run(async { connect(&target(ServiceKind::Ftp, closed)).await.unwrap_err() });
    assert_eq!(fault.class, Class::Refused, "{fault}");
}

#[test]
fn a_refused_login_is_reported_without_the_password() {
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
    let fault = run(async { connect(&target(ServiceKind::Ftps, port)).await.unwrap_err() });
    assert_eq!(fault.class, Class::Protocol, "{fault}");
    let port = scripted(|line, _| line.starts_with("AUTH").then(|| "502 no TLS".to_owned()));
    let fault = run(async { connect(&target(ServiceKind::Ftps, port)).await.unwrap_err() });
    assert_eq!(fault.class, Class::Unsupported, "{fault}");
}

/// How far a file is read before it is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UpTo {
    /// Until the server says that it has ended.
    ItsEnd,
    /// As many bytes as the server has said, as a station reads a block.
    ItsLength,
}

/// A server that has a file of `said` bytes, sends `sent` of them, and then says `ends`.
fn reading(said: usize, sent: usize, ends: &'static str, how: UpTo) -> Result<(), Fault> {
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
        let session = connect(&target(ServiceKind::Ftp, port)).await.unwrap();
        let file = session.open(&path("f"), Access::Read).await?;
        let (mut offset, mut buffer) = (0, vec![0; 4096]);
        let most = if how == UpTo::ItsLength { said } else { usize::MAX };
        while offset < most {
            let room = buffer.len().min(most - offset);
            match session.read_at(&file, offset as u64, &mut buffer[..room]).await? {
                0 => break,
                count => offset += count,
            }
        }
        session.close(file).await
    })
}

#[test]
fn an_incomplete_transfer_is_never_accepted() {
    let class = |said, sent, ends, how| {
        let fault = reading(said, sent, ends, how);
        fault.expect_err("a file that is not whole was taken for one").class
    };
    for how in [UpTo::ItsEnd, UpTo::ItsLength] {
        assert_eq!(class(100_000, 1000, "426 broke", how), Class::Reset);
        assert_eq!(class(100_000, 1000, "hang up", how), Class::Reset);
        assert_eq!(class(100_000, 1000, "226 all of it", how), Class::Length);
        assert_eq!(class(1000, 100_000, "226 all of it", how), Class::Length);
        assert_eq!(class(1000, 1001, "226 all of it", how), Class::Length);
        assert_eq!(class(1000, 1000, "451 disk error", how), Class::Protocol);
        assert_eq!(class(1000, 1000, "426 broke", how), Class::Reset);
        assert_eq!(class(1000, 1000, "", how), Class::Protocol);
        assert!(reading(1000, 1000, "226 all of it", how).is_ok());
    }
}

#[test]
fn a_missing_reply_times_out_and_later_replies_stay_matched() {
    let (answer, may_answer) = channel();
    let port = scripted(move |line, _| {
        line.starts_with("DELE").then(|| {
            may_answer.recv().unwrap();
            "250 gone".to_owned()
        })
    });
    run(async {
        let session = connect(&impatient(ServiceKind::Ftp, port)).await.unwrap();
        assert_eq!(session.remove(&path("a")).await.unwrap_err().class, Class::TimedOut);
        answer.send(()).unwrap();
        // So that the late answer is there, as a rule.
        tokio::time::sleep(Duration::from_millis(100)).await;
        let fault = session.make_directory(&path("b")).await.unwrap_err();
        assert_eq!(fault.class, Class::TimedOut, "{fault}");
    });
}

#[test]
fn data_connections_go_only_to_the_server_of_the_session() {
    for (refusal, named) in
        [("500 what?", "10,1,2,3"), ("425 no", "0,0,0,0"), ("550 no", "9,9,9,9")]
    {
        let port = scripted(move |line, data| match line {
            "EPSV" => Some(refusal.to_owned()),
            "PASV" => {
                let [high, low] = data.local_addr().unwrap().port().to_be_bytes();
                Some(format!("227 go ({named},{high},{low})"))
            }
            "MLSD" => {
                let data = data.try_clone().unwrap();
                thread::spawn(move || {
                    data.accept().unwrap().0.write_all(b"type=file;size=1; a\r\n")
                });
                Some("150 it comes\r\n226 done".to_owned())
            }
            _ => None,
        });
        run(async {
            let session = connect(&target(ServiceKind::Ftp, port)).await.unwrap();
            assert_eq!(session.list(None).await.unwrap().len(), 1, "{refusal}");
        });
    }
}

#[test]
fn unknown_attributes_are_ignored() {
    // MLSD is refused, LIST says in its way that there is nothing, and QUIT has no answer.
    let port = scripted(|line, _| match line.split(' ').next() {
        Some("MLSD") => Some("550 not here".to_owned()),
        Some("LIST") => Some("450 No files found".to_owned()),
        Some("PWD") => Some("257 /pub is where you are".to_owned()),
        Some("QUIT") => Some("hang up".to_owned()),
        _ => None,
    });
    run(async {
        let session = connect(&target(ServiceKind::Ftp, port)).await.unwrap();
        assert_eq!(session.list(None).await.unwrap(), []);
        session.end().await.unwrap();
    });
}

#[test]
fn a_full_server_is_retried_whatever_code_it_uses() {
    for said in ["421 later", "530 Sorry, the maximum number of clients (3) are already connected."]
    {
        let fault =
            fault_of_connect(move |line, _| line.starts_with("USER").then(|| said.to_owned()));
        assert_eq!(fault.class, Class::Refused, "{said}");
        assert!(fault.hint.unwrap().contains("fewer files"));
    }
}

#[test]
fn a_full_disk_is_reported_at_any_stage() {
    // What is small is written before the server has said anything.
    for (late, blocks) in [(false, 32), (true, 32), (false, 0), (true, 0)] {
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
            let session = connect(&target(ServiceKind::Ftp, port)).await.unwrap();
            let write = async {
                let size_bytes = (blocks << 20) + 100;
                let file = session.open(&path("f"), Access::Create { size_bytes }).await?;
                for block in 0..blocks {
                    session.write_at(&file, block << 20, &vec![0; 1 << 20]).await?;
                }
                session.write_at(&file, blocks << 20, &[0; 100]).await?;
                session.close(file).await
            };
            assert_eq!(write.await.unwrap_err().class, Class::NoSpace);
        });
    }
}

/// A server that writes to the data connection once all has come: to a client that has closed it,
/// the second write fails. curl 7.88 is such a client, and vsftpd answers it with 426.
#[test]
fn an_upload_keeps_its_data_connection_until_the_server_has_confirmed() {
    let port = scripted(|line, data| {
        line.starts_with("STOR").then(|| {
            let (mut from, _) = data.accept().unwrap();
            from.read_to_end(&mut Vec::new()).unwrap();
            let is_open = (0..10).all(|_| {
                thread::sleep(Duration::from_millis(10));
                from.write_all(b"ticket").is_ok()
            });
            let last = if is_open { "226 all of it" } else { "426 the connection broke" };
            format!("150 ok\r\n{last}")
        })
    });
    run(async {
        let session = connect(&target(ServiceKind::Ftp, port)).await.unwrap();
        let file = session.open(&path("f"), Access::Create { size_bytes: 5 }).await.unwrap();
        session.write_at(&file, 0, b"abcde").await.unwrap();
        session.close(file).await.unwrap();
    });
}

#[test]
fn pipelined_commands_are_answered_in_order() {
    let (mut ports, mut seen) = (0, Vec::new());
    let port = scripted(move |line, data| {
        seen.push(line.to_owned());
        match line.split(' ').next().unwrap() {
            "EPSV" => {
                ports += 1;
                (ports == 2).then(|| "425 no port is left".to_owned())
            }
            "STOR" if ports == 2 => Some("503 EPSV comes first".to_owned()),
            "STOR" => {
                let (mut from, _) = data.accept().unwrap();
                from.read_to_end(&mut Vec::new()).unwrap();
                Some("150 ok\r\n226 all of it".to_owned())
            }
            "RETR" => {
                drop(data.accept().unwrap());
                Some("550 there is none".to_owned())
            }
            // Who replaces does not ask what is there.
            "DELE" => Some(if seen.iter().any(|line| line.starts_with("SIZE")) {
                "550 was asked for a size".to_owned()
            } else {
                "250 gone".to_owned()
            }),
            _ => None,
        }
    });
    run(async {
        let session = connect(&target(ServiceKind::Ftp, port)).await.unwrap();
        let write = async || {
            let file = session.open(&path("f"), Access::Replace { size_bytes: 5 }).await?;
            session.write_at(&file, 0, b"abcde").await?;
            session.close(file).await
        };
        write().await.unwrap();
        let fault = write().await.unwrap_err();
        assert!(fault.message.contains("425 no port is left"), "{fault}");
        write().await.unwrap();
        session.remove(&path("f")).await.unwrap();
        let missing = session.open(&path("f"), Access::Read).await.unwrap_err();
        assert_eq!(missing.class, Class::Missing, "{missing}");
        write().await.unwrap();
    });
}
