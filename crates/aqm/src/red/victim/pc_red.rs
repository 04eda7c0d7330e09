use aqmlab_units::{Span, Time};

use super::priority_list::{Entry, Limits, ListParams, OverShare, PriorityList};
use super::{Among, SEARCH, SEARCH_WORDS, VictimPart, VictimRule};
use crate::LEVELS;
#[cfg(test)]
use crate::Value;
use crate::indexed::{Indexed, Tag};
use crate::red::average::Powers;
use crate::red::part::Part;
#[cfg(test)]
use crate::red::part::tests::Change;
use crate::spec::ParameterReader;
use crate::{DropClass, DropReason, Host, Kind, Meta, Parameter, ParameterError, ValueKind, names};

/// PC-RED (Y. Li and S.-H. Yang, "PC-RED for IPv6: Algorithm and Performance Analysis"): the victim is a packet
/// picked at random, unless its flow has lately lost more than it was promised.
///
/// The router keeps a list of flows. The average size of the drops of a flow is a_d, in bytes per standard dropping
/// interval g (section 2, eq. 7), updated when the flow loses a packet of x bytes, m intervals after it lost the last:
///
/// ```text
/// a_d <- (1 - w)^m a_d + w x            status <- a_d > L
/// ```
///
/// An arriving packet gets its flow's status as the bit QOSA, which does not change while it waits. When a packet
/// must be dropped, the arriving one is put at the tail, a packet is picked uniformly, and from it on towards the tail the
/// first without QOSA is the victim; the last packet is it whatever its bit.
///
/// | symbol | parameter | unit | allowed |
/// |---|---|---|---|
/// | L | `loss_limit` | bytes per interval | > 0, one for all flows with priority or one for each of their levels; flows without priority have none |
/// | g | `loss_interval` | s | > 0 |
/// | w | `loss_weight` | 1 | 0 < w < 1 |
///
/// Readings, with their keys in `readings.toml` of the paper (`python/aqmlab/papers/pc_red`), or with those named in parentheses:
///
/// * `refresh`: the status of a flow changes only at a drop (`status_refresh = "on-drop"`), or is computed from the decayed a_d at
///   each arrival too (`on-arrival`). With `at-pick` (key `stamp`) it changes at a drop, and the search for a victim asks the list for it instead of the
///   bits of the waiting packets, which then are those of an earlier queue alone.
/// * `start-of-a-d`: a_d of a flow that gets its priority is L/2, or another share of L (`loss_start`).
/// * `forced`: the queue is searched at every drop, or at early ones only; at others the victim is the arriving packet (`search`).
/// * `decay`: m is real, or rounded down (`loss_decay`).
/// * `scan`: the scan ends at the tail, or continues from the head, so that a protected packet is the victim only when all are.
/// * `upstream`: QOSA from an upstream router is overwritten, or honoured: a packet that arrives with it is protected here too
///   (`qosa`).
/// * `candidates`: the arriving packet is a candidate.
/// * `redirect`: the paper expects difficulties above a share of high-priority flows (`r_p_max`), and other paths for them, without a mechanism. Flows
///   beyond it are counted, have no priority, or their data packets take the backup of the link (`over_r_p_max`). The last leave no trace in
///   RED; a flow comes back when its priority fits.
/// * `levels`: flows with priority are those whose packets have a class above 0, which is their level. The list has a limit for
///   every flow; the paper does not name its source, so the queue has one for each level, and a flow names its level.
///
/// `pick` chooses the victim, `on_drop` updates a_d, and `on_arrival` sets the bit.
#[derive(Clone, Debug)]
pub struct PcRed {
    params: Box<PcRedParams>,
    list: Box<PriorityList>,
    seen: Tallies,
}

