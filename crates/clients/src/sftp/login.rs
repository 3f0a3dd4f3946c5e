//! From connection to session: SSH, login, the subsystem, and the server's limits.

use std::borrow::Cow;
use std::sync::Arc;

use lanlab_connections::ssh::{CIPHERS, Cut};
use lanlab_files::{Class, Credentials, Facts, Fault, Result, Target};
use lanlab_wire::sftp::{MAX_PIECE_OCTETS, extension, kind};
use russh::client::{self, AuthResult, Handle, KeyboardInteractiveAuthResponse};
use russh::keys::{PrivateKey, PrivateKeyWithHashAlg, decode_secret_key};
use russh::{ChannelMsg, MethodKind, Preferred, compression, mac};

use crate::transport;

use super::exchange::Exchange;
use super::failure::refused;
use super::signing::hashes;
use super::ssh_failure::{ssh_fault, unless_lost};
use super::trust::Verifier;
use super::{Abilities, Session, agent};

const USUAL_PORT: u16 = 22;

const ANONYMOUS: &str = "anonymous";

const MAX_QUESTIONS: usize = 4;

/// Data length of a message if the server reports no limit (section 3: 34 000 bytes in total).
const USUAL_PIECE_OCTETS: u32 = 32 * 1024;

/// Bytes that may arrive before we read any.
const WINDOW_OCTETS: u32 = 1 << 24;

/// Longest SSH packet that we accept: russh's maximum, to minimise the overhead per packet.
const PACKET_OCTETS: u32 = 65_535;

/// Packets that may wait for us; with their length they limit the memory of a connection.
const WAITING_PACKETS: usize = 64;

pub async fn connect(target: &Target) -> Result<Session> {
    let directory = lanlab_files::beginning(&target.directory)
        .map_err(|bad| Fault::new(Class::Name, bad.message))?;
    let port = target.port.unwrap_or(USUAL_PORT);
    let verifier = Verifier::new(target, port)?;
    let learnt = verifier.learnt();
    let stream = transport::connect(target, USUAL_PORT).await?;
    let (cut, stream) = Cut::of(stream).map_err(|error| Fault::of_connection("SSH", &error))?;

    let usual = Preferred::DEFAULT;
    let config = client::Config {
        window_size: WINDOW_OCTETS,
        maximum_packet_size: PACKET_OCTETS,
        channel_buffer_size: WAITING_PACKETS,
        preferred: Preferred {
            key: Cow::Owned(verifier.algorithms(&usual.key)),
            cipher: Cow::Borrowed(&CIPHERS),
            compression: Cow::Borrowed(&[compression::NONE]),
            // Many older NAS support nothing else.
            mac: Cow::Owned([&*usual.mac, &[mac::HMAC_SHA1]].concat()),
            ..usual
        },
        nodelay: true,
        ..client::Config::default()
    };
    let handshake = async {
        let connecting = client::connect_stream(Arc::new(config), stream, verifier);
        connecting.await.map_err(|error| {
            let refusal = learnt.lock().refusal.take();
            refusal.unwrap_or_else(|| ssh_fault("SSH", &error))
        })
    };
    let mut ssh = transport::within(target, "SSH", handshake).await?;
    let login = log_in(&mut ssh, target.credentials.as_ref());
    if let Err(fault) = transport::within(target, "SSH login", login).await {
        let farewell = learnt.lock().farewell.take();
        return Err(match farewell {
            // OpenSSH disconnects after several wrong keys.
            Some(said) if fault.class == Class::Reset => {
                Fault::new(Class::Login, format!("SSH login: the server says `{said}`"))
                    .hint("name the right key or password by --password-file")
            }
            _ => fault,
        });
    }

    let opening = async {
        let failed = |error: russh::Error| ssh_fault("SFTP", &error);
        let mut channel = ssh.channel_open_session().await.map_err(failed)?;
        channel.request_subsystem(true, "sftp").await.map_err(failed)?;
        loop {
            match channel.wait().await {
                Some(ChannelMsg::Success) => return Ok(channel),
                Some(ChannelMsg::Failure) => {
                    let message = "this SSH server has no SFTP";
                    return Err(Fault::new(Class::Unsupported, message));
                }
                Some(ChannelMsg::Eof | ChannelMsg::Close) | None => {
                    return Err(Fault::new(Class::Reset, "SFTP: the server ended the session"));
                }
                Some(_) => {}
            }
        }
    };
    let channel = transport::within(target, "SFTP", opening).await?;
    // The session keeps its target without the password.
    let kept = Target { credentials: None, ..target.clone() };
    let (exchange, extensions) = Exchange::begin(kept, ssh, channel, cut).await?;
    let has = |name: &str| extensions.iter().any(|found| found == name);
    let (read_bytes, write_bytes) =
        if has(extension::LIMITS) { limits(&exchange).await? } else { (0, 0) };
    let or_usual = |bytes: u32| if bytes == 0 { USUAL_PIECE_OCTETS } else { bytes };
    let abilities = Abilities {
        fsync: has(extension::FSYNC),
        statvfs: has(extension::STATVFS),
        read_bytes: or_usual(read_bytes),
        write_bytes: or_usual(write_bytes),
    };
    let base = base(&exchange, directory).await?;
    let learnt = learnt.lock().clone();
    let facts = Facts {
        protocol: "SFTP 3".to_owned(),
        protection: learnt.protection.unwrap_or_else(|| "SSH 2".to_owned()),
        server: learnt.server,
        no_delay: exchange.no_delay(),
        tcp: None,
    };
    Ok(Session { exchange, facts, abilities, base })
}

