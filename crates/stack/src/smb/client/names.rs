//! File names in the form that the server's dialect requires.

use crate::redirector::{Reason, Refusal};
use crate::smb::Dialect;

/// Characters forbidden in names ([MS-CIFS] 2.2.1.1.1); `/` and `\` separate names in a path.
const FORBIDDEN: [char; 9] = ['"', '*', '/', ':', '<', '>', '?', '\\', '|'];
/// Further characters forbidden in 8.3 names.
const FORBIDDEN_SHORT: [char; 7] = [' ', '+', ',', ';', '=', '[', ']'];

pub fn are_short(dialect: Dialect) -> bool {
    dialect < Dialect::LanMan2
}

pub fn check(name: &str, dialect: Dialect) -> Result<(), Refusal> {
    let refuse = |allowed: &str| {
        let message = format!("SMB 1 cannot hold the name `{name}`; allowed: {allowed}");
        Err(Refusal::new(Reason::Name, message))
    };
    if name.contains(FORBIDDEN) || name.chars().any(char::is_control) || name.ends_with([' ', '.'])
    {
        return refuse("none of `\"` `*` `:` `<` `>` `?` `|`, and no space or dot at its end");
    }
    if are_short(dialect) {
        let (base, extension) = name.split_once('.').unwrap_or((name, ""));
        let fits = (1..=8).contains(&base.chars().count()) && extension.chars().count() <= 3;
        if !fits || extension.contains('.') || name.contains(FORBIDDEN_SHORT) {
            let dialect = dialect.name();
            return refuse(&format!("8 characters, a dot and 3 characters in dialect {dialect}"));
        }
    }
    Ok(())
}

/// A name from a listing. Servers of short names store them in upper case and lose the original case; like other
/// clients, convert all-upper-case names to lower case.
pub fn listed(name: String, dialect: Dialect) -> String {
    if are_short(dialect) && !name.chars().any(char::is_lowercase) {
        return name.to_lowercase();
    }
    name
}
