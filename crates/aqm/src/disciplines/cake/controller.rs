//! The controller of cake-autorate (github.com/lynxthecat/cake-autorate, commit 94238be of August 2026), for one direction: the rate of the
//! shaper follows the load and the one-way delays of pings.
//!
//! Each answer of a ping brings a delay. The baseline follows lower delays with weight `alpha_baseline_decrease` and higher ones with weight
//! `alpha_baseline_increase`; a sample is the delay less the baseline. It is delayed above `owd_delta_delay_thr`. Of the last
//! `bufferbloat_detection_window` samples, `bufferbloat_detection_thr` delayed ones are bufferbloat. With their mean d and the thresholds
//! `up` = `avg_owd_delta_max_adjust_up_thr`, `delay` and `down` = `avg_owd_delta_max_adjust_down_thr`, each with the time of a packet at the
//! rate added, the rate changes at an answer:
//!
//! ```text
//! bufferbloat   rate (min_down - f (min_down - max_down)), f = (d - delay) / (down - delay), once in a refractory period
//! high load     rate (min_up - f (min_up - max_up)),       f = (delay - d) / (delay - up), once for each measured load
//! other load    one step of decay towards the base, once in a refractory period
//! ```
//!
//! with f from 0 to 1, and no increase in the refractory period of a decrease. The load is high if the bits that left in the last interval are
//! above `high_load_thr` of the rate. Without an answer for `stall_detection_timeout` while fewer bits leave than `connection_stall_thr`, the
//! connection is stalled: the next answer only ends that.
//!
//! Numbers are whole, as in the script: microseconds, kbit/s, factors in thousandths, quotients rounded towards 0.
//!
//! Readings:
//!
//! * Each direction has a controller and pings of its own. In the script both share the pings, and the interval of the load contains
//!   packets of both directions.
//! * The base is `rate`. A packet at the rate has `max_packet` less Ethernet's 14 bytes, on the wire.
//!
//! Deliberately absent: sleep of the pings of an idle connection; choice between several reflectors.

use aqmlab_units::{Rate, Span, Time};

use crate::disciplines::ParameterReader;
use crate::{Parameter, ValueKind};

const SCRIPT: &str = "cake-autorate";

/// Shares, and words of documentation.
const fn factor(key: &'static str, doc: &'static str) -> Parameter {
    Parameter::new(key, "", ValueKind::Number, doc).source(SCRIPT)
}

const fn time(key: &'static str, doc: &'static str) -> Parameter {
    Parameter::new(key, "", ValueKind::Time, doc).from(1e-6).to(1000.0).source(SCRIPT)
}

/// Selects the controller.
pub(super) const AUTORATE: &str = "autorate";

/// Parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::new(
        AUTORATE,
        "",
        ValueKind::Flag,
        "the rate follows load and delays of pings, from `rate`, its base, on; for that, a flow `measures` the link",
    )
    .source(SCRIPT),
    Parameter::new("min_shaper_rate", "", ValueKind::Rate, "autorate: lowest rate").source(SCRIPT).default("5Mbps"),
    Parameter::new("max_shaper_rate", "", ValueKind::Rate, "autorate: highest rate").source(SCRIPT).default("80Mbps"),
    time("owd_delta_delay_thr", "autorate: a delay above the baseline by more than this is delayed").default("30ms"),
    time("avg_owd_delta_max_adjust_up_thr", "autorate: below this mean, the increase is the largest").default("10ms"),
    time("avg_owd_delta_max_adjust_down_thr", "autorate: above this mean, the decrease is the largest").default("60ms"),
    factor("alpha_baseline_increase", "autorate: weight of a delay above the baseline").from(0.0).to(1.0).default("0.001"),
    factor("alpha_baseline_decrease", "autorate: weight of a delay below the baseline").from(0.0).to(1.0).default("0.9"),
    factor("bufferbloat_detection_window", "autorate: samples in the window").whole().from(1.0).to(1000.0).default("6"),
    factor("bufferbloat_detection_thr", "autorate: delayed samples of the window that are bufferbloat")
        .whole()
        .from(1.0)
        .to(1000.0).default("3"),
    factor("shaper_rate_min_adjust_down_bufferbloat", "autorate: factor of the smallest decrease").from(0.001).to(1.0).default("0.99"),
    factor("shaper_rate_max_adjust_down_bufferbloat", "autorate: factor of the largest decrease").from(0.001).to(1.0).default("0.75"),
    factor("shaper_rate_min_adjust_up_load_high", "autorate: factor of the smallest increase").from(1.0).to(10.0).default("1"),
    factor("shaper_rate_max_adjust_up_load_high", "autorate: factor of the largest increase").from(1.0).to(10.0).default("1.04"),
    factor("shaper_rate_adjust_down_load_low", "autorate: factor of a step down to the base").from(0.001).to(1.0).default("0.99"),
    factor("shaper_rate_adjust_up_load_low", "autorate: factor of a step up to the base").from(1.0).to(10.0).default("1.01"),
    factor("high_load_thr", "autorate: share of the rate above which the load is high").from(0.01).to(1.0).default("0.75"),
    time("bufferbloat_refractory_period", "autorate: time between a decrease and the next change").default("300ms"),
    time("decay_refractory_period", "autorate: time between a change and a step towards the base").default("1s"),
    time("monitor_achieved_rates_interval", "autorate: the load is measured over this time, at least 10 packets").default("200ms"),
    time("stall_detection_timeout", "autorate: without an answer for so long, the connection may be stalled").default("250ms"),
    Parameter::new("connection_stall_thr", "", ValueKind::Rate, "autorate: a stalled connection carries less")
        .source(SCRIPT).default("10kbps"),
    time("global_ping_response_timeout", "autorate: after a stall of this time, the lowest rate may be enforced").default("10s"),
    Parameter::new(
        "min_shaper_rates_enforcement",
        "",
        ValueKind::Flag,
        "autorate: a long stall sets the lowest rate",
    )
    .source(SCRIPT).default("false"),
];

/// Settings. Times are in microseconds, rates in kbit/s, factors in thousandths.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub base: i64,
    min: i64,
    max: i64,
    delay_thr: i64,
    up_thr: i64,
    down_thr: i64,
    /// In millionths.
    alpha_increase: i64,
    alpha_decrease: i64,
    window: usize,
    detection_thr: usize,
    min_down: i64,
    max_down: i64,
    min_up: i64,
    max_up: i64,
    decay_down: i64,
    decay_up: i64,
    /// In percent.
    high_load: i64,
    bufferbloat_refractory: i64,
    decay_refractory: i64,
    interval: i64,
    stall_timeout: i64,
    stall_rate: i64,
    long_stall: i64,
    enforces_minimum: bool,
    /// Bits of a packet on the wire.
    packet: i64,
}

