use aqmlab_transport::{Data, TcpConfig};
use aqmlab_units::Time;

use super::{Numbers, is_behind};

/// When objects are complete at the client.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    numbers: Numbers,
    /// The number behind the object in progress, where its last packet has come.
    end: Option<u32>,
    /// The number behind the last object that is complete.
    complete: u32,
    times: Vec<Time>,
}

impl Arrivals {
    /// With room for so many objects.
    pub fn new(config: &TcpConfig, most: usize) -> Self {
        Self { numbers: Numbers::of(config), end: None, complete: 0, times: Vec::with_capacity(most) }
    }

    /// A packet has come, perhaps the `last` of an object; everything before number `expected` has. Whether the object is
    /// complete now.
    #[inline]
    pub fn take(&mut self, now: Time, data: &Data, last: bool, expected: u32) -> bool {
        if last {
            let end = self.numbers.behind(data);
            self.end = is_behind(end, self.complete).then_some(end);
        }
        let Some(end) = self.end.filter(|&end| !is_behind(end, expected)) else { return false };
        self.end = None;
        self.complete = end;
        self.times.push(now);
        true
    }

    /// When each object was complete.
    pub fn times(&self) -> &[Time] {
        &self.times
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqmlab_transport::DataFlags;
    use aqmlab_transport::ns2::{Config, Variant};

    #[test]
    fn an_object_is_complete_when_nothing_is_missing() {
        let mut arrivals = Arrivals::new(&TcpConfig::Ns2(Config::ns2(Variant::Sack).into()), 2);
        let mut take = |ms, seq, last, expected| {
            let data = Data { sent: Time::ZERO, seq, bytes: 1000, flags: DataFlags::NONE };
            arrivals.take(Time(ms), &data, last, expected)
        };
        assert!(!take(1, 1, false, 2));
        // Packet 3 is the last of the first object and overtakes packet 2.
        assert!(!take(2, 3, true, 2));
        assert!(take(3, 2, false, 4));
        assert!(!take(4, 3, true, 4), "again");
        assert!(!take(5, 4, false, 5));
        assert!(take(6, 5, true, 6));
        assert_eq!(arrivals.times(), [Time(3), Time(6)]);
    }
}
