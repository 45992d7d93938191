//! ipcmatrix measures every way two programs on one Unix machine can talk or wait for each other.
//!
//! `ARCHITECTURE.md` has the rooms and the arrows between them.

pub mod catalog;
pub mod cell;
pub mod cli;
pub mod compare;
pub mod doctor;
pub mod environment;
pub mod export;
pub mod faulty;
pub mod lock;
pub mod log;
pub mod matrix;
pub mod measure;
pub mod operation;
pub mod published;
pub mod readiness;
pub mod record;
pub mod report;
pub mod runner;
pub mod selfcheck;
pub mod strata;
pub mod sys;
pub mod transport;
pub mod visit;
pub mod workload;
