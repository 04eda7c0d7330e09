//! Non-RED disciplines, one file or folder each.
//!
//! A file defines the parameters (`PARAMETERS`), the names (`PRESETS`; several if they differ in their defaults), whether all
//! packets wait in one queue (`ONE_QUEUE`), the function `read`, which turns the parameters of a scenario file into `Params`,
//! and the discipline that `Params` builds. To register it, add its line in the list below. The scenario file, its schema and
//! messages, `aqmlab list` and the documentation follow from that.

#[cfg(any(feature = "fq", feature = "cake"))]
mod fair;
mod flow_queues;
#[cfg(feature = "codel")]
mod kernel;
#[cfg(any(feature = "fq", feature = "l4s", feature = "cake"))]
mod memory;
#[cfg(test)]
mod testing;

pub(crate) use crate::spec::ParameterReader;
#[cfg(feature = "l4s")]
pub use dualpi2::Settings as DualPi2Settings;
pub(crate) use flow_queues::keyed_hash;
#[cfg(feature = "schedulers")]
pub(crate) use scheduler::{class_parameters, has_class_queues};
#[cfg(feature = "replay")]
pub(crate) use {
    cake::Cake,
    codel::{CoDel, LinuxState},
    dualpi2::DualPi2,
    sfb::JIFFY_PS,
};

use aqmlab_units::{Span, Time};

use crate::{
    Backlog, Dequeue, DropReason, Gauge, Host, Meta, Packet, Parameter, ParameterError, Preset, Qdisc,
    Resolved, TinStats, Verdict, Visitor,
};

