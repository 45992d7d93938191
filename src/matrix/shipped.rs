//! The matrices that the program carries, so that an installed binary needs no file.

/// Name and text of every matrix that the program carries.
pub const SHIPPED: &[(&str, &str)] = &[
    ("all", include_str!("../../matrices/all.toml")),
    ("appendix", include_str!("../../matrices/appendix.toml")),
    ("bandwidth", include_str!("../../matrices/bandwidth.toml")),
    ("locks", include_str!("../../matrices/locks.toml")),
    ("log", include_str!("../../matrices/log.toml")),
    ("operations", include_str!("../../matrices/operations.toml")),
    ("readiness", include_str!("../../matrices/readiness.toml")),
    ("serve", include_str!("../../matrices/serve.toml")),
    ("smoke", include_str!("../../matrices/smoke.toml")),
    ("transports", include_str!("../../matrices/transports.toml")),
];

/// The text of a shipped matrix.
pub fn shipped(name: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
