//! Our Sun RPC and that of libtirpc talk to each other, both ways, over TCP and UDP. Without the library
//! these tests show as ignored.

use ipcmatrix::sys::tirpc::{self, Kind, Program, Served};
use ipcmatrix::transport::End;
use ipcmatrix::transport::rpc::message::{Answer, Asked, PROGRAM, VERSION};
use ipcmatrix::transport::rpc::{PATIENCE, RpcEnd, UDP_ARGUMENT_BYTES, Wire};
use libtest_mimic::{Arguments, Failed, Trial};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Lengths of the arguments: padding of each kind, one over the library's default for UDP, the largest of UDP.
const SIZES: [usize; 5] = [1, 3, 4, 8899, UDP_ARGUMENT_BYTES];
/// Some more over TCP: one over 64 KiB, and one that the library cuts into several fragments.
const LONG_SIZES: [usize; 2] = [65537, 1_000_003];
/// Largest argument that a test sends.
const MOST_BYTES: usize = 1_000_003;
const OURS: Program = Program { number: PROGRAM, version: VERSION };
const DEADLINE: Duration = Duration::from_secs(60);

/// What the server saw of a call (its argument, `None` for the null procedure), and what the client.
type Outcome = (io::Result<Option<Vec<u8>>>, io::Result<()>);

trait Calls: Send {
    fn null(&mut self) -> io::Result<()>;
    fn sink(&mut self, argument: &[u8]) -> io::Result<()>;
}

trait Serves: Send {
    /// Serves one call: its argument, `None` for the null procedure.
    fn serve(&mut self) -> io::Result<Option<Vec<u8>>>;
}

impl Calls for tirpc::Client {
    fn null(&mut self) -> io::Result<()> {
        tirpc::Client::null(self)
    }

    fn sink(&mut self, argument: &[u8]) -> io::Result<()> {
        tirpc::Client::sink(self, &mut argument.to_vec())
    }
}

impl Serves for tirpc::Server {
    fn serve(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut room = vec![0; MOST_BYTES];
        match tirpc::Server::serve(self, &mut room)? {
            Served::Null => Ok(None),
            Served::Sink(bytes) => {
                room.truncate(bytes);
                Ok(Some(room))
            }
            Served::Gone => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// A buffer for our end with that text.
fn framed<E: End>(text: &[u8]) -> Vec<u8> {
    let mut buffer = vec![0; E::HEADROOM + text.len() + E::TAILROOM];
    buffer[E::HEADROOM..E::HEADROOM + text.len()].copy_from_slice(text);
    buffer
}

impl<W: Wire> Calls for RpcEnd<W> {
    fn null(&mut self) -> io::Result<()> {
        self.call_null(77)
    }

    fn sink(&mut self, argument: &[u8]) -> io::Result<()> {
        self.send(&mut framed::<Self>(argument)).map(drop)
    }
}

impl<W: Wire> Serves for RpcEnd<W> {
    fn serve(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut room = framed::<Self>(&vec![0; MOST_BYTES]);
        let call = self.take(&mut room)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        self.reply(call.xid, Answer::Success)?;
        Ok(match call.asked {
            Asked::Null => None,
            Asked::Sink(place) => Some(room[place].to_vec()),
        })
    }
}

fn tcp_pair() -> io::Result<[TcpStream; 2]> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let client = TcpStream::connect(listener.local_addr()?)?;
    Ok([client, listener.accept()?.0])
}

fn udp_pair() -> io::Result<[UdpSocket; 2]> {
    let [one, two] = [(); 2].map(|()| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)));
    let (one, two) = (one?, two?);
    one.connect(two.local_addr()?)?;
    two.connect(one.local_addr()?)?;
    for socket in [&one, &two] {
        socket.set_read_timeout(Some(PATIENCE))?;
    }
    Ok([one, two])
}

fn v4(address: SocketAddr) -> SocketAddrV4 {
    match address {
        SocketAddr::V4(address) => address,
        SocketAddr::V6(address) => panic!("{address} on an IPv4 socket"),
    }
}

fn their_client(
    socket: impl Into<OwnedFd>,
    kind: Kind,
    server: SocketAddr,
    program: Program,
) -> Box<dyn Calls> {
    let client = tirpc::Client::over(socket.into(), kind, v4(server), program, MOST_BYTES, PATIENCE);
    Box::new(client.expect("a client of the library"))
}

fn their_server(socket: impl Into<OwnedFd>, kind: Kind) -> Box<dyn Serves> {
    Box::new(tirpc::Server::over(socket.into(), kind, OURS, MOST_BYTES).expect("a server of the library"))
}

/// Whose client and whose server.
#[derive(Clone, Copy, Debug)]
struct Pairing {
    kind: Kind,
    client_is_ours: bool,
    server_is_ours: bool,
}

impl Pairing {
    fn name(self) -> String {
        let whose = |ours| if ours { "ours" } else { "libtirpc" };
        let over = if self.kind == Kind::Stream { "tcp" } else { "udp" };
        format!("{over}: client {}, server {}", whose(self.client_is_ours), whose(self.server_is_ours))
    }

