//! The command line as it is recorded, and what is left out of it where nobody may be named.

use std::path::Path;

/// A word of the command line. Where nobody may be named, the path of a file loses its folders, and any other path is left out, as a folder is
/// often called like its owner; what stands in front of it (`env:HOME=`, `bin:`) stays, and so do further parts behind a comma.
pub fn shown(word: &str, anonymous: bool) -> String {
    if !anonymous {
        return word.to_owned();
    }
    let part = |part: &str| {
        let Some(slash) = part.find('/') else { return part.to_owned() };
        let (front, path) = part.split_at(part[..slash].rfind([':', '=']).map_or(0, |at| at + 1));
        let path = Path::new(path);
        let name = path.file_name().filter(|_| path.is_file());
        format!("{front}{}", name.map_or(LEFT_OUT.into(), |name| name.to_string_lossy()))
    };
    word.split(',').map(part).collect::<Vec<_>>().join(",")
}

/// What stands for a path that is left out.
const LEFT_OUT: &str = "...";

/// The command line as a reader would type it again.
pub fn command(anonymous: bool) -> Vec<String> {
    of_words(std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()), anonymous)
}

/// The same of those words; where nobody may be named, without the folder of the output.
fn of_words(words: impl Iterator<Item = String>, anonymous: bool) -> Vec<String> {
    let mut command = vec!["ipcmatrix".to_owned()];
    let mut is_output = false;
    for word in words {
        let front = match word.strip_prefix("--output=") {
            Some(_) => Some("--output="),
            None => word.strip_prefix("-o").filter(|rest| !rest.is_empty()).map(|_| "-o"),
        };
        command.push(match front {
            _ if !anonymous => word.clone(),
            _ if is_output => LEFT_OUT.to_owned(),
            Some(front) => format!("{front}{LEFT_OUT}"),
            None => shown(&word, true),
        });
        is_output = ["-o", "-qo", "--output"].contains(&word.as_str());
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_keep_their_names_and_what_stands_in_front_stays() {
        let told = |word| shown(word, true);
        assert_eq!(told("/bin/sh"), "sh");
        assert_eq!(told("bin:/bin/sh,nodelay=off"), "bin:sh,nodelay=off");
        assert_eq!(told("env:HOME=/home/joe"), "env:HOME=...");
        assert_eq!(told("env:PATH=/home/joe/bin:/usr/bin,env:A=b"), "env:PATH=...,env:A=b");
        assert_eq!(told("../joe"), "...");
        assert_eq!(told("appendix"), "appendix");
        assert_eq!(shown("env:HOME=/home/joe", false), "env:HOME=/home/joe");
    }

    #[test]
    fn the_folder_of_the_output_is_left_out_however_it_is_given() {
        let told =
            |words: &str, anonymous| of_words(words.split(' ').map(str::to_owned), anonymous).join(" ");
        for given in [
            "-o joes-laptop",
            "-ojoes-laptop",
            "--output joes-laptop",
            "--output=joes-laptop",
            "-qo joes-laptop",
        ] {
            let words = told(&format!("run appendix {given} --quick"), true);
            assert!(!words.contains("joe") && words.contains("..."), "{words}");
            assert!(words.starts_with("ipcmatrix run appendix -") && words.ends_with(" --quick"), "{words}");
        }
        assert_eq!(told("run -o joes-laptop", false), "ipcmatrix run -o joes-laptop");
    }
}
