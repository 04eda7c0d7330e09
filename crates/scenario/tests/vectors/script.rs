//! A file of vectors: cases, each a queue and the events that happen to it, written as JSON Lines (`vectors/README.md`).

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write;

use aqmlab_aqm::{
    Dequeue, Ecn, Effect, Event, Header, Kind, LinkContext, Meta, StandaloneQueue, Tag, Verdict,
};
use aqmlab_units::{Random, Rate, Span, Stream, Time};

/// The largest random number of 53 bits below 1, and of 32 bits.
pub const HIGH: f64 = 1.0 - 1.0 / 9_007_199_254_740_992.0;
pub const HIGH32: f64 = 1.0 - 1.0 / 4_294_967_296.0;

/// A file of vectors.
pub struct Vectors {
    pub name: String,
    pub text: String,
    /// The dialect is one of Linux, whose random numbers have 32 bits.
    pub is_linux: bool,
    pub source: String,
    pub note: String,
    /// Of the cases.
    pub names: Vec<String>,
    /// Each plain packet is of a flow of its own.
    pub own_flows: bool,
    rate: u64,
}

impl Vectors {
    /// Begin a file with its header; `dialect` is empty for the default.
    pub fn new(discipline: &str, dialect: &str, rate: u64, source: &str, note: &str) -> Self {
        let is_linux = dialect.starts_with("linux") || discipline == "cake";
        let name = if dialect.is_empty() { discipline.to_owned() } else { format!("{discipline}-{dialect}") };
        let dialect = if dialect.is_empty() { "default" } else { dialect };
        let mut text = String::new();
        writeln!(
            text,
            "{{\"format\":1,\"discipline\":{},\"dialect\":{},\"rate_bps\":{rate},\"source\":{},\"note\":{}}}",
            quoted(discipline),
            quoted(dialect),
            quoted(source),
            quoted(note)
        )
        .expect("room");
        Self {
            name,
            text,
            is_linux,
            source: source.into(),
            note: note.into(),
            names: Vec::new(),
            own_flows: false,
            rate,
        }
    }

    /// The largest random number below 1.
    pub fn high(&self) -> f64 {
        if self.is_linux { HIGH32 } else { HIGH }
    }

    /// A case on a new, empty queue.
    pub fn case(&mut self, name: &str, settings: &str, expect: &str, events: impl FnOnce(&mut Case)) {
        assert!(!self.names.iter().any(|other| other == name), "{}: two cases are called {name}", self.name);
        self.names.push(name.to_owned());
        let settings = settings.trim();
        let link = LinkContext { rate: Rate(self.rate), delay: Span::ZERO };
        let queue = aqmlab_scenario::queue_for_link(settings, link)
            .unwrap_or_else(|problems| panic!("{}, {name}: {problems:?}\n{settings}", self.name));
        let draws = Draws {
            next: VecDeque::new(),
            stream: Stream::new(1, &format!("{} {name}", self.name)),
            unit: if self.is_linux { 4_294_967_296.0 } else { 9_007_199_254_740_992.0 },
            drawn: Vec::new(),
        };
        let mut case = Case {
            queue: StandaloneQueue::new(&queue),
            draws,
            now: 0,
            next_id: 0,
            rate: self.rate,
            free_at: None,
            own_flows: self.own_flows,
            flows: BTreeSet::new(),
            uses: BTreeSet::new(),
            lines: String::new(),
        };
        events(&mut case);
        let uses = case.uses.iter().copied().collect::<Vec<_>>().join(" ");
        writeln!(
            self.text,
            "{{\"op\":\"new\",\"case\":{},\"settings\":{},\"uses\":{},\"expect\":{}}}",
            quoted(name),
            quoted(settings),
            quoted(&uses),
            quoted(expect)
        )
        .expect("room");
        self.text.push_str(&case.lines);
    }
}