/// Declare, from the list of disciplines, their modules, the enums over their queues and parameters, and the list of their presets.
/// A discipline is compiled under its condition, a feature of its family.
macro_rules! disciplines {
    ($($(#[$doc:meta])* $name:ident of $module:ident if $condition:meta),* $(,)?) => {
        $(
            #[cfg($condition)]
            pub(crate) mod $module;
        )*

        /// Any non-RED discipline, dispatched statically.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        #[allow(clippy::large_enum_variant, reason = "a queue is allocated once, in a box")]
        pub enum NonRed<P> {
            $($(#[$doc])* #[cfg($condition)] $name($module::$name<P>),)*
        }

        /// The validated parameters of a non-RED discipline.
        #[derive(Clone, Debug)]
        pub(crate) enum Parts {
            $($(#[$doc])* #[cfg($condition)] $name(Box<$module::Params>),)*
        }

        impl Parts {
            /// Return a new, empty queue.
            pub fn build<P: Copy + Default>(&self) -> NonRed<P> {
                match self {
                    $(#[cfg($condition)] Self::$name(params) => NonRed::$name($module::$name::new(params)),)*
                }
            }
        }

        /// Return the presets of all non-RED disciplines, in the order of the list.
        pub(crate) fn presets() -> impl Iterator<Item = Preset> {
            let mut all = Vec::new();
            $(#[cfg($condition)] {
                let read: fn(&mut ParameterReader<'_>) -> Result<Parts, Vec<ParameterError>> =
                    |reader| Ok(Parts::$name(Box::new($module::read(reader)?)));
                let kind = Kind { has_one_queue: $module::ONE_QUEUE, parameters: $module::PARAMETERS, read };
                all.extend($module::PRESETS.iter().map(|named| Preset::non_red(named, kind)));
            })*
            all.into_iter()
        }

        /// Call the same method on whichever discipline is held.
        macro_rules! whichever {
            ($self:ident, $q:ident => $call:expr) => {
                match $self {
                    $(#[cfg($condition)] NonRed::$name($q) => $call,)*
                }
            };
        }
    };
}

disciplines! {
    /// DDRED's tail-drop variant.
    DdredTail of ddred_tail if feature = "red",
    /// Controlled delay.
    CoDel of codel if feature = "codel",
    /// CoDel for each flow.
    FqCoDel of fq_codel if feature = "fq",
    /// CoDel and BLUE alternate.
    Cobalt of cobalt if feature = "cake",
    /// Common applications kept enhanced.
    Cake of cake if feature = "cake",
    /// Proportional integral controller enhanced.
    Pie of pie if feature = "pie",
    /// PIE for each flow.
    FqPie of fq_pie if all(feature = "fq", feature = "pie"),
    /// Proportional integral controller.
    Pi of pi if feature = "pie",
    /// PI improved with a square.
    Pi2 of pi2 if feature = "l4s",
    /// Dual queue coupled by PI2.
    DualPi2 of dualpi2 if feature = "l4s",
    /// A discipline registered at run time.
    Plugin of plugin if all(),
    /// BLUE.
    Blue of blue if feature = "blue",
    /// Random exponential marking.
    Rem of rem if feature = "others",
    /// Adaptive virtual queue.
    Avq of avq if feature = "others",
    /// Stochastic fair BLUE.
    Sfb of sfb if feature = "blue",
    /// Stabilized RED.
    Sred of sred if feature = "others",
    /// Stochastic fairness queueing.
    Sfq of sfq if feature = "schedulers",
    /// Deficit round robin.
    Drr of drr if feature = "schedulers",
    /// Classes under strict priority or by weights.
    Scheduler of scheduler if feature = "schedulers",
}

impl Parts {
    /// Return the settings of DualPI2 in the dialect of Linux.
    #[cfg(feature = "l4s")]
    pub fn dualpi2_in_linux(&self) -> Option<&DualPi2Settings> {
        match self {
            Self::DualPi2(params) => params.in_linux(),
            _ => None,
        }
    }

    /// Return the keys of the settings that [`Qdisc::take_settings`] takes over.
    pub fn changing_keys(&self) -> &'static [&'static str] {
        match self {
            #[cfg(feature = "codel")]
            Self::CoDel(_) => codel::CHANGING,
            #[cfg(feature = "pie")]
            Self::Pie(_) => pie::CHANGING,
            _ => &[],
        }
    }
}

/// A name under which a file's discipline is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    /// The name in a scenario file.
    pub name: &'static str,
    /// The name in words.
    pub title: &'static str,
    /// The paper or RFC.
    pub paper: &'static str,
    /// The idea in one sentence.
    pub doc: &'static str,
}

/// How a preset of this kind is read from a scenario file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// See [`Preset::has_one_queue`].
    pub has_one_queue: bool,
    /// The parameters that may be set.
    pub parameters: &'static [Parameter],
    /// Reads them.
    pub read: fn(&mut ParameterReader<'_>) -> Result<Parts, Vec<ParameterError>>,
}

/// Concatenate the parameters of an inner discipline and those of the outer one; `N` is the total number.
const fn joined<const N: usize>(inner: &[Parameter], own: &[Parameter]) -> [Parameter; N] {
    assert!(inner.len() + own.len() == N);
    let mut all = [inner[0]; N];
    let mut i = 0;
    while i < N {
        all[i] = if i < inner.len() { inner[i] } else { own[i - inner.len()] };
        i += 1;
    }
    all
}

/// Set CE and report the mark to the host, if `ecn` is on and the packet is ECN-capable. Return whether it was marked; if
/// not, the caller must drop it for the same reason.
pub(crate) fn marks<P: Copy>(
    ecn: bool,
    packet: &mut Packet<P>,
    reason: DropReason,
    host: &mut impl Host<P>,
) -> bool {
    let verdict = Verdict::signal(reason, ecn, &packet.meta);
    matches!(verdict, Verdict::Mark(_)) && verdict.carry_out(packet, host)
}

#[cfg(feature = "replay")]
impl<P: Copy + Default> NonRed<P> {
    /// Let no timer of a dialect of Linux run by itself, but by [`NonRed::timer`].
    pub(crate) fn stop_timer(&mut self) {
        match self {
            Self::Pie(pie) => pie.stop_timer(),
            Self::FqPie(fq_pie) => fq_pie.stop_timer(),
            Self::DualPi2(dualpi2) => dualpi2.stop_timer(),
            _ => {}
        }
    }

    /// Handle an expiry of the timer of a dialect of Linux at `now`.
    pub(crate) fn timer(&mut self, now: Time, host: &mut impl Host<P>) {
        match self {
            Self::Pie(pie) => pie.timer(),
            Self::FqPie(fq_pie) => fq_pie.timer(),
            Self::DualPi2(dualpi2) => dualpi2.timer(now, host),
            _ => {}
        }
    }
}

impl<P: Copy + Default> Qdisc<P> for NonRed<P> {
    #[inline(never)]
    fn enqueue(&mut self, now: Time, packet: Packet<P>, host: &mut impl Host<P>) {
        whichever!(self, q => q.enqueue(now, packet, host));
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Time, host: &mut impl Host<P>) -> Dequeue<P> {
        whichever!(self, q => q.dequeue(now, host))
    }

    #[inline(never)]
    fn enqueue_dequeue(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool {
        whichever!(self, q => q.enqueue_dequeue(now, packet, host))
    }

    #[inline(never)]
    fn dequeue_into(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) -> bool {
        whichever!(self, q => q.dequeue_into(now, packet, host))
    }

    #[inline(never)]
    fn enqueue_from(&mut self, now: Time, packet: &mut Packet<P>, host: &mut impl Host<P>) {
        whichever!(self, q => q.enqueue_from(now, packet, host));
    }

    #[inline(never)]
    fn on_idle(&mut self, now: Time, host: &mut impl Host<P>) {
        whichever!(self, q => q.on_idle(now, host));
    }

    fn not_before(&self, now: Time) -> Option<Time> {
        whichever!(self, q => Qdisc::<P>::not_before(q, now))
    }

    fn is_timed(&self) -> bool {
        whichever!(self, q => Qdisc::<P>::is_timed(q))
    }

    #[inline(always)]
    fn next_timer(&self) -> Option<Time> {
        whichever!(self, q => Qdisc::<P>::next_timer(q))
    }

    fn on_timer(&mut self, now: Time, host: &mut impl Host<P>) {
        whichever!(self, q => q.on_timer(now, host));
    }

    fn on_answer(&mut self, now: Time, delay: Span) {
        whichever!(self, q => Qdisc::<P>::on_answer(q, now, delay));
    }

    #[inline(always)]
    fn backlog(&self) -> Backlog {
        whichever!(self, q => Qdisc::<P>::backlog(q))
    }

    fn gauges(&self, now: Time, out: &mut dyn FnMut(Gauge, f64)) {
        whichever!(self, q => Qdisc::<P>::gauges(q, now, out));
    }

    #[inline(never)]
    fn gauge(&self, now: Time, name: &str) -> Option<f64> {
        whichever!(self, q => Qdisc::<P>::gauge(q, now, name))
    }

    fn average(&self, now: Time) -> Option<f64> {
        whichever!(self, q => Qdisc::<P>::average(q, now))
    }

    fn tins(&self, out: &mut dyn FnMut(TinStats)) {
        whichever!(self, q => Qdisc::<P>::tins(q, out));
    }

    fn reset_stats(&mut self) {
        whichever!(self, q => Qdisc::<P>::reset_stats(q));
    }

    fn take_settings(&mut self, settings: &Resolved) -> bool {
        whichever!(self, q => Qdisc::<P>::take_settings(q, settings))
    }

    fn warnings(&self) -> Vec<String> {
        whichever!(self, q => Qdisc::<P>::warnings(q))
    }

    fn decides_at_arrival(&self) -> bool {
        whichever!(self, q => Qdisc::<P>::decides_at_arrival(q))
    }

    #[inline(never)]
    fn decide(&mut self, now: Time, meta: &Meta, is_free: bool, host: &mut impl Host<P>) -> Verdict {
        whichever!(self, q => q.decide(now, meta, is_free, host))
    }

    #[inline(never)]
    fn leaves(&mut self, now: Time, meta: &Meta) {
        whichever!(self, q => Qdisc::<P>::leaves(q, now, meta));
    }

    fn visited_by<V: Visitor<P>>(self, visitor: V) -> V::Output
    where
        P: Copy + Default + Send + Sync + 'static,
    {
        whichever!(self, q => q.visited_by(visitor))
    }
}
