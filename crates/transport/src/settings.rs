//! How the parameters of a connection are set and read.
//!
//! A profile lists its parameters together with the fields of its configuration that hold them. Parsers, range checks and
//! the report of effective values go through this list, so that none of them names a parameter.

use aqmlab_units::{Rate, Span};

use crate::{InvalidParameter, Parameter, Profile};

/// A value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// On or off; off also stands in place of a time.
    Flag(bool),
    /// A whole number in the unit of the parameter.
    Whole(u32),
    /// A number in the unit of the parameter.
    Real(f64),
    /// A length of time.
    Time(Span),
    /// A bit rate.
    Rate(Rate),
    /// One of some words.
    Word(&'a str),
    /// No value.
    Unset,
}

impl Value<'_> {
    /// Return the number in the parameter's unit, of times in seconds.
    fn number(self) -> Option<f64> {
        match self {
            Self::Whole(n) => Some(n.into()),
            Self::Real(x) => Some(x),
            Self::Time(span) => Some(span.secs()),
            Self::Rate(rate) => Some(rate.bps()),
            Self::Flag(_) | Self::Word(_) | Self::Unset => None,
        }
    }
}

/// A field that holds a parameter.
pub trait Slot {
    /// Return its value.
    fn get(&self) -> Value<'static>;
    /// Set it. Return false, with nothing changed, if the value has another type.
    fn set(&mut self, value: Value<'_>) -> bool;
}

fn replace<T>(slot: &mut T, value: Option<T>) -> bool {
    value.map(|value| *slot = value).is_some()
}

impl Slot for bool {
    fn get(&self) -> Value<'static> {
        Value::Flag(*self)
    }

    fn set(&mut self, value: Value<'_>) -> bool {
        replace(self, if let Value::Flag(on) = value { Some(on) } else { None })
    }
}

impl Slot for u32 {
    fn get(&self) -> Value<'static> {
        Value::Whole(*self)
    }

    fn set(&mut self, value: Value<'_>) -> bool {
        replace(self, if let Value::Whole(n) = value { Some(n) } else { None })
    }
}

impl Slot for f64 {
    fn get(&self) -> Value<'static> {
        Value::Real(*self)
    }

    fn set(&mut self, value: Value<'_>) -> bool {
        replace(self, value.number())
    }
}

impl Slot for Span {
    fn get(&self) -> Value<'static> {
        Value::Time(*self)
    }

    fn set(&mut self, value: Value<'_>) -> bool {
        replace(self, if let Value::Time(span) = value { Some(span) } else { None })
    }
}

impl Slot for Rate {
    fn get(&self) -> Value<'static> {
        Value::Rate(*self)
    }

    fn set(&mut self, value: Value<'_>) -> bool {
        replace(self, if let Value::Rate(rate) = value { Some(rate) } else { None })
    }
}

/// A bit rate that follows from others unless it is set.
impl Slot for Option<Rate> {
    fn get(&self) -> Value<'static> {
        self.map_or(Value::Unset, Value::Rate)
    }

    fn set(&mut self, value: Value<'_>) -> bool {
        replace(self, if let Value::Rate(rate) = value { Some(Some(rate)) } else { None })
    }
}

/// A time that can be off.
impl Slot for Option<Span> {
    fn get(&self) -> Value<'static> {
        self.map_or(Value::Flag(false), Value::Time)
    }

    fn set(&mut self, value: Value<'_>) -> bool {
        let new = match value {
            Value::Time(span) => Some(Some(span)),
            Value::Flag(false) => Some(None),
            _ => None,
        };
        replace(self, new)
    }
}

/// A number that follows from others unless it is set.
impl Slot for Option<u32> {
    fn get(&self) -> Value<'static> {
        self.map_or(Value::Unset, Value::Whole)
    }

    fn set(&mut self, value: Value<'_>) -> bool {
        replace(self, if let Value::Whole(n) = value { Some(Some(n)) } else { None })
    }
}

/// Declare how an enum with `name` and `from_name` is set and read: by its names.
macro_rules! slot_of_words {
    ($type:ty) => {
        impl $crate::settings::Slot for $type {
            fn get(&self) -> $crate::settings::Value<'static> {
                $crate::settings::Value::Word(self.name())
            }

            fn set(&mut self, value: $crate::settings::Value<'_>) -> bool {
                let $crate::settings::Value::Word(word) = value else { return false };
                Self::from_name(word).map(|new| *self = new).is_some()
            }
        }
    };
}
pub(crate) use slot_of_words;

