//! From connection to session: TLS, login, binary mode, server features, working directory.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lanlab_files::{Class, Facts, Fault, Result, ServiceKind, Target};
use tokio::sync::Mutex;

use crate::transport;

use super::control::Control;
use super::data::DataConnections;
use super::network::{Network, Sockets};
use super::{Abilities, Session};

const USUAL_PORT: u16 = 21;

/// User and password of anonymous logins (RFC 1635).
const ANONYMOUS: (&str, &str) = ("anonymous", "anonymous@");

pub async fn connect(target: &Target) -> Result<Session> {
    let server = transport::peer(target, target.port.unwrap_or(USUAL_PORT))?;
    // The session keeps its target without the password.
    let kept = Target { credentials: None, ..target.clone() };
    let network = Sockets::new(kept, target.service == ServiceKind::Ftps)?;
    begin(network, server, target).await
}

/// Connect to the control port of a server and log in, according to the target.
pub async fn begin<N: Network>(
    network: N,
    server: SocketAddr,
    target: &Target,
) -> Result<Session<N>> {
    let (user, secret) = match &target.credentials {
        Some(of) => (of.user.as_str(), of.secret.as_str()),
        None => ANONYMOUS,
    };
    if [user, secret].iter().any(|text| text.contains(char::is_control)) {
        let message = "FTP login: found a control character in name or password; allowed: none";
        return Err(Fault::new(Class::Login, message));
    }
    let base = lanlab_files::beginning(&target.directory)
        .map_err(|bad| Fault::new(Class::Name, bad.message))?;

    let network = Arc::new(network);
    let wire = network.connect(server).await?;
    let mut control = Control::new(Arc::clone(&network), wire, true);
    let mut greeting = control.reply("FTP greeting").await?;
    while greeting.is_preliminary() {
        greeting = control.reply("FTP greeting").await?; // 120: ready in nnn minutes
    }
    if !greeting.is_done() {
        let fault = greeting.fault("FTP greeting", Class::Protocol);
        return Err(match greeting.code {
            421 => full(fault),
            _ => fault,
        });
    }

    if greeting.lines.iter().any(|line| line.contains("ProFTPD")) {
        // The network must know this before the first upload.
        network.expect_no_tickets();
    }
    if network.has_tls() {
        control = secure(&network, control).await?;
    }
    log_in(&mut control, user, secret).await?;
    if network.has_tls() {
        control.demand("PBSZ 0", "PBSZ 0", Class::Protocol).await?;
        control.demand("PROT P", "PROT P", Class::Protocol).await?;
    }
    control.demand("TYPE I", "TYPE I", Class::Protocol).await?;
    let abilities = abilities(&mut control).await?;
    if abilities.utf8 {
        // Some servers use UTF-8 only after this command; others may refuse it.
        control.ask("OPTS UTF8 ON", "OPTS UTF8 ON").await?;
    }
    if let Some(base) = base {
        let command = format!("CWD {base}");
        control.demand(&command, &command, Class::Missing).await?;
    }
    let base = working_directory(&mut control).await?;
    let (protection, no_delay) = network.facts(control.wire());
    let facts = Facts {
        protocol: "FTP".to_owned(),
        protection,
        server: greeting.lines.first().map(|line| {
            line.chars().filter(|c| !c.is_control()).take(100).collect::<String>().trim().to_owned()
        }),
        no_delay,
        tcp: None,
    };
    let data = DataConnections::new(network, server);
    let has_mlsd = AtomicBool::new(abilities.mlsd);
    Ok(Session { control: Mutex::new(control), data, facts, abilities, has_mlsd, base })
}

/// Switch to TLS (RFC 4217 section 4).
async fn secure<N: Network>(network: &Arc<N>, mut control: Control<N>) -> Result<Control<N>> {
    let reply = control.ask("AUTH TLS", "AUTH TLS").await?;
    if reply.code != 234 {
        let fault = reply.fault("AUTH TLS", Class::Unsupported);
        return Err(Fault { class: Class::Unsupported, ..fault }
            .hint("this server does not support TLS: use another, or plain FTP"));
    }
    let wire = network.secure("FTP over TLS", control.into_wire()?).await?;
    Ok(Control::new(Arc::clone(network), wire, false))
}