/// Read and validate the settings, if `autorate` is on; `base` is the rate of the shaper in bit/s, 0 if unlimited, `packet` the bytes
/// of the longest packet on the wire.
pub(super) fn read(reader: &mut ParameterReader<'_>, base: u64, packet: u32) -> Option<Settings> {
    if !reader.flag(AUTORATE, false) {
        // A file that turns it off may keep its settings.
        let set = PARAMETERS.iter().find(|parameter| reader.is_set(parameter.key));
        if let Some(parameter) = set.filter(|_| !reader.is_set(AUTORATE)) {
            let message = format!("{} is a setting of autorate, which is off", parameter.key);
            reader.error(parameter.key, message, "autorate = true");
        }
        return None;
    }
    let mut kbps = |key, default: u64| (reader.rate_with(key, Rate(1000 * default)).0 / 1000) as i64;
    let (min, max) = (kbps("min_shaper_rate", 5000), kbps("max_shaper_rate", 80_000));
    let stall_rate = kbps("connection_stall_thr", 10);
    let mut us = |key, default_ms| (reader.time(key, Span::from_millis(default_ms)).0 / 1_000_000) as i64;
    let [delay_thr, up_thr, down_thr] = [
        us("owd_delta_delay_thr", 30),
        us("avg_owd_delta_max_adjust_up_thr", 10),
        us("avg_owd_delta_max_adjust_down_thr", 60),
    ];
    let [bufferbloat_refractory, decay_refractory, interval, stall_timeout, long_stall] = [
        us("bufferbloat_refractory_period", 300),
        us("decay_refractory_period", 1000),
        us("monitor_achieved_rates_interval", 200),
        us("stall_detection_timeout", 250),
        us("global_ping_response_timeout", 10_000),
    ];
    let mut scaled = |key, default, scale: f64| (reader.number(key, default) * scale).round() as i64;
    let settings = Settings {
        base: (base / 1000) as i64,
        min,
        max,
        delay_thr,
        up_thr,
        down_thr,
        alpha_increase: scaled("alpha_baseline_increase", 0.001, 1e6),
        alpha_decrease: scaled("alpha_baseline_decrease", 0.9, 1e6),
        window: scaled("bufferbloat_detection_window", 6.0, 1.0) as usize,
        detection_thr: scaled("bufferbloat_detection_thr", 3.0, 1.0) as usize,
        min_down: scaled("shaper_rate_min_adjust_down_bufferbloat", 0.99, 1e3),
        max_down: scaled("shaper_rate_max_adjust_down_bufferbloat", 0.75, 1e3),
        min_up: scaled("shaper_rate_min_adjust_up_load_high", 1.0, 1e3),
        max_up: scaled("shaper_rate_max_adjust_up_load_high", 1.04, 1e3),
        decay_down: scaled("shaper_rate_adjust_down_load_low", 0.99, 1e3),
        decay_up: scaled("shaper_rate_adjust_up_load_low", 1.01, 1e3),
        high_load: scaled("high_load_thr", 0.75, 1e2),
        bufferbloat_refractory,
        decay_refractory,
        interval,
        stall_timeout,
        stall_rate,
        long_stall,
        enforces_minimum: reader.flag("min_shaper_rates_enforcement", false),
        packet: 8 * i64::from(packet),
    };
    settings.check(reader);
    Some(settings)
}

impl Settings {
    /// Report settings that contradict each other.
    fn check(&self, reader: &mut ParameterReader<'_>) {
        let Self { base, min, max, .. } = *self;
        let rates = "min_shaper_rate <= rate <= max_shaper_rate";
        if base == 0 {
            reader.error("rate", "autorate needs a rate, its base".into(), "a rate from 1kbps");
        } else if min == 0 {
            reader.error("min_shaper_rate", "is below 1 kbit/s".into(), rates);
        } else if min > base {
            let message = format!("min_shaper_rate ({min} kbit/s) is above rate ({base} kbit/s)");
            reader.error("min_shaper_rate", message, rates);
        } else if max < base {
            reader.error(
                "max_shaper_rate",
                format!("max_shaper_rate ({max} kbit/s) is below rate ({base} kbit/s)"),
                rates,
            );
        }
        let (window, thr) = (self.window, self.detection_thr);
        if thr > window {
            let message =
                format!("bufferbloat_detection_thr ({thr}) is above bufferbloat_detection_window ({window})");
            reader.error(
                "bufferbloat_detection_thr",
                message,
                "bufferbloat_detection_thr <= bufferbloat_detection_window",
            );
        }
        for (low, high, names) in [
            (
                self.max_down,
                self.min_down,
                ["shaper_rate_max_adjust_down_bufferbloat", "shaper_rate_min_adjust_down_bufferbloat"],
            ),
            (
                self.min_up,
                self.max_up,
                ["shaper_rate_min_adjust_up_load_high", "shaper_rate_max_adjust_up_load_high"],
            ),
            (self.up_thr, self.delay_thr, ["avg_owd_delta_max_adjust_up_thr", "owd_delta_delay_thr"]),
            (self.delay_thr, self.down_thr, ["owd_delta_delay_thr", "avg_owd_delta_max_adjust_down_thr"]),
        ] {
            if low > high {
                let message = format!("{} is above {}", names[0], names[1]);
                reader.error(names[0], message, &format!("{} <= {}", names[0], names[1]));
            }
        }
    }