/// Access to the field of `C` that holds a parameter; see [`field`].
#[derive(Debug)]
pub struct Field<C> {
    pub(crate) get: fn(&C) -> Value<'static>,
    pub(crate) set: fn(&mut C, Value<'_>) -> bool,
}

/// The field `$path` of a configuration, as a [`Field`].
macro_rules! field {
    ($($path:tt)+) => {
        $crate::settings::Field {
            get: |config| $crate::settings::Slot::get(&config.$($path)+),
            set: |config, value| $crate::settings::Slot::set(&mut config.$($path)+, value),
        }
    };
}
pub(crate) use field;

/// A parameter, and where a configuration of type `C` holds it.
#[derive(Debug)]
pub struct Setting<C: 'static> {
    /// Its description.
    pub parameter: Parameter,
    /// `None`: it is no field of the configuration.
    field: Option<Field<C>>,
    /// Whether it is reported where it has another value than by default only.
    is_reported_if_changed: bool,
}

impl<C> Setting<C> {
    /// A parameter that is no field of the configuration.
    pub(crate) const fn new(parameter: Parameter) -> Self {
        Self { parameter, field: None, is_reported_if_changed: false }
    }

    /// This parameter in a field of the configuration.
    pub(crate) const fn is(self, field: Field<C>) -> Self {
        Self { parameter: self.parameter, field: Some(field), is_reported_if_changed: false }
    }

    /// This parameter in a field of the configuration, reported only where it does not have its default: results of earlier
    /// versions lack it.
    pub(crate) const fn reported_if_changed(self, field: Field<C>) -> Self {
        Self { parameter: self.parameter, field: Some(field), is_reported_if_changed: true }
    }
}

/// Settings of a configuration.
#[derive(Debug)]
pub struct Settings<C: 'static>(pub &'static [Setting<C>]);

impl<C> Settings<C> {
    fn field(&self, key: &str) -> Option<&'static Field<C>> {
        self.0.iter().find(|setting| setting.parameter.key == key)?.field.as_ref()
    }

    /// Return the value of a parameter; `None` if it is not one of these.
    pub fn get(&self, config: &C, key: &str) -> Option<Value<'static>> {
        self.field(key).map(|field| (field.get)(config))
    }

    /// Set a parameter. Return false if it is not one of these, or if the value has another type.
    pub fn set(&self, config: &mut C, key: &str, value: Value<'_>) -> bool {
        self.field(key).is_some_and(|field| (field.set)(config, value))
    }

    /// Return their descriptions.
    pub fn parameters(&self) -> impl Iterator<Item = Parameter> + 'static {
        self.0.iter().map(|setting| setting.parameter)
    }

    /// Return the values that reports list, by key.
    pub fn reported(&self, config: &C, default: &C) -> Vec<(&'static str, Value<'static>)> {
        let value = |setting: &Setting<C>| {
            let get = setting.field.as_ref()?.get;
            let is_reported = !setting.is_reported_if_changed || get(config) != get(default);
            is_reported.then(|| (setting.parameter.key, get(config)))
        };
        self.0.iter().filter_map(value).collect()
    }
}

/// The configuration of a connection, with parameters that are set and read by key.
pub trait Configuration {
    /// Its profile, which describes the parameters.
    const PROFILE: Profile;

    /// Return the value of a parameter; `None` if the configuration does not hold it.
    fn get(&self, key: &str) -> Option<Value<'static>>;

    /// Set a parameter. Return false if the configuration does not hold it, or if the value has another type; the range is
    /// checked by [`Configuration::check`].
    fn set(&mut self, key: &str, value: Value<'_>) -> bool;

    /// Return the values of the parameters that this connection has, by key.
    fn effective(&self) -> Vec<(&'static str, Value<'static>)>;

    /// Check the ranges of all values.
    ///
    /// # Errors
    /// Return the first value outside its range.
    fn check(&self) -> Result<(), InvalidParameter> {
        let invalid = |parameter: &'static Parameter| {
            let value = self.get(parameter.key)?.number().filter(|value| !parameter.admits(*value))?;
            Some(InvalidParameter { parameter, value })
        };
        Self::PROFILE.parameters().iter().find_map(invalid).map_or(Ok(()), Err)
    }
}