/// Parameters; see [`PcRed`].
#[derive(Clone, Debug)]
pub struct PcRedParams {
    /// w.
    pub weight: f64,
    /// g.
    pub interval: Span,
    /// Whole intervals only.
    pub floor: bool,
    /// The decay in integers, where the queue computes in them.
    pub in_integers: Option<Powers>,
    /// The times at which the status is evaluated.
    pub refresh: Refresh,
    /// Whether only early drops search the queue; at others the victim is the arriving packet.
    pub early_only: bool,
    /// A packet that arrives with QOSA keeps it.
    pub honours_qosa: bool,
    /// Go on from the head when the scan reaches the tail.
    pub circular: bool,
    /// L and the bounds of the list.
    pub list: ListParams,
}

/// The times at which a flow's status is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refresh {
    /// At its drops.
    OnDrop,
    /// At its arrivals too, from the a_d that has decayed until then.
    OnArrival,
    /// At its drops; the search asks the list, not the bits of the packets.
    AtPick,
}

impl PcRedParams {
    /// Parts of a byte in which a_d is held in integers. The largest a_d, of 2^53 parts, is exact as `f64`.
    pub const PARTS: f64 = 16_777_216.0;
    const LARGEST: f64 = (1u64 << 53) as f64 / Self::PARTS;

    /// a_d as it has decayed since the flow's last drop.
    fn decayed(&self, entry: &Entry, now: Time) -> f64 {
        let since = now.since(entry.last_drop);
        if let Some(powers) = &self.in_integers {
            return powers.after((entry.a_d * Self::PARTS) as u64, since.0 / 1000) as f64 / Self::PARTS;
        }
        let m = since.secs() / self.interval.secs();
        entry.a_d * libm::pow(1.0 - self.weight, if self.floor { m.floor() } else { m })
    }

    /// The same in integers: w is a multiple of a part, and L an even number of parts, so that L/2 is a whole one.
    fn with_integers(self) -> Result<Self, ParameterError> {
        let missing = [
            (self.list.over_share == OverShare::Redirected, "over_r_p_max", "warn, refuse"), // language: keep
            (self.refresh == Refresh::AtPick, "status_refresh", "on-drop, on-arrival"),
            (self.early_only, "search", "all"),
            (self.list.start != 0.5, "loss_start", "0.5"),
        ];
        if let Some((_, key, allowed)) = missing.into_iter().find(|&(is_set, ..)| is_set) {
            let message = "arithmetic = \"integer\" is that of a kernel's queue, which knows one way only";
            return Err(ParameterError::new(key, message.into(), allowed));
        }
        if self.weight < 1.0 / 65536.0 {
            let message = format!("{} is too small a weight for arithmetic = \"integer\"", self.weight);
            return Err(ParameterError::new("loss_weight", message, "2^-16 to 1"));
        }
        let weight = libm::round(self.weight * Self::PARTS) / Self::PARTS;
        let powers = Powers::of(1.0 - self.weight, 1.0 / self.interval.secs(), self.floor);
        if powers.mult < Self::LEAST_MULT {
            let message = format!(
                "{} s is too long an interval for arithmetic = \"integer\" with this loss_weight",
                self.interval.secs()
            );
            return Err(ParameterError::new("loss_interval", message, "a shorter one"));
        }
        let half = Self::PARTS / 2.0;
        let limits =
            self.list.limits.map(|limit| libm::round(limit * half).clamp(1.0, Self::LARGEST * half) / half);
        let list = ListParams { limits, ..self.list };
        Ok(Self { weight, in_integers: Some(powers), list, ..self })
    }

    /// Least [`Powers::mult`], so that m is right to 1 in 1000.
    const LEAST_MULT: u64 = 500;
}

/// Arrivals and drops of protected packets, of other packets of high-priority flows, and of the rest.
#[derive(Clone, Copy, Debug, Default)]
struct Tallies {
    arrivals: [u64; 3],
    drops: [u64; 3],
}

fn class_of(has_priority: bool, qosa: bool) -> usize {
    match (has_priority, qosa) {
        (true, true) => 0,
        (true, false) => 1,
        (false, _) => 2,
    }
}

