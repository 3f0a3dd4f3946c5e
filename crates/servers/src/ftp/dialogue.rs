//! One control connection: commands, and a reply to each.

use std::io;
use std::net::SocketAddr;

use lanlab_connections::Lines;
use lanlab_served::{Confined, Names};
use lanlab_wire::calendar;

use super::files::{self, Form};
use super::system::System;
use crate::visits::READ_ONLY;

const MAX_WRONG_LOGINS: u32 = 3;

const HELP: &str = "Commands:\r\n ABOR ALLO APPE AUTH CDUP CWD DELE EPRT EPSV FEAT HELP LIST MDTM MFMT MKD MLSD MLST\r\n \
    MODE NLST NOOP OPTS PASS PASV PBSZ PORT PROT PWD QUIT REST RETR RMD RNFR RNTO SITE SIZE\r\n \
    STAT STOR STRU SYST TYPE USER\r\nEnd";

pub(super) type Answer = io::Result<(u16, String)>;

/// Commands allowed between REST and its transfer.
const PREPARING: [&str; 15] = [
    "ALLO", "EPRT", "EPSV", "FEAT", "HELP", "MDTM", "MODE", "NOOP", "PASV", "PBSZ", "PORT", "PROT",
    "SIZE", "STRU", "TYPE",
];

#[derive(Debug, Clone, Copy)]
pub enum Awaited {
    Passive,
    Active(u16),
}

#[expect(clippy::struct_excessive_bools, reason = "settings that a client makes each alone")]
pub struct Dialogue<S: System> {
    pub(super) system: S,
    lines: Option<Lines<S::Wire>>,
    pub(super) client: SocketAddr,
    user: String,
    known: bool,
    wrong_logins: u32,
    pub(super) directory: Names,
    pub(super) passive: Option<(S::Listener, u16)>,
    pub(super) awaited: Option<Awaited>,
    pub(super) only_epsv: bool,
    /// TYPE A, which is the default (RFC 959, section 5.1).
    pub(super) is_text: bool,
    pub(super) restart: u64,
    pub(super) protected: bool,
    rename_from: Option<Names>,
}

#[expect(clippy::unnecessary_wraps, reason = "every command ends by it")]
pub(super) fn say(code: u16, words: impl Into<String>) -> Answer {
    Ok((code, words.into()))
}

/// An absolute path as quoted in a reply (RFC 959, appendix II).
fn quoted(path: &Names) -> String {
    format!("\"/{}\"", path.join("/").replace('"', "\"\""))
}

impl<S: System> Dialogue<S> {
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
            awaited: None,
            only_epsv: false,
            is_text: true,
            restart: 0,
            protected: false,
            rename_from: None,
        }
    }

    pub async fn run(mut self) -> io::Result<()> {
        loop {
            let Some(line) = self.lines()?.next().await? else { return Ok(()) };
            self.system.heard();
            // Clients that interrupt a transfer send Telnet's IP and Synch before ABOR (RFC 959, section 4.1.3).
            let line = line.trim_start_matches(char::REPLACEMENT_CHARACTER);
            let (verb, argument) = line.split_once(' ').unwrap_or((line, ""));
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

    pub(super) fn lines(&mut self) -> io::Result<&mut Lines<S::Wire>> {
        self.lines.as_mut().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Whether the client was killed while it sent this file.
    pub(super) async fn is_gone(&mut self, file: &S::File) -> bool {
        let doubt = self.system.doubt(file);
        match &mut self.lines {
            Some(lines) => lines.end_before(doubt).await,
            None => true,
        }
    }

    pub(super) fn here(&self) -> io::Result<SocketAddr> {
        let lines = self.lines.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        self.system.local_address(&lines.wire)
    }

    pub(super) async fn reply(&mut self, code: u16, words: &str) -> io::Result<()> {
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
        let (restart, rename_from) = (self.restart, self.rename_from.take());
        if !PREPARING.contains(&verb) {
            self.restart = 0;
        }
        match verb {
            "USER" | "PASS" => return self.log_in(verb, argument).await,
            "AUTH" => return self.auth(argument),
            "QUIT" => return say(221, "Goodbye"),
            "NOOP" => return say(200, "Nothing done"),
            "HELP" => return say(214, HELP),
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
                kind @ ("I" | "L 8" | "A" | "A N") => {
                    self.is_text = kind.starts_with('A');
                    let done = ["Files go as they are", "Line ends become CR LF"];
                    say(200, done[usize::from(self.is_text)])
                }
                _ => say(504, "TYPE I and TYPE A are what there is"),
            },
            "MODE" if argument.eq_ignore_ascii_case("S") => say(200, "As a stream"),
            "STRU" if argument.eq_ignore_ascii_case("F") => say(200, "As a file"),
            "ALLO" => say(202, "Not needed"),
            "PWD" | "XPWD" => say(257, format!("{} is where you are", quoted(&self.directory))),
            "CWD" | "XCWD" => self.change_directory(argument).await,
            "CDUP" | "XCUP" => self.change_directory("..").await,
            "EPSV" | "PASV" => self.listen(verb, argument),
            "PORT" | "EPRT" => self.connect_later(verb, argument),
            "ABOR" => say(226, "Nothing is under way"),
            "STAT" if argument.is_empty() => say(211, self.status()),
            "STAT" => self.list_here(unless_options(argument)).await,
            "REST" => match argument.parse() {
                Ok(offset) => {
                    self.restart = offset;
                    say(350, "From there, then")
                }
                Err(_) => say(501, "REST takes octets from the beginning"),
            },
            _ => self.of_path(verb, argument, restart, rename_from).await,
        }
    }

    async fn of_path(
        &mut self,
        verb: &str,
        argument: &str,
        restart: u64,
        rename_from: Option<Names>,
    ) -> Answer {
        match verb {
            "SIZE" => match self.system.look(&self.names(argument)?).await? {
                _ if self.is_text => say(550, "SIZE needs TYPE I"),
                found if found.is_directory => say(550, "Not a plain file"),
                found => say(213, found.size_bytes.to_string()),
            },
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
                let names = self.names(argument)?;
                self.system.make_directory(&names).await?;
                say(257, format!("{} Made", quoted(&names)))
            }
            "RNFR" => {
                let names = self.names(argument)?;
                self.system.look(&names).await?;
                self.rename_from = Some(names);
                say(350, "To what?")
            }
            "RNTO" => {
                let Some(from) = rename_from else { return say(503, "RNFR comes first") };
                // RFC 959 does not define what happens to an existing file: it is kept.
                self.system.rename(&from, &self.names(argument)?).await?;
                say(250, "Renamed")
            }
            _ => say(502, "Not known here"),
        }
    }

    fn status(&self) -> String {
        let (user, kind) = (&self.user, if self.is_text { "A" } else { "I" });
        let path = quoted(&self.directory);
        format!("lanlab FTP server\r\n User: {user}\r\n Directory: {path}\r\n TYPE: {kind}\r\nEnd")
    }

    fn speaks_tls(&self) -> bool {
        self.lines.as_ref().is_some_and(|lines| self.system.is_tls(&lines.wire))
    }

    pub(super) fn names(&self, path: &str) -> io::Result<Names> {
        if path.is_empty() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Confined::names(&self.directory, path)
    }

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
}

fn unless_options(mut argument: &str) -> &str {
    while argument.starts_with('-') {
        argument = argument.split_once(' ').map_or("", |(_, rest)| rest.trim_start());
    }
    argument
}
