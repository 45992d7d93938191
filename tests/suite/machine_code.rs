//! The machine code of operations: what is measured stands in it, the loop calls it each time, and no compiler has moved or
//! removed it. The files that hold loop, accesses and calls use nothing of the program: they are compiled alone, with
//! optimisation. What is written in assembly, or in C, is read where it is.
//!
//! System calls are counted instead (`calls.rs`), and what is raised is compared with what is caught each time.

use crate::machine::Need;
use crate::program::{IPCMATRIX, Program};
use crate::trial;
use ipcmatrix::sys::thread_local::no_object;
use libtest_mimic::Trial;
use std::fs;
use std::path::Path;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const OBJECT: &str = concat!(env!("OUT_DIR"), "/tls_dlopen.so");

const READS: &[Need] = &[Need::X86, Need::Tool("objdump")];
const COMPILES: &[Need] = &[Need::X86, Need::Tool("objdump"), Need::Tool("rustc")];
const READS_OBJECT: &[Need] = if no_object().is_some() { &[Need::Present] } else { READS };

pub fn trials() -> Vec<Trial> {
    vec![
        trial("machine_code::the_loop_calls_what_it_measures", COMPILES, loop_calls),
        trial("machine_code::each_variable_is_read_in_its_own_way", COMPILES, accesses),
        trial("machine_code::an_error_goes_through_each_call", COMPILES, frames),
        trial("machine_code::assembly_is_in_the_program", READS, assembly),
        trial("machine_code::a_loaded_variable_is_asked_for", READS_OBJECT, loaded),
    ]
}

/// The instructions of a function: address and text, as objdump has it.
type Code = Vec<(u64, String)>;

/// The functions of a file whose names contain one of these words, in the order of the words.
fn functions(file: &Path, words: &[&str]) -> Vec<Code> {
    let symbols = Program::new("objdump").args(["-t"]).args([file]).run().exits(0).stdout;
    let name = |word: &&str| {
        let names = symbols
            .lines()
            .filter(|line| line.contains(" F "))
            .filter_map(|line| line.split(' ').next_back());
        let found: Vec<&str> = names.filter(|name| name.contains(*word)).collect();
        assert_eq!(found.len(), 1, "{word} in {}: {found:?}", file.display());
        found[0].to_owned()
    };
    words.iter().map(name).map(|name| code(file, &name)).collect()
}

fn code(file: &Path, name: &str) -> Code {
    let only = format!("--disassemble={name}");
    let text =
        Program::new("objdump").args(["-d", "--no-show-raw-insn", &only]).args([file]).run().exits(0).stdout;
    let instruction = |line: &str| {
        let (address, text) = line.trim().split_once(':')?;
        Some((u64::from_str_radix(address, 16).ok()?, text.trim().to_owned()))
    };
    let code: Code = text.lines().filter_map(instruction).collect();
    assert!(!code.is_empty(), "{name}: {text}");
    code
}

/// Whether one of the instructions contains all of these words.
fn has(code: &[(u64, String)], words: &[&str]) -> bool {
    code.iter().any(|(_, text)| words.iter().all(|word| text.contains(word)))
}

/// The instructions from where a jump goes back to up to that jump.
fn loops(code: &Code) -> Vec<&[(u64, String)]> {
    let back = |(place, (address, text)): (usize, &(u64, String))| {
        let mut words = text.split_whitespace();
        let target = words.next().filter(|word| word.starts_with('j')).and(words.next())?;
        let target = u64::from_str_radix(target, 16).ok().filter(|target| target <= address)?;
        let begin = code.iter().position(|(address, _)| *address == target)?;
        Some(&code[begin..=place])
    };
    code.iter().enumerate().filter_map(back).collect()
}

/// A program of the files that use nothing of ours, as an optimising compiler makes it.
fn optimised(look: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("alone.rs"), folder.path().join("alone"));
    let file =
        |name: &str| format!("#[path = {:?}]\nmod {name};\n", format!("{ROOT}/src/operation/{name}.rs"));
    let mut text = "#![allow(dead_code)]\nuse std::hint::black_box;\n".to_owned();
    text += &["access", "rounds", "frames"].map(file).concat();
    text += "