/// A string of JSON; the text has neither tabs nor other control characters than the end of a line.
fn quoted(text: &str) -> String {
    assert!(text.chars().all(|c| c == '\n' || c == ' ' || c.is_ascii_graphic()), "plain ASCII: {text}");
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// A list of JSON.
fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<_> = items.into_iter().map(|item| item.to_string()).collect();
    format!("[{}]", items.join(","))
}

/// Random numbers that a case sets, and after them those of a stream.
#[derive(Clone)]
struct Draws {
    next: VecDeque<f64>,
    stream: Stream,
    /// 2^32 or 2^53.
    unit: f64,
    drawn: Vec<f64>,
}

impl Random for Draws {
    fn bits64(&mut self) -> u64 {
        let r = self.next.pop_front().unwrap_or_else(|| {
            let r = self.stream.uniform();
            (r * self.unit).floor() / self.unit
        });
        self.drawn.push(r);
        // Half of the last bit of r, so that no integer is rejected (`Random::below`).
        (r * 18_446_744_073_709_551_616.0) as u64 + 1024
    }
}

/// An arriving packet.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub bytes: u32,
    pub flow: u32,
    pub header: Header,
}

/// 1000 bytes of flow 1, not ECN-capable.
pub const PLAIN: fn() -> Arrival = || Arrival { bytes: 1000, flow: 1, header: Header::default() };

impl Arrival {
    pub fn bytes(self, bytes: u32) -> Self {
        Self { bytes, ..self }
    }

    pub fn flow(self, flow: u32) -> Self {
        Self { flow, ..self }
    }

    pub fn ecn(self, ecn: Ecn) -> Self {
        Self { header: self.header.with_ecn(ecn), ..self }
    }

    pub fn dscp(self, dscp: u8) -> Self {
        Self { header: self.header.with_dscp(dscp), ..self }
    }

    pub fn class(self, class: u8) -> Self {
        Self { header: self.header.with_class(class), ..self }
    }

    /// Sent with a time to live, of which some hops are left, and so many at the destination (0: unknown).
    pub fn ttl(self, initial: u8, ttl: u8, last: u8) -> Self {
        let header = self.header.with_ttl_initial(initial).with_ttl(ttl).with_ttl_final(last);
        Self { header, ..self }
    }
}

/// A queue and the events so far.
pub struct Case {
    queue: StandaloneQueue,
    draws: Draws,
    /// ns.
    now: u64,
    next_id: u64,
    rate: u64,
    /// End of the transmission in ns, of a case that drives a link.
    free_at: Option<u64>,
    own_flows: bool,
    flows: BTreeSet<u32>,
    uses: BTreeSet<&'static str>,
    lines: String,
}

impl Case {
    // --- time ---

    /// Continue at this time in ns.
    pub fn at(&mut self, ns: u64) {
        assert!(ns >= self.now, "time runs backwards to {ns}");
        self.now = ns;
    }

    /// Continue at this time in us.
    pub fn at_us(&mut self, us: u64) {
        self.at(us * 1000);
    }

    /// Continue at this time in ms.
    pub fn at_ms(&mut self, ms: u64) {
        self.at(ms * 1_000_000);
    }

    /// Continue later by so many ns.
    pub fn wait(&mut self, ns: u64) {
        self.now += ns;
    }

    /// Return the time in ns.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Return the time of a transmission in ns.
    pub fn service(&self, bytes: u32) -> u64 {
        (u64::from(bytes) * 8_000_000_000).div_ceil(self.rate)
    }

    // --- random numbers ---

    /// Use these random numbers next.
    pub fn draws(&mut self, draws: &[f64]) {
        self.draws.next.extend(draws);
    }

    /// Use no random number more of those that were set.
    pub fn no_draws(&mut self) {
        self.draws.next.clear();
    }

    // --- events ---

