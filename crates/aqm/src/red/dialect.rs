//! Dialects of RED: named sets of switches over all parts.
//!
//! | switch | `floyd93` | `ns2-2.35` | `linux` | what it is |
//! |---|---|---|---|---|
//! | at_idle | real | integer | table | how the average decays over an idle period (`none`: not at all) |
//! | idle_extra_step | no | yes | no | one more step of the average, with q = 0, for the arrival that ends it |
//! | guard_one | no | yes | no | no early and no forced drop while at most one packet waits |
//! | crossing | count -1 | count 1, not dropped | redraw | the first arrival above min_th |
//! | p_one_is_early | no | yes | no | p_b = 1 goes through spacing and is an early drop (`use_mark_p_`) |
//! | forced_at | p-one | end | p-one | without p_one_is_early: drops are forced where p_b is 1, or from the end of the curve on |
//! | mark_up_to | 1 | 0.1 | 1 | largest p_b at which ECN marks instead of dropping (`mark_p_`) |
//! | mark_at_bound | yes | no | yes | ECN also marks where p_b is mark_up_to (`<=`: ns-2 with DCTCP's patch) |
//! | mark_forced | no | no | yes | ECN also marks where the average says "drop all" |
//! | byte_scaling | before | after | none | where byte mode multiplies by size/mean, relative to spacing |
//! | strict_limit (drop-tail) | no | yes | no | the limit itself is never reached |
//! | full_first | no | no | no | a full buffer drops before anything is computed (`dsred`) |
//! | overflow_restarts | yes | yes | no | a drop by a full buffer restarts the count |
//! | idle_when | free | free | free | when an average's idle time runs (`dsred`: class-empty; `linux` with classes: last-dequeue) |
//! | adapt_from | last step | last change | last step | where Adaptive RED's interval begins |
//! | gentle_slope | moving | initial | moving | gentle RED's slope above max_th while an adaptation moves max_p |
//! | in_service_counts | no | no | no | the packet in transmission counts as queued (M/M/1/K, token bucket) |
//!
//! The two switches of adaptations are parameters of theirs, whose defaults depend on the dialect.
//!
//! Sources: Floyd and Jacobson 1993, figure 2 and section 4; ns-2.35 `queue/red.cc`, `queue/drop-tail.cc` and
//! the defaults that the program prints; Linux `include/net/red.h` and `net/sched/sch_red.c`.

/// How the average decays while the queue is empty and the link idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtIdle {
    /// (1 - w_q)^(idle/s), a real exponent (ExRED eq. 7).
    Real,
    /// The exponent rounded down to an integer (ns-2).
    Integer,
    /// Shifts by a table of 256 entries in integer arithmetic (Linux).
    Table,
    /// Not at all: the arrival that ends the period is one step as any, with q = 0. So is Linux's RED below a token
    /// bucket, which asks whether a packet waits (`peek`) and never notes that none does (`red_dequeue`). In the dialect
    /// `linux` in its integers.
    None,
}

