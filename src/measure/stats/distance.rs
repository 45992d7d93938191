//! Visits whose two CPUs were near to each other, and visits whose CPUs were far: a host moves the CPUs of its guests, and the
//! way of a cache line there and back, timed before and after each visit, tells.

/// How many times as long the way must be, at least, to be far.
pub const FAR_RATIO: f64 = 1.5;

/// The fewest visits that are a stratum.
pub const LEAST_VISITS: usize = 2;

/// How far apart the CPUs of a visit were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// The nearer of two distances.
    Near,
    /// The farther.
    Far,
}

impl Distance {
    /// Its name in reports.
    pub fn word(self) -> &'static str {
        match self {
            Distance::Near => "near",
            Distance::Far => "far",
        }
    }
}

/// What parts near from far, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit(f64);

impl Limit {
    /// Of the ways before and after each visit: the geometric middle of the widest gap of [`FAR_RATIO`] that has
    /// [`LEAST_VISITS`] on each side of it, both ways each. `None` where there is no such gap.
    pub fn of(ways_ns: &[[f64; 2]]) -> Option<Limit> {
        let mut sorted: Vec<f64> = ways_ns.as_flattened().to_vec();
        sorted.sort_by(f64::total_cmp);
        let mut gaps: Vec<(f64, f64)> = sorted.windows(2).map(|pair| (pair[0], pair[1])).collect();
        gaps.retain(|(near, far)| *far >= FAR_RATIO * near);
        gaps.sort_by(|one, other| (other.1 / other.0).total_cmp(&(one.1 / one.0)));
        let limits = gaps.into_iter().map(|(near, far)| Limit((near * far).sqrt()));
        limits.into_iter().find(|limit| limit.parts(ways_ns))
    }

    /// Whether both strata have visits enough.
    fn parts(self, ways_ns: &[[f64; 2]]) -> bool {
        let count = |wanted| ways_ns.iter().filter(|way| self.side(**way) == Some(wanted)).count();
        count(Distance::Near) >= LEAST_VISITS && count(Distance::Far) >= LEAST_VISITS
    }

    /// Where a visit belongs; `None` where its CPUs were moved between its begin and its end.
    pub fn side(self, way_ns: [f64; 2]) -> Option<Distance> {
        match way_ns.map(|ns| ns > self.0) {
            [false, false] => Some(Distance::Near),
            [true, true] => Some(Distance::Far),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_gap_that_has_visits_on_both_sides_parts_them() {
        let near = [[60.0, 62.0], [61.0, 63.0], [60.0, 61.0]];
        let far = [[150.0, 140.0], [145.0, 150.0]];
        let outlier = [[140.0, 60_000.0]];
        let limit = Limit::of(&[&near[..], &far, &outlier].concat()).unwrap();
        assert_eq!(limit, Limit((63.0_f64 * 140.0).sqrt()), "one value behind the wider gap is no stratum");
        assert_eq!(near.map(|way| limit.side(way)), [Some(Distance::Near); 3]);
        assert_eq!(far.map(|way| limit.side(way)), [Some(Distance::Far); 2]);
        assert_eq!(limit.side([61.0, 150.0]), None, "moved meanwhile");
    }

    #[test]
    fn what_is_not_far_enough_or_too_seldom_is_one() {
        let near = [[60.0, 62.0]; 6];
        assert_eq!(Limit::of(&[]), None);
        assert_eq!(Limit::of(&near), None);
        assert_eq!(Limit::of(&[near, [[90.0, 92.0]; 6]].concat()), None, "below 1.5 times the nearest");
        assert_eq!(Limit::of(&[&near[..], &[[250.0, 260.0]]].concat()), None, "one visit");
        assert!(Limit::of(&[&near[..], &[[250.0, 260.0]; 2]].concat()).is_some());
        assert_eq!(Limit::of(&[[60.0, 250.0]; 6]), None, "every visit moved");
    }
}