    /// A plain packet arrives.
    pub fn arrive(&mut self) -> Verdict {
        let flow = if self.own_flows { 100 + self.next_id as u32 } else { 1 };
        self.offer(PLAIN().flow(flow))
    }

    /// Plain packets arrive at once.
    pub fn burst(&mut self, number: usize) {
        (0..number).for_each(|_| {
            self.arrive();
        });
    }

    /// A packet arrives, and is accepted.
    pub fn accepts(&mut self, arrival: Arrival) {
        let verdict = self.offer(arrival);
        assert!(matches!(verdict, Verdict::Accept), "{verdict:?}\n{}", self.lines);
    }

    /// A packet arrives with these random numbers, and is accepted.
    pub fn accepts_any(&mut self, arrival: Arrival, draws: &[f64]) {
        self.draws(draws);
        self.accepts(arrival);
        self.no_draws();
    }

    /// A packet arrives.
    pub fn offer(&mut self, arrival: Arrival) -> Verdict {
        let Arrival { bytes, flow, header } = arrival;
        let (id, time) = (self.next_id, Time(self.now * 1000));
        self.next_id += 1;
        self.draws.drawn.clear();
        let meta = Meta { arrival: time, bytes, flow, header };
        let verdict = self.queue.enqueue(time, meta, Tag::new(id, flow), &mut self.draws);
        let ecn = match header.ecn() {
            Ecn::NotEct => "not-ect",
            Ecn::Ect => "ect0",
            Ecn::Ect1 => "ect1",
            Ecn::Ce => "ce",
        };
        self.flows.insert(flow);
        let used = [
            ("ecn", header.ecn() != Ecn::NotEct),
            ("flows", self.flows.len() > 1),
            ("dscp", header.dscp() != 0),
            ("ttl", header.ttl_initial() != 0),
            ("class", header.class() != 0),
            ("kind", header.kind() != Kind::Data),
        ];
        self.uses.extend(used.iter().filter(|(_, is_used)| *is_used).map(|(word, _)| *word));
        let mut own = format!("\"id\":{id},\"length\":{bytes},\"flow\":{flow},\"ecn\":\"{ecn}\"");
        let numbers = [
            ("dscp", header.dscp()),
            ("class", header.class()),
            ("ttl", header.ttl()),
            ("ttl_initial", header.ttl_initial()),
            ("ttl_final", header.ttl_final()),
        ];
        if header.kind() == Kind::Ack {
            own.push_str(",\"kind\":\"ack\"");
        }
        for (key, value) in numbers.iter().filter(|(_, value)| *value != 0) {
            write!(own, ",\"{key}\":{value}").expect("room");
        }
        let decision = match verdict {
            Verdict::Accept => "enqueue",
            Verdict::Mark(_) => "mark",
            Verdict::Drop(_) => "drop",
        };
        self.write("enqueue", &own, &format!(",\"decision\":\"{decision}\""));
        verdict
    }

    /// The link asks for the next packet; return its number and length.
    pub fn serve(&mut self) -> Option<(u64, u32)> {
        self.draws.drawn.clear();
        let answer = self.queue.dequeue(Time(self.now * 1000), &mut self.draws);
        let packet = match answer {
            Dequeue::Packet(packet) => Some((packet.payload.id, packet.meta.bytes)),
            Dequeue::Empty | Dequeue::NotBefore(_) => None,
        };
        let id = packet.map_or("null".to_owned(), |(id, _)| id.to_string());
        let later = match answer {
            Dequeue::NotBefore(time) => format!(",\"not_before_ns\":{}", time.0.div_ceil(1000)),
            Dequeue::Packet(_) | Dequeue::Empty => String::new(),
        };
        self.write("dequeue", &format!("\"id\":{id}"), &later);
        packet
    }

    /// The link takes packets, each after the transmission of the one before, until none waits; return how many it took.
    pub fn drain(&mut self) -> usize {
        let mut number = 0;
        while let Some((_, bytes)) = self.serve() {
            self.wait(self.service(bytes));
            number += 1;
        }
        number
    }

