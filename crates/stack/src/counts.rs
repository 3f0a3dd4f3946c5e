//! Counters of a station, each with its key in results.

/// A struct of counters, initially 0, with a method `keyed` that returns each with its key. Carriers that count the
/// same thing use the same key.
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
