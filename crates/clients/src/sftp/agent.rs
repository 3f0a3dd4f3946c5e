//! Logins with keys of a running ssh-agent (draft-ietf-sshm-ssh-agent), which signs and keeps the
//! keys.

use lanlab_files::{Class, Fault, Result};
use russh::client::Handle;
use russh::keys::agent::client::AgentClient;

use super::signing::hashes;
use super::ssh_failure::{ssh_fault, unless_lost};
use super::trust::Verifier;

pub const AGENT: &str = "ssh-agent:";

/// Maximum number of keys to try: OpenSSH's server disconnects after six.
const MOST_KEYS: usize = 6;

pub async fn log_in(ssh: &mut Handle<Verifier>, user: &str, socket: &str) -> Result<()> {
    let fault = |what: String, hint: &str| {
        Fault::new(Class::Login, format!("SSH login of `{user}`: {what}")).hint(hint)
    };
    let dead = |_: russh::keys::Error| {
        let hint = "start one by `eval $(ssh-agent)`, or give the password by --password-file";
        fault(format!("no ssh-agent answers at `{socket}`"), hint)
    };
    let mut agent = AgentClient::connect_uds(socket).await.map_err(dead)?;
    let keys = agent.request_identities().await.map_err(dead)?;
    if keys.is_empty() {
        let hint = "`ssh-add` adds one; or give the password by --password-file";
        return Err(fault("the ssh-agent has no keys".to_owned(), hint));
    }
    let (all, tried) = (keys.len(), keys.len().min(MOST_KEYS));
    for identity in keys.into_iter().take(tried) {
        let key = identity.public_key().into_owned();
        for hash in hashes(ssh, &key.algorithm()).await {
            match ssh.authenticate_publickey_with(user, key.clone(), hash, &mut agent).await {
                Ok(result) => {
                    if unless_lost(ssh, result)?.success() {
                        return Ok(());
                    }
                }
                Err(russh::AgentAuthError::Key(error)) => {
                    let what = format!("the ssh-agent does not sign: {error}");
                    return Err(fault(what, "see `ssh-add -l`"));
                }
                Err(russh::AgentAuthError::Send(_)) => {
                    return Err(ssh_fault("SSH login", &russh::Error::Disconnect));
                }
            }
        }
    }
    let of = if tried < all { format!("first {tried} of {all}") } else { tried.to_string() };
    let what = format!("the server accepts none of the {of} keys of the ssh-agent");
    Err(fault(what, "name the key by --password-file; `ssh-copy-id USER@HOST` has it accepted"))
}
