//! Declarations generated from the list of congestion controllers.

/// Declare the controllers from the list of their files: the modules, the enum of their names, the struct of their parameters, and
/// the state of one sender, dispatched statically.
macro_rules! controllers {
    ($($module:ident: $name:ident),* $(,)?) => {
        $(
            mod $module;
            use $module::$name;
        )*

        /// The congestion control of a sender: the words of `congestion_control` in a scenario file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "each controller is described in its file")]
        pub enum CongestionControl {
            $($name,)*
        }

        /// Evaluate `$call` with `$t` as the type of the controller of this name.
        macro_rules! of_controller {
            ($control:expr, $t:ident => $call:expr) => {
                match $control {
                    $(CongestionControl::$name => {
                        type $t = $name;
                        $call
                    })*
                }
            };
        }

        impl CongestionControl {
            /// Their names, in the order of the list.
            pub const NAMES: &'static [&'static str] = &[$($name::NAME),*];
            /// All of them.
            pub const ALL: [Self; Self::NAMES.len()] = [$(Self::$name),*];

            /// Return the name in scenario files, as Linux has it.
            pub const fn name(self) -> &'static str {
                of_controller!(self, T => T::NAME)
            }

            /// Return the one with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|control| control.name() == name)
            }

            /// Return the label of a flow in tables.
            pub const fn label(self) -> &'static str {
                match self {
                    $(Self::$name => {
                        const LABEL: [u8; PREFIX.len() + $name::NAME.len()] = labelled($name::NAME);
                        match core::str::from_utf8(&LABEL) {
                            Ok(label) => label,
                            Err(_) => panic!("a name is text"),
                        }
                    })*
                }
            }

            /// Return what it responds to, in a line.
            pub const fn doc(self) -> &'static str {
                of_controller!(self, T => T::DOC)
            }

            /// Return where it comes from.
            pub const fn source(self) -> &'static str {
                of_controller!(self, T => T::SOURCE)
            }

            /// Return the keys of the parameters that only this controller has.
            pub fn keys(self) -> impl Iterator<Item = &'static str> {
                ControllerOptions::parameters_of(self).into_iter().map(|parameter| parameter.key)
            }

            /// Return the feedback of marks that it works with; the first is the default.
            pub const fn feedbacks(self) -> &'static [EcnFeedback] {
                of_controller!(self, T => T::FEEDBACK)
            }

            /// Return whether it responds to marks that are reported.
            pub const fn responds_to_marks(self) -> bool {
                of_controller!(self, T => T::RESPONDS_TO_MARKS)
            }

            /// Return whether its packets ask for L4S by ECT(1) (RFC 9331).
            pub const fn is_l4s(self) -> bool {
                of_controller!(self, T => T::IS_L4S)
            }

            /// Return its name in Linux, if Linux has it.
            pub const fn linux_name(self) -> Option<&'static str> {
                of_controller!(self, T => T::LINUX_NAME)
            }

            /// Return whether its sender asks for one-way delays.
            pub const fn needs_one_way_delay(self) -> bool {
                of_controller!(self, T => T::NEEDS_ONE_WAY_DELAY)
            }

            /// Return a change of each of its parameters that changes the sender's behaviour.
            #[cfg(test)]
            fn changes(self) -> Vec<tests::Change> {
                of_controller!(self, T => T::changes())
            }
        }

        /// The parameters of all controllers.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[allow(missing_docs, reason = "each controller is described in its file")]
        pub struct ControllerOptions {
            $(pub $module: <$name as Controller>::Options,)*
        }

        impl ControllerOptions {
            /// The defaults.
            pub const DEFAULT: Self = Self { $($module: <$name as Controller>::DEFAULTS,)* };

            /// Return the descriptions of all parameters.
            pub fn parameters() -> impl Iterator<Item = Parameter> {
                CongestionControl::ALL.into_iter().flat_map(Self::parameters_of)
            }

            /// Return the descriptions of the parameters of one controller.
            pub fn parameters_of(control: CongestionControl) -> Vec<Parameter> {
                of_controller!(control, T => Settings(T::SETTINGS).parameters().collect())
            }

            /// Return the value of a parameter; `None` if no controller has it.
            pub fn get(&self, key: &str) -> Option<Value<'static>> {
                None$(.or_else(|| Settings($name::SETTINGS).get(&self.$module, key)))*
            }

            /// Set a parameter. Return false if no controller has it, or if the value has another type.
            pub fn set(&mut self, key: &str, value: Value<'_>) -> bool {
                false $(|| Settings($name::SETTINGS).set(&mut self.$module, key, value))*
            }

            /// Return the values of the parameters of one controller, by key.
            pub fn reported(&self, control: CongestionControl) -> Vec<(&'static str, Value<'static>)> {
                match control {
                    $(CongestionControl::$name => {
                        Settings($name::SETTINGS).reported(&self.$module, &$name::DEFAULTS)
                    })*
                }
            }
        }

        /// The congestion control of one sender.
        #[derive(Clone, Debug)]
        #[allow(missing_docs, reason = "each controller is described in its file")]
        pub enum Congestion {
            $($name(Box<$name>),)*
        }

        /// Evaluate `$call` with `$c` as the controller and `$t` as its type.
        macro_rules! each_controller {
            ($congestion:expr, $c:pat, $t:ident => $call:expr) => {
                match $congestion {
                    $(Congestion::$name($c) => {
                        #[allow(dead_code, reason = "some calls have the value only")]
                        type $t = $name;
                        $call
                    })*
                }
            };
        }

        impl Congestion {
            pub fn new(config: &Config) -> Self {
                match config.congestion_control {
                    $(CongestionControl::$name => Self::$name(Box::new($name::new(config))),)*
                }
            }
        }
    };
}
pub(super) use controllers;
