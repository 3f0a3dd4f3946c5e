//! One row per number of a simulated machine: field, default, range, name in a study, and help.
//!
//! A row generates the field of the struct, its check, and its part of the schema. From the schema
//! the driver takes the number's name in studies (`study`, otherwise the field's name), its range,
//! default and help.

use crate::Failure;

/// The content of a row of [`numbers`], alone or in a group.
pub trait Row {
    fn check(&self, key: &str, least: f64, most: f64) -> Result<(), Failure>;
}

macro_rules! plain_numbers {
    ($($kind:ty),*) => { $(impl Row for $kind {
        fn check(&self, key: &str, least: f64, most: f64) -> Result<(), Failure> {
            if (least..=most).contains(&(*self as f64)) {
                return Ok(());
            }
            Err(Failure::value(key, self, format!("{least} to {most}")))
        }
    })* };
}
plain_numbers!(u16, u32, u64, f64);

impl Row for bool {
    fn check(&self, _: &str, _: f64, _: f64) -> Result<(), Failure> {
        Ok(())
    }
}

impl<R: Row> Row for Option<R> {
    fn check(&self, key: &str, least: f64, most: f64) -> Result<(), Failure> {
        self.as_ref().map_or(Ok(()), |row| row.check(key, least, most))
    }
}

/// Define a struct of a machine's numbers. `as` gives a number its name in study files, and the names of a group
/// their prefix. Every machine must state the `required` numbers. `then` names a check of several numbers together.
macro_rules! numbers {
    ($(#[$meta:meta])* pub struct $name:ident $(then $together:ident)? { $(
        $field:ident: $kind:ty = $default:expr,
        $(in $least:literal to $most:literal,)? $(as $study:literal,)? $help:literal
        $(, $required:ident)?;
    )* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name { $(
            #[doc = $help]
            #[schemars(extend("help" = $help $(, "minimum" = $least, "maximum" = $most)?
                $(, "study" = $study)? $(, "stated" = stringify!($required))?))]
            pub $field: $kind,
        )* }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default),* }
            }
        }

        impl $crate::simulate::numbers::Row for $name {
            fn check(&self, key: &str, _: f64, _: f64) -> Result<(), $crate::Failure> {
                let key = if key.is_empty() { String::new() } else { format!("{key}.") };
                $({
                    // The last one belongs to the row; a row without a range has the first.
                    let [.., (least, most)] = [(0.0, 0.0) $(, ($least as f64, $most as f64))?];
                    let key = format!("{key}{}", stringify!($field));
                    self.$field.check(&key, least, most)?;
                })*
                $(self.$together(&key)?;)?
                Ok(())
            }
        }
    };
}
pub(super) use numbers;