const PAPER: &str = "Li and Yang, PC-RED";

/// The gauges of the mean a_d of each level, where there are several.
const A_D_LEVEL: [&str; LEVELS] = [
    "a_d_level_1",
    "a_d_level_2",
    "a_d_level_3",
    "a_d_level_4",
    "a_d_level_5",
    "a_d_level_6",
    "a_d_level_7",
    "a_d_level_8",
];

/// g is not printed: the loaded round-trip time of the paper's first network.
const LOSS_INTERVAL_S: f64 = 0.36;

const LOSS_DECAY_WORDS: [(&str, bool); 2] = [("real", false), ("floor", true)];
const STATUS_REFRESH_WORDS: [(&str, Refresh); 3] =
    [("on-drop", Refresh::OnDrop), ("on-arrival", Refresh::OnArrival), ("at-pick", Refresh::AtPick)];
const QOSA_WORDS: [(&str, bool); 2] = [("overwritten", false), ("honoured", true)];
const SCAN_WORDS: [(&str, bool); 2] = [("to-tail", false), ("circular", true)];
const OVER_R_P_MAX_WORDS: [(&str, OverShare); 3] =
    [("warn", OverShare::Counted), ("refuse", OverShare::Refused), ("redirect", OverShare::Redirected)];

/// The packet takes the backup of the link.
pub const REDIRECTED: DropReason = DropReason::new(&("redirected", DropClass::Route));

impl Part for PcRed {
    const NAME: &'static str = "pc-red";
    const DOC: &'static str =
        "from a random packet on, the first of a flow with a loss up to its promise, else the last";
    const PARAMETERS: &'static [Parameter] = &[
        Parameter::new(
            "loss_limit",
            "L",
            ValueKind::BytesByLevel,
            "PC-RED: a high-priority flow may lose this much in an interval; levels above a list's end are as its last",
        )
        .above(0.0)
        .source(PAPER),
        Parameter::new("loss_interval", "g", ValueKind::Time, "PC-RED: standard dropping interval")
            .above(0.0)
            .source(PAPER),
        Parameter::new(
            "loss_weight",
            "w",
            ValueKind::Number,
            "PC-RED: weight of one drop in a flow's average loss",
        )
        .above(0.0)
        .below(1.0)
        .source(PAPER),
        Parameter::new(
            "loss_decay",
            "m",
            ValueKind::Choice,
            "PC-RED: intervals since the last drop, as they are or rounded down",
        )
        .or(&names(&LOSS_DECAY_WORDS)),
        Parameter::new(
            "status_refresh",
            "",
            ValueKind::Choice,
            "PC-RED: when a flow's status is evaluated again",
        )
        .or(&names(&STATUS_REFRESH_WORDS)),
        Parameter::new(
            "loss_start",
            "",
            ValueKind::Number,
            "PC-RED: a_d of a flow that gets its priority, as a share of L",
        )
        .from(0.0)
        .to(1.0)
        .source(PAPER),
        Parameter::new(
            "qosa",
            "QOSA",
            ValueKind::Choice,
            "PC-RED: the bit with which a packet comes from an earlier queue",
        )
        .or(&names(&QOSA_WORDS))
        .source(PAPER),
        Parameter::new(
            "scan",
            "",
            ValueKind::Choice,
            "PC-RED: from the packet picked to the tail, or on from the head",
        )
        .or(&names(&SCAN_WORDS)),
        SEARCH,
        Parameter::new("list_size", "", ValueKind::Number, "PC-RED: most flows in the priority list")
            .whole()
            .from(1.0)
            .to(1_048_576.0),
        Parameter::new(
            "list_timeout",
            "",
            ValueKind::Time,
            "PC-RED: a flow not seen for so long is forgotten",
        )
        .above(0.0)
        .or(&["never"]),
        Parameter::new(
            "r_p_max",
            "r_pmax",
            ValueKind::Number,
            "PC-RED: largest share of high-priority flows",
        )
        .above(0.0)
        .to(1.0)
        .source(PAPER),
        Parameter::new(
            "over_r_p_max",
            "",
            ValueKind::Choice,
            "PC-RED: high-priority flows beyond r_p_max are counted, rejected, or sent over the backup of the link",
        )
        .or(&names(&OVER_R_P_MAX_WORDS)),
    ];

    #[cfg(test)]
    fn changes() -> Vec<Change> {
        let word = |word: &str| Value::Word(word.into());
        let weight = ("loss_weight", Value::Number(0.1));
        let change = |key, value| Change::to(key, value).with(weight.0, weight.1.clone());
        vec![
            change("loss_limit", Value::Bytes(1_000_000)),
            change("loss_interval", Value::Seconds(0.01)),
            Change::to("loss_weight", Value::Number(0.1)),
            change("loss_decay", word("floor"))
                .with("loss_limit", Value::Bytes(1000))
                .with("loss_interval", Value::Seconds(0.05)),
            change("status_refresh", word("on-arrival")).with("loss_interval", Value::Seconds(0.05)),
            change("qosa", word("honoured")),
            Change::to("loss_start", Value::Number(0.0)).with("loss_weight", Value::Number(0.04)),
            change("scan", word("circular")),
            change("search", word("early")),
            change("list_size", Value::Number(2.0)),
            change("list_timeout", Value::Seconds(0.001)),
            change("r_p_max", Value::Number(0.2)).with("over_r_p_max", word("refuse")),
            change("over_r_p_max", word("refuse")).with("r_p_max", Value::Number(0.2)),
        ]
    }
}

