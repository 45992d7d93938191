//! The whole program, from outside: every trial starts it as a user would and looks at what comes of it.
//!
//! With [`drivers::SWITCH`] in the environment this test program is ipcmatrix itself, with mechanisms that
//! misbehave in its catalog; its visits are processes of the same file and see the same catalog.

mod ab;
mod browser;
mod calls;
mod cells;
mod compare;
mod conformance;
mod doctor;
mod drivers;
mod effort;
mod export;
mod habits;
mod hostile;
mod input;
mod kills;
mod log;
mod machine;
mod machine_code;
mod matrices;
mod near;
mod noise;
mod operation;
mod page;
mod plots;
mod program;
mod readiness;
mod readme;
mod refusals;
mod resume;
mod schema;
mod selfcheck;
mod serve;
mod splice;
mod tampering;
mod user;
mod views;

use ipcmatrix::catalog::Catalog;
use libtest_mimic::{Arguments, Completion, Trial};
use machine::Need;
use std::process::ExitCode;

/// Trials measure: more of them at once would disturb each other on a larger machine too.
const MOST_AT_ONCE: usize = 2;

fn main() -> ExitCode {
    if std::env::var_os(drivers::SWITCH).is_some() {
        return ipcmatrix::cli::main(&Catalog::shipped().with(drivers::HOSTILE));
    }
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(machine::cpus().len().min(MOST_AT_ONCE));
    let rooms = [
        ab::trials(),
        compare::trials(),
        conformance::trials(),
        doctor::trials(),
        effort::trials(),
        export::trials(),
        habits::trials(),
        hostile::trials(),
        kills::trials(),
        log::trials(),
        noise::trials(),
        readme::trials(),
        refusals::trials(),
        resume::trials(),
        schema::trials(),
        selfcheck::trials(),
        serve::trials(),
        tampering::trials(),
        input::trials(),
        matrices::trials(),
        near::trials(),
        user::trials(),
        calls::trials(),
        readiness::trials(),
        operation::trials(),
        page::trials(),
        plots::trials(),
        splice::trials(),
        views::trials(),
        machine_code::trials(),
    ];
    libtest_mimic::run(&arguments, rooms.into_iter().flatten().collect()).exit_code()
}

/// A trial that is shown as ignored, with the reason, where this machine lacks what it needs.
fn trial(name: impl Into<String>, needs: &'static [Need], body: impl FnOnce() + Send + 'static) -> Trial {
    Trial::ignorable_test(name, move || match needs.iter().find_map(|need| need.missing()) {
        Some(reason) => Ok(Completion::ignored_with(reason)),
        None => {
            body();
            Ok(Completion::Completed)
        }
    })
}