impl AtIdle {
    /// All of them, as they stand in a scenario file.
    pub const ALL: [(&'static str, Self); 4] =
        [("real", Self::Real), ("integer", Self::Integer), ("table", Self::Table), ("none", Self::None)];
}

/// The rule for the first arrival that finds the average at or above min_th.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// count is -1 below min_th, so that it is 0 for this arrival (Floyd and Jacobson).
    CountMinusOne,
    /// count becomes 1 and this arrival is never dropped (ns-2).
    CountOne,
}

impl Crossing {
    /// All of them, as they stand in a scenario file.
    pub const ALL: [(&'static str, Self); 2] =
        [("count-minus-one", Self::CountMinusOne), ("count-one", Self::CountOne)];
}

/// Where byte mode scales the probability by packet size over mean packet size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteScaling {
    /// p_b is scaled (Floyd and Jacobson, section 4).
    BeforeSpacing,
    /// p_a is scaled and count is in bytes (ns-2).
    AfterSpacing,
    /// Not at all (Linux).
    None,
}

impl ByteScaling {
    /// All of them, as they stand in a scenario file.
    pub const ALL: [(&'static str, Self); 3] = [
        ("before-spacing", Self::BeforeSpacing),
        ("after-spacing", Self::AfterSpacing),
        ("none", Self::None),
    ];
}

/// Where a drop is forced, unless p_b = 1 goes through spacing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForcedAt {
    /// Where p_b is 1.
    POne,
    /// From the end of the curve on, if p_b is 1 there: max_th, in gentle RED twice max_th (ns-2). Below it p_b = 1 goes
    /// through crossing and spacing.
    End,
}

impl ForcedAt {
    /// All of them, as they stand in a scenario file.
    pub const ALL: [(&'static str, Self); 2] = [("p-one", Self::POne), ("end", Self::End)];
}

/// When the idle time of an average runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleWhen {
    /// While none of its packets waits or is transmitted; any arrival ends it.
    Free,
    /// While none of its packets waits, from the start of the last one's transmission; only an arrival that is accepted
    /// ends it (ns-2's DiffServ module).
    NoneWaiting,
    /// From the start of the transmission of a packet after which none of its packets waits; any arrival ends it (`sch_gred`).
    LastDequeue,
    /// As [`IdleWhen::NoneWaiting`]. Only a shared average is also idle while others wait, from the departure of a packet on after which none of
    /// its class waits (WRED in ns-2's DiffServ module).
    ClassEmpty,
}

impl IdleWhen {
    /// All of them, as they stand in a scenario file.
    pub const ALL: [(&'static str, Self); 4] = [
        ("free", Self::Free),
        ("none-waiting", Self::NoneWaiting),
        ("class-empty", Self::ClassEmpty),
        ("last-dequeue", Self::LastDequeue),
    ];

    /// Whether the packet in transmission keeps an average busy.
    #[inline]
    pub fn while_served(self) -> bool {
        self == Self::Free
    }
}

/// The names of the dialects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialectName {
    /// As the paper of 1993 prints it.
    Floyd93,
    /// As ns-2 2.35 does it with its defaults.
    Ns2,
    /// As the Linux kernel does it.
    Linux,
    /// As ns-2 2.35's DiffServ module does it.
    DsRed,
    /// As the paper of the preset prints it.
    AsPrinted,
}

impl DialectName {
    /// All names, as they stand in a scenario file.
    pub const ALL: [(&'static str, Self); 5] = [
        ("floyd93", Self::Floyd93),
        ("ns2-2.35", Self::Ns2),
        ("linux", Self::Linux),
        ("dsred", Self::DsRed),
        ("as-printed", Self::AsPrinted),
    ];
}

/// A set of switches; see the module text.
#[derive(Clone, Debug, PartialEq)]
pub struct Dialect {
    /// How the average decays over an idle period.
    pub at_idle: AtIdle,
    /// One more step of the average for the arrival that ends an idle period.
    pub idle_extra_step: bool,
    /// No early and no forced drop while at most one packet (or one byte) waits.
    pub guard_one: bool,
    /// The first arrival above min_th.
    pub crossing: Crossing,
    /// p_b = 1 goes through spacing and counts as an early drop.
    pub p_one_is_early: bool,
    /// Where a drop is forced otherwise.
    pub forced_at: ForcedAt,
    /// Largest p_b at which an ECN-capable packet is marked rather than dropped.
    pub mark_up_to: f64,
    /// An ECN-capable packet is also marked at that p_b itself.
    pub mark_at_bound: bool,
    /// A forced drop is a mark too when ECN allows it.
    pub mark_forced: bool,
    /// Byte mode's scaling.
    pub byte_scaling: ByteScaling,
    /// Drop-tail: drop when the queue would reach its limit.
    pub strict_limit: bool,
    /// A full buffer drops the arriving packet before average, count and draw.
    pub full_first: bool,
    /// A drop by a full buffer restarts the count.
    pub overflow_restarts: bool,
    /// When the idle time of an average runs.
    pub idle_when: IdleWhen,
    /// The packet in transmission counts as queued, for the average and for the limit.
    pub in_service_counts: bool,
}

impl Dialect {
    /// Floyd and Jacobson, 1993.
    pub const FLOYD93: Self = Self {
        at_idle: AtIdle::Real,
        idle_extra_step: false,
        guard_one: false,
        crossing: Crossing::CountMinusOne,
        p_one_is_early: false,
        forced_at: ForcedAt::POne,
        mark_up_to: 1.0,
        mark_at_bound: true,
        mark_forced: false,
        byte_scaling: ByteScaling::BeforeSpacing,
        strict_limit: false,
        full_first: false,
        overflow_restarts: true,
        idle_when: IdleWhen::Free,
        in_service_counts: false,
    };

    /// ns-2 2.35.
    pub const NS2: Self = Self {
        at_idle: AtIdle::Integer,
        idle_extra_step: true,
        guard_one: true,
        crossing: Crossing::CountOne,
        p_one_is_early: true,
        forced_at: ForcedAt::End,
        mark_up_to: 0.1,
        mark_at_bound: false,
        mark_forced: false,
        byte_scaling: ByteScaling::AfterSpacing,
        strict_limit: true,
        full_first: false,
        overflow_restarts: true,
        idle_when: IdleWhen::Free,
        in_service_counts: false,
    };

    /// Linux.
    pub const LINUX: Self = Self {
        at_idle: AtIdle::Table,
        idle_extra_step: false,
        guard_one: false,
        crossing: Crossing::CountMinusOne,
        p_one_is_early: false,
        forced_at: ForcedAt::POne,
        mark_up_to: 1.0,
        mark_at_bound: true,
        mark_forced: true,
        byte_scaling: ByteScaling::None,
        strict_limit: false,
        full_first: false,
        overflow_restarts: false,
        idle_when: IdleWhen::Free,
        in_service_counts: false,
    };

    /// ns-2 2.35's DiffServ module (`diffserv/dsredq.cc`): idle exponents are whole numbers.
    pub const DSRED: Self = Self {
        at_idle: AtIdle::Integer,
        idle_extra_step: true,
        full_first: true,
        idle_when: IdleWhen::ClassEmpty,
        ..Self::FLOYD93
    };

    /// The paper's algorithm with the guard of the simulator it was run in: the default of the presets whose
    /// papers used ns-2 (readings ).
    pub const RECOMMENDED: Self = Self { guard_one: true, ..Self::FLOYD93 };

    /// ExRED's queue: the packet in service counts, as in the M/M/1/K model (readings E-3, E-10).
    pub const MARKOV: Self = Self { in_service_counts: true, ..Self::FLOYD93 };
}