/// The fault of a server that accepts no session now (421, RFC 959 section 4.2.1).
fn full(fault: Fault) -> Fault {
    Fault { class: Class::Refused, ..fault }
        .hint("the server accepts no more sessions now: try later, or copy fewer files at once")
}

async fn log_in(control: &mut Control<impl Network>, user: &str, secret: &str) -> Result<()> {
    let what = format!("FTP login of `{user}`");
    let refused = |reply: &super::reply::Reply| {
        let fault = reply.fault(&what, Class::Login);
        let login = Fault { class: Class::Login, ..fault.clone() };
        match reply.code {
            421 => full(fault),
            530 if reply.says(&["too many", "maximum"]) => full(fault),
            500..=599 if reply.says(&["tls", "ssl", "encrypt"]) => {
                login.hint("this server requires TLS for logins: use ftps://")
            }
            530 if reply.says(&["anonymous only"]) => login.hint("log in as `anonymous`"),
            530 if user == ANONYMOUS.0 => login.hint("name a user, as in `ftp://USER@HOST/`"),
            430 | 530 => login.wrong_login(),
            500..=599 => login,
            _ => fault,
        }
    };
    let mut reply = control.ask(&what, &format!("USER {user}")).await?;
    if reply.code == 331 {
        reply = control.ask(&what, &format!("PASS {secret}")).await?;
    }
    if reply.is_done() { Ok(()) } else { Err(refused(&reply)) }
}

async fn abilities(control: &mut Control<impl Network>) -> Result<Abilities> {
    let reply = control.ask("FEAT", "FEAT").await?;
    let mut abilities = Abilities::default();
    if reply.is_done() {
        for line in &reply.lines {
            let line = line.trim().to_ascii_uppercase();
            match line.split(' ').next() {
                // Servers with commands newer than RFC 959 and 2389.
                Some("EPSV") => control.takes_several = true,
                Some("SIZE") => abilities.size = true,
                // RFC 3659 section 7.8: a server with MLST also has MLSD.
                Some("MLST" | "MLSD") => abilities.mlsd = true,
                Some("UTF8") => abilities.utf8 = true,
                _ => {}
            }
        }
        control.takes_several |= abilities.mlsd || abilities.utf8;
    }
    Ok(abilities)
}

/// The directory is in quotation marks; a mark in the name is doubled (RFC 959 appendix II). Some
/// servers omit the marks.
async fn working_directory(control: &mut Control<impl Network>) -> Result<String> {
    let reply = control.demand("PWD", "PWD", Class::Protocol).await?;
    let name = quoted(reply.words()).or_else(|| unquoted(reply.words())).ok_or_else(|| {
        let fault = reply.fault("PWD", Class::Protocol);
        Fault { class: Class::Protocol, ..fault }
    })?;
    Ok(name)
}

fn unquoted(words: &str) -> Option<String> {
    let name = words.split(' ').next()?;
    (name.starts_with('/') && !name.contains(['"', '\t'])).then(|| name.to_owned())
}

pub fn quoted(words: &str) -> Option<String> {
    let mut name = String::new();
    let mut rest = words.split_once('"')?.1;
    loop {
        let (part, after) = rest.split_once('"')?;
        name.push_str(part);
        match after.strip_prefix('"') {
            Some(after) => {
                name.push('"');
                rest = after;
            }
            None => break,
        }
    }
    (!name.is_empty() && !name.contains(char::is_control)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pwd_replies_are_quoted_or_absolute_paths() {
        assert_eq!(unquoted("/pub is where you are").as_deref(), Some("/pub"));
        assert_eq!([unquoted("is /pub"), unquoted("/\"x"), unquoted("")], [None, None, None]);
        assert_eq!(quoted(r#""/a b" is where you are"#).as_deref(), Some("/a b"));
        assert_eq!(quoted(r#""/a ""b""" here"#).as_deref(), Some(r#"/a "b""#));
        for bad in ["", "/a", "\"/a", "\"\"", "\"\" x"] {
            assert_eq!(quoted(bad), None, "{bad}");
        }
    }
}