    /// Return the time of a packet at a rate.
    fn packet_time(&self, rate: i64) -> i64 {
        1000 * self.packet / rate
    }
}

/// The load of the last interval.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    /// In kbit/s.
    achieved: i64,
    is_high: bool,
    /// No increase has used it.
    is_new: bool,
}

/// The controller. Times are in microseconds since the start, rates in kbit/s.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    settings: Settings,
    rate: i64,
    baseline: i64,
    /// The last samples, and where the next one goes.
    samples: Vec<i64>,
    is_delayed: Vec<bool>,
    next_sample: usize,
    load: Load,
    /// Bytes that have left in this interval, which began at `since`.
    bytes: u64,
    since: i64,
    next_load: i64,
    last_decrease: i64,
    last_decay: i64,
    last_answer: i64,
    stalled_since: Option<i64>,
    is_at_minimum: bool,
}

/// The baseline before the first answer.
const FIRST_BASELINE: i64 = 100_000;

impl Controller {
    /// Create it for a run that starts now.
    pub fn new(settings: &Settings) -> Self {
        Self {
            rate: settings.base,
            baseline: FIRST_BASELINE,
            samples: vec![0; settings.window],
            is_delayed: vec![false; settings.window],
            next_sample: 0,
            load: Load::default(),
            bytes: 0,
            since: 0,
            next_load: settings.interval,
            last_decrease: 0,
            last_decay: 0,
            last_answer: 0,
            stalled_since: None,
            is_at_minimum: false,
            settings: settings.clone(),
        }
    }

    /// Return the rate in bytes per second.
    pub fn bytes_per_second(&self) -> u64 {
        self.rate as u64 * 125
    }

    /// Note that so many bytes leave by the shaper.
    #[inline]
    pub fn sent(&mut self, bytes: u32) {
        self.bytes += u64::from(bytes);
    }

    /// Return when the load is measured next.
    pub fn next_timer(&self) -> Time {
        Time(self.next_load as u64 * 1_000_000)
    }

    /// Measure the load, at the time of [`Controller::next_timer`].
    pub fn on_timer(&mut self) {
        let (now, settings) = (self.next_load, &self.settings);
        let achieved = 8000 * self.bytes as i64 / (now - self.since);
        let is_high = 100 * achieved / self.rate > settings.high_load;
        self.load = Load { achieved, is_high, is_new: true };
        (self.bytes, self.since) = (0, now);
        self.next_load = now + settings.interval.max(10 * settings.packet_time(self.rate));
        self.look_for_stall(now);
    }

    fn look_for_stall(&mut self, now: i64) {
        let settings = &self.settings;
        let carries = self.load.achieved > settings.stall_rate;
        match self.stalled_since {
            None if now - self.last_answer > settings.stall_timeout && !carries => {
                (self.stalled_since, self.is_at_minimum) = (Some(now), false);
            }
            Some(since) => {
                if carries {
                    self.stalled_since = None;
                }
                if !self.is_at_minimum && now > since + settings.long_stall - settings.stall_timeout {
                    self.is_at_minimum = true;
                    if settings.enforces_minimum {
                        self.rate = settings.min;
                    }
                }
            }
            None => {}
        }
    }

