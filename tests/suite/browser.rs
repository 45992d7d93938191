//! Chromium without a window, asked over the pipe of its debugging protocol: it has no network port and no proxy.
//!
//! <https://chromedevtools.github.io/devtools-protocol/>

use crate::machine::CHROMIUM;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// No answer is waited for longer than this.
const PATIENCE: Duration = Duration::from_secs(60);

/// The browser reads commands at descriptor 3 and answers at 4.
const START: &str = "program=$1; shift; exec \"$program\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";

const SWITCHES: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
];

/// A browser with one page.
pub struct Page {
    child: Child,
    commands: ChildStdin,
    answers: Receiver<Value>,
    serial: u64,
    session: Option<String>,
    /// What the page did, in its order.
    pub events: Vec<Value>,
    _profile: TempDir,
}

impl Page {
    /// Opens an address in a page of that width, for a reader who prefers `light` or `dark`.
    pub fn open(address: &str, width: u32, scheme: &str) -> Page {
        let profile = tempfile::tempdir().unwrap();
        let folder = format!("--user-data-dir={}", profile.path().display());
        let mut command = Command::new("sh");
        command.args(["-c", START, "sh", CHROMIUM]).args(SWITCHES).arg(folder).process_group(0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (commands, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, answers) = channel();
        thread::spawn(move || {
            for message in BufReader::new(stdout).split(0).map_while(Result::ok) {
                if sender.send(serde_json::from_slice(&message).unwrap()).is_err() {
                    return;
                }
            }
        });
        let (serial, session, events) = (0, None, Vec::new());
        let mut page = Page { child, commands, answers, serial, session, events, _profile: profile };
        page.begin(address, width, scheme);
        page
    }

    fn begin(&mut self, address: &str, width: u32, scheme: &str) {
        let target = self.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = self.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        self.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
        let urls = ["http://*", "https://*", "ws://*", "wss://*"];
        self.call("Network.setBlockedURLs", json!({"urls": urls}));
        let size = json!({"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let prefers = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": prefers}));
        self.events.clear();
        self.call("Page.navigate", json!({"url": address}));
        while self.told("Page.loadEventFired").is_empty() {
            let message = self.next();
            self.events.push(message);
        }
    }

    fn next(&self) -> Value {
        self.answers.recv_timeout(PATIENCE).expect("the browser answers")
    }

    /// Gives a command, and returns its result.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.serial += 1;
        let mut command = json!({"id": self.serial, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        self.commands.write_all(command.to_string().as_bytes()).unwrap();
        self.commands.write_all(b"\0").unwrap();
        loop {
            let message = self.next();
            if message["id"] != self.serial {
                self.events.push(message);
                continue;
            }
            assert!(message.get("error").is_none(), "{method}: {message}");
            return message["result"].clone();
        }
    }

    /// What happened under that name.
    pub fn told(&self, method: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["method"] == method).map(|event| &event["params"]).collect()
    }

    /// What an expression of the page is.
    pub fn value(&mut self, expression: &str) -> Value {
        let result = self.call("Runtime.evaluate", json!({"expression": expression, "returnByValue": true}));
        assert!(result.get("exceptionDetails").is_none(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Presses and lets go of a key.
    pub fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            "ArrowRight" => (39, ""),
            "ArrowDown" => (40, ""),
            other => panic!("{other} has no code here"),
        };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let event =
                json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text});
            self.call("Input.dispatchKeyEvent", event);
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _gone = killpg(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGKILL);
        let _status = self.child.wait();
    }
}
