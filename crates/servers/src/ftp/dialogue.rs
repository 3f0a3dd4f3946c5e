//! One control connection: commands, and a reply to each.

use std::io;
use std::net::SocketAddr;

use lanlab_connections::Lines;
use lanlab_served::{Confined, Names};
use lanlab_wire::calendar;

use super::files::{self, Form};
use super::moving::{self, Broken};
use super::system::{System, Way};
use crate::visits::READ_ONLY;

/// Wrong passwords before the connection ends.
const MAX_WRONG_LOGINS: u32 = 3;

/// Octets of a listing that are gathered before they are sent.
const LISTING_BLOCK: usize = 1 << 16;

/// What a command comes to.
type Answer = io::Result<(u16, String)>;

/// One control connection.
pub struct Dialogue<S: System> {
    system: S,
    lines: Option<Lines<S::Wire>>,
    client: SocketAddr,
    user: String,
    known: bool,
    wrong_logins: u32,
    directory: Names,
    /// Where data connections come to, once one was asked for.
    passive: Option<(S::Listener, u16)>,
    /// Whether one was asked for that has not been used.
    is_awaited: bool,
    restart: u64,
    protected: bool,
    rename_from: Option<Names>,
}

#[expect(clippy::unnecessary_wraps, reason = "every command ends by it")]
fn say(code: u16, words: impl Into<String>) -> Answer {
    Ok((code, words.into()))
}

impl<S: System> Dialogue<S> {
    /// With a client.
    pub fn new(system: S, wire: S::Wire, client: SocketAddr) -> Self {
        Self {
            system,
            lines: Some(Lines::new(wire)),
            client,
            user: String::new(),
            known: false,
            wrong_logins: 0,
            directory: Names::new(),
            passive: None,
            is_awaited: false,
            restart: 0,
            protected: false,
            rename_from: None,
        }
    }

    /// Until the client leaves, which has been greeted.
    pub async fn run(mut self) -> io::Result<()> {
        loop {
            let Some(line) = self.lines()?.next().await? else { return Ok(()) };
            let (verb, argument) = line.split_once(' ').unwrap_or((&line, ""));
            let verb = verb.to_ascii_uppercase();
            let (code, words) = match self.answer(&verb, argument).await {
                Ok(answer) => answer,
                Err(error) => {
                    if error.kind() == io::ErrorKind::ReadOnlyFilesystem {
                        self.system.refused(READ_ONLY);
                    }
                    files::refusal(&error)
                }
            };
            self.reply(code, &words).await?;
            if verb == "AUTH" && code == 234 {
                self.secure().await?;
            }
            if code == 221 || code == 421 {
                return self.lines()?.shutdown().await;
            }
        }
    }

