//! The mutex of the crate parking_lot that is handed to the one who waits longest, for threads of one process.
//! parking_lot::FairMutex.

use super::Lock;
use crate::catalog::Reach;
use parking_lot::FairMutex;
use std::io;
use std::mem::MaybeUninit;

/// parking_lot::FairMutex.
pub struct ParkingLotFairMutex(FairMutex<()>);

impl Lock for ParkingLotFairMutex {
    const NAME: &'static str = "parking_lot_fair_mutex";
    const SUMMARY: &'static str =
        "parking_lot::FairMutex of version 0.13, which hands itself to the next in line";
    const REACH: Reach = Reach::Threads;

    fn init(at: &mut MaybeUninit<ParkingLotFairMutex>) -> io::Result<()> {
        at.write(ParkingLotFairMutex(FairMutex::new(())));
        Ok(())
    }

    #[inline]
    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        let held = self.0.lock();
        critical();
        drop(held);
        Ok(())
    }
}