impl VictimPart for PcRed {
    fn read(reader: &mut ParameterReader<'_>) -> Result<Self, ParameterError> {
        let limits = Limits::new(&reader.sizes_by_level("loss_limit", 70.0));
        let interval = reader.seconds("loss_interval", LOSS_INTERVAL_S);
        let weight = reader.number("loss_weight", 0.003);
        let floor = reader.word("loss_decay", &LOSS_DECAY_WORDS);
        let refresh = reader.word("status_refresh", &STATUS_REFRESH_WORDS);
        let start = reader.number("loss_start", 0.5);
        let honours_qosa = reader.word("qosa", &QOSA_WORDS);
        let circular = reader.word("scan", &SCAN_WORDS);
        let early_only = reader.word("search", &SEARCH_WORDS);
        let size = reader.integer("list_size", 4096) as u32;
        let timeout = reader.seconds_or("list_timeout", "never").map(Span::from_secs);
        let r_p_max = reader.number("r_p_max", 1.0);
        let over_share = reader.word("over_r_p_max", &OVER_R_P_MAX_WORDS);
        let list = ListParams { limits, start, size, timeout, r_p_max, over_share };
        let interval = Span::from_secs(interval);
        let params = PcRedParams {
            weight,
            interval,
            floor,
            in_integers: None,
            refresh,
            early_only,
            honours_qosa,
            circular,
            list,
        };
        Ok(Self::new(if reader.in_integers() { params.with_integers()? } else { params }))
    }
}

impl PcRed {
    /// Return the parameters.
    pub fn params(&self) -> &PcRedParams {
        &self.params
    }

    /// With an empty list.
    pub fn new(params: PcRedParams) -> Self {
        let list = Box::new(PriorityList::new(params.list.clone()));
        Self { params: Box::new(params), list, seen: Tallies::default() }
    }

    /// Return the slot of the first packet from `picked` on whose flow is not protected now; else that of the last.
    #[cold]
    fn open_in_list<P: Copy>(&self, queue: &mut Indexed<P>, picked: usize) -> Option<usize> {
        let slots = queue.slots();
        let head = if self.params.circular { slots.start..picked } else { 0..0 };
        let mut is_open = |slot: &usize| {
            queue.get_mut(*slot).is_some_and(|packet| {
                !(packet.meta.header.qosa() || self.list.is_protected(packet.meta.flow))
            })
        };
        let open = (picked..slots.end).chain(head).find(&mut is_open);
        open.or_else(|| slots.rev().find(|&slot| queue.get_mut(slot).is_some()))
    }
}

