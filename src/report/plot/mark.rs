//! Colours and shapes of series: each series differs from every other in the pair, and the first eight in both.
//!
//! The hues are those of Okabe and Ito, "Color Universal Design" (2008), which readers of every kind of colour vision
//! tell apart, as dark or as light as the background needs for a contrast of 3 (WCAG 2.2, 1.4.11).

use std::f64::consts::PI;
use std::fmt::Write;

/// Colours, on a light and on a dark background.
pub const COLOURS: [[&str; 2]; 8] = [
    ["#005a9c", "#4fa8e0"],
    ["#d55e00", "#f0813a"],
    ["#00805f", "#1fbf94"],
    ["#b3508a", "#de8fbc"],
    ["#a87400", "#e69f00"],
    ["#3597d3", "#8ccdf2"],
    ["#7d7600", "#f0e442"],
    ["#000000", "#ffffff"],
];

/// The backgrounds that they are seen on.
pub const BACKGROUND: [&str; 2] = ["#ffffff", "#16181d"];

/// Shapes, solid and hollow.
const SHAPES: usize = 8;

/// Pairs of colour and shape.
pub const PAIRS: usize = 2 * SHAPES;

/// How far the colours of the hollow shapes are moved on, so that the same shape has another colour.
const MOVED: usize = 3;

/// How a series looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Position in [`COLOURS`].
    pub colour: usize,
    /// Position of the shape.
    pub shape: usize,
    /// Whether the shape is empty, and the line dashed.
    pub hollow: bool,
}

/// The look of a series by its position among the columns; after [`PAIRS`] they come again.
pub fn look(series: usize) -> Look {
    let (turn, shape) = ((series / SHAPES) % 2, series % SHAPES);
    Look { colour: (shape + MOVED * turn) % COLOURS.len(), shape, hollow: turn == 1 }
}

/// The path of a shape around a place, `size` pixels from its middle to its edge.
pub fn path(shape: usize, x: f64, y: f64, size: f64) -> String {
    let corners: Vec<(f64, f64)> = match shape {
        0 => return circle(x, y, size),
        1 => regular(4, 0.125, 1.2),
        2 => regular(3, 0.0, 1.3),
        3 => regular(4, 0.0, 1.4),
        4 => regular(3, 0.5, 1.3),
        5 => cross(0.0),
        6 => cross(PI / 4.0),
        _ => star(),
    };
    let mut path = String::new();
    for (index, (right, up)) in corners.iter().enumerate() {
        let letter = if index == 0 { 'M' } else { 'L' };
        let _infallible = write!(path, "{letter}{} {}", px(x + size * right), px(y - size * up));
    }
    path + "Z"
}

/// Pixels, to a tenth.
pub fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".into() } else { text.into() }
}

fn circle(x: f64, y: f64, size: f64) -> String {
    let [left, y, radius, width] = [x - size, y, size, 2.0 * size].map(px);
    format!("M{left} {y}a{radius} {radius} 0 1 0 {width} 0a{radius} {radius} 0 1 0 -{width} 0Z")
}

/// The corner at an angle in turns from the top.
fn corner(turns: f64, far: f64) -> (f64, f64) {
    let angle = 2.0 * PI * turns;
    (far * angle.sin(), far * angle.cos())
}

fn regular(corners: usize, turned: f64, far: f64) -> Vec<(f64, f64)> {
    (0..corners).map(|index| corner(index as f64 / corners as f64 + turned, far)).collect()
}

fn star() -> Vec<(f64, f64)> {
    (0..10).map(|index| corner(f64::from(index) / 10.0, if index % 2 == 0 { 1.5 } else { 0.6 })).collect()
}

/// A plus sign, turned by so much.
fn cross(turned: f64) -> Vec<(f64, f64)> {
    const ARM: f64 = 0.42;
    const FAR: f64 = 1.25;
    let arm = [(-ARM, FAR), (ARM, FAR), (ARM, ARM)];
    let turn = |(right, up): (f64, f64), by: f64| {
        (right * by.cos() + up * by.sin(), up * by.cos() - right * by.sin())
    };
    (0..4).flat_map(|side| arm.map(|at| turn(at, f64::from(side) * PI / 2.0 + turned))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance, WCAG 2.2.
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| {
            let part = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    #[test]
    fn every_colour_stands_out_from_its_background() {
        for scheme in [0, 1] {
            for colour in COLOURS.map(|pair| pair[scheme]) {
                let pair = [luminance(colour), luminance(BACKGROUND[scheme])];
                let contrast = (pair[0].max(pair[1]) + 0.05) / (pair[0].min(pair[1]) + 0.05);
                assert!(contrast >= 3.0, "{colour} on {}: {contrast:.2}", BACKGROUND[scheme]);
            }
        }
    }

    #[test]
    fn no_two_series_look_alike() {
        let looks: Vec<Look> = (0..PAIRS).map(look).collect();
        for (index, one) in looks.iter().enumerate() {
            for other in &looks[index + 1..] {
                let shape = |look: &Look| (look.shape, look.hollow);
                assert!(shape(one) != shape(other), "{one:?} and {other:?}");
                assert!(one.colour != other.colour || one.shape != other.shape, "{one:?} and {other:?}");
            }
        }
        let paths: Vec<String> = (0..SHAPES).map(|shape| path(shape, 10.0, 10.0, 4.0)).collect();
        assert!((1..SHAPES).all(|index| !paths[..index].contains(&paths[index])), "{paths:?}");
    }

    #[test]
    fn pixels_have_one_zero() {
        assert_eq!([-0.01, 0.0, 10.04, 9.96].map(px), ["0", "0", "10", "10"]);
    }
}
