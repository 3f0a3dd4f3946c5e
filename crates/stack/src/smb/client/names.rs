//! Names of files as a server of the dialect takes them.

use crate::redirector::{Reason, Refusal};
use crate::smb::Dialect;

/// Characters that no name may have ([MS-CIFS] 2.2.1.1.1); `/` and `\` a path has between names.
const FORBIDDEN: [char; 9] = ['"', '*', '/', ':', '<', '>', '?', '\\', '|'];
/// Characters that no name of 8.3 may have besides.
const FORBIDDEN_SHORT: [char; 7] = [' ', '+', ',', ';', '=', '[', ']'];

/// Whether names of a dialect have at most 8 characters, a dot and 3 characters.
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

/// A name of a listing. Servers of short names list them in upper case, even if they were made in
/// another; as other clients of such servers do, lower case is taken where all of a name is upper case.
pub fn listed(name: String, dialect: Dialect) -> String {
    if are_short(dialect) && !name.chars().any(char::is_lowercase) {
        return name.to_lowercase();
    }
    name
}
