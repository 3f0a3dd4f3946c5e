//! Checks before a measurement starts that this process may open enough files and sockets.

use lanlab_os as os;

use crate::messages::Failure;

const OWN: u64 = 64;

/// Raise the limit of open files as needed.
pub fn provide(needed: u64, whose: &str) -> Result<(), Failure> {
    os::raise_descriptor_limit(OWN + needed);
    check(OWN + needed, whose, os::descriptor_limit())
}

fn check(needed: u64, whose: &str, limit: u64) -> Result<(), Failure> {
    if needed <= limit {
        return Ok(());
    }
    // If nothing further is needed, the engine's own files alone exceed the limit.
    let (whose, instead) = if needed > OWN {
        (format!("{whose} take"), ", or ask for fewer")
    } else {
        ("an engine by itself takes".to_owned(), "")
    };
    let message = format!("{whose} {needed} descriptors; this process may have {limit} at most");
    Err(Failure::new("stations.descriptors", message)
        .hint(format!("raise the hard limit, as by `ulimit -n {needed}` as root{instead}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_descriptors_are_reported_with_a_hint() {
        assert_eq!(check(1000, "936 stations", 1000), Ok(()));
        let refused = check(1936, "936 stations", 1000).unwrap_err();
        assert_eq!(refused.code, "stations.descriptors");
        assert!(refused.message.contains("936 stations take 1936 descriptors"), "{refused}");
        assert!(refused.hint.unwrap().contains("ulimit -n 1936"));
        let refused = check(64, "0 connections", 16).unwrap_err();
        let said = "an engine by itself takes 64 descriptors; this process may have 16 at most";
        assert_eq!(refused.message, said);
        assert_eq!(refused.hint.unwrap(), "raise the hard limit, as by `ulimit -n 64` as root");
    }
}
