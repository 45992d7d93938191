//! From numbers to places on a picture: linear and logarithmic axes, and the numbers written at them.

use crate::report::digits::thousands;

/// How many times the least value the greatest must be for a logarithmic axis of figures: a decade and a half.
pub const LOG_SPAN: f64 = 30.0;

/// The same for an axis of rows, whose numbers are chosen: sizes that double fill a logarithmic axis evenly.
pub const ROW_LOG_SPAN: f64 = 10.0;

/// The decades up to which a logarithmic axis has numbers between powers of ten.
const FINE_DECADES: f64 = 2.6;

/// The decades above which it has only every second power of ten.
const MANY_DECADES: f64 = 9.0;

/// Numbers that a linear axis has about.
const LINEAR_TICKS: f64 = 5.0;

/// An axis: from numbers to pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    logarithmic: bool,
    /// The values at both ends.
    ends: [f64; 2],
    /// The pixels there.
    pixels: [f64; 2],
    /// Where 0 stands on a logarithmic axis of rows: apart from the others.
    zero: Option<f64>,
}

impl Scale {
    /// The axis of figures, logarithmic where they span more than [`LOG_SPAN`] and all are above 0; else it begins
    /// at 0. Its ends are round numbers. `values` must be finite.
    pub fn of_figures(values: &[f64], pixels: [f64; 2]) -> (Scale, Vec<f64>) {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let logarithmic = least > 0.0 && most > LOG_SPAN * least;
        let steps = if logarithmic { log_steps(least, most) } else { linear_steps(least, most) };
        let ends = [steps[0], steps[steps.len() - 1]];
        let ticks = if logarithmic { log_ticks(&steps) } else { steps };
        (Scale { logarithmic, ends, pixels, zero: None }, ticks)
    }

    /// The axis of rows, logarithmic where those above 0 span [`ROW_LOG_SPAN`]; then 0 stands `apart` pixels before
    /// the first of them. `rows` must rise and have two numbers or more.
    pub fn of_rows(rows: &[u64], pixels: [f64; 2], apart: f64) -> Scale {
        let above: Vec<f64> = rows.iter().filter(|row| **row > 0).map(|row| *row as f64).collect();
        let (least, most) = (above.first().copied().unwrap_or(1.0), above.last().copied().unwrap_or(1.0));
        if above.len() < 2 || most < ROW_LOG_SPAN * least {
            let first = rows.first().map_or(0.0, |row| *row as f64);
            return Scale { logarithmic: false, ends: [first, most.max(first + 1.0)], pixels, zero: None };
        }
        let zero = (above.len() < rows.len()).then_some(pixels[0]);
        let begin = zero.map_or(pixels[0], |zero| zero + apart);
        Scale { logarithmic: true, ends: [least, most], pixels: [begin, pixels[1]], zero }
    }

    /// Whether it is logarithmic.
    pub fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    /// Where 0 stands apart, if it does.
    pub fn zero(&self) -> Option<f64> {
        self.zero
    }

    /// The pixel of a value; on a logarithmic axis the lower end for what is not above it.
    pub fn at(&self, value: f64) -> f64 {
        let [low, high] = self.ends;
        let share = match (self.logarithmic, self.zero) {
            (false, _) => (value - low) / (high - low),
            (true, Some(zero)) if value <= 0.0 => return zero,
            (true, _) if value <= low => 0.0,
            (true, _) => (value / low).log10() / (high / low).log10(),
        };
        self.pixels[0] + share * (self.pixels[1] - self.pixels[0])
    }

    /// The pixel of a value, or of the end beyond which it lies.
    pub fn edge(&self, value: f64) -> f64 {
        self.at(value.clamp(self.ends[0], self.ends[1]))
    }

    /// Whether the value lies between the ends.
    pub fn holds(&self, value: f64) -> bool {
        (self.ends[0]..=self.ends[1]).contains(&value)
    }
}

/// Round numbers, 1, 2 or 5 of a decade, from the last at or below `least` to the first at or above `most`, both
/// above 0.
fn log_steps(least: f64, most: f64) -> Vec<f64> {
    let (first, last) = (least.log10().floor() as i32, most.log10().ceil() as i32);
    let decade = |power: i32| [1.0, 2.0, 5.0].map(|step| step * 10_f64.powi(power));
    let all: Vec<f64> = (first..=last).flat_map(decade).collect();
    let begin = all.iter().rposition(|step| *step <= least * (1.0 + 1e-9)).unwrap_or(0);
    let end = all.iter().position(|step| *step >= most * (1.0 - 1e-9)).unwrap_or(all.len() - 1);
    all[begin..=end].to_vec()
}

/// Those of the steps that have a number: all, or where there are many decades every power of ten, or every second.
fn log_ticks(steps: &[f64]) -> Vec<f64> {
    let decades = (steps[steps.len() - 1] / steps[0]).log10();
    let every = if decades > MANY_DECADES { 2 } else { 1 };
    let power = |step: &f64| {
        let power = step.log10();
        (power - power.round()).abs() < 1e-6 && power.round() as i32 % every == 0
    };
    steps.iter().copied().filter(|step| decades <= FINE_DECADES || power(step)).collect()
}