    /// Take the one-way delay of a ping, whose answer arrives.
    pub fn on_answer(&mut self, now: Time, delay: Span) {
        let (now, delay) = ((now.0 / 1_000_000) as i64, (delay.0 / 1_000_000) as i64);
        self.last_answer = now;
        if self.stalled_since.take().is_some() {
            return;
        }
        let sample = self.sample(delay);
        let thresholds = self.thresholds();
        self.samples[self.next_sample] = sample;
        self.is_delayed[self.next_sample] = sample > thresholds.delay;
        self.next_sample = (self.next_sample + 1) % self.samples.len();
        let mean = self.samples.iter().sum::<i64>() / self.samples.len() as i64;
        let delayed = self.is_delayed.iter().filter(|delayed| **delayed).count();
        let is_refractory = now <= self.last_decrease + self.settings.bufferbloat_refractory;
        if delayed >= self.settings.detection_thr {
            if !is_refractory {
                self.decrease(now, mean, &thresholds);
            }
        } else if self.load.is_high {
            if self.load.is_new && !is_refractory {
                self.increase(now, mean, &thresholds);
            }
        } else if now > self.last_decay + self.settings.decay_refractory {
            self.decay(now);
        }
        self.rate = self.rate.clamp(self.settings.min, self.settings.max);
    }

    /// Return the delay above the baseline, which follows it.
    fn sample(&mut self, delay: i64) -> i64 {
        let Settings { alpha_increase, alpha_decrease, .. } = self.settings;
        let alpha = if delay >= self.baseline { alpha_increase } else { alpha_decrease };
        self.baseline = (alpha * delay + (1_000_000 - alpha) * self.baseline) / 1_000_000;
        delay - self.baseline
    }

    /// Return the thresholds with the time of a packet at the rate.
    fn thresholds(&self) -> Thresholds {
        let Settings { up_thr, delay_thr, down_thr, .. } = self.settings;
        let packet = self.settings.packet_time(self.rate);
        Thresholds { up: up_thr + packet, delay: delay_thr + packet, down: down_thr + packet }
    }

    fn decrease(&mut self, now: i64, mean: i64, thresholds: &Thresholds) {
        let Settings { min_down, max_down, .. } = self.settings;
        let share = thousandths(mean - thresholds.delay, thresholds.down - thresholds.delay);
        self.rate = self.rate * (1000 * min_down - share * (min_down - max_down)) / 1_000_000;
        (self.last_decrease, self.last_decay) = (now, now);
    }

    fn increase(&mut self, now: i64, mean: i64, thresholds: &Thresholds) {
        let Settings { min_up, max_up, .. } = self.settings;
        let share = thousandths(thresholds.delay - mean, thresholds.delay - thresholds.up);
        self.rate = self.rate * (1000 * min_up - share * (min_up - max_up)) / 1_000_000;
        self.load.is_new = false;
        self.last_decay = now;
    }

    /// Go one step towards the base.
    fn decay(&mut self, now: i64) {
        let Settings { base, decay_down, decay_up, .. } = self.settings;
        self.rate = if self.rate > base {
            (self.rate * decay_down / 1000).max(base)
        } else {
            (self.rate * decay_up / 1000).min(base)
        };
        self.last_decay = now;
    }
}

/// Thresholds of delays above the baseline.
struct Thresholds {
    up: i64,
    delay: i64,
    down: i64,
}