    fn lines(&mut self) -> io::Result<&mut Lines<S::Wire>> {
        self.lines.as_mut().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Words of more than one line begin with their code and `-` themselves.
    async fn reply(&mut self, code: u16, words: &str) -> io::Result<()> {
        let line = format!("{code} {words}\r\n");
        let text = match words.rsplit_once('\n') {
            Some((before, last)) => format!("{code}-{before}\n{code} {last}\r\n"),
            None => line,
        };
        self.lines()?.send(&text).await
    }

    async fn secure(&mut self) -> io::Result<()> {
        let lines = self.lines.take().ok_or(io::ErrorKind::NotConnected)?;
        self.lines = Some(Lines::new(self.system.secure(lines.into_wire()?).await?));
        Ok(())
    }

    async fn answer(&mut self, verb: &str, argument: &str) -> Answer {
        let restart = std::mem::take(&mut self.restart);
        let rename_from = self.rename_from.take();
        match verb {
            "USER" | "PASS" => return self.log_in(verb, argument).await,
            "AUTH" => return self.auth(argument),
            "QUIT" => return say(221, "Goodbye"),
            "NOOP" => return say(200, "Nothing done"),
            "SYST" => return say(215, "UNIX Type: L8"),
            "FEAT" => return say(211, self.features()),
            "OPTS" if argument.to_ascii_uppercase().starts_with("UTF8") => {
                return say(200, "Names are UTF-8");
            }
            "PBSZ" if self.system.has_tls() => return say(200, "PBSZ=0"),
            _ if !self.known => return say(530, "Log in first"),
            _ => {}
        }
        match verb {
            "PROT" if self.system.has_tls() => {
                self.protected = argument.eq_ignore_ascii_case("P");
                if self.protected {
                    say(200, "Data goes over TLS")
                } else {
                    say(534, "Data goes over TLS here: PROT P")
                }
            }
            "TYPE" => match argument.to_ascii_uppercase().as_str() {
                "I" | "L 8" | "A" | "A N" => say(200, "Files go as they are"),
                _ => say(504, "TYPE I is what there is"),
            },
            "MODE" if argument.eq_ignore_ascii_case("S") => say(200, "As a stream"),
            "STRU" if argument.eq_ignore_ascii_case("F") => say(200, "As a file"),
            "ALLO" => say(202, "Not needed"),
            "PWD" | "XPWD" => {
                let path = format!("/{}", self.directory.join("/")).replace('"', "\"\"");
                say(257, format!("\"{path}\" is where you are"))
            }
            "CWD" | "XCWD" => self.change_directory(argument).await,
            "CDUP" => self.change_directory("..").await,
            "EPSV" | "PASV" => self.listen(verb, argument),
            "REST" => match argument.parse() {
                Ok(offset) => {
                    self.restart = offset;
                    say(350, "From there, then")
                }
                Err(_) => say(501, "REST takes octets from the beginning"),
            },
            "SIZE" => {
                let found = self.system.look(&self.names(argument)?).await?;
                if found.is_directory {
                    return say(550, "Not a plain file");
                }
                say(213, found.size_bytes.to_string())
            }
            "MDTM" => {
                let found = self.system.look(&self.names(argument)?).await?;
                say(213, calendar::time_val(found.modified_s))
            }
            "MFMT" | "SITE" => self.adjust(verb, argument).await,
            "MLST" => {
                let names = self.names(argument)?;
                let facts = files::facts(&self.system.look(&names).await?);
                say(250, format!("There is:\r\n {facts}/{}\r\nThat is all", names.join("/")))
            }
            "RETR" => self.retrieve(argument, restart).await,
            "STOR" => self.store(argument, restart, false).await,
            "APPE" => self.store(argument, 0, true).await,
            "MLSD" => self.list(argument, Form::Facts).await,
            // What begins with `-` would be for `ls`.
            "LIST" => self.list(unless_options(argument), Form::Long).await,
            "NLST" => self.list(unless_options(argument), Form::Names).await,
            "DELE" => {
                self.system.remove_file(&self.names(argument)?).await?;
                say(250, "Removed")
            }
            "RMD" | "XRMD" => {
                self.system.remove_directory(&self.names(argument)?).await?;
                say(250, "Removed")
            }
            "MKD" | "XMKD" => {
                self.system.make_directory(&self.names(argument)?).await?;
                say(257, format!("\"{}\" Made", argument.replace('"', "\"\"")))
            }
            "RNFR" => {
                let names = self.names(argument)?;
                self.system.look(&names).await?;
                self.rename_from = Some(names);
                say(350, "To what?")
            }
            "RNTO" => {
                let Some(from) = rename_from else { return say(503, "RNFR comes first") };
                // RFC 959 does not say what becomes of a file that has the name: it stays.
                self.system.rename(&from, &self.names(argument)?).await?;
                say(250, "Renamed")
            }
            "PORT" | "EPRT" => {
                self.system.refused("active transfers (PORT): passive ones (PASV) are served");
                say(502, "The client makes the data connection here: EPSV or PASV")
            }
            _ => say(502, "Not known here"),
        }
    }

    fn speaks_tls(&self) -> bool {
        self.lines.as_ref().is_some_and(|lines| self.system.is_tls(lines.wire()))
    }

    fn names(&self, path: &str) -> io::Result<Names> {
        if path.is_empty() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Confined::names(&self.directory, path)
    }

    /// Times and permissions.
    async fn adjust(&self, verb: &str, argument: &str) -> Answer {
        match files::adjustment(verb, argument) {
            Ok(files::Adjustment { changes, path, code, done }) => {
                self.system.change(&self.names(path)?, &changes).await?;
                say(code, done)
            }
            Err((code, words)) => say(code, words),
        }
    }

    fn features(&self) -> String {
        let tls = if self.system.has_tls() { "\r\n AUTH TLS\r\n PBSZ\r\n PROT" } else { "" };
        format!(
            "There is:{tls}\r\n EPSV\r\n MDTM\r\n MFMT\r\n MLST type*;size*;modify*;\r\n PASV\r\n \
             REST STREAM\r\n SIZE\r\n UTF8\r\nEnd"
        )
    }

    fn auth(&self, argument: &str) -> Answer {
        let over = self.speaks_tls();
        match argument.to_ascii_uppercase().as_str() {
            _ if !self.system.has_tls() => say(502, "No TLS here"),
            _ if over => say(503, "TLS is spoken already"),
            "TLS" | "TLS-C" | "SSL" => say(234, "Go on over TLS"),
            _ => say(504, "TLS is what there is"),
        }
    }

    async fn log_in(&mut self, verb: &str, argument: &str) -> Answer {
        let over = self.speaks_tls();
        if self.system.has_tls() && !over {
            self.system.refused("a login without TLS");
            return say(530, "AUTH TLS comes before the name");
        }
        if verb == "USER" {
            argument.clone_into(&mut self.user);
            self.known = false;
            return say(331, "And the password");
        }
        if self.system.admits(&self.user, argument) {
            self.known = true;
            return say(230, "Welcome");
        }
        self.wrong_logins += 1;
        if self.wrong_logins >= MAX_WRONG_LOGINS {
            return say(421, "Too many wrong passwords");
        }
        self.system.delay().await;
        say(530, "Wrong name or password")
    }

    async fn change_directory(&mut self, path: &str) -> Answer {
        let names = self.names(path)?;
        if !self.system.look(&names).await?.is_directory {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        self.directory = names;
        say(250, "There")
    }

    fn listen(&mut self, verb: &str, argument: &str) -> Answer {
        if argument.eq_ignore_ascii_case("ALL") {
            return say(200, "EPSV it is");
        }
        let lines = self.lines.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        let here = self.system.local_address(lines.wire())?;
        let port = match &self.passive {
            Some((listener, port)) => {
                self.system.turn_away(listener);
                *port
            }
            None => self.passive.insert(self.system.listen(here)?).1,
        };
        self.is_awaited = true;
        if verb == "EPSV" {
            return say(229, format!("Come in (|||{port}|)"));
        }
        match here.ip().to_canonical() {
            std::net::IpAddr::V4(address) => {
                let [a, b, c, d] = address.octets();
                say(227, format!("Come in ({a},{b},{c},{d},{},{})", port >> 8, port & 0xff))
            }
            std::net::IpAddr::V6(_) => say(522, "EPSV is what there is over IPv6"),
        }
    }

    /// Announce data, and take the client's connection for it, to send or to receive on it.
    async fn connection(&mut self, way: Way) -> io::Result<Option<S::Wire>> {
        if !std::mem::take(&mut self.is_awaited) {
            return Ok(None);
        }
        if self.system.has_tls() && !self.protected {
            return Ok(None);
        }
        self.reply(150, "Here it goes").await?;
        let Some((listener, _)) = &self.passive else { return Ok(None) };
        Ok(self.system.accept(listener, self.client.ip(), way).await.ok())
    }

    async fn retrieve(&mut self, path: &str, offset: u64) -> Answer {
        let file = self.system.open(&self.names(path)?).await?;
        let Some(mut wire) = self.connection(Way::Out).await? else { return no_connection() };
        let sent = moving::send(&self.system, &mut wire, &file, offset).await;
        self.closed(sent, file).await
    }

    async fn store(&mut self, path: &str, offset: u64, append: bool) -> Answer {
        let truncate = offset == 0 && !append;
        let (file, size_bytes) = self.system.open_to_write(&self.names(path)?, truncate).await?;
        let offset = if append { size_bytes } else { offset };
        let Some(mut wire) = self.connection(Way::In).await? else { return no_connection() };
        let received = moving::receive(&self.system, &mut wire, &file, offset).await;
        self.closed(received, file).await
    }

    /// End with a file that was moved, or was not.
    async fn closed(&self, moved: Result<(), Broken>, file: S::File) -> Answer {
        let closed = self.system.close(file).await.map_err(Broken::File);
        ending(moved.and(closed))
    }

    async fn list(&mut self, path: &str, form: Form) -> Answer {
        let names = Confined::names(&self.directory, path)?;
        let entries = self.system.list(&names).await?;
        let Some(mut wire) = self.connection(Way::Out).await? else { return no_connection() };
        let mut text = String::new();
        for found in entries {
            text.push_str(&files::line(form, &found));
            if text.len() > LISTING_BLOCK {
                if let Err(broken) =
                    moving::send_octets(&self.system, &mut wire, text.as_bytes()).await
                {
                    return ending(Err(broken));
                }
                text.clear();
            }
        }
        let sent = moving::send_octets(&self.system, &mut wire, text.as_bytes()).await;
        ending(match sent {
            Ok(()) => moving::end(&self.system, &mut wire).await,
            broken => broken,
        })
    }
}

fn unless_options(argument: &str) -> &str {
    if argument.starts_with('-') { "" } else { argument }
}

fn no_connection() -> Answer {
    say(425, "No data connection: EPSV (and PROT P over TLS) comes first")
}

fn ending(moved: Result<(), Broken>) -> Answer {
    match moved {
        Ok(()) => say(226, "That is all of it"),
        Err(Broken::Connection) => say(426, "The data connection broke"),
        Err(Broken::File(error)) => Err(error),
    }
}
