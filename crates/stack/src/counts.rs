//! Numbers that a station counts, each with its key in results.

/// A struct of numbers, all 0 at first, with `keyed`, which gives each by its key. Carriers that count the
/// same have the same keys.
macro_rules! counts {
    ($(#[$doc:meta])* $visible:vis struct $name:ident {
        $($(#[$about:meta])* $field:ident: $key:literal,)+
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        $visible struct $name {
            $($(#[$about])* $visible $field: u64,)+
        }

        impl $name {
            $visible fn keyed(&self) -> Vec<$crate::carrier::Count> {
                vec![$(($key, self.$field)),+]
            }
        }
    };
}

pub(crate) use counts;