#[inline(never)]
fn accesses_in_a_loop(sum: &mut access::Sum, ops: u64) {
    let Ok(()) = rounds::rounds(ops, || { sum.add(); Ok::<(), std::convert::Infallible>(()) });
}
#[inline(never)]
fn nothing_in_a_loop(ops: u64) {
    let Ok(()) = rounds::rounds(ops, || { black_box(()); Ok::<(), std::convert::Infallible>(()) });
}
fn main() {
    access::set_shared(1);
    access::set_at_compile_time(1);
    access::set_at_first_access(1);
    let reads: [access::Read; 4] =
        [access::nothing, access::shared, access::at_compile_time, access::at_first_access];
    for read in reads {
        let mut sum = access::Sum::of(read);
        accesses_in_a_loop(&mut sum, black_box(9));
        assert_eq!(sum.take(), 9);
    }
    nothing_in_a_loop(black_box(9));
    assert_eq!(frames::hand_up(black_box(9), black_box(Err), 1), Err(1));
    assert_eq!(frames::descend(black_box(9), black_box(|value| value), 1), 10);
}
";
    fs::write(&source, text).unwrap();
    let arguments = ["--edition", "2024", "-C", "opt-level=3", "-C", "codegen-units=1", "-o"];
    Program::new("rustc").args(arguments).args([&program, &source]).run().exits(0);
    Program::new(&program).run().exits(0);
    look(&program);
}

fn loop_calls() {
    optimised(|program| {
        let [measured, twin] = &functions(program, &["accesses_in_a_loop", "nothing_in_a_loop"])[..] else {
            panic!("two functions")
        };
        // Through a pointer whose value is not known: objdump marks that with a star.
        assert!(loops(measured).iter().any(|code| has(code, &["call", "*"])), "{measured:?}");
        assert!(
            !loops(twin).is_empty() && !has(twin, &["call"]),
            "its loop is there, and calls nothing: {twin:?}"
        );
    });
}

fn accesses() {
    optimised(|program| {
        let names = ["access7nothing", "access6shared", "access15at_compile_time", "access15at_first_access"];
        let [nothing, shared, at_compile_time, at_first_access] = &functions(program, &names)[..] else {
            panic!("four functions")
        };
        let load = ["(%rip)"];
        assert!(!has(nothing, &load) && !has(nothing, &["%fs:"]) && !has(nothing, &["call"]), "{nothing:?}");
        assert!(has(shared, &load) && !has(shared, &["%fs:"]), "{shared:?}");
        assert!(has(at_compile_time, &["%fs:"]) && !has(at_compile_time, &["cmp"]), "{at_compile_time:?}");
        // It looks whether the variable is initialised.
        let looks = has(at_first_access, &["cmp"]) || has(at_first_access, &["test"]);
        assert!(has(at_first_access, &["%fs:"]) && looks, "{at_first_access:?}");
    });
}

fn frames() {
    optimised(|program| {
        for code in functions(program, &["frames7hand_up", "frames7descend"]) {
            let itself = code[0].1.clone();
            let calls_itself = has(&code, &["call", "frames"]);
            assert!(calls_itself && has(&code, &["call", "*"]), "{itself}: {code:?}");
        }
    });
}

fn assembly() {
    let names = ["thread_local10local_exec", "thread_local11getspecific", "failing_close3raw"];
    let [local_exec, getspecific, raw] = &functions(Path::new(IPCMATRIX), &names)[..] else {
        panic!("three functions")
    };
    assert!(has(local_exec, &["mov", "%fs:0x"]) && !has(local_exec, &["call"]), "{local_exec:?}");
    assert!(has(getspecific, &["call"]), "{getspecific:?}");
    assert!(has(raw, &["syscall"]) && !has(raw, &["call "]), "{raw:?}");
}

fn loaded() {
    let [read] = &functions(Path::new(OBJECT), &["ipcmatrix_loaded_read"])[..] else {
        panic!("one function")
    };
    // By name, or by the descriptor of the variable (TLSDESC), which is called through its pointer.
    assert!(has(read, &["call", "__tls_get_addr"]) || has(read, &["call", "*"]), "{read:?}");
}
