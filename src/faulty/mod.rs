//! Mechanisms that are faulty on purpose, one fault each. They stand in no list and no matrix can name them: `selfcheck`
//! visits them, and each must be caught.

mod lock;
mod log;
mod transport;

pub use lock::ExcludesNobody;

use crate::catalog::Driver;
use crate::log::{InFile, append};
use crate::transport::bandwidth;

/// Every one of them.
pub const DRIVERS: &[Driver] = &[
    crate::lock::increment::<ExcludesNobody>(),
    crate::lock::increment::<lock::LetsOneSlip>(),
    bandwidth::<transport::AltersAByte>(),
    bandwidth::<transport::DropsAByte>(),
    append::<InFile<log::LosesALine>>(),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn nothing_faulty_is_shipped() {
        let shipped = Catalog::shipped();
        for faulty in DRIVERS {
            assert!(
                shipped.drivers().all(|driver| driver.mechanism != faulty.mechanism),
                "{}",
                faulty.mechanism
            );
        }
    }
}