async fn log_in(ssh: &mut Handle<Verifier>, as_whom: Option<&Credentials>) -> Result<()> {
    let failed = |error: russh::Error| ssh_fault("SSH login", &error);
    let Some(credentials) = as_whom else {
        let result = ssh.authenticate_none(ANONYMOUS).await.map_err(failed)?;
        return admitted(ANONYMOUS, unless_lost(ssh, result)?.success());
    };
    let Credentials { user, secret, .. } = credentials;
    if let Some(socket) = secret.strip_prefix(agent::AGENT) {
        return agent::log_in(ssh, user, socket).await;
    }
    if let Some(text) = credentials.private_key() {
        let key = Arc::new(private_key(user, &text, credentials.passphrase.as_deref())?);
        let mut is_admitted = false;
        for hash in hashes(ssh, &key.algorithm()).await {
            let key = PrivateKeyWithHashAlg::new(Arc::clone(&key), hash);
            let result = ssh.authenticate_publickey(user, key).await.map_err(failed)?;
            is_admitted = unless_lost(ssh, result)?.success();
            if is_admitted {
                break;
            }
        }
        return admitted(user, is_admitted);
    }
    let result = ssh.authenticate_password(user, secret).await.map_err(failed)?;
    match unless_lost(ssh, result)? {
        AuthResult::Success => Ok(()),
        // Some servers only accept the password in a dialogue (RFC 4256).
        AuthResult::Failure { remaining_methods, .. }
            if remaining_methods.contains(&MethodKind::KeyboardInteractive)
                && !remaining_methods.contains(&MethodKind::Password) =>
        {
            let start = ssh.authenticate_keyboard_interactive_start(user, None).await;
            let mut answer = start.map_err(failed)?;
            for _ in 0..MAX_QUESTIONS {
                let KeyboardInteractiveAuthResponse::InfoRequest { prompts, .. } = &answer else {
                    break;
                };
                let secrets = prompts.iter().map(|_| secret.clone()).collect();
                let next = ssh.authenticate_keyboard_interactive_respond(secrets).await;
                answer = next.map_err(failed)?;
            }
            admitted(user, matches!(answer, KeyboardInteractiveAuthResponse::Success))
        }
        AuthResult::Failure { .. } => admitted(user, false),
    }
}

fn private_key(user: &str, text: &str, passphrase: Option<&str>) -> Result<PrivateKey> {
    // The decoder's error is not shown, because it may quote the key.
    let unread = |what: &str, hint: &str| {
        Fault::new(Class::Login, format!("SSH login of `{user}`: {what}; it was not sent"))
            .hint(hint)
    };
    decode_secret_key(text, passphrase).map_err(|error| match error {
        russh::keys::Error::KeyIsEncrypted => unread(
            "the private key has a passphrase",
            "give it in LANLAB_PASSPHRASE, or `ssh-add` the key and log in by ssh-agent",
        ),
        _ if passphrase.is_some() => unread(
            "the private key cannot be decrypted",
            "see whether the passphrase is right; if it is, `ssh-keygen -p -f KEY` rewrites the \
             key in OpenSSH's form",
        ),
        _ if text.starts_with("PuTTY") => unread(
            "the PuTTY private key cannot be read",
            "convert it: `puttygen KEY.ppk -O private-openssh -o KEY`",
        ),
        _ => unread(
            "the private key cannot be read",
            "allowed: an RSA, ECDSA or Ed25519 key in OpenSSH's form, PEM, PKCS#8 or PuTTY's form; \
             `ssh-keygen -p -f KEY` rewrites a key in OpenSSH's form",
        ),
    })
}

fn admitted(user: &str, is: bool) -> Result<()> {
    if is {
        return Ok(());
    }
    let message = format!("SSH login of `{user}`: the server rejected the user name or the secret");
    let hint = "check the user name and the password or private key; omit both to use ssh-agent";
    Err(Fault::new(Class::Login, message).hint(hint))
}

/// The server's limits for reads and writes, bytes; zero: not reported.
async fn limits(exchange: &Exchange) -> Result<(u32, u32)> {
    let what = "SFTP limits";
    let ask = exchange.ask(&what, kind::EXTENDED, 64, |m| m.string(extension::LIMITS));
    let reply = ask.await?;
    if reply.kind != kind::EXTENDED_REPLY {
        return Err(refused(&what, &reply));
    }
    let mut fields = reply.fields();
    let (_packet, read, write) = (fields.u64(), fields.u64(), fields.u64());
    let bounded = |value: Option<u64>| value.unwrap_or(0).min(u64::from(MAX_PIECE_OCTETS)) as u32;
    Ok((bounded(read), bounded(write)))
}

/// The working directory under the server's name for it; it must be a directory.
async fn base(exchange: &Exchange, directory: Option<&str>) -> Result<String> {
    let path = directory.unwrap_or(".");
    let what = format!("directory {path}");
    let reply = exchange.ask(&what, kind::REALPATH, path.len(), |m| m.string(path)).await?;
    if reply.kind != kind::NAME {
        return Err(refused(&what, &reply));
    }
    let mut fields = reply.fields();
    let odd = || Fault::new(Class::Protocol, format!("{what}: found no path for it"));
    let found = fields.u32().filter(|count| *count == 1).and_then(|_| fields.text());
    let found = found.filter(|path| !path.is_empty()).ok_or_else(odd)?.to_owned();
    let reply = exchange.ask(&what, kind::STAT, found.len(), |m| m.string(&found)).await?;
    if reply.kind != kind::ATTRS {
        return Err(refused(&what, &reply));
    }
    let attributes = reply.fields().attributes().ok_or_else(odd)?;
    if attributes.is_directory() == Some(false) {
        return Err(Fault::new(Class::Missing, format!("{what}: not a directory")));
    }
    Ok(if found.ends_with('/') { found } else { found + "/" })
}
