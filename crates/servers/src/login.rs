//! Whom a server admits.

use std::time::Duration;

use lanlab_files::Credentials;
use sha2::{Digest, Sha256};

/// A wrong password is answered only after this time.
pub const DELAY: Duration = Duration::from_millis(300);

/// Whether a name and a secret are the ones that are wanted; anybody's where none are.
pub fn admits(wanted: Option<&Credentials>, user: &str, secret: &str) -> bool {
    let Some(wanted) = wanted else { return true };
    // Hashes, so that the time it takes says nothing of how much was right.
    let hash = |name: &str, secret: &str| {
        let mut hash = Sha256::new();
        hash.update((name.len() as u64).to_be_bytes());
        hash.update(name);
        hash.update(secret);
        hash.finalize()
    };
    hash(&wanted.user, &wanted.secret) == hash(user, secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_user_and_password_log_in() {
        let domain = None;
        let of =
            Credentials { user: "ab".to_owned(), secret: "c".to_owned(), domain, passphrase: None };
        assert!(admits(Some(&of), "ab", "c"));
        for (user, secret) in [("a", "bc"), ("ab", ""), ("ab", "cc"), ("", "abc")] {
            assert!(!admits(Some(&of), user, secret), "{user} {secret}");
        }
        assert!(admits(None, "anybody", ""));
    }
}