/// Return `part / whole` in thousandths, from 0 to 1000; all of a whole that is not positive.
fn thousandths(part: i64, whole: i64) -> i64 {
    if whole <= 0 { 1000 } else { (1000 * part.max(0) / whole).min(1000) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The script's defaults, with a base of 20 Mbit/s and packets of 1500 bytes: 0.6 ms at the base.
    fn settings() -> Settings {
        Settings {
            base: 20_000,
            min: 5000,
            max: 80_000,
            delay_thr: 30_000,
            up_thr: 10_000,
            down_thr: 60_000,
            alpha_increase: 1000,
            alpha_decrease: 900_000,
            window: 6,
            detection_thr: 3,
            min_down: 990,
            max_down: 750,
            min_up: 1000,
            max_up: 1040,
            decay_down: 990,
            decay_up: 1010,
            high_load: 75,
            bufferbloat_refractory: 300_000,
            decay_refractory: 1_000_000,
            interval: 200_000,
            stall_timeout: 250_000,
            stall_rate: 10,
            long_stall: 10_000_000,
            enforces_minimum: false,
            packet: 12_000,
        }
    }

    /// A controller whose baseline is 20 ms.
    fn controller(settings: &Settings) -> Controller {
        Controller { baseline: 20_000, ..Controller::new(settings) }
    }

    fn answer(controller: &mut Controller, at_ms: u64, delay_ms: u64) -> i64 {
        controller.on_answer(Time(at_ms * 1_000_000_000), Span::from_millis(delay_ms));
        controller.rate
    }

    /// Let so many bytes leave until the load is measured.
    fn load(controller: &mut Controller, bytes: u32) {
        controller.sent(bytes);
        controller.on_timer();
    }

    #[test]
    fn the_baseline_falls_fast_and_rises_slowly() {
        let mut controller = Controller::new(&settings());
        // 0.9 x 20 ms + 0.1 x 100 ms, then 0.9 x 20 ms + 0.1 x 28 ms.
        assert_eq!((controller.sample(20_000), controller.baseline), (-8000, 28_000));
        assert_eq!((controller.sample(20_000), controller.baseline), (-800, 20_800));
        // 0.001 x 120 ms + 0.999 x 20.8 ms = 20.8992 ms.
        assert_eq!((controller.sample(120_000), controller.baseline), (99_101, 20_899));
    }

    #[test]
    fn a_load_is_high_above_three_quarters_of_the_rate() {
        let mut controller = controller(&settings());
        load(&mut controller, 375_000);
        assert_eq!((controller.load.achieved, controller.load.is_high), (15_000, false));
        // 15.2 Mbit/s are 76 %.
        load(&mut controller, 380_000);
        assert_eq!((controller.load.achieved, controller.load.is_high), (15_200, true));
        assert_eq!(controller.next_timer(), Time(600_000_000_000));
        // 10 packets at 0.4 Mbit/s take 300 ms.
        let mut slow = Controller { rate: 400, ..controller };
        load(&mut slow, 0);
        assert_eq!(slow.next_timer(), Time(900_000_000_000));
    }

    #[test]
    fn high_load_increases_the_rate_once_for_each_load() {
        let mut controller = controller(&settings());
        load(&mut controller, 400_000);
        assert_eq!(answer(&mut controller, 300, 20), 20_000, "in the refractory period from the start");
        assert_eq!(answer(&mut controller, 301, 20), 20_800, "by 4 %: the mean is below 10.6 ms");
        assert_eq!(answer(&mut controller, 350, 20), 20_800);
        load(&mut controller, 500_000);
        // 40 ms is above the baseline by 19.98 ms, a sixth of which is the mean: 4 % again.
        assert_eq!(answer(&mut controller, 401, 40), 21_632);
    }

    #[test]
    fn the_increase_shrinks_from_the_first_to_the_second_threshold() {
        let (mut controller, thresholds) =
            (controller(&settings()), Thresholds { up: 10_600, delay: 30_600, down: 60_600 });
        let mut after = |mean| {
            controller.rate = 20_000;
            controller.increase(0, mean, &thresholds);
            controller.rate
        };
        // Shares of 1, 1/2, 0 of 4 %.
        assert_eq!([after(0), after(10_600), after(20_600), after(30_600)], [20_800, 20_800, 20_400, 20_000]);
    }

    #[test]
    fn three_delayed_samples_of_six_decrease_the_rate() {
        let mut controller = controller(&settings());
        assert_eq!(answer(&mut controller, 400, 100), 20_000);
        assert_eq!(answer(&mut controller, 450, 100), 20_000);
        // Samples of 79 920, 79 841 and 79 762 us, and three of 0, have the mean 39 920 us; f = 9320/30 000, 310 thousandths.
        assert_eq!(answer(&mut controller, 500, 100), 18_312, "20 000 (0.99 - 0.310 x 0.24)");
        assert_eq!(answer(&mut controller, 800, 100), 18_312, "in the refractory period");
        // Five delayed samples: 79 920 to 79 604 us, their mean 53 177 + 13 267 us = 66 467 us: above 60.655 ms.
        assert_eq!(answer(&mut controller, 801, 100), 13_734, "18 312 x 0.75");
    }

    #[test]
    fn the_decrease_grows_from_the_second_to_the_third_threshold() {
        let (mut controller, thresholds) =
            (controller(&settings()), Thresholds { up: 10_600, delay: 30_600, down: 60_600 });
        let mut after = |mean| {
            controller.rate = 20_000;
            controller.decrease(0, mean, &thresholds);
            controller.rate
        };
        assert_eq!(
            [after(0), after(30_600), after(45_600), after(60_600), after(90_000)],
            [19_800, 19_800, 17_400, 15_000, 15_000]
        );
    }

    #[test]
    fn a_threshold_counts_the_time_of_a_packet() {
        let mut controller = controller(&settings());
        controller.rate = 1000;
        // 12 ms at 1 Mbit/s: 42 ms are the threshold.
        let Thresholds { up, delay, down } = controller.thresholds();
        assert_eq!((up, delay, down), (22_000, 42_000, 72_000));
        controller.samples.fill(0);
        answer(&mut controller, 50, 62);
        answer(&mut controller, 100, 63);
        assert_eq!(&controller.is_delayed[..2], [false, true], "41 958 and 42 915 us");
    }

    #[test]
    fn low_load_decays_to_the_base_once_a_second() {
        let mut controller = controller(&settings());
        controller.rate = 20_300;
        assert_eq!(answer(&mut controller, 1000, 20), 20_300);
        assert_eq!(answer(&mut controller, 1001, 20), 20_097, "99 %");
        assert_eq!(answer(&mut controller, 2001, 20), 20_097);
        assert_eq!(answer(&mut controller, 2002, 20), 20_000, "no lower than the base");
        controller.rate = 19_000;
        assert_eq!(answer(&mut controller, 3003, 20), 19_190, "101 %");
        controller.rate = 19_950;
        assert_eq!(answer(&mut controller, 4004, 20), 20_000);
    }

    #[test]
    fn the_rate_stays_between_its_bounds() {
        let mut low = controller(&settings());
        low.rate = 5100;
        for at in [400, 450, 500] {
            answer(&mut low, at, 400);
        }
        assert_eq!(low.rate, 5000);
        let mut high = controller(&settings());
        high.rate = 79_000;
        load(&mut high, 1_900_000);
        assert_eq!(answer(&mut high, 301, 20), 80_000, "79 000 x 1.04 is above");
    }

    #[test]
    fn a_stall_ends_with_an_answer_that_changes_nothing() {
        let mut controller = controller(&Settings { enforces_minimum: true, ..settings() });
        answer(&mut controller, 100, 20);
        load(&mut controller, 0);
        assert_eq!(controller.stalled_since, None, "100 ms without an answer");
        // 500 ms without an answer, but 16 Mbit/s leave.
        load(&mut controller, 400_000);
        load(&mut controller, 400_000);
        assert_eq!(controller.stalled_since, None);
        // 10 kbit/s are 250 bytes in 200 ms.
        load(&mut controller, 250);
        assert_eq!(controller.stalled_since, Some(800_000));
        let before = controller.baseline;
        assert_eq!(answer(&mut controller, 900, 500), 20_000);
        assert_eq!((controller.stalled_since, controller.baseline), (None, before));
        // Stalled at 1.2 s; the lowest rate follows 10 s - 0.25 s later, at the first load after 10.95 s.
        while controller.next_load < 11_000_000 {
            load(&mut controller, 0);
            assert_eq!(controller.rate, 20_000, "{}", controller.next_load);
        }
        load(&mut controller, 0);
        assert_eq!((controller.stalled_since, controller.rate), (Some(1_200_000), 5000));
    }
}