    fn open(self, program: Program) -> io::Result<(Box<dyn Calls>, Box<dyn Serves>)> {
        Ok(match self.kind {
            Kind::Stream => {
                let [client, server] = tcp_pair()?;
                let address = client.peer_addr()?;
                self.ends(client, server, address, program)
            }
            Kind::Datagrams => {
                let [client, server] = udp_pair()?;
                let address = client.peer_addr()?;
                self.ends(client, server, address, program)
            }
        })
    }

    fn ends<S: Wire + Into<OwnedFd> + 'static>(
        self,
        client: S,
        server: S,
        address: SocketAddr,
        program: Program,
    ) -> (Box<dyn Calls>, Box<dyn Serves>) {
        let client = match self.client_is_ours {
            true => Box::new(RpcEnd::over(client)) as Box<dyn Calls>,
            false => their_client(client, self.kind, address, program),
        };
        let server = match self.server_is_ours {
            true => Box::new(RpcEnd::over(server)) as Box<dyn Serves>,
            false => their_server(server, self.kind),
        };
        (client, server)
    }
}

/// Makes `calls` on a thread while this one serves, and returns what came of each.
fn exchange(pairing: Pairing, program: Program, calls: &[Option<Vec<u8>>]) -> Vec<Outcome> {
    let (mut client, mut server) = pairing.open(program).expect("loopback sockets");
    calls
        .iter()
        .map(|call| {
            thread::scope(|scope| {
                let calling = scope.spawn(|| match call {
                    None => client.null(),
                    Some(argument) => client.sink(argument),
                });
                let served = server.serve();
                (served, calling.join().expect("the client does not panic"))
            })
        })
        .collect()
}

/// Null, every length, null again, on one connection.
fn talk(pairing: Pairing) -> Result<(), Failed> {
    let lengths = SIZES.iter().chain(LONG_SIZES.iter().filter(|_| pairing.kind == Kind::Stream));
    let sinks = lengths.map(|bytes| Some((0..*bytes).map(|place| (place * 31 + bytes) as u8).collect()));
    let calls: Vec<Option<Vec<u8>>> = [None].into_iter().chain(sinks).chain([None]).collect();
    for (call, (served, called)) in calls.iter().zip(exchange(pairing, OURS, &calls)) {
        let what = call.as_ref().map_or("null".to_owned(), |argument| format!("{} bytes", argument.len()));
        let served = served.map_err(|error| format!("{what}: the server: {error}"))?;
        called.map_err(|error| format!("{what}: the client: {error}"))?;
        if served != *call {
            return Err(format!("{what}: another argument came").into());
        }
    }
    Ok(())
}

/// The library understands the refusals of our server.
fn refusal(kind: Kind) -> Result<(), Failed> {
    let pairing = Pairing { kind, client_is_ours: false, server_is_ours: true };
    for (program, wanted) in [
        (Program { version: 2, ..OURS }, "mismatch"),
        (Program { number: PROGRAM + 1, ..OURS }, "Program unavailable"),
    ] {
        let (served, called) = exchange(pairing, program, &[None]).remove(0);
        let said = called.expect_err("the server refuses").to_string();
        if served.is_ok() || !said.contains(wanted) {
            return Err(format!("the library says {said:?}, the server {served:?}").into());
        }
    }
    Ok(())
}

/// Our server is told, and does not hang, when the library's client goes; and the other way round.
fn parting(client_is_ours: bool) -> Result<(), Failed> {
    let pairing = Pairing { kind: Kind::Stream, client_is_ours, server_is_ours: !client_is_ours };
    let (client, mut server) = pairing.open(OURS)?;
    drop(client);
    match server.serve() {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
        other => return Err(format!("the server was left and says {other:?}").into()),
    }
    let (mut client, server) = pairing.open(OURS)?;
    drop(server);
    client.null().err().map(drop).ok_or_else(|| "the client was left and calls well".into())
}

/// Runs the test on a thread of its own and gives up on it in the end.
fn within_deadline(test: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Result<(), Failed> {
    let (done, wait) = mpsc::channel();
    thread::spawn(move || done.send(test()));
    wait.recv_timeout(DEADLINE).map_err(|error| format!("no end, or a panic: {error}"))?
}

fn main() {
    let missing = tirpc::load().is_err();
    let mut trials = Vec::new();
    let mut add = |name: String, test: Box<dyn FnOnce() -> Result<(), Failed> + Send>| {
        trials.push(Trial::test(name, move || within_deadline(test)).with_ignored_flag(missing));
    };
    for kind in [Kind::Stream, Kind::Datagrams] {
        for (client_is_ours, server_is_ours) in [(true, false), (false, true), (false, false), (true, true)] {
            let pairing = Pairing { kind, client_is_ours, server_is_ours };
            add(pairing.name(), Box::new(move || talk(pairing)));
        }
        add(format!("{kind:?}: our refusals are understood"), Box::new(move || refusal(kind)));
    }
    for client_is_ours in [true, false] {
        let whose = if client_is_ours { "ours" } else { "libtirpc" };
        add(format!("parting: client {whose}"), Box::new(move || parting(client_is_ours)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit()
}