impl VictimRule for PcRed {
    /// Look the flow up and set the packet's QOSA bit, with which it goes on to later queues.
    #[inline(never)]
    fn on_arrival(&mut self, now: Time, meta: &mut Meta) -> Option<DropReason> {
        let redirects = self.params.list.over_share == OverShare::Redirected;
        let entry = self.list.lookup(now, meta);
        if redirects && entry.asks > 0 && !entry.has_priority() {
            return Some(REDIRECTED);
        }
        if self.params.refresh == Refresh::OnArrival {
            entry.protected = self.params.decayed(entry, now) > entry.limit;
        }
        let has_bit = self.params.honours_qosa && meta.header.qosa();
        let is_protected = entry.protected || has_bit;
        meta.header.set_qosa(if self.params.refresh == Refresh::AtPick { has_bit } else { is_protected });
        if meta.header.kind() != Kind::Ack {
            self.seen.arrivals[class_of(entry.has_priority(), is_protected)] += 1;
        }
        None
    }

    fn takes_all(&self) -> bool {
        self.params.list.over_share != OverShare::Redirected
    }

    fn among(&self, reason: DropReason, _: bool) -> Among {
        if self.params.early_only && reason.class() != DropClass::Early {
            Among::Arriving
        } else {
            Among::All
        }
    }

    fn pick<P: Copy>(&self, queue: &mut Indexed<P>, host: &mut impl Host<P>) -> Option<usize> {
        let packets = queue.len();
        let index = queue.index(|meta| Tag { key: 0, open: !meta.header.qosa() });
        let picked = index.nth(host.below(packets as u64) as usize)?;
        if self.params.refresh == Refresh::AtPick {
            return self.open_in_list(queue, picked);
        }
        let open = index.open_from(picked);
        let open = open.or_else(|| if self.params.circular { index.open_from(0) } else { None });
        open.or_else(|| index.nth(packets - 1))
    }

    fn on_drop(&mut self, now: Time, meta: &Meta) {
        let entry = self.list.lookup_dropped(now, meta);
        let is_protected = meta.header.qosa() || self.params.refresh == Refresh::AtPick && entry.protected;
        let lost = self.params.weight * f64::from(meta.bytes);
        entry.a_d = (self.params.decayed(entry, now) + lost).min(PcRedParams::LARGEST);
        entry.protected = entry.a_d > entry.limit;
        entry.last_drop = now;
        if meta.header.kind() != Kind::Ack {
            self.seen.drops[class_of(entry.has_priority(), is_protected)] += 1;
        }
    }

