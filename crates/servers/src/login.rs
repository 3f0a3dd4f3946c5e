//! Password checks.

use std::time::Duration;

use lanlab_files::Credentials;
use sha2::{Digest, Sha256};

pub const DELAY: Duration = Duration::from_millis(300);

/// Whether name and secret are the expected ones; always true if none are expected.
pub fn admits(wanted: Option<&Credentials>, user: &str, secret: &str) -> bool {
    let Some(wanted) = wanted else { return true };
    // Comparing hashes takes the same time however much of the text is right.
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