/// Multiples of a round number from 0, or below the least value, to the greatest or above.
fn linear_steps(least: f64, most: f64) -> Vec<f64> {
    let (low, high) = (least.min(0.0), most.max(0.0));
    let rough = if high > low { (high - low) / LINEAR_TICKS } else { 1.0 };
    let decade = 10_f64.powi(rough.log10().floor() as i32);
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0];
    let step = steps.iter().map(|step| step * decade).find(|step| *step >= rough * (1.0 - 1e-9));
    let step = step.unwrap_or(10.0 * decade);
    let (first, last) = ((low / step + 1e-9).floor() as i64, (high / step - 1e-9).ceil() as i64);
    (first..=last.max(first + 1)).map(|index| index as f64 * step).collect()
}

/// The numbers at an axis, in plain digits: all with as many decimals as the one that needs most.
pub fn labels(ticks: &[f64], logarithmic: bool) -> Vec<String> {
    let decimals = |tick: f64| {
        (0..=12).find(|places| {
            let scaled = tick * 10_f64.powi(*places);
            (scaled - scaled.round()).abs() < 1e-6 * scaled.abs().max(1e-9)
        })
    };
    let most = ticks.iter().filter_map(|tick| decimals(*tick)).max().unwrap_or(0) as usize;
    let own = |tick: f64| if logarithmic { decimals(tick).unwrap_or(0) as usize } else { most };
    let whole = |tick: f64| tick >= 1000.0 && own(tick) == 0;
    let label =
        |tick: &f64| if whole(*tick) { thousands(*tick as u64) } else { format!("{tick:.*}", own(*tick)) };
    ticks.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(values: &[f64]) -> (bool, Vec<String>) {
        let (scale, ticks) = Scale::of_figures(values, [300.0, 0.0]);
        for value in values {
            assert!(scale.holds(*value) && (0.0..=300.0).contains(&scale.at(*value)), "{values:?}");
        }
        (scale.is_logarithmic(), labels(&ticks, scale.is_logarithmic()))
    }

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(String::from).collect()
    }

    #[test]
    fn figures_of_one_size_stand_on_a_linear_axis_from_0() {
        assert_eq!(figures(&[2280.0, 7280.0]), (false, words("0 2,000 4,000 6,000 8,000")));
        assert_eq!(figures(&[0.012, 0.162]), (false, words("0.00 0.05 0.10 0.15 0.20")));
        assert_eq!(figures(&[5.0]), (false, words("0 1 2 3 4 5")));
        assert_eq!(figures(&[0.0]), (false, words("0 1")));
        assert_eq!(figures(&[-3.0, 12.0]), (false, words("-5 0 5 10 15")));
        assert!(!figures(&[0.0, 1e6]).0, "0 has no logarithm");
    }

    #[test]
    fn figures_that_span_decades_stand_on_a_logarithmic_axis() {
        assert_eq!(figures(&[0.012, 1.5]), (true, words("0.01 0.02 0.05 0.1 0.2 0.5 1 2")));
        assert_eq!(figures(&[1.0, 100.0]), (true, words("1 2 5 10 20 50 100")));
        assert_eq!(figures(&[0.3, 4e5]), (true, words("1 10 100 1,000 10,000 100,000")));
        let (_, many) = figures(&[1e-6, 1e9]);
        assert!(many.len() <= 10, "{many:?}");
        let (scale, _) = Scale::of_figures(&[1.0, 100.0], [300.0, 0.0]);
        assert_eq!([1.0, 10.0, 100.0].map(|value| scale.at(value).round()), [300.0, 150.0, 0.0]);
        assert_eq!((scale.at(-5.0), scale.holds(-5.0)), (300.0, false), "below: at the edge");
    }

    #[test]
    fn rows_that_double_are_as_far_apart() {
        let scale = Scale::of_rows(&[1024, 8192, 65536], [0.0, 600.0], 40.0);
        assert!(scale.is_logarithmic());
        assert_eq!([1024.0, 8192.0, 65536.0].map(|row| scale.at(row).round()), [0.0, 300.0, 600.0]);
        let scale = Scale::of_rows(&[1, 2, 5], [0.0, 400.0], 40.0);
        assert_eq!([1.0, 2.0, 5.0].map(|row| scale.at(row)), [0.0, 100.0, 400.0]);
    }

    #[test]
    fn no_idle_connection_stands_apart() {
        let scale = Scale::of_rows(&[0, 10, 100, 1000], [0.0, 440.0], 40.0);
        assert_eq!([0.0, 10.0, 1000.0].map(|row| scale.at(row).round()), [0.0, 40.0, 440.0]);
        assert_eq!(scale.zero(), Some(0.0));
        let scale = Scale::of_rows(&[0, 1], [0.0, 440.0], 40.0);
        assert_eq!((scale.at(1.0), scale.zero()), (440.0, None));
    }
}
