//! The declarations of objects and choices: each field once, with its names and its text.

/// Declares an object of the configuration.
///
/// Gives a struct of optional fields, the reading of it and its schema. `open` objects ignore keys
/// they don't know, since the file belongs to other programs as well; `shared` ones warn about those
/// that are nearly a key of theirs; `closed` ones warn about all of
/// them; `layered` ones are closed and can be laid over each other; `traced` ones are layered and
/// can tell which fields they give.
macro_rules! object {
    (
        $(#[doc = $doc:literal])*
        $openness:ident $name:ident as $title:literal {
            $(
                $(#[doc = $field_doc:literal])*
                $field:ident: $type:ty = $key:literal $(| $alias:literal)* $(, default $default:tt)?;
            )*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $name {
            $($(#[doc = $field_doc])* pub(crate) $field: $crate::shape::Field<$type>,)*
        }

        impl $name {
            /// Every key that the object has, other names included.
            pub(crate) const KEYS: &'static [&'static str] = &[$($key $(, $alias)*),*];
        }

        $crate::shape::object!(
            @overlay $openness, $name, $($field = $key $(| $alias)*;)*
        );

        impl $crate::shape::Shape for $name {
            fn decode(
                node: &$crate::tree::Node,
                context: &mut $crate::shape::Context<'_>,
            ) -> Option<Self> {
                let object = context.object(node)?;
                let mut result = Self::default();
                for member in &object.members {
                    context.path.push_key(&member.key);
                    match member.key.as_str() {
                        $($key $(| $alias)* => context.field(member, $key, &mut result.$field),)*
                        _ => $crate::shape::object!(@unknown $openness, context, member, Self::KEYS),
                    }
                    context.path.pop();
                }
                Some(result)
            }

            fn schema(definitions: &mut $crate::shape::Definitions) -> ::serde_json::Value {
                definitions.object($title, concat!($($doc, "\n"),*), |definitions| vec![
                    $($crate::shape::FieldDescription {
                        names: &[$key $(, $alias)*],
                        text: concat!($($field_doc, "\n"),*),
                        schema: <$type as $crate::shape::Shape>::schema(definitions),
                        default: $crate::shape::object!(@default $($default)?),
                    },)*
                ])
            }
        }
    };
    (@unknown open, $context:ident, $member:ident, $keys:expr) => {{ let _ = $keys; }};
    (@unknown shared, $context:ident, $member:ident, $keys:expr) => {
        $context.misspelt_key($member, $keys)
    };
    (@unknown traced, $context:ident, $member:ident, $keys:expr) => {
        $context.unknown_key($member, $keys)
    };
    (@unknown layered, $context:ident, $member:ident, $keys:expr) => {
        $context.unknown_key($member, $keys)
    };
    (@unknown closed, $context:ident, $member:ident, $keys:expr) => {
        $context.unknown_key($member, $keys)
    };
    (@overlay traced, $name:ident, $($field:ident = $key:literal $(| $alias:literal)*;)*) => {
        $crate::shape::object!(@overlay layered, $name, $($field = $key;)*);

        impl $name {
            /// The name of a field, from any of its names.
            pub(crate) fn canonical(key: &str) -> Option<&'static str> {
                match key {
                    $($key $(| $alias)* => Some($key),)*
                    _ => None,
                }
            }

            /// Whether a field is given, rightly or wrongly.
            pub(crate) fn gives(&self, name: &str) -> bool {
                match name {
                    $($key => !self.$field.is_absent(),)*
                    _ => false,
                }
            }
        }
    };
    (@overlay layered, $name:ident, $($field:ident = $key:literal $(| $alias:literal)*;)*) => {
        impl $name {

            /// Lays the fields that `over` gives over these.
            pub(crate) fn overlay(&mut self, over: &Self) {
                $(
                    if !over.$field.is_absent() {
                        self.$field = over.$field.clone();
                    }
                )*
            }
        }
    };
    (@overlay $openness:ident, $($rest:tt)*) => {};
    (@default) => { None };
    (@default $default:tt) => { Some(::serde_json::json!($default)) };
}

/// Declares a setting that is one of a few words.
macro_rules! choices {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident {
            $($(#[doc = $doc:literal])* $variant:ident = $word:literal,)*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $visibility enum $name {
            $($(#[doc = $doc])* $variant,)*
        }

        impl $name {
            /// The word that stands for it in the configuration.
            $visibility fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl $crate::shape::Shape for $name {
            fn decode(
                node: &$crate::tree::Node,
                context: &mut $crate::shape::Context<'_>,
            ) -> Option<Self> {
                let all = [$(Self::$variant),*];
                $crate::shape::choice(node, context, &all.map(Self::as_str)).map(|index| all[index])
            }

            fn schema(_: &mut $crate::shape::Definitions) -> ::serde_json::Value {
                ::serde_json::json!({ "enum": [$($word),*] })
            }
        }
    };
}

pub(crate) use {choices, object};