    /// The link is served until the present; `then` an arrival starts it if it is idle.
    pub fn arrive_at_link(&mut self, ns: u64, arrival: Arrival) {
        while let Some(end) = self.free_at.filter(|end| *end <= ns) {
            self.now = end;
            self.transmit();
        }
        self.now = ns;
        self.offer(arrival);
        if self.free_at.is_none() {
            self.transmit();
        }
    }

    fn transmit(&mut self) {
        self.free_at = self.serve().map(|(_, bytes)| self.now + self.service(bytes));
    }

    /// Random traffic of so many arrivals at a link: stretches of different loads, and silences.
    pub fn traffic(&mut self, arrivals: usize, mut packet: impl FnMut(&mut Stream) -> Arrival) {
        let mut rng = Stream::new(2, "traffic");
        let mean = self.service(1000) as f64;
        let mut at = self.now;
        let mut load = 1.0;
        for i in 0..arrivals {
            if i % 12 == 0 {
                load = [6.0, 2.0, 8.0, 3.0][(i / 12 + rng.below(2) as usize) % 4];
                at += if i > 0 && rng.uniform() < 0.5 { (rng.uniform() * 40.0 * mean) as u64 } else { 0 };
            }
            at += rng.exponential(mean / load) as u64;
            self.arrive_at_link(at, packet(&mut rng));
        }
        while let Some(end) = self.free_at {
            self.now = end;
            self.transmit();
        }
    }

    // --- state ---

    /// Return a gauge.
    pub fn gauge(&self, name: &str) -> f64 {
        self.queue.gauge(name).unwrap_or_else(|| panic!("no gauge {name}"))
    }

    /// Return the packets that wait.
    pub fn waiting(&self) -> u32 {
        self.queue.backlog().packets
    }

    /// Return the packets that the last event dropped.
    pub fn dropped(&self) -> usize {
        self.queue.events().iter().filter(|event| event.effect == Effect::Dropped).count()
    }

    /// Return the value of a gauge after an arrival now that draws this number and is not part of the case.
    pub fn gauge_after(&self, draw: f64, name: &str) -> f64 {
        let mut queue = self.queue.clone();
        let mut draws = self.draws.clone();
        draws.next = [draw].into();
        let meta = Meta { bytes: 1000, flow: 1, ..Meta::default() };
        queue.enqueue(Time(self.now * 1000), meta, Tag::new(self.next_id, 1), &mut draws);
        queue.gauge(name).unwrap_or_else(|| panic!("no gauge {name}"))
    }

    fn write(&mut self, op: &str, own: &str, decision: &str) {
        let of = |effect| {
            self.queue.events().iter().filter(move |event| event.effect == effect).collect::<Vec<_>>()
        };
        let (dropped, marked) = (of(Effect::Dropped), of(Effect::Marked));
        let reasons = dropped.iter().chain(&marked).map(|event| quoted(event.reason.name()));
        let backlog = self.queue.backlog();
        let mut state = format!("\"packets\":{},\"bytes\":{}", backlog.packets, backlog.bytes);
        self.queue.gauges(&mut |gauge, value| {
            let value = if value.is_finite() { value.to_string() } else { "null".to_owned() };
            write!(state, ",\"{}\":{value}", gauge.name()).expect("room");
        });
        let (now, drawn, reasons) = (self.now, list(&self.draws.drawn), list(reasons));
        let ids = |events: &[&Event]| list(events.iter().map(|event| event.id));
        writeln!(
            self.lines,
            "{{\"op\":\"{op}\",\"t_ns\":{now},{own},\"random\":{drawn}{decision},\"dropped\":{},\"marked\":{},\
             \"reasons\":{reasons},\"state\":{{{state}}}}}",
            ids(&dropped),
            ids(&marked),
        )
        .expect("room");
    }
}
