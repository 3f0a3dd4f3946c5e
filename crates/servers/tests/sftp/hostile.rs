//! Servers by a script, below SSH and above it.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use lanlab_clients::{AnySession, connect};
use lanlab_files::{Access, Class, Fault, Session, Target, Trust};
use russh::keys::PrivateKey;
use russh::keys::ssh_key::private::Ed25519Keypair;
use russh::server::{Auth, ChannelOpenHandle, Config, Handler, Msg, run_stream};
use russh::{Channel, ChannelId, ChannelMsg};

use super::SFTP;
use crate::stage::{LOOPBACK, content, impatient, path, run, target};

/// A server at the level of TCP: what it does with a connection.
fn below(act: impl FnOnce(std::net::TcpStream) + Send + 'static) -> Fault {
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || act(listener.accept().unwrap().0));
    run(async { connect(&impatient(SFTP, port)).await.unwrap_err() })
}

#[test]
fn a_port_of_another_service_is_recognised() {
    let silent = below(|mut stream| {
        // Until the client has had enough.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    assert_eq!(silent.class, Class::TimedOut, "{silent}");
    let gone = below(drop);
    assert_eq!(gone.class, Class::Reset, "{gone}");
    let other = below(|mut stream| {
        let _ = stream.write_all(b"220 an FTP server\r\n");
        let _ = stream.read_to_end(&mut Vec::new());
    });
    assert!(matches!(other.class, Class::Protocol | Class::TimedOut), "{other:?}");
    let endless = below(|mut stream| while stream.write_all(&[b'x'; 4096]).is_ok() {});
    assert!(!matches!(endless.class, Class::Local), "{endless:?}");
    let garbage = below(|mut stream| {
        let _ = stream.write_all(b"SSH-2.0-x\r\n");
        let _ = stream.write_all(&content(100_000, 5));
        let _ = stream.read_to_end(&mut Vec::new());
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

fn reading(script: Script) -> Result<usize, Fault> {
    of_scripted(script, async |session| {
        let file = session.open(&path("f"), Access::Read).await?;
        let count = session.read_at(&file, 0, &mut [0; 100]).await?;
        session.close(file).await?;
        Ok(count)
    })
}

fn of_scripted<T>(
    script: Script,
    does: impl AsyncFnOnce(AnySession) -> Result<T, Fault>,
) -> Result<T, Fault> {
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
        does(connect(&of).await?).await
    })
}

#[test]
fn an_endless_listing_of_omitted_entries_is_ended() {
    let listed = of_scripted(
        |kind, number| match kind {
            12 => {
                let link = [&string(b"a")[..], &string(b"l"), &[0; 4]].concat();
                framed(104, number, &[&10_000_u32.to_be_bytes()[..], &link.repeat(10_000)].concat())
            }
            _ => well(kind, number),
        },
        async |session| session.list(None).await,
    );
    let fault = listed.unwrap_err();
    assert_eq!(fault.class, Class::Protocol);
    assert!(fault.message.contains("a listing without end after 1050000 entries"), "{fault}");
}

fn sha256(octets: &[u8]) -> String {
    use sha2::Digest;
    let hash = sha2::Sha256::digest(octets);
    hash.iter().fold(String::new(), |text, octet| text + &format!("{octet:02x}"))
}

#[test]
fn false_replies_from_an_sftp_server_are_reported() {
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
    // The channel ends in the middle; no answer at all, or one to a request that was not sent.
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