    /// Warn if more flows ask for priority than r_p_max allows, or for a level that has no limit of its own.
    fn warnings(&self) -> Vec<String> {
        let (flows, priority, _) = self.list.counts();
        let asking = self.list.entries().filter(|e| e.asks > 0).count() as u32;
        let ListParams { r_p_max, limits, .. } = &self.params.list;
        let too_many = (f64::from(asking) > r_p_max * f64::from(flows)).then(|| {
            format!(
                "{asking} of {flows} flows ask for priority, more than r_p_max = {r_p_max} allows; {priority} have it"
            )
        });
        let levels = limits.levels();
        let highest = self.list.entries().map(|e| e.asks).max().filter(|&asks| levels > 1 && asks > levels);
        let too_high = highest.map(|asks| {
            format!("flows ask for level {asks}, but loss_limit has {levels} levels; they have the last")
        });
        too_many.into_iter().chain(too_high).collect()
    }

    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let (flows, priority, over) = self.list.counts();
        let of_kind =
            |has_priority| self.list.entries().filter(move |e| !e.acks && e.has_priority() == has_priority);
        let protected = of_kind(true).filter(|e| e.protected).count() as u32;
        out("n_p_plus", f64::from(protected));
        out("n_p_minus", f64::from(priority - protected));
        out("r_p", f64::from(priority) / f64::from(flows));
        out("listed", f64::from(flows));
        out("refused", over as f64);
        let names = [
            ("arrivals_plus", "drops_plus"),
            ("arrivals_minus", "drops_minus"),
            ("arrivals_non", "drops_non"),
        ];
        for (class, (arrivals, drops)) in names.into_iter().enumerate() {
            out(arrivals, self.seen.arrivals[class] as f64);
            out(drops, self.seen.drops[class] as f64);
        }
        for (has_priority, mean, first) in
            [(true, "a_d_high", "a_d_first_high"), (false, "a_d_non", "a_d_first_non")]
        {
            let mut flows: Vec<_> = of_kind(has_priority).map(|e| (e.flow, e.a_d)).collect();
            flows.sort_unstable_by_key(|&(flow, _)| flow);
            out(mean, flows.iter().map(|(_, a_d)| a_d).sum::<f64>() / flows.len() as f64);
            out(first, flows.first().map_or(f64::NAN, |&(_, a_d)| a_d));
        }
        let levels = self.params.list.limits.levels();
        for (level, name) in (1..=levels).zip(A_D_LEVEL).filter(|_| levels > 1) {
            let of_level = || of_kind(true).filter(|e| e.level == level).map(|e| e.a_d);
            out(name, of_level().sum::<f64>() / of_level().count() as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(floor: bool) -> PcRedParams {
        PcRedParams {
            weight: 0.003,
            interval: Span::from_secs(0.36),
            floor,
            in_integers: None,
            refresh: Refresh::OnDrop,
            early_only: false,
            honours_qosa: false,
            circular: false,
            list: ListParams {
                limits: Limits::new(&[70.0]),
                start: 0.5,
                size: 16,
                timeout: None,
                r_p_max: 1.0,
                over_share: OverShare::Counted,
            },
        }
    }

    fn dropped(params: PcRedParams, gaps: &[f64]) -> Vec<f64> {
        let mut rule = PcRed::new(params);
        let mut now = Time::ZERO;
        let lose = |gap: &f64| {
            now += Span::from_secs(*gap);
            let meta = Meta { bytes: 1000, ..Meta::default() };
            rule.on_drop(now, &meta);
            rule.list.lookup(now, &meta).a_d
        };
        gaps.iter().map(lose).collect()
    }

    #[test]
    fn in_integers_a_d_is_near_the_exact_one() {
        let gaps = [0.0, 0.1, 0.36, 1.0, 0.0, 0.72, 36.0, 3.6, 400.0, 0.01];
        for floor in [false, true] {
            let exact = dropped(params(floor), &gaps);
            let integers = dropped(params(floor).with_integers().expect("integers"), &gaps);
            for (a, b) in exact.iter().zip(&integers) {
                assert!((a - b).abs() < 1e-4 * a, "{exact:?} {integers:?}");
                assert_eq!((b * PcRedParams::PARTS).fract(), 0.0);
            }
        }
    }

    #[test]
    fn what_integers_cannot_have_is_an_error() {
        let key = |params: PcRedParams| params.with_integers().expect_err("an error").key;
        assert_eq!(key(PcRedParams { weight: 1e-6, ..params(false) }), "loss_weight");
        assert_eq!(key(PcRedParams { interval: Span::from_secs(1e6), ..params(false) }), "loss_interval");
        assert_eq!(key(PcRedParams { refresh: Refresh::AtPick, ..params(false) }), "status_refresh");
        assert_eq!(key(PcRedParams { early_only: true, ..params(false) }), "search");
        let list = ListParams { start: 0.0, ..params(false).list };
        assert_eq!(key(PcRedParams { list, ..params(false) }), "loss_start");
    }
}
